"""What an observer of the cycle model sees, against what docs/chip.md says of a run that HALT ends: section 6, and the program.

Every busy cycle is seen once, in order; what is counted is what was seen; answers are what memory held when they were asked for;
and rows come, are stored and are written as the program says.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby

from impl.chip import Counters
from impl.chip_model.machine import ChipModel
from impl.chip_model.sequencer import Head
from impl.chip_model.trace import Snapshot
from spec.isa import Gather, Load, Store, decode
from spec.isa_checks import RowOp, count_of, first_of, result_rows
from spec.isa_machine import Machine
from verify.chips.pinned import Case
from verify.refinement import Difference

Seen = Sequence[Snapshot]
Fact = tuple[str, object, object]
"""What it is about, what is right, and what was seen."""


def observed_differences(case: Case, model: ChipModel) -> Iterator[Difference]:
    """Where what is seen of the case, a single start, is not what its counters, memory and program say."""
    seen: list[Snapshot] = []
    model.observer = seen.append
    try:
        (result,) = model.run(case.starts, case.memory, case.profile)
    finally:
        model.observer = None
    facts = (
        ("cycles", list(range(1, len(seen) + 1)), [one.cycle for one in seen]),
        ("counters", result.counters, _counted(seen)),
        ("memory", result.memory.tobytes(), _written(case, seen)),
        *_answers(case, seen),
        *_program(case, seen),
    )
    for what, right, said in facts:
        if right != said:
            yield Difference("CHIP-CYCLE", f"{case.name}: {what} {right!r}", f"observed {said!r}")


def _counted(seen: Seen) -> Counters:
    """The counters, from what was seen."""
    return Counters(
        len(seen),
        sum(one.occupancy > 0 for one in seen),
        sum(one.enters for one in seen),
        sum(_behind_the_rows(list(op)) for active, op in groupby(seen, lambda one: one.active) if active),
        sum(one.waits or one.head is Head.HELD for one in seen),
        sum(one.read is not None for one in seen),
        sum(one.write is not None for one in seen),
    )


def _behind_the_rows(op: Seen) -> int:
    """Cycles of an op, all that it is active in, behind the one in which its last B row enters."""
    return next(number for number, one in enumerate(reversed(op)) if one.enters)


def _written(case: Case, seen: Seen) -> bytes:
    """Memory, from the writes that were seen."""
    memory = case.memory.copy()
    for first, words in case.starts[0].memory:
        memory[first : first + len(words)] = words
    for one in seen:
        if one.write is not None:
            memory[one.write[0]] = one.write[1]
    return memory.tobytes()


def _answers(case: Case, seen: Seen) -> Iterator[Fact]:
    """Answers are the words that were asked for, in that order, and what is outstanding are those to come."""
    memory = case.memory.copy()
    for first, words in case.starts[0].memory:
        memory[first : first + len(words)] = words
    asked: list[int] = []
    for one in seen:
        if one.read is not None:
            asked.append(int(memory[one.read]))
        if one.write is not None:
            memory[one.write[0]] = one.write[1]
    yield "answers", asked, [one.response for one in seen if one.response is not None]
    change = [(one.read is not None) - (one.response is not None) for one in seen]
    yield "outstanding reads", [0, *accumulate(change)][:-1], [one.outstanding for one in seen]


def _program(case: Case, seen: Seen) -> Iterator[Fact]:
    """Instructions issue in order until one ends the run; rows are brought, stored and written in the order of the program."""
    (start,) = case.starts
    machine = Machine.fresh(case.lanes, case.memory)
    for address, value in start.registers:
        machine.host_write(address, value)
    issued = [one.head_pc for one in seen if one.head is Head.ISSUES]
    heads = [Head.ABSENT, *(Head.ISSUES for _ in issued), Head.ENDS]
    yield "issues", list(range(len(issued))), issued
    yield "heads", heads, [one.head for one in seen if one.head is not Head.HELD]
    brought: list[int] = []
    stored: list[int] = []
    written: list[int] = []
    for pc in range(len(issued)):
        instruction = decode(*(start.program or ())[pc])
        if isinstance(instruction, Load | Gather | Store):
            first, count = first_of(instruction, machine), count_of(instruction, machine)
            (stored if isinstance(instruction, Store) else brought).extend(range(first, first + count) if count else ())
        elif isinstance(instruction, RowOp):
            written.extend(result_rows(instruction, machine))
    yield "rows brought", brought, [one.loaded_row for one in seen if one.loaded_row is not None]
    yield "rows stored", len(stored), sum(one.store_reads for one in seen)
    free = [one.out_row for one in seen if one.out_row is not None and one.loaded_row is None]
    yield "rows written", written, free
