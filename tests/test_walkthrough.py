"""A walkthrough is the witness as it ran: what each step shows, what changed in it, and where it is wrong."""

from dataclasses import replace

import pytest

from spec.operations import Accepted, Append, Fork, New, Operation, Outcome, Release, Trim, Truncate
from tests.planted import Leaking, Overwriting, Raising, Uncopied, Uncounted
from verify.findings import broken_rules
from verify.lockstep import replay
from verify.refinement import Difference
from verify.stage import SAVED_WITNESSES
from verify.target import ALL_OPERATIONS, COUNTS, FREE, Capabilities, Snapshot
from verify.targets.shipped import ShippedCache
from verify.view.step_view import MOST_POOL_PAGES, chosen, named
from verify.view.steps import FreePage, LogicalPage, Owner, Pair, PoolPage, RequestStep, Row, Slot, Step
from verify.view.walkthrough import walk
from verify.witness import Witness

FORK = Witness(4, 2, (New(0), Append(0, (1, 2, 3)), Fork(0, 1, 3), Append(1, (4,)), Trim(0, 2)), ("PT-SHARE",))
"""A fork in the middle of a page, an append that has to copy that page, a trim of a shared page."""

LIVE, NEVER = "live", "never"


def slots(*states: tuple[str, int | None, bool]) -> tuple[Slot, ...]:
    """Slots 0, 1, ... of a page."""
    return tuple(Slot(index, *state) for index, state in enumerate(states))


EMPTY_PAGE = slots((NEVER, None, False), (NEVER, None, False))
COPIED = Step(
    number=4,
    call="append(1, [4])",
    outcome=Pair("accepted", "accepted"),
    changes=(
        "request 1: 3 -> 4 rows, pages 0 1 -> 0 2",
        "page 1: count 2 -> 1",
        "page 2: count 0 -> 1, leaves the free list, slots 0 1 now live",
    ),
    requests=(
        RequestStep(
            request=0,
            sinks=0,
            length=Pair("3", "3"),
            released=Pair("none", "none"),
            held=Pair("2", "2"),
            table=(
                LogicalPage(0, 0, 2, 2, False, (Row(0, "1", "1", False), Row(1, "2", "2", False)), False, False),
                LogicalPage(1, 1, 1, 1, False, (Row(2, "3", "3", False),), False, False),
            ),
            changed=False,
            wrong=False,
        ),
        RequestStep(
            request=1,
            sinks=0,
            length=Pair("4", "4"),
            released=Pair("none", "none"),
            held=Pair("2", "2"),
            table=(
                LogicalPage(0, 0, 2, 2, False, (Row(0, "1", "1", False), Row(1, "2", "2", False)), False, False),
                LogicalPage(1, 2, 1, 1, False, (Row(2, "3", "3", False), Row(3, "4", "4", True)), True, False),
            ),
            changed=True,
            wrong=False,
        ),
    ),
    pool=(
        PoolPage(0, 2, (), (Owner(0, 0), Owner(1, 0)), slots((LIVE, 1, False), (LIVE, 2, False)), False, False),
        PoolPage(1, 1, (), (Owner(0, 1),), slots((LIVE, 3, False), (NEVER, None, False)), True, False),
        PoolPage(2, 1, (), (Owner(1, 1),), slots((LIVE, 3, True), (LIVE, 4, True)), True, False),
        PoolPage(3, 0, (0,), (), EMPTY_PAGE, False, False),
    ),
    free=(FreePage(0, 3, False),),
    free_total=1,
    used=Pair("3", "3"),
    broken=(),
)
TRIMMED = replace(
    COPIED,
    number=5,
    call="trim(0, keep_from=2)",
    changes=("request 0: pages 0 1 -> 1, released logical pages none -> 0", "page 0: count 2 -> 1"),
    requests=(
        RequestStep(
            request=0,
            sinks=0,
            length=Pair("3", "3"),
            released=Pair("0", "0"),
            held=Pair("1", "1"),
            table=(
                LogicalPage(0, None, 0, 0, True, (), True, False),
                LogicalPage(1, 1, 1, 1, False, (Row(2, "3", "3", False),), False, False),
            ),
            changed=True,
            wrong=False,
        ),
        RequestStep(
            request=1,
            sinks=0,
            length=Pair("4", "4"),
            released=Pair("none", "none"),
            held=Pair("2", "2"),
            table=(
                LogicalPage(0, 0, 1, 1, False, (Row(0, "1", "1", False), Row(1, "2", "2", False)), False, False),
                LogicalPage(1, 2, 1, 1, False, (Row(2, "3", "3", False), Row(3, "4", "4", False)), False, False),
            ),
            changed=False,
            wrong=False,
        ),
    ),
    pool=(
        PoolPage(0, 1, (), (Owner(1, 0),), slots((LIVE, 1, False), (LIVE, 2, False)), True, False),
        PoolPage(1, 1, (), (Owner(0, 1),), slots((LIVE, 3, False), (NEVER, None, False)), False, False),
        PoolPage(2, 1, (), (Owner(1, 1),), slots((LIVE, 3, False), (LIVE, 4, False)), False, False),
        PoolPage(3, 0, (0,), (), EMPTY_PAGE, False, False),
    ),
)


