"""The window rule and the host: windows, stores, hosts and decoders with a planted fault, and those that ship."""

from collections.abc import Callable, Iterator
from functools import partial
from unittest.mock import patch

from impl import window as window_that_ships
from impl.host import Host
from impl.row_store import PagedStore
from tests import planted_hosts as planted
from tests import test_window_rule
from tests.breakable_decoders import rules
from tests.honesty.case import Case, asserted, asserted_of, broken, right
from tests.planted_hosts import with_host, with_store
from tests.planted_windows import ignores_sinks, last_row_twice, one_more_context, trims_late
from verify.decode.oracle import Found
from verify.decode.suite import WINDOWS as WINDOW_GRID
from verify.decode.window_checks import check_refused_windows, check_window
from verify.host.lockstep import SHIPPED, Parts
from verify.host.operations import Admit, ForkRequest
from verify.host.suite import PROMPT, RUNS, HostRun, advances, failing

READS = ("HOST-GATHER", "HOST-PLAIN", "WIN-1")
TRIMS = ("PT-HOLE", "PT-PAGES", "PT-ROWS", "WIN-4")

STORES: tuple[tuple[type[PagedStore], int, tuple[str, ...]], ...] = (
    (planted.GathersOneRowLate, 0, READS),
    (planted.GathersOneRowTooMany, 0, READS),
    (planted.GathersValuesAsKeys, 0, ("HOST-GATHER", "HOST-PLAIN")),
    (planted.GathersBackwards, 0, ("HOST-GATHER",)),
    (planted.GathersSinksAlone, 1, READS),
    (planted.WritesKeysAsValues, 0, ("PT-ROWS",)),
    (planted.NeverTrims, 0, (*TRIMS, "WIN-5")),
    (planted.TrimsOneTokenLate, 0, TRIMS),
    (planted.TrimsAPageTooMuch, 0, TRIMS),
    (planted.ForgetsPages, 0, ("PT-OWN", "PT-PAGES")),
    (planted.TakesAPageBeforeRefusing, 0, ("HOST-REFUSE",)),
    (planted.MovesAPage, 0, ("PT-INPLACE",)),
    (planted.TellsAShorterHole, 0, ("PT-HOLE",)),
    (planted.ReadsAFreePage, 4, ("HOST-GATHER", "HOST-PLAIN", "HOST-POISON")),
)
HOSTS: tuple[tuple[type[Host], int, tuple[str, ...]], ...] = (
    (planted.MiscountsTheContext, 0, ("WIN-1",)),
    (planted.MiscountsThePages, 0, ("WIN-4",)),
    (planted.ForgetsThePeak, 0, ("PT-PAGES",)),
    (planted.ChangesTheOutput, 3, ("HOST-TOKENS",)),
    (planted.FeedsOneTokenOfAChunk, 1, ("HOST-TOKENS", "PT-LEN", "PT-ROWS", "WIN-1")),
    (planted.TellsAnotherToken, 0, ("HOST-TOKENS",)),
    (planted.TellsNothing, 0, ("HOST-TOKENS",)),
    (planted.ReportsTheStepBefore, 0, ("HOST-TOKENS",)),
    (planted.KeepsWhatARefusedStepFed, 0, ("HOST-REFUSE",)),
    (planted.DisturbsAnotherWhenRefused, 0, ("HOST-REFUSE",)),
    (planted.StartsWhatItDoesNotAdmit, 2, ("HOST-REFUSE",)),
    (planted.AdmitsAnything, 2, ("HOST-ADMIT", "HOST-REFUSE")),
    (planted.AdmitsToAnEmptyPoolAlone, 2, ("HOST-ADMIT", "PT-LIVE")),
    (planted.CutsWhereRowsAreGone, 1, ("HOST-REFUSE", "HOST-ROLLBACK")),
    (planted.RefusesEveryCut, 3, ("HOST-ROLLBACK", "PT-LIVE")),
    (planted.KeepsTokensOfARollback, 3, ("HOST-ROLLBACK",)),
    (planted.TruncatesBeforeRefusing, 1, ("HOST-REFUSE",)),
    (planted.NeverPads, 1, ("HOST-PAD", "HOST-ROLLBACK", "PT-LEN", "PT-ROWS")),
    (planted.DecodesTheLastTokenTwice, 0, ("HOST-TOKENS",)),
    (planted.DecodesAPadTooMany, 1, ("HOST-PAD",)),
    (planted.TellsOtherPads, 1, ("HOST-PAD", "HOST-ROLLBACK")),
    (planted.HidesItsTokens, 0, ("PT-TOTAL",)),
    (planted.HidesAPlainRequest, 0, ("PT-LIVE",)),
    (planted.Raises, 2, ("BadArgument", "PT-TOTAL")),
)
"""What is planted, the fixed run of verify/host/suite.py that shows it first, and the rules that break there."""

