"""The chip's cycle model as one quick stage: what programs mean on it, how long they take, what an observer sees.

What runs is held against what the program means, by memory, token, status and ERRPC, and against pinned counters. A part
ends at its first difference, and the stage at the first part that has one.
"""

from collections.abc import Iterator

from impl.chip_model.machine import ChipModel
from spec.isa import LANES
from verify.chips.bits import bits
from verify.chips.observed import observed_differences
from verify.chips.pinned import cases, differences, plain_cases, read_pins
from verify.chips.refusals import refused
from verify.chips.spec_chip import SpecChip
from verify.decode.oracle import Found
from verify.stage import StageResult, of_parts

CYCLE_LIMIT = 20_000
"""No case takes a third of it: a run that goes on and on ends here."""


def programs_stage(budget: int | None) -> StageResult:
    """Hold the cycle model to what programs mean and to how long they take."""
    return of_parts((runs, observed, refused, bits), budget)


def runs() -> Iterator[Found]:
    """The pinned cases on the cycle model: what they mean, and to the cycle (CHIP-ISA, CHIP-CYCLE)."""
    pins = read_pins()
    models = {lanes: ChipModel(lanes, cycle_limit=CYCLE_LIMIT) for lanes in LANES}
    meanings = {lanes: SpecChip(lanes) for lanes in LANES}
    for case in cases():
        yield differences(case, models[case.lanes].run, meanings[case.lanes], pins[case.name]), len(case.starts)


def observed() -> Iterator[Found]:
    """What an observer sees of the programs of order and of walks (CHIP-CYCLE)."""
    model = ChipModel(16, cycle_limit=CYCLE_LIMIT)
    for case in plain_cases():
        yield list(observed_differences(case, model)), 1