def wrong_places(step: Step) -> list[object]:
    """All that a step marks as wrong."""
    rows = [row for request in step.requests for page in request.table for row in page.rows if row.oracle != row.target]
    tables = [page for request in step.requests for page in request.table if page.wrong]
    pages = [page for page in step.pool if page.wrong]
    return [*rows, *tables, *pages, *(request for request in step.requests if request.wrong), *step.broken]


def test_each_step_shows_tables_rows_pages_counts_and_the_free_list() -> None:
    steps = walk(FORK, ShippedCache).steps
    assert [step.number for step in steps] == [0, 1, 2, 3, 4, 5]
    assert steps[0].free == (FreePage(0, 3, False), FreePage(1, 2, False), FreePage(2, 1, False), FreePage(3, 0, False))
    assert steps[4] == COPIED
    assert steps[5] == TRIMMED


@pytest.mark.parametrize("witness", SAVED_WITNESSES.values(), ids=SAVED_WITNESSES)
def test_a_passing_witness_has_every_step_and_no_wrong_mark(witness: Witness) -> None:
    walkthrough = walk(witness, ShippedCache)
    assert len(walkthrough.steps) == len(witness.operations) + 1
    assert walkthrough.not_run == ()
    assert [wrong_places(step) for step in walkthrough.steps] == [[] for _ in walkthrough.steps]


@pytest.mark.parametrize("target", [Leaking, Uncounted, Uncopied, Overwriting])
def test_a_walkthrough_ends_where_a_replay_finds_the_difference(target: type[ShippedCache]) -> None:
    witness = replace(FORK, operations=(*FORK.operations, Release(1), Release(0)))
    run = replay(witness.operations, witness.pages, witness.page_size, target)
    walkthrough = walk(witness, target)
    assert run.differences
    assert walkthrough.last.broken == tuple(broken_rules(run.differences))
    assert walkthrough.last.number == walkthrough.applied == len(run.applied)
    assert len(walkthrough.not_run) == len(witness.operations) - len(run.applied)
    assert all(wrong_places(step) == [] for step in walkthrough.steps[:-1])
    assert any(page.wrong for page in walkthrough.last.pool) or any(r.wrong for r in walkthrough.last.requests)


def test_a_page_that_should_have_been_copied_is_marked_where_it_is_shared() -> None:
    last = walk(FORK, Uncopied).last
    assert [item.rule for item in last.broken] == ["PT-SHARE", "PT-PAGES"]
    assert [page.page for page in last.pool if page.wrong] == [1]
    marked = [
        (r.request, page.logical, page.owners, page.owners_due) for r in last.requests for page in r.table if page.wrong
    ]
    assert marked == [(0, 1, 2, 1), (1, 1, 2, 1)]
    assert not last.used.same


