"""The host's checks are shown planted faults and must reject each by its rule; the searches must find them."""

from collections.abc import Callable
from typing import Any

import pytest

import impl.host
import impl.window
import tests.planted_hosts as planted
from impl.host import Host
from impl.row_store import PagedStore
from tests.planted_hosts import with_host, with_store
from verify.explore import StepsExhausted
from verify.host.lockstep import SHIPPED, HostLockstep, Parts
from verify.host.machine import search_hosts_at_random
from verify.host.operations import Admit, Advance, ForkRequest, HostOperation, Rollback
from verify.host.poison import PATTERNS, overwrite, read_next
from verify.host.situations import HOST_SITUATIONS
from verify.host.suite import PROMPT, RUNS, advances, host_differences, host_stage

STORES: tuple[tuple[type[PagedStore], set[str]], ...] = (
    (planted.GathersOneRowLate, {"HOST-GATHER", "HOST-PLAIN", "WIN-1"}),
    (planted.GathersOneRowTooMany, {"HOST-GATHER", "WIN-1"}),
    (planted.GathersValuesAsKeys, {"HOST-GATHER", "HOST-PLAIN"}),
    (planted.GathersBackwards, {"HOST-GATHER"}),
    (planted.GathersSinksAlone, {"HOST-GATHER", "WIN-1"}),
    (planted.WritesKeysAsValues, {"PT-ROWS"}),
    (planted.NeverTrims, {"WIN-4", "WIN-5", "PT-HOLE", "PT-PAGES"}),
    (planted.TrimsOneTokenLate, {"WIN-4"}),
    (planted.TrimsAPageTooMuch, {"WIN-4", "PT-HOLE"}),
    (planted.ForgetsPages, {"PT-OWN"}),
    (planted.TakesAPageBeforeRefusing, {"HOST-REFUSE"}),
    (planted.ReadsAFreePage, {"HOST-POISON"}),
)
HOSTS: tuple[tuple[type[Host], set[str]], ...] = (
    (planted.MiscountsTheContext, {"WIN-1"}),
    (planted.MiscountsThePages, {"WIN-4"}),
    (planted.ForgetsThePeak, {"PT-PAGES"}),
    (planted.ChangesTheOutput, {"HOST-TOKENS"}),
    (planted.FeedsOneTokenOfAChunk, {"HOST-TOKENS"}),
    (planted.TellsAnotherToken, {"HOST-TOKENS"}),
    (planted.ReportsTheStepBefore, {"HOST-TOKENS"}),
    (planted.KeepsWhatARefusedStepFed, {"HOST-REFUSE"}),
    (planted.DisturbsAnotherWhenRefused, {"HOST-REFUSE"}),
    (planted.StartsWhatItDoesNotAdmit, {"HOST-REFUSE"}),
    (planted.AdmitsAnything, {"HOST-ADMIT"}),
    (planted.AdmitsToAnEmptyPoolAlone, {"HOST-ADMIT"}),
    (planted.CutsWhereRowsAreGone, {"HOST-ROLLBACK"}),
    (planted.RefusesEveryCut, {"HOST-ROLLBACK"}),
    (planted.KeepsTokensOfARollback, {"HOST-ROLLBACK"}),
    (planted.TruncatesBeforeRefusing, {"HOST-REFUSE"}),
    (planted.NeverPads, {"HOST-PAD"}),
    (planted.PadsAWholePage, {"HOST-PAD"}),
    (planted.PadsWithTheNextToken, {"HOST-PAD"}),
    (planted.Raises, {"PT-TOTAL", "BadArgument"}),
)
OTHERS: tuple[tuple[Parts, set[str]], ...] = (
    (Parts(decoder=planted.WrongLogits), {"DEC-INT"}),
    (Parts(plain=planted.PlainGathersBackwards), {"HOST-GATHER"}),
)


def named(value: object) -> str | None:
    return value.__name__ if isinstance(value, type) else None


def broken(operations: tuple[HostOperation, ...], parts: Parts, pages: int = 8, page_size: int = 2) -> set[str]:
    """The rules broken at the first operation with a difference."""
    run = HostLockstep("random-1-16", pages, page_size, parts=parts)
    for operation in operations:
        differences = run.apply(operation)
        if differences:
            return {difference.rule for difference in differences}
    return set()


