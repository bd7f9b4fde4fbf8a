"""Oracle and target side by side, one operation at a time, with the whole refinement check after each."""

from collections.abc import Sequence
from dataclasses import dataclass

from spec.operations import Operation, Outcome
from spec.page_table import State, initial, step
from verify.refinement import Difference, Seen, check_operation, check_state, unseen
from verify.target import Factory, Raised, Snapshot, Target, look, offers


class Lockstep:
    """A target, the oracle's state beside it, and what is known of the target between operations.

    After a difference the two no longer describe the same state; a caller stops there.
    """

    def __init__(self, target: Target, state: State) -> None:
        self.target = target
        self.state = state
        self.outcome: Outcome | None = None
        self.differences: list[Difference] = []
        snapshot = look(target)
        if isinstance(snapshot, Raised):
            self.differences.append(unseen(snapshot))
            snapshot = Snapshot({}, (), ())
        mapped = check_state(state, snapshot, self.differences) if not self.differences else {}
        self.seen = Seen(mapped, snapshot, target.image())

    def apply(self, operation: Operation) -> tuple[Difference, ...]:
        """Apply the operation on both sides; every rule that breaks, none when they agree."""
        before = self.state
        self.state, self.outcome = step(before, operation)
        checked = check_operation(before, self.state, self.outcome, operation, self.target, self.seen)
        if checked.moved and not checked.differences:
            self.seen = Seen(checked.mapped, checked.snapshot, self.target.image())
        return checked.differences


@dataclass(frozen=True, slots=True)
class Replayed:
    """A run of operations: how many were applied, the differences at the last one, and the oracle's states around it.

    `skipped` counts the operations that the target does not offer.
    """

    applied: tuple[Operation, ...]
    differences: tuple[Difference, ...]
    before: State
    after: State
    shown: Snapshot | Raised
    skipped: int


def replay(operations: Sequence[Operation], pages: int, page_size: int, factory: Factory) -> Replayed:
    """Apply the operations to a fresh target until the first difference or the end."""
    target = factory(pages, page_size)
    run = Lockstep(target, initial(pages, page_size))
    before, differences, skipped = run.state, tuple(run.differences), 0
    offered: list[Operation] = []
    for operation in operations:
        if differences:
            break
        if not offers(target, operation, run.state):
            skipped += 1
            continue
        before = run.state
        offered.append(operation)
        differences = run.apply(operation)
    return Replayed(tuple(offered), differences, before, run.state, look(target), skipped)
