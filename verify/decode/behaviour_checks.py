"""What a whole decode must show: the integers stay near the floats (DEC-ERROR), and the structured model obeys its rule by
attention alone (DEC-RULE)."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impl.decoder import IntegerDecoder
from impl.float_reference import generate
from impl.integer_model import IntegerModel
from impl.tiny_lm import VOCABULARY, FloatModel
from verify.decode.float_checks import Generate
from verify.decode.hostile_models import uniform, without_values
from verify.decode.integer_checks import MakeInteger
from verify.decode.oracle import Found
from verify.decode.plain import plain_decode
from verify.refinement import Difference
from verify.target import Raised, answered

MEAN_ERROR, STEP_ERROR = 0.04, 0.15
"""Relative L2 error of the logits: of a model and window in the mean, and at any step."""


class LogitError(NamedTuple):
    """Relative L2 error of integer logits against windowed float ones: one model and window, over `steps` steps in all."""

    model: str
    width: int
    window: int | None
    mean: float
    worst: float
    steps: int


def measured(
    model: FloatModel,
    integers: IntegerModel,
    window: int | None,
    starts: Iterable[int] = range(VOCABULARY),
    steps: int = 32,
    make: MakeInteger = IntegerDecoder,
    run: Generate = generate,
) -> LogitError:
    """The error from the starts, teacher-forced on the tokens of the windowed float decode.

    The float side is the reference that ships and not the definition, so that what this check sees of a fault in it can
    be told from what the recomputation sees.
    """
    decoder = make(integers)
    errors: list[NDArray[np.float64]] = []
    for start in starts:
        floats = run(model, start, steps, window, 0)
        taken = plain_decode(decoder, floats.tokens, steps, window)
        shown = integers.scales.logit_scale * np.array([step.logits for step in taken])
        errors.append(np.linalg.norm(shown - floats.logits, axis=1) / np.linalg.norm(floats.logits, axis=1))
    every = np.concatenate(errors)
    return LogitError(model.name, model.width, window, float(every.mean()), float(every.max()), len(every))


def check_logit_error(error: LogitError | Raised) -> Found:
    """The mean and the worst step of a model and window stay below their bounds (DEC-ERROR)."""
    if isinstance(error, Raised):
        return [Difference("DEC-ERROR", "logits of integers and floats", f"raised {error.kind}: {error.message}")], 0
    where = f"{error.model}, W={error.window}: logit error"
    figures = (("in the mean", error.mean, MEAN_ERROR), ("at any step", error.worst, STEP_ERROR))
    # Not ">=": an error that is no number is no small error.
    return [
        Difference("DEC-ERROR", f"{where} below {bound:.0%} {what}", f"{shown:.2%}")
        for what, shown, bound in figures
        if not shown < bound
    ], error.steps


def check_rule(
    model: IntegerModel,
    window: int | None,
    starts: Iterable[int] = range(VOCABULARY),
    steps: int = 32,
    sinks: int = 0,
    make: MakeInteger = IntegerDecoder,
) -> Found:
    """The structured model follows its rule from every start under the window (DEC-RULE)."""
    differences: list[Difference] = []
    taken = 0
    for start in starts:
        due = following(start, steps)
        shown = answered(integer_tokens, model, start, steps, window, sinks, make)
        taken += steps
        if shown != due:
            differences.append(
                Difference("DEC-RULE", f"{model.name}, W={window}, S={sinks}, from {start}: {due}", f"{shown}")
            )
    return differences, taken


def check_float_rule(
    model: FloatModel,
    window: int | None,
    starts: Iterable[int] = range(VOCABULARY),
    steps: int = 32,
    run: Generate = generate,
) -> Found:
    """The structured model follows its rule in floats too (DEC-RULE)."""
    differences: list[Difference] = []
    taken = 0
    for start in starts:
        due = [start, *following(start, steps)]
        said = answered(run, model, start, steps, window, 0)
        shown = said if isinstance(said, Raised) else list(said.tokens)
        taken += steps
        if shown != due:
            where = f"{model.name} in floats, W={window}"
            differences.append(Difference("DEC-RULE", f"{where}: {due}", f"{shown}"))
    return differences, taken


def check_knocked_out(
    model: IntegerModel,
    window: int | None,
    starts: Iterable[int] = range(VOCABULARY),
    steps: int = 32,
    make: MakeInteger = IntegerDecoder,
) -> Found:
    """Without values, and with all rows weighing the same, the structured model fails from every start (DEC-RULE).

    With W = 1 the new token has all the weight either way, so that only the former can fail.
    """
    differences: list[Difference] = []
    taken = 0
    for start in starts:
        for knocked_out in (without_values(model), *([uniform(model)] if window != 1 else [])):
            shown = answered(integer_tokens, knocked_out, start, steps, window, 0, make)
            taken += steps
            if isinstance(shown, Raised) or shown == following(start, steps):
                due = f"{knocked_out.name}, W={window}, from {start}: some other token within {steps} steps"
                differences.append(Difference("DEC-RULE", due, f"{shown}"))
    return differences, taken


def following(start: int, steps: int) -> list[int]:
    """The tokens after `start` by f(t) = (5t + 3) mod 16."""
    tokens = [start]
    for _ in range(steps):
        tokens.append((5 * tokens[-1] + 3) % 16)
    return tokens[1:]


def integer_tokens(
    model: IntegerModel, start: int, steps: int, window: int | None, sinks: int, make: MakeInteger
) -> list[int]:
    """The tokens that a greedy decode gives after the start."""
    return [step.token for step in plain_decode(make(model), [start], steps, window, sinks)]