def stage_breaks(parts: Parts) -> set[str]:
    return {difference.rule for difference in host_differences(parts)[0]}


def test_the_fixed_runs_find_nothing_in_the_shipped_host() -> None:
    differences, steps = host_differences()
    assert differences == []
    assert steps == sum(len(run.operations) for run in RUNS)
    assert host_stage(None).verdict == "pass"


def test_the_stage_ends_when_its_budget_is_spent() -> None:
    with pytest.raises(StepsExhausted):
        host_stage(10)


@pytest.mark.parametrize(("store", "rules"), STORES, ids=named)
def test_a_faulty_store_is_rejected_by_its_rules(store: type[PagedStore], rules: set[str]) -> None:
    assert rules <= stage_breaks(with_store(store))


@pytest.mark.parametrize(("host", "rules"), HOSTS, ids=named)
def test_a_faulty_host_is_rejected_by_its_rule(host: type[Host], rules: set[str]) -> None:
    assert rules <= stage_breaks(with_host(host))


@pytest.mark.parametrize(("parts", "rules"), OTHERS)
def test_a_faulty_decoder_or_plain_list_is_rejected_by_its_rule(parts: Parts, rules: set[str]) -> None:
    assert rules <= stage_breaks(parts)


@pytest.mark.parametrize(
    ("name", "wrong", "rules"),
    [
        (
            "gather_ranges",
            lambda right: lambda step, window, sinks=0: right(step, window and window + 1, sinks),
            {"WIN-1"},
        ),
        ("gather_ranges", lambda right: lambda step, window, sinks=0: right(step, window, 0), {"HOST-GATHER"}),
        ("keep_from", lambda right: lambda step, window, sinks=0: max(0, right(step, window, sinks) - 1), {"WIN-4"}),
        ("keep_from", lambda right: lambda step, window, sinks=0: right(step, window, 0), {"WIN-4", "PT-HOLE"}),
    ],
)
def test_a_faulty_window_rule_is_rejected_by_its_rule(
    monkeypatch: pytest.MonkeyPatch, name: str, wrong: Callable[[Any], Any], rules: set[str]
) -> None:
    monkeypatch.setattr(impl.host, name, wrong(getattr(impl.host, name)))
    assert rules <= stage_breaks(SHIPPED)


def test_a_fault_that_only_counts_breaks_no_other_rule() -> None:
    assert stage_breaks(with_host(planted.MiscountsTheContext)) == {"WIN-1"}
    assert stage_breaks(with_host(planted.MiscountsThePages)) == {"WIN-4"}
    assert stage_breaks(with_host(planted.TellsAnotherToken)) == {"HOST-TOKENS"}


def test_a_wrong_context_is_told_from_a_wrong_decoder() -> None:
    operations: tuple[HostOperation, ...] = (Admit(0, PROMPT), *advances(0, rounds=4))
    assert "DEC-INT" not in broken(operations, with_store(planted.GathersValuesAsKeys))
    assert broken(operations, Parts(decoder=planted.WrongLogits)) == {"DEC-INT"}, "both hosts have the same decoder"


def test_a_chunk_that_is_not_appended_whole_is_rejected_when_it_is_refused() -> None:
    operations = (Admit(0, PROMPT, chunk=8), Advance(0))
    assert broken(operations, with_store(planted.AppendsInTwoParts), pages=3) == {"HOST-REFUSE"}
    assert broken(operations, SHIPPED, pages=3) == set()


