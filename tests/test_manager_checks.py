"""The check of managers is shown a hand-broken answer or snapshot for every rule, and each search a planted fault."""

from dataclasses import replace

import pytest

import spec.rules
from spec.groups import Group
from spec.manager import State, Traits, initial, step
from spec.operations import (
    Accepted,
    Admit,
    Append,
    Commit,
    Fork,
    ManagerOperation,
    Outcome,
    Reason,
    Refused,
    Release,
)
from tests.oracle_manager import OracleManager
from tests.planted_managers import ChangesOnRefusal
from verify.managers.bounds import SCOPES, committing
from verify.managers.refinement import NOT_TAKEN, answer_differences, check_operation, check_state
from verify.managers.situations import SITUATIONS, TRIM_STAYS, possible
from verify.managers.target import ManagerSnapshot, ManagerView, Offer
from verify.managers.values import values
from verify.managers.walks import search_at_random
from verify.refinement import Difference, Seen
from verify.target import FarError, Raised
from verify.targets.prefix import PrefixManager

FULL = Group("full")
TRAITS = committing(10, 2, FULL, Group("window", 3))
HISTORY: tuple[ManagerOperation, ...] = (
    Admit(0, (1, 2, 3, 4, 5)),
    Commit(0),
    Fork(0, 1, 5),
    Release(0),
    Admit(2, (1, 2, 7)),
)
V = values((1, 2, 3, 4, 5))
U = values((1, 2, 7))


def state_after(*operations: ManagerOperation, traits: Traits = TRAITS) -> State:
    """The oracle's state after these, all accepted."""
    state = initial(traits)
    for operation in operations:
        state, outcome = step(state, operation)
        assert isinstance(outcome, Accepted), operation
    return state


STATE = state_after(*HISTORY)
ONE = ManagerView(5, ((0, 1, 2), (None, 4, 5)), (V, (None, None, *V[2:])))
TWO = ManagerView(3, ((0, 6), (3, 7)), ((*U[:2], None), (*U[:2], None)))
GOOD = ManagerSnapshot(
    {1: ONE, 2: TWO},
    (2, 1, 1, 1, 1, 1, 1, 1, 0, 0),
    (8, 9),
    2,
    ((0, 0, V[1]), (1, 0, V[3]), (3, 1, V[1]), (4, 1, V[3])),
)
"""Request 1 has 5 rows and lost its first page in the window; request 2 was served the first page of both groups."""

IDLE_STATE = state_after(*HISTORY[:3], Release(0), Release(1))
IDLE = ManagerSnapshot({}, (0,) * 10, (9, 8, 7, 6, 2, 5, 3, 1, 0, 4), 10, GOOD.published)
"""Nobody holds a page; the idle ones are reused in the order 3, 1, 0, 4, where 3 is the one that the window let go first."""
KNOWN = {cell: cell for cell in range(6)}
"""Both states stand on the pages that have the numbers of their cells."""


def rules(snapshot: ManagerSnapshot, state: State = STATE) -> set[str]:
    """The rules that the snapshot breaks."""
    differences: list[Difference] = []
    check_state(state, snapshot, differences, KNOWN)
    return {difference.rule for difference in differences}


def with_view(request: int, view: ManagerView) -> ManagerSnapshot:
    """The good snapshot with another view of one request."""
    return GOOD._replace(requests={**GOOD.requests, request: view})


def published(*entries: tuple[int, int, int]) -> ManagerSnapshot:
    """The good snapshot with these published pages instead of the last ones."""
    assert GOOD.published is not None
    return GOOD._replace(published=GOOD.published[: 4 - len(entries)] + entries)


def test_true_snapshots_break_no_rule() -> None:
    assert rules(GOOD) == set()
    assert rules(IDLE, IDLE_STATE) == set()


