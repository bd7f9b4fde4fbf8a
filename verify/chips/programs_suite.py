"""The chip's software and its cycle model as one quick stage: programs as text and as words, compiled, and run.

What runs is held against what the program means, by memory, token, status and ERRPC, and against pinned counters. A part
ends at its first difference, and the stage at the first part that has one.
"""

from collections.abc import Iterator
from functools import partial

from impl.chip_forms import Form, decoder_on
from impl.chip_model.machine import ChipModel
from impl.decoder import Decoder
from impl.integer_model import IntegerModel
from spec.isa import LANES
from verify.chips.bits import bits
from verify.chips.observed import observed_differences
from verify.chips.pinned import cases, differences, plain_cases, read_pins
from verify.chips.refusals import refused
from verify.chips.spec_chip import SpecChip
from verify.decode.hostile_models import PALETTES, hostile, hostile_rows
from verify.decode.integer_checks import check_integer_step
from verify.decode.oracle import Found
from verify.programs.suite import PARTS
from verify.refinement import Difference
from verify.stage import StageResult, said, spend

CYCLE_LIMIT = 20_000
"""No case takes a third of it: a run that goes on and on ends here."""


def programs_stage(budget: int | None) -> StageResult:
    """Hold the assembler, the compiler, the cycle model and the decoders on a chip to what is typed and to what is meant."""
    broken: list[Difference] = []
    steps = 0
    for part in (*PARTS, runs, observed, refused, bits, decodes):
        for found, taken in part():
            broken += found
            steps += taken
            spend(steps, budget)
            if broken:
                return StageResult("fail", said(broken), None, steps)
    return StageResult("pass", {}, None, steps)


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


def decodes() -> Iterator[Found]:
    """A step of each form on the chip's definition is that of the definition of a step, over few rows and many (DEC-INT)."""
    for form in Form:
        for width, rows, page_size in ((16, 0, 4), (16, 9, 2), (32, 5, 4)):
            model = hostile(rows, width, PALETTES[0], residual=-(2**15))
            past = hostile_rows(7, rows, width, PALETTES[0])
            yield check_integer_step(model, rows, past, partial(_decoder, form, page_size))


def _decoder(form: Form, page_size: int, model: IntegerModel) -> Decoder:
    """The decoder of that form on the chip's definition."""
    return decoder_on(form, model, SpecChip(model.width), page_size)
