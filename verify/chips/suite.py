"""The window rule and the host with the cycle model as their decoder, as one quick stage: fixed runs, always the same."""

from impl import tiny_lm
from impl.chip_decoder import ChipDecoder
from impl.chip_model.machine import ChipModel
from impl.integer_model import IntegerModel
from verify.decode.float_checks import check_float_steps
from verify.decode.suite import TOKENS, window_parts
from verify.host.lockstep import Parts
from verify.host.suite import RUNS, failing
from verify.refinement import Difference
from verify.stage import StageResult, said, spend

HOST_RUNS = RUNS[:1]
"""Windows, chunks, and steps refused for want of pages; a step takes the model some milliseconds."""


def on_model(model: IntegerModel) -> ChipDecoder:
    """The decoder of that model on the cycle model."""
    return ChipDecoder(model, ChipModel(model.width))


def chip_stage(budget: int | None) -> StageResult:
    """Decode on the cycle model behind a paged host, and hold the host, its windows and the float reference to their rules."""
    differences: list[Difference] = []
    steps = 0
    for found, taken in (*window_parts(), check_float_steps(tiny_lm.random(1, 16), TOKENS, 3, 0)):
        differences += found
        steps += taken
    for run in HOST_RUNS:
        applied = len(run.operations)
        for number, broken in failing(run, Parts(decoder=on_model)):
            applied = number
            differences += broken
        steps += applied
    spend(steps, budget)
    broken_rules = said(differences)
    return StageResult("fail" if broken_rules else "pass", broken_rules, None, steps)