def test_a_window_one_too_wide_is_seen_where_its_row_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paged host cannot read the row and refuses; the plain host shows the context."""
    right = impl.window.gather_ranges
    monkeypatch.setattr(impl.host, "gather_ranges", lambda step, window, sinks: right(step, window + 1, sinks))
    assert {"WIN-1", "RowsReleased"} <= broken(
        (Admit(0, PROMPT, window=3), *advances(0, rounds=6)), SHIPPED, page_size=1
    )


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_store_that_reads_beyond_the_window_is_rejected_once_the_pool_is_poisoned(pattern: str) -> None:
    """Bytes that look like a row do not show here, only bytes whose key and value are alike."""
    run = HostLockstep("random-1-16", 8, 2, parts=with_store(planted.StillReadsTheRowBeforeTheWindow))
    run.apply(Admit(0, PROMPT, window=4))
    for advance in advances(0, rounds=8):
        assert run.apply(advance) == []
    assert overwrite(run, pattern, read_next) == 1
    rules = {difference.rule for difference in run.apply(Advance(0))}
    assert ({"HOST-POISON", "HOST-GATHER", "HOST-PLAIN"} <= rules) == bool(rules) == (pattern in ("lowest", "highest"))


def test_poison_that_takes_a_row_in_reach_is_seen() -> None:
    """The definition says what may be overwritten: with one row fewer in reach a result changes, and HOST-POISON says so."""
    run = HostLockstep("random-1-16", 8, 2)
    run.apply(Admit(0, PROMPT, window=4))
    for advance in advances(0, rounds=8):
        assert run.apply(advance) == []
    overwrite(
        run, "noise", lambda state: {request: frozenset(sorted(rows)[1:]) for request, rows in read_next(state).items()}
    )
    assert "HOST-POISON" in {difference.rule for difference in run.apply(Advance(0))}


MACHINE_FINDS: tuple[tuple[Parts, str], ...] = (
    (with_store(planted.GathersOneRowLate), "HOST-GATHER"),
    (with_store(planted.TrimsOneTokenLate), "WIN-4"),
    (with_store(planted.ReadsAFreePage), "HOST-POISON"),
    (with_store(planted.AppendsInTwoParts), "HOST-REFUSE"),
    (with_host(planted.CutsWhereRowsAreGone), "HOST-ROLLBACK"),
    (with_host(planted.NeverPads), "HOST-PAD"),
    (with_host(planted.AdmitsAnything), "HOST-ADMIT"),
    (with_host(planted.ChangesTheOutput), "HOST-TOKENS"),
)


@pytest.mark.parametrize(("parts", "rule"), MACHINE_FINDS)
def test_the_random_search_finds_a_planted_fault_by_its_rule(parts: Parts, rule: str) -> None:
    tally = search_hosts_at_random(25, 30, parts, shrinking=False)
    assert tally.failure is not None
    assert rule in {difference.rule for difference in tally.failure.differences}


def test_a_failure_of_the_random_search_is_shrunk_to_its_few_operations() -> None:
    tally = search_hosts_at_random(25, 30, with_host(planted.MiscountsTheContext))
    assert tally.failure is not None
    assert [type(operation) for operation in tally.failure.operations] == [Admit, Advance]


def test_the_random_search_says_which_situations_it_met() -> None:
    tally = search_hosts_at_random(12, 30)
    assert tally.failure is None
    assert set(tally.situations) <= set(HOST_SITUATIONS)
    assert len(tally.situations) > len(HOST_SITUATIONS) // 2
    assert tally.steps == sum(tally.operations.values()) - tally.operations["poison"]


def test_an_empty_search_meets_nothing() -> None:
    assert not search_hosts_at_random(1, 1).situations.keys() >= set(HOST_SITUATIONS)


def test_the_differences_say_what_was_handed_over() -> None:
    run = HostLockstep("random-1-16", 8, 2, parts=with_store(planted.GathersValuesAsKeys))
    run.apply(Admit(0, (3, 14)))
    run.apply(Advance(0))
    (gather,) = (difference for difference in run.apply(Advance(0)) if difference.rule == "HOST-GATHER")
    assert gather.oracle == "step 2 of request 0 attends keys and values of [3]"
    assert gather.target == "keys of [?], values of [3]"


def test_a_rule_names_who_broke_it() -> None:
    rolled = broken(
        (Admit(0, PROMPT, window=2), *advances(0, rounds=6), Rollback(0, 2)), with_host(planted.TruncatesBeforeRefusing)
    )
    assert rolled == {"HOST-REFUSE"}
    padded = (Admit(0, PROMPT), Advance(0), ForkRequest(0, 1, padded=True))
    assert broken(padded, with_host(planted.NeverPads)) >= {"HOST-PAD"}