def test_a_row_that_reads_back_wrong_shows_both_sides() -> None:
    last = walk(Witness(2, 2, (New(0), Append(0, (1, 2)), Append(0, (3,)))), Overwriting).last
    assert last.number == 2
    assert last.requests[0].table[0].rows == (Row(0, "1", "2", True), Row(1, "2", "2", True))


class Deaf(ShippedCache):
    """Accepts the second row of a request and keeps nothing of it."""

    def apply(self, operation: Operation) -> Outcome:
        return Accepted() if operation == Append(0, (2,)) else super().apply(operation)


def test_a_page_that_stays_as_it_was_where_it_must_change_shows_both_sides() -> None:
    table = walk(Witness(2, 2, (New(0), Append(0, (1,)), Append(0, (2,)))), Deaf).last.requests[0].table
    assert [(page.rows, page.wrong) for page in table] == [((Row(0, "1", "1", False), Row(1, "2", "", False)), True)]


def test_a_leak_is_marked_at_its_page() -> None:
    last = walk(Witness(2, 2, (New(0), Append(0, (1,)), Release(0))), Leaking).last
    assert [(page.page, page.free) for page in last.pool if page.wrong] == [(0, ())]
    assert last.used == Pair("0", "1")
    assert last.changes[0] == "request 0 ends; it held page 0"


def test_a_slot_keeps_the_token_last_read_there_until_its_page_is_taken_again() -> None:
    operations = (New(0), Append(0, (1, 2, 3)), Truncate(0, 1), New(1), Append(1, (4,)))
    _, _, _, cut, _, again = walk(Witness(2, 2, operations), ShippedCache).steps
    assert cut.pool[0].slots == slots((LIVE, 1, False), ("stale", 2, True))
    assert cut.pool[1].slots == slots(("stale", 3, True), (NEVER, None, False))
    assert again.pool[1].slots == slots((LIVE, 4, True), (NEVER, None, False))
    refilled = walk(Witness(1, 2, (New(0), Append(0, (1, 2)), Release(0), New(0), Append(0, (5,)))), ShippedCache)
    assert refilled.last.pool[0].slots == slots((LIVE, 5, True), ("stale", None, True))


class Silent(ShippedCache):
    """Does not tell which slots were written, and offers no trim."""

    capabilities = Capabilities("a silent cache", ALL_OPERATIONS - {Trim})

    def written(self) -> tuple[bytes, ...]:
        raise NotImplementedError


def test_of_a_target_that_does_not_tell_a_slot_is_known_only_once_it_was_read() -> None:
    operations = (New(0), Append(0, (1,)), Trim(0, 1), Release(0))
    walkthrough = walk(Witness(1, 2, operations), Silent)
    assert walkthrough.steps[3].outcome.target == "does not offer this operation, left out"
    assert (walkthrough.applied, walkthrough.broken) == (3, ())
    assert walkthrough.last.pool[0].slots == slots(("stale", 1, True), ("unknown", None, False))


class Uncounting(ShippedCache):
    """Shows neither counts nor a free list."""

    capabilities = Capabilities("an uncounting cache", not_observed=(COUNTS, FREE))

    def observe(self) -> Snapshot:
        return Snapshot(super().observe().requests, None, None)


def test_what_a_target_does_not_show_is_not_made_up() -> None:
    walkthrough = walk(FORK, Uncounting)
    assert walkthrough.broken == ()
    assert {(page.count, page.free) for step in walkthrough.steps for page in step.pool} == {(None, None)}
    assert (walkthrough.last.free, walkthrough.last.free_total, walkthrough.last.used) == ((), None, Pair("3", "3"))
    assert "page 0: other owners" in walkthrough.last.changes


