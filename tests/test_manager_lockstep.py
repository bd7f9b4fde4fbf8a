"""Oracle and manager side by side: where the two begin, what is kept after a difference, and how far a replay goes."""

import pytest

from spec.groups import Group
from spec.manager import Traits, initial
from spec.operations import Accepted, Admit, Commit, Fork, ManagerOperation, Outcome, Reason, Refused, Release
from tests.oracle_manager import OracleManager
from verify.managers.lockstep import NOTHING, ManagerLockstep, begin, replay
from verify.managers.refinement import NOT_TAKEN, check_operation
from verify.managers.target import ManagerSnapshot, Offer
from verify.refinement import Difference, Seen
from verify.target import FarError, Raised

TRAITS = Traits(4, 2, (Group("full"),), prefix=True)
GONE = Raised("", "gone", lost=True)
TOTAL = Difference("PT-TOTAL", "the state can be observed", "gone")


class Used(OracleManager):
    """Begins with a request."""

    def __init__(self, traits: Traits) -> None:
        super().__init__(traits)
        self.apply(Admit(0, (1, 2, 3)))


class Gone(OracleManager):
    """Can not be looked at."""

    def observe(self) -> ManagerSnapshot:
        raise FarError(GONE)


class EndsAtRelease(OracleManager):
    """Its process ends with a release; it offers no forks."""

    def __init__(self, traits: Traits) -> None:
        super().__init__(traits)
        self.offer = Offer("no forks", frozenset({Admit, Release}))
        self.foreseen: list[ManagerOperation] = []

    def apply(self, operation: ManagerOperation) -> Outcome:
        if isinstance(operation, Release):
            raise FarError(GONE)
        return super().apply(operation)

    def foresee(self, operations: object, apart: bool) -> None:
        assert isinstance(operations, list)
        assert not apart
        self.foreseen = operations


def test_a_manager_that_does_not_begin_empty_differs_before_the_first_operation() -> None:
    used = ManagerLockstep(Used(TRAITS), initial(TRAITS))
    assert {difference.rule for difference in used.differences} == {"PT-LIVE", "PT-PAGES"}
    gone = ManagerLockstep(Gone(TRAITS), initial(TRAITS))
    assert gone.differences == (TOTAL,)
    for run in (used, gone):
        assert (run.seen, run.outcome, run.lost) == (Seen({}, NOTHING, NOT_TAKEN), None, False)
    assert ManagerSnapshot({}, None, None, 0, None) == NOTHING


def outcome_of(run: ManagerLockstep) -> Outcome | None:
    """The oracle's answer to the last operation."""
    return run.outcome


def test_a_run_begins_with_what_the_manager_shows_in_the_state_that_it_is_given() -> None:
    target = Used(TRAITS)
    assert begin(target.state, target) == Seen({0: 3, 1: 2}, target.observe(), NOT_TAKEN)
    run = ManagerLockstep(target, target.state)
    assert (run.differences, run.seen.mapped) == ((), {0: 3, 1: 2})
    assert [run.apply(Admit(0, ())), outcome_of(run)] == [(), Refused(Reason.DUPLICATE_REQUEST)]
    assert [run.apply(Admit(1, (1, 2, 3))), outcome_of(run)] == [(), Accepted(served=2)]
    assert run.seen.mapped == {0: 3, 1: 2, 2: 1}
    assert run.state == target.state


def test_what_is_known_of_a_manager_stays_as_it_was_before_a_difference() -> None:
    run = ManagerLockstep(EndsAtRelease(TRAITS), initial(TRAITS))
    assert run.apply(Admit(0, (1, 2, 3))) == ()
    assert not run.lost
    seen = run.seen
    assert run.apply(Release(0)) == (Difference("PT-TOTAL", "accepted", "gone"),)
    assert (run.lost, run.seen, run.outcome, len(run.state.requests)) == (True, seen, Accepted(), 0)


class ServesTwo(OracleManager):
    """Says that an admission is served two rows."""

    def apply(self, operation: ManagerOperation) -> Outcome:
        super().apply(operation)
        return Accepted(served=2)


def test_a_wrong_answer_leaves_what_is_known_before_it_for_the_report() -> None:
    run = ManagerLockstep(ServesTwo(TRAITS), initial(TRAITS))
    seen = run.seen
    assert run.apply(Admit(0, (1, 2, 3))) == (Difference("PRE-HIT", "serves 0 tokens", "serves 2"),)
    assert run.seen == seen
    assert replay([Admit(0, (1, 2, 3))], TRAITS, ServesTwo).mapped == {}


def test_a_replay_ends_at_the_first_difference_and_says_what_was_left_out() -> None:
    made: list[EndsAtRelease] = []

    def factory(traits: Traits) -> EndsAtRelease:
        made.append(EndsAtRelease(traits))
        return made[-1]

    first, ends, last = Admit(0, (1, 2, 3)), Release(0), Admit(1, (4,))
    found = replay([first, Fork(0, 2, 0), Commit(0), ends, last], TRAITS, factory)
    assert made[0].foreseen == [first, ends, last]
    assert (found.applied, found.skipped) == ((first, ends), 2)
    assert found.differences == (Difference("PT-TOTAL", "accepted", "gone"),)
    assert (len(found.before.requests), len(found.after.requests), found.outcome) == (1, 0, Accepted())
    assert (found.shown, found.mapped) == (made[0].observe(), {0: 3, 1: 2})


@pytest.mark.parametrize("kind", [Used, Gone])
def test_a_manager_that_differs_at_the_start_is_asked_nothing(kind: type[OracleManager]) -> None:
    found = replay([Admit(1, (1,))], TRAITS, kind)
    assert (found.applied, found.outcome, found.mapped, found.skipped) == ((), None, {}, 0)
    assert found.before == found.after == initial(TRAITS)
    assert found.differences
    assert isinstance(found.shown, Raised) == (kind is Gone)


class MovesWhenRefused(OracleManager):
    """Its image moves with a refusal, whatever it shows then."""

    moved = 0
    shows_instead: Raised | ManagerSnapshot | None = None

    def apply(self, operation: ManagerOperation) -> Outcome:
        outcome = super().apply(operation)
        self.moved += isinstance(outcome, Refused)
        return outcome

    def image(self) -> object:
        return self.moved

    def observe(self) -> ManagerSnapshot:
        if self.moved and isinstance(self.shows_instead, Raised):
            raise FarError(self.shows_instead)
        shown = super().observe()
        return shown._replace(available=1) if self.moved and self.shows_instead else shown


@pytest.mark.parametrize(
    ("shows", "said"),
    [
        (None, "the order of the blank pages, or bytes that no request reads, changed"),
        (GONE, "gone"),
        (NOTHING, "4 pages available (now 1)"),
    ],
)
def test_what_a_refusal_changed_is_told(shows: Raised | ManagerSnapshot | None, said: str) -> None:
    target, state = MovesWhenRefused(TRAITS), initial(TRAITS)
    target.shows_instead = shows
    refused = Refused(Reason.UNKNOWN_REQUEST)
    for image in (NOT_TAKEN, target.image()):
        target.moved = 0
        checked = check_operation(state, state, refused, Release(7), target, Seen({}, NOTHING, image))
        assert checked.differences == (Difference("PT-REFUSE", "nothing changes", said),)
        assert checked.moved
