"""Oracle and manager side by side, one operation at a time, with the whole check after each."""

from collections.abc import Sequence
from dataclasses import dataclass

from spec.manager import State, Traits, initial, step
from spec.operations import ManagerOperation, Outcome
from verify.managers.refinement import NOT_TAKEN, ManagerSeen, check_operation, check_state
from verify.managers.target import ManagerFactory, ManagerSnapshot, ManagerTarget, look, offers
from verify.refinement import Difference, Mapped, Seen, unseen
from verify.target import Raised


class ManagerLockstep:
    """A manager, the oracle's state beside it, and what is known of the manager between operations.

    After a difference the two no longer describe the same state; a caller stops there. `lost` says that the manager's
    process is gone.
    """

    def __init__(self, target: ManagerTarget, state: State) -> None:
        self.target = target
        self.state = state
        self.outcome: Outcome | None = None
        self.lost = False
        seen = begin(state, target)
        self.differences = seen if isinstance(seen, tuple) else ()
        self.seen: ManagerSeen = Seen({}, NOTHING, NOT_TAKEN) if isinstance(seen, tuple) else seen

    def apply(self, operation: ManagerOperation) -> tuple[Difference, ...]:
        """Apply the operation on both sides; every rule that breaks, none when they agree."""
        return self.follow(operation, *step(self.state, operation))

    def follow(self, operation: ManagerOperation, after: State, outcome: Outcome) -> tuple[Difference, ...]:
        """Apply an operation of which the oracle's answer is known; every rule that breaks, none when they agree."""
        before, self.state, self.outcome = self.state, after, outcome
        checked = check_operation(before, after, outcome, operation, self.target, self.seen)
        self.lost = checked.lost
        if not checked.differences:
            self.seen = Seen(checked.mapped, checked.snapshot, NOT_TAKEN)
        return checked.differences


NOTHING = ManagerSnapshot({}, None, None, 0, None)


def begin(state: State, target: ManagerTarget) -> ManagerSeen | tuple[Difference, ...]:
    """What a manager shows in the oracle's state, or what already differs."""
    snapshot = look(target)
    if isinstance(snapshot, Raised):
        return (unseen(snapshot),)
    differences: list[Difference] = []
    mapped = check_state(state, snapshot, differences, {})
    return tuple(differences) if differences else Seen(mapped, snapshot, NOT_TAKEN)


@dataclass(frozen=True, slots=True)
class ManagerReplayed:
    """A run of operations: those that were applied, the differences at the last one, and the oracle's states around it.

    `outcome` is the oracle's answer to the last one, None when none was applied; `mapped` are the pages of the cells before a
    difference. `skipped` counts the operations that the manager does not offer.
    """

    applied: tuple[ManagerOperation, ...]
    differences: tuple[Difference, ...]
    before: State
    after: State
    outcome: Outcome | None
    shown: ManagerSnapshot | Raised
    mapped: Mapped
    skipped: int


def replay(operations: Sequence[ManagerOperation], traits: Traits, factory: ManagerFactory) -> ManagerReplayed:
    """Apply the operations to a fresh manager until the first difference or the end."""
    target = factory(traits)
    run = ManagerLockstep(target, initial(traits))
    before, differences = run.state, run.differences
    offered = [operation for operation in operations if offers(target.offer, traits, operation)]
    target.foresee(offered, apart=False)
    applied: list[ManagerOperation] = []
    for operation in offered:
        if differences:
            break
        before = run.state
        applied.append(operation)
        differences = run.apply(operation)
    skipped = len(operations) - len(offered)
    return ManagerReplayed(
        tuple(applied), differences, before, run.state, run.outcome, look(target), run.seen.mapped, skipped
    )