PADDED = HostRun(
    "random-1-16",
    6,
    3,
    (Admit(0, PROMPT[:4]), *advances(0, rounds=4), ForkRequest(0, 1, padded=True), *advances(0, 1)),
    pad=13,
)
"""Four rows on pages of 3 take two pads: as many as the last page has rows would be one."""

Window = Callable[..., object]
WINDOWS: tuple[tuple[str, Window, tuple[str, ...], tuple[str, ...]], ...] = (
    ("context", one_more_context, ("WIN-1", "WIN-2", "WIN-6"), ("WIN-1",)),
    ("gather_ranges", last_row_twice, ("WIN-2", "WIN-6"), ("WIN-1", "WIN-6")),
    ("keep_from", trims_late, ("WIN-3", "WIN-6"), ("WIN-1", "WIN-6")),
    ("keep_from", ignores_sinks, ("WIN-6",), ("WIN-1", "WIN-6")),
)
"""A function of the host's window rule, what takes its place, and the rules that break: on the grid, and where it must refuse."""


def honesty() -> Iterator[Case]:
    """Window rules, stores, hosts and decoders with a planted fault, and those that ship."""
    for name, wrong, on_grid, refused in WINDOWS:
        title = f"{wrong.__name__} as {name}"
        yield broken(on_grid[0], title, partial(by_window, window_grid, name, wrong), *on_grid[1:])
        yield broken(refused[0], f"{title}, refusals", partial(by_window, window_refusals, name, wrong), *refused[1:])
    for store, number, due in STORES:
        yield broken(due[0], store.__name__, partial(by_run, RUNS[number], with_store(store)), *due[1:])
    for host, number, due in HOSTS:
        yield broken(due[0], host.__name__, partial(by_run, RUNS[number], with_host(host)), *due[1:])
    yield broken("DEC-INT", "WrongLogits", partial(by_run, RUNS[0], Parts(decoder=planted.WrongLogits)))
    late = Parts(planted.CountsTheContextThatIsDue, with_store(planted.GathersOneRowLate).paged)
    yield broken("WIN-1", "CountsTheContextThatIsDue", partial(by_run, RUNS[0], late), "HOST-GATHER", "HOST-PLAIN")
    plain = Parts(plain=planted.PlainGathersBackwards)
    yield broken("HOST-GATHER", "PlainGathersBackwards", partial(by_run, RUNS[0], plain))


def window_grid() -> Iterator[Found]:
    """The window rule on the grid of the decode stage."""
    return (check_window(window, sinks, range(1, 12)) for window, sinks in WINDOW_GRID)


def window_refusals() -> Iterator[Found]:
    """What the window rule must refuse."""
    yield check_refused_windows()


def by_window(parts: Callable[[], Iterator[Found]], name: str, wrong: Window) -> set[str]:
    """The rules that the host's window rule breaks with that function in the place of its own."""
    with patch.object(window_that_ships, name, wrong):
        return rules(parts())


def by_run(run: HostRun, parts: Parts = SHIPPED) -> set[str]:
    """The rules that break in that fixed run."""
    return {one.rule for _, differences in failing(run, parts) for one in differences}


def literals() -> Iterator[Case]:
    """The window rule against literals and brute force."""
    yield from asserted("WIN-1", test_window_rule.test_contexts_are_exactly_one_to_the_window)
    yield from asserted("WIN-1", test_window_rule.test_arguments_outside_the_window_rule_are_errors)
    reads = test_window_rule.test_a_step_reads_its_sinks_and_the_latest_rows_of_its_context
    for window, sinks in ((None, 0), (1, 0), (4, 0)):
        yield asserted_of("WIN-2", reads, window=window, sinks=sinks)
    yield from asserted(
        "WIN-3", test_window_rule.test_a_window_of_one_reads_nothing_and_holds_only_the_page_it_is_filling
    )
    yield from asserted("WIN-4", test_window_rule.test_the_recorded_run_of_32_tokens_has_its_counts_and_peak)
    yield from asserted("WIN-5", test_window_rule.test_the_bounds_without_sinks_are_those_of_the_reference)
    yield from asserted("WIN-6", test_window_rule.test_the_window_rule_holds_for_integers_of_any_size)
    pages = test_window_rule.test_page_counts_are_exact_and_the_bounds_are_reached
    yield asserted_of("WIN-4", pages, window=4, sinks=0)
    for window, sinks in ((4, 1), (5, 4)):
        yield asserted_of("WIN-6", reads, window=window, sinks=sinks)
        yield asserted_of("WIN-6", pages, window=window, sinks=sinks)


def differential() -> Iterator[Case]:
    """The window rule and the host's operations against the host that ships."""
    for parts in (window_grid, window_refusals):
        yield right(
            "WIN-1",
            f"the host that ships: {parts.__name__}",
            partial(by_window, parts, "context", window_that_ships.context),
        )
    for number, run in enumerate((*RUNS, PADDED)):
        yield right("HOST-GATHER", f"run {number} of the host that ships", partial(by_run, run))