class Unseen(ShippedCache):
    """Cannot be looked at once a request was forked, and answers nonsense then."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        return "done" if isinstance(operation, Fork) else outcome  # type: ignore[return-value]

    def observe(self) -> Snapshot:
        if len(self.cache.table.tables) > 1:
            raise KeyError("<b>lost</b>")
        return super().observe()


def test_a_target_that_cannot_be_looked_at_says_why_and_what_it_answered() -> None:
    walkthrough = walk(FORK, Unseen)
    assert walkthrough.last.unseen == "KeyError: '<b>lost</b>'"
    assert walkthrough.last.outcome == Pair("accepted", "answered 'done'")
    assert walkthrough.broken == ("PT-TOTAL",)


def test_an_exception_is_what_the_target_answered() -> None:
    last = walk(Witness(1, 1, (New(0), Truncate(0, -1))), Raising).last
    assert last.outcome == Pair("refused, BadArgument", "raised IndexError: list index out of range")


def test_of_a_long_run_the_last_steps_are_kept_and_the_broken_one_always() -> None:
    operations: tuple[Operation, ...] = (New(0), *(Append(0, (token,)) for token in range(1, 30)), Release(0))
    walkthrough = walk(Witness(16, 2, operations), ShippedCache, most_steps=5)
    assert [step.number for step in walkthrough.steps] == [27, 28, 29, 30, 31]
    assert walkthrough.steps[1].changes == (
        "request 0: 26 -> 27 rows, "
        "pages 0 1 2 3 4 5 6 7 8 9 ... 12 (13 in all) -> 0 1 2 3 4 5 6 7 8 9 ... 13 (14 in all)",
        "page 13: count 0 -> 1, leaves the free list, slot 0 now live",
    )
    broken = walk(Witness(16, 2, (*operations, *operations)), Leaking, most_steps=5)
    assert [step.number for step in broken.steps] == [27, 28, 29, 30, 31]
    assert broken.broken == ("PT-LEAK", "PT-PAGES")


def test_of_a_large_pool_what_matters_is_drawn() -> None:
    operations = (New(0), Append(0, tuple(range(1, 401))), Trim(0, 398))
    walkthrough = walk(Witness(1000, 1, operations), ShippedCache)
    appended, trimmed = walkthrough.steps[2:]
    assert len(appended.pool) == len(trimmed.pool) == MOST_POOL_PAGES
    assert all(page.changed for page in appended.pool)
    assert trimmed.free_total == 998
    assert len(trimmed.free) == MOST_POOL_PAGES


def test_what_is_left_out_is_never_what_matters() -> None:
    numbers = list(range(20))
    assert chosen(numbers, [int(number == 11) for number in numbers], 5) == [0, 1, 11, 18, 19]
    assert chosen(numbers, [0] * 20, 4) == [0, 1, 18, 19]
    assert chosen(numbers, [1] * 18 + [2] * 2, 3) == [0, 18, 19]
    assert chosen(numbers, [0] * 20, 20) == numbers


@pytest.mark.parametrize(
    ("oracle", "target", "requests", "pages"),
    [
        ("page 1 has 2 table entries", "count 1", set(), {1}),
        ("a page of count 0 is on the free list", "pages [0, 12] are not", set(), {0, 12}),
        ("request 3 shares a page with 2 other requests", "pages 4 and 15 hold the shared rows", {3}, {4, 15}),
        ("request 1 has a page of its own", "page 2 is shared", {1}, {2}),
        ("pages 0..3", "request 0 names page 9", {0}, {9}),
        ("the rows stay in page 3", "now page 4", set(), {3, 4}),
        ("request 0 released pages (0, 1)", "(0, 0)", {0}, set()),
        ("4 pages in use", "3", set(), set()),
    ],
)
def test_the_places_that_a_difference_names_are_found(
    oracle: str, target: str, requests: set[int], pages: set[int]
) -> None:
    found_requests, found_pages = named(broken_rules([Difference("PT-OWN", oracle, target)]))
    assert (set(found_requests), set(found_pages)) == (requests, pages)
