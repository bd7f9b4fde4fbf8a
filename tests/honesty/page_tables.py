"""The page table: answers and snapshots broken by hand, what each operation is refused for, and the cache that ships."""

from collections.abc import Iterator
from functools import partial

from spec.operations import (
    Accepted,
    Append,
    Fork,
    New,
    Operation,
    Outcome,
    Read,
    Reason,
    Refused,
    Release,
    Trim,
    Truncate,
)
from spec.page_table import step
from tests import test_oracle
from tests.honesty.case import Case, asserted, broken, right
from tests.planted import Moving
from tests.test_refinement import (
    BROKEN,
    GOOD,
    SHARER,
    Blind,
    Forgetful,
    Torn,
    broken_by,
    rules,
    state,
    with_request,
)
from verify.bounds import Scope
from verify.explore import Search
from verify.literals import literal_differences
from verify.lockstep import replay
from verify.page_table_suite import witness_stage
from verify.refinement import Difference, Mapped, check_in_place, check_state, outcome_differences
from verify.target import Raised, RequestView, Snapshot
from verify.targets.shipped import ShippedCache

SCOPES = (Scope(1, 2, 2, 2, sinks=0), Scope(3, 1, 1, 3, sinks=1))
"""Forks and a full pool in one, sinks and released pages in the other; the saved witnesses copy shared pages."""

ALSO: dict[str, tuple[str, ...]] = {
    "PT-FREE": ("PT-PAGES",),
    "PT-LEAK": ("PT-PAGES",),
    "PT-PAGES": ("PT-OWN", "PT-FREE"),
    "PT-SHARE": ("PT-PAGES",),
}
"""What else of tests.test_refinement.BROKEN a snapshot breaks besides its rule."""

OWN_PAGE = (Append(2, (9,)),)
"""After these, request 2 of the snapshot holds a row in a page of its own."""

SNAPSHOTS: tuple[tuple[str, Snapshot, tuple[str, ...]], ...] = (
    ("too few counts", GOOD._replace(counts=(0, 2, 2, 0)), ("PT-OWN", "PT-FREE")),
    ("a free page outside the pool", GOOD._replace(free=(4, 3, 99)), ("PT-FREE", "PT-LEAK")),
    ("a free page that is held", GOOD._replace(free=(4, 3, 0, 2)), ("PT-FREE", "PT-PAGES")),
    ("a page of too few off the free list", GOOD._replace(counts=None, free=(4, 3)), ("PT-LEAK", "PT-PAGES")),
    ("pages of sinks that it has not", with_request(2, RequestView(0, (0, 0), (), (), 1)), ("PT-HOLE",)),
    ("a row that is no token's", with_request(0, SHARER._replace(rows=(3, None, 5))), ("PT-ROWS",)),
)


WRONG_ANSWERS: tuple[Raised | None, ...] = (Raised("IndexError", "list index"), None)


def honesty() -> Iterator[Case]:
    """Snapshots, answers and targets broken by hand, one or more for each rule, and right ones."""
    yield right("PT-TOTAL", "a true snapshot", partial(rules, GOOD))
    for rule, snapshot in BROKEN.items():
        yield broken(rule, f"a snapshot that breaks {rule}", partial(rules, snapshot), *ALSO.get(rule, ()))
    for name, snapshot, due in SNAPSHOTS:
        yield broken(due[0], name, partial(rules, snapshot), *due[1:])
    for name, page, due in (
        ("a page of its own", 3, ()),
        ("a page that is another's", 2, ("PT-SHARE",)),
        ("a page outside the pool", 77, ("PT-SHARE",)),
    ):
        yield Case(name, "PT-SHARE", partial(of_own_page, page), frozenset(due))
    yield broken("PT-INPLACE", "a page that moves", partial(in_place, {7: 1, 8: 3, 9: 2}))
    yield right("PT-INPLACE", "pages that stay", partial(in_place, {7: 1, 8: 2, 9: 3}))
    for target, operation, rule in (
        (Forgetful, Append(7, (1,)), "PT-REFUSE"),
        (Forgetful, Trim(0, 99), "PT-REFUSE"),
        (Blind, Append(0, (1,)), "PT-TOTAL"),
        (Torn, Append(0, (1,)), "PT-ROWS"),
    ):
        yield broken(rule, f"{target.__name__}, {operation}", partial(by_target, target, operation))
        yield right(rule, f"the cache that ships, {operation}", partial(by_target, ShippedCache, operation))
    yield right("PT-INPLACE", "the cache that ships, an append", partial(by_append, ShippedCache))
    yield broken("PT-INPLACE", "Moving, an append", partial(by_append, Moving))
    yield from answers()


def answers() -> Iterator[Case]:
    """Wrong answers to what is due, each told by its rule; and the right ones."""
    refusals = [Refused(reason) for reason in Reason]
    for due in refusals:
        rule = due.reason.value
        yield right(rule, f"refused, {rule}", partial(by_answer, due, due))
        others: list[Outcome] = [Accepted(), *(other for other in refusals if other != due)]
        for wrong in others:
            yield broken(rule, f"{wrong} for {due}", partial(by_answer, due, wrong))
        yield broken(rule, f"an error for {due}", partial(by_answer, due, Raised("KeyError", "7")), "PT-TOTAL")
        yield broken(rule, f"{due} for an acceptance", partial(by_answer, Accepted(), due))
    for wrong_answer in WRONG_ANSWERS:
        yield broken("PT-TOTAL", f"{wrong_answer} for an acceptance", partial(by_answer, Accepted(), wrong_answer))
    rows = step(state(), Read(0, 2, 5))[1]
    yield broken("PT-ROWS", "other rows", partial(by_answer, rows, Accepted((3, 4, 4))))
    yield right("PT-ROWS", "the rows", partial(by_answer, rows, Accepted((3, 4, 5))))