BROKEN: dict[str, tuple[str, ManagerSnapshot]] = {
    "a count too many": ("PT-OWN", GOOD._replace(counts=(3, *(GOOD.counts or ())[1:]))),
    "a page free twice": ("PT-FREE", GOOD._replace(free=(8, 9, 9))),
    "a held page free": ("PT-FREE", GOOD._replace(free=(8, 9, 4))),
    "a page outside the pool free": ("PT-FREE", GOOD._replace(free=(8, 9, 77))),
    "a lost page": ("PT-LEAK", GOOD._replace(free=(8,))),
    "more pages available": ("PT-PAGES", GOOD._replace(available=3)),
    "a longer table": ("PT-PAGES", with_view(1, ONE._replace(tables=((0, 1, 2, 8), (None, 4, 5))))),
    "a table too few": ("PT-PAGES", with_view(1, ONE._replace(tables=((0, 1, 2),)))),
    "a page not shared": ("PT-SHARE", with_view(2, TWO._replace(tables=((8, 6), (3, 7))))),
    "a page shared": ("PT-SHARE", with_view(2, TWO._replace(tables=((0, 6), (3, 6))))),
    "a page outside the pool": ("PT-SHARE", with_view(2, TWO._replace(tables=((0, 6), (3, 77))))),
    "a page moved": ("PT-INPLACE", with_view(1, ONE._replace(tables=((0, 1, 2), (None, 4, 8))))),
    "a wrong row": ("PT-ROWS", with_view(1, ONE._replace(rows=((*V[:4], U[2]), ONE.rows[1])))),
    "a row that cannot be read": ("PT-ROWS", with_view(1, ONE._replace(rows=(V, (None, None, None, *V[3:]))))),
    "rows of one group": ("PT-ROWS", with_view(1, ONE._replace(rows=(V,)))),
    "a row too few": ("PT-ROWS", with_view(1, ONE._replace(rows=(V[:4], ONE.rows[1])))),
    "a longer request": ("PT-LEN", with_view(2, TWO._replace(length=4))),
    "a released page held": ("PT-HOLE", with_view(1, ONE._replace(tables=((0, 1, 2), (3, 4, 5))))),
    "a held page released": ("PT-HOLE", with_view(1, ONE._replace(tables=((0, None, 2), (None, 4, 5))))),
    "a request missing": ("PT-LIVE", GOOD._replace(requests={1: ONE})),
    "another request": ("PT-LIVE", GOOD._replace(requests={**GOOD.requests, 3: TWO})),
    "a page published under another prefix": ("PRE-KEY", published((4, 1, U[1] + 1))),
    "a page published for another group": ("PRE-KEY", published((4, 0, V[3]))),
    "a page published twice": ("PRE-KEY", GOOD._replace(published=(*(GOOD.published or ()), (4, 1, V[3])))),
    "a page not published": ("PRE-PUBLISH", GOOD._replace(published=(GOOD.published or ())[:3])),
    "another page published": ("PRE-PUBLISH", GOOD._replace(published=(*(GOOD.published or ()), (2, 0, V[4])))),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_snapshot_is_rejected_by_its_rule(name: str) -> None:
    rule, snapshot = BROKEN[name]
    assert rule in rules(snapshot)


IDLE_BROKEN: dict[str, ManagerSnapshot] = {
    "the head before the tail": IDLE._replace(free=(9, 8, 7, 6, 2, 5, 3, 0, 1, 4)),
    "an idle page before a blank one": IDLE._replace(free=(9, 8, 7, 6, 2, 3, 5, 1, 0, 4)),
}


@pytest.mark.parametrize("name", IDLE_BROKEN)
def test_a_wrong_order_of_reuse_is_rejected(name: str) -> None:
    assert rules(IDLE_BROKEN[name], IDLE_STATE) == {"PRE-EVICT"}


def test_the_order_of_the_blank_pages_is_free() -> None:
    assert rules(IDLE._replace(free=(2, 7, 5, 6, 9, 8, 3, 1, 0, 4)), IDLE_STATE) == set()


def test_an_idle_page_taken_before_its_turn_breaks_the_order_of_reuse() -> None:
    state = state_after(*HISTORY[:3], Release(0), Release(1), Admit(3, (9,)))
    nothing = (None,)
    due = ManagerView(1, ((6,), (7,)), (nothing, nothing))
    taken = due._replace(tables=((6,), (0,)))
    counts, free = (0, 0, 0, 0, 0, 0, 1, 1, 0, 0), (9, 8, 2, 5, 3, 1, 0, 4)
    assert rules(ManagerSnapshot({3: due}, counts, free, 8, GOOD.published), state) == set()
    wrong = ManagerSnapshot(
        {3: taken}, (1, 0, 0, 0, 0, 0, 1, 0, 0, 0), (9, 8, 7, 2, 5, 3, 1, 4), 8, (GOOD.published or ())[1:]
    )
    assert rules(wrong, state) == {"PRE-EVICT"}


def test_what_is_not_shown_is_not_checked() -> None:
    for hidden in ("counts", "free", "published"):
        blind = ManagerSnapshot(
            GOOD.requests,
            None if hidden == "counts" else GOOD.counts,
            None if hidden == "free" else GOOD.free,
            GOOD.available,
            None if hidden == "published" else GOOD.published,
        )
        assert rules(blind) == set()
    assert rules(GOOD._replace(counts=None, free=(8,))) == {"PT-LEAK", "PT-PAGES"}
    assert "PT-ROWS" in rules(BROKEN["a wrong row"][1]._replace(counts=None, free=None, published=None))


def test_rows_that_no_step_reads_and_nobody_keeps_are_not_judged() -> None:
    assert rules(with_view(1, ONE._replace(rows=(V, (1, 2, *V[2:]))))) == set()
    assert rules(with_view(2, TWO._replace(rows=((*U[:2], 5), (*U[:2], 6))))) == set()


def test_by_row_only_what_the_next_step_reads_is_judged_and_the_length_leaves_out_what_is_gone() -> None:
    traits = Traits(8, 4, (Group("window", 3, 1, keeps=1),), granule="row")
    state = state_after(Admit(0, (1, 2, 3, 4, 5, 6)), traits=traits)
    (request,) = state.requests.values()
    told = values(request.tokens)
    assert request.low == (4,)

    def shown(length: int, *rows: int | None) -> set[str]:
        view = ManagerView(length, ((0, 1),), (rows,))
        differences: list[Difference] = []
        check_state(state, ManagerSnapshot({0: view}, None, None, 6, None), differences, {})
        return {difference.rule for difference in differences}

    assert shown(3, told[0], None, None, None, None, told[5]) == set()
    assert shown(3, None, None, None, None, None, told[5]) == {"PT-ROWS"}
    assert shown(6, *told) == {"PT-LEN"}


def test_idle_pages_that_no_table_ever_showed_are_told_by_what_they_are_published_under() -> None:
    traits = Traits(8, 2, (Group("window", 2),), prefix=True)
    state = state_after(Admit(0, (1, 2, 3, 4, 5)), traits=traits)
    told = values((1, 2, 3, 4, 5))
    view = ManagerView(5, ((None, None, 4),), ((*(None,) * 4, told[4]),))
    shown = ManagerSnapshot({0: view}, None, (0, 1, 2, 3, 5, 7, 6), 7, ((7, 0, told[3]), (6, 0, told[1])))

    def found(snapshot: ManagerSnapshot) -> tuple[set[str], dict[int, int]]:
        differences: list[Difference] = []
        mapped = check_state(state, snapshot, differences, {})
        return {difference.rule for difference in differences}, mapped

    broken, mapped = found(shown)
    assert broken == set()
    assert sorted(mapped.values()) == [4, 6, 7]
    assert found(shown._replace(free=(0, 1, 2, 3, 5, 6, 7)))[0] == {"PRE-EVICT"}
    assert found(shown._replace(published=((7, 0, told[3]),)))[0] == {"PRE-PUBLISH", "PRE-EVICT"}  # 6 is blank behind 7
    assert found(shown._replace(published=((6, 0, told[1]),), free=(7, 0, 1, 2, 3, 5, 6)))[0] == {"PRE-PUBLISH"}
    assert found(shown._replace(free=None))[0] == set()
    assert found(shown._replace(published=None)) == (set(), mapped)


REFUSALS = [Refused(reason) for reason in Reason]


@pytest.mark.parametrize("due", REFUSALS, ids=lambda due: due.reason.value)
def test_a_missing_or_wrong_refusal_breaks_the_rule_of_its_reason(due: Refused) -> None:
    wrong = Refused(Reason.OUT_OF_PAGES if due.reason is not Reason.OUT_OF_PAGES else Reason.BAD_ARGUMENT)
    for answer in (Accepted(), Accepted(served=0), wrong):
        assert [d.rule for d in answer_differences(due, answer)] == [due.reason.value]
    assert [d.rule for d in answer_differences(Accepted(), due)] == [due.reason.value]
    raised = answer_differences(due, Raised("KeyError", "1"))
    assert [d.rule for d in raised] == ["PT-TOTAL", due.reason.value]


@pytest.mark.parametrize("served", [0, 2, 6, None])
def test_another_number_of_served_tokens_breaks_the_rule_of_the_hit(served: int | None) -> None:
    assert [d.rule for d in answer_differences(Accepted(served=4), Accepted(served=served))] == ["PRE-HIT"]
    assert answer_differences(Accepted(served=4), Accepted(served=4)) == []


def test_a_refusal_that_changes_something_breaks_the_rule_of_refusals() -> None:
    traits = committing(3, 2, FULL)
    before = state_after(Admit(0, (1, 2, 3)), Commit(0), Release(0), Admit(1, (5,)), traits=traits)
    operation = Append(1, (6,) * 6)
    after, outcome = step(before, operation)
    assert after is before
    found: dict[type[PrefixManager], set[str]] = {}
    for kind in (PrefixManager, ChangesOnRefusal):
        target = kind(traits)
        for earlier in (Admit(0, (1, 2, 3)), Commit(0), Release(0), Admit(1, (5,))):
            target.apply(earlier)
        seen = Seen({}, target.observe(), NOT_TAKEN)
        checked = check_operation(before, after, outcome, operation, target, seen)
        found[kind] = {difference.rule for difference in checked.differences}
    assert found == {PrefixManager: set(), ChangesOnRefusal: {"PT-REFUSE"}}


OUT = Refused(Reason.OUT_OF_PAGES)


class Answers(OracleManager):
    """Does what the oracle does, then says or shows this: an answer, or an error in place of one."""

    says: Outcome | Raised = Accepted(served=0)
    shows_instead: Raised | None = None

    def apply(self, operation: ManagerOperation) -> Outcome:
        super().apply(operation)
        if isinstance(self.says, Raised):
            raise FarError(self.says)
        return self.says

    def observe(self) -> ManagerSnapshot:
        if self.shows_instead is not None:
            raise FarError(self.shows_instead)
        return super().observe()


LOST, BLIND = Raised("", "gone", lost=True), Raised("KeyError", "7")
TOTAL, BLINDED = (
    Difference("PT-TOTAL", "accepted, 0 tokens served", "gone"),
    Difference("PT-TOTAL", "the state can be observed", ""),
)


@pytest.mark.parametrize(
    ("says", "shows", "differences", "lost"),
    [
        (Accepted(served=0), None, [], False),
        (Accepted(served=2), None, [Difference("PRE-HIT", "serves 0 tokens", "serves 2")], False),
        (Accepted(), None, [Difference("PRE-HIT", "serves 0 tokens", "tells what it serves")], False),
        (OUT, None, [Difference("OutOfPages", "accepted, 0 tokens served", "refused, OutOfPages")], False),
        (LOST, None, [replace(TOTAL, target="gone")], True),
        (BLIND, BLIND, [replace(TOTAL, target="raised KeyError: 7")], False),
        (Accepted(served=0), BLIND, [replace(BLINDED, target="KeyError: 7")], False),
        (Accepted(served=0), LOST, [replace(BLINDED, target="gone")], True),
        (BLIND, LOST, [replace(TOTAL, target="raised KeyError: 7"), replace(BLINDED, target="gone")], True),
    ],
)
def test_a_wrong_answer_and_a_state_that_cannot_be_seen_are_told_once_each(
    says: Outcome | Raised, shows: Raised | None, differences: list[Difference], lost: bool
) -> None:
    target, operation, before = Answers(TRAITS), Admit(0, (1, 2, 3)), initial(TRAITS)
    seen = Seen({8: 9}, target.observe(), NOT_TAKEN)
    after, outcome = step(before, operation)
    target.says, target.shows_instead = says, shows
    checked = check_operation(before, after, outcome, operation, target, seen)
    assert ([*checked.differences], checked.lost, checked.moved) == (differences, lost, says is not LOST)
    if says is LOST or shows is not None:
        assert (checked.mapped, checked.snapshot) == (seen.mapped, seen.snapshot)
    else:
        assert (len(checked.mapped), checked.snapshot) == (4, target.observe())


def test_a_trim_that_stays_after_a_refused_append_is_due() -> None:
    traits = Traits(3, 2, (Group("window", 2),), trims="before")
    before = state_after(Admit(0, (1, 2, 3, 4, 5)), traits=traits)
    operation = Append(0, (6,) * 9)
    after, outcome = step(before, operation)
    assert (outcome, after is before) == (Refused(Reason.OUT_OF_PAGES), False)
    target, lazy = OracleManager(traits), KeepsItsPages(traits)
    found = []
    for manager in (target, lazy):
        manager.apply(Admit(0, (1, 2, 3, 4, 5)))
        checked = check_operation(before, after, outcome, operation, manager, Seen({}, manager.observe(), NOT_TAKEN))
        found.append({difference.rule for difference in checked.differences})
    assert found == [set(), {"PT-HOLE", "PT-PAGES"}]


class KeepsItsPages(OracleManager):
    """Trims nothing when it refuses an append."""

    def apply(self, operation: ManagerOperation) -> Outcome:
        before = self.state
        outcome = super().apply(operation)
        if isinstance(outcome, Refused):
            self.state = before
            self.pages = {cell: number for number, cell in enumerate((0, 1, 2))}
        return outcome


def test_every_rule_of_managers_has_been_shown_broken() -> None:
    shown = {rule for rule, _ in BROKEN.values()} | {reason.value for reason in Reason}
    shown |= {"PRE-EVICT", "PRE-HIT", "PT-TOTAL", "PT-REFUSE"}
    managers = {rule for rule in spec.rules.RULES if rule.startswith(("PT-", "PRE-"))}
    assert managers <= shown


WALKED: dict[str, Traits] = {
    "writes at once": Traits(10, 2, (FULL, Group("window", 4)), prefix=True),
    "trims before, keeps W": Traits(10, 2, (Group("window", 4, keeps=1), FULL), prefix=True, trims="before"),
    "tails copied, by row, W keeper with sinks": Traits(
        8, 3, (Group("window", 5, 2, keeps=1),), tail="copied", granule="row", forks="sinks"
    ),
    "tails copied, published": Traits(8, 2, (FULL,), prefix=True, tail="copied"),
    "recycles": Traits(8, 2, (Group("window", 3),), recycles=True),
    "recycles, published": Traits(8, 2, (Group("chunk", 4), Group("window", 3)), prefix=True, recycles=True),
    "commits, trims before": Traits(10, 2, (Group("window", 3), FULL), prefix=True, commits=True, trims="before"),
    "leaves 3": Traits(8, 2, (FULL,), prefix=True, leaves=3),
}
SHOWN = [("counts", "free", "published"), ("free",), ("published",), ("counts",), ()]


@pytest.mark.parametrize("name", WALKED)
@pytest.mark.parametrize("shows", SHOWN, ids=lambda shows: "+".join(shows) or "nothing")
def test_a_manager_that_the_oracle_runs_is_never_found_wrong(name: str, shows: tuple[str, ...]) -> None:
    tally = search_at_random(lambda traits: OracleManager(traits, shows), WALKED[name], 3, 12)
    assert tally.failure is None
    assert tally.steps > 500


@pytest.mark.parametrize("name", WALKED)
def test_walks_of_any_traits_meet_every_situation_that_is_possible(name: str) -> None:
    tally = search_at_random(OracleManager, WALKED[name], 5, 150)
    assert tally.never_met() == {}


def test_together_these_traits_allow_every_situation() -> None:
    able = {name for traits in WALKED.values() for name in possible(traits, Offer("all"))}
    able |= {name for scope in SCOPES for name in possible(scope.traits, Offer("all"))}
    able |= set(possible(Traits(8, 4, (Group("window", 1),)), Offer("all")))
    assert able == set(SITUATIONS)
    assert TRIM_STAYS in possible(WALKED["trims before, keeps W"], Offer("all"))