def of_own_page(page: int) -> set[str]:
    """The rules that a snapshot breaks in which request 2 has its one row in this page; counts and free list not shown."""
    own, _ = step(state(), *OWN_PAGE)
    differences: list[Difference] = []
    views = {**GOOD.requests, 2: RequestView(1, (0, 0), (page,), (9,))}
    check_state(own, Snapshot(views, None, None), differences)
    return {difference.rule for difference in differences}


def in_place(now: Mapped) -> list[str]:
    """The rules that these pages of cells break, which were 1 and 2 of 7 and 8."""
    differences: list[Difference] = []
    check_in_place({7: 1, 8: 2}, now, differences)
    return [difference.rule for difference in differences]


def by_target(target: type[ShippedCache], operation: Operation) -> set[str]:
    """The rules that the operation breaks on that target."""
    return broken_by(target(5, 2), operation)


def by_append(target: type[ShippedCache]) -> set[str]:
    """The rules that the second of two appends breaks on that target."""
    run = replay((New(0), Append(0, (1,)), Append(0, (2,))), 5, 2, target)
    return {difference.rule for difference in run.differences}


def by_answer(due: Outcome, answer: Outcome | Raised | None) -> list[str]:
    """The rules that the answer breaks."""
    return [difference.rule for difference in outcome_differences(due, answer)]  # type: ignore[arg-type]


REFUSED: tuple[tuple[Operation, Reason], ...] = (
    *(
        (operation, Reason.UNKNOWN_REQUEST)
        for operation in (Append(9, ()), Fork(9, 0, 99), Trim(9, 99), Truncate(9, 99))
    ),
    *((operation, Reason.UNKNOWN_REQUEST) for operation in (Release(9), Read(9, 3, 1))),
    *((operation, Reason.DUPLICATE_REQUEST) for operation in (New(0, -1), Fork(0, 0, 5), Fork(0, 1, 99))),
    *((operation, Reason.BAD_ARGUMENT) for operation in (New(9, -1), Append(0, ()), Fork(0, 9, 6), Fork(0, 9, -1))),
    *((operation, Reason.BAD_ARGUMENT) for operation in (Trim(0, 6), Trim(0, -1), Truncate(0, 6), Truncate(0, -1))),
    *((operation, Reason.BAD_ARGUMENT) for operation in (Read(0, 3, 6), Read(0, -1, 2), Read(0, 4, 3))),
    *((operation, Reason.ROWS_RELEASED) for operation in (Fork(0, 9, 1), Truncate(0, 1), Read(0, 1, 3), Read(0, 0, 1))),
    # Three pages are free; request 0 copies its shared last page first.
    *((operation, Reason.OUT_OF_PAGES) for operation in (Append(2, (7,) * 7), Append(0, (7,) * 6))),
)
"""In the state of tests.test_refinement: each operation with the one reason that it is refused for, worked out by hand."""

ACCEPTED: tuple[Operation, ...] = (
    New(9, 0),
    Append(2, (7,) * 6),
    Append(0, (7,) * 5),
    Fork(0, 9, 0),
    Fork(0, 9, 2),
    Fork(0, 9, 5),
    Trim(0, 5),
    Trim(0, 0),
    Truncate(0, 2),
    Truncate(0, 5),
    Release(0),
    Read(0, 2, 5),
    Read(0, 1, 1),
)
"""There, what is just not refused."""


def literals() -> Iterator[Case]:
    """The oracle against what is worked out by hand."""
    for operation, reason in REFUSED:
        yield right(reason.value, f"{operation}", partial(refused, operation, reason))
    for accepted in ACCEPTED:
        yield right("PT-TOTAL", f"{accepted}", partial(not_refused, accepted))
    yield right("PT-REFUSE", "what is refused, and what is read", unchanged)
    yield from asserted("PT-OWN", test_oracle.test_the_fork_of_the_reference_shares_three_cells_and_copies_one)
    yield from asserted("PT-HOLE", test_oracle.test_event_trace_a_reads_holds_and_drops_what_the_reference_says)
    yield from asserted("PT-TOTAL", test_oracle.test_a_pool_of_no_size_and_a_step_that_is_no_operation_are_errors)


def differential() -> Iterator[Case]:
    """The oracle against the cache that ships: the saved witnesses, the tables of the reference, and small scopes."""
    yield right("PT-TOTAL", "the saved witnesses", lambda: witness_stage(None).broken)
    yield right("PT-TOTAL", "the tables of the reference", lambda: {one.rule for one in literal_differences()[0]})
    for scope in SCOPES:
        yield right("PT-TOTAL", f"{scope}", partial(searched, scope))


def refused(operation: Operation, reason: Reason) -> list[str]:
    """The rules of the reasons that the oracle has instead of that one."""
    outcome = step(state(), operation)[1]
    return [] if outcome == Refused(reason) else [reason.value]


def not_refused(operation: Operation) -> list[str]:
    """The rule of the reason for which the oracle refuses the operation."""
    outcome = step(state(), operation)[1]
    return [outcome.reason.value] if isinstance(outcome, Refused) else []


def unchanged() -> list[str]:
    """PT-REFUSE when a refusal or a read gives another state."""
    before = state()
    asked: list[Operation] = [*(operation for operation, _ in REFUSED), Read(0, 2, 5)]
    return [] if all(step(before, operation)[0] is before for operation in asked) else ["PT-REFUSE"]


def searched(scope: Scope) -> set[str]:
    """The rules that the cache that ships breaks in the scope."""
    return {one.rule for failure in Search(scope, ShippedCache).run().failures for one in failure.differences}
