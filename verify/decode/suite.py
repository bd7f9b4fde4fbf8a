"""The checks of the window rule and of the decode step as one quick stage, each on little; pytest runs them on much."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from impl import tiny_lm
from impl.decoder import IntegerDecoder
from impl.float_reference import FloatDecoder, generate
from impl.integer_model import Requantiser
from impl.model_files import exp_table, load
from impl.quantise import exponentials
from verify.decode.behaviour_checks import check_float_rule, check_knocked_out, check_logit_error, check_rule, measured
from verify.decode.float_checks import (
    Generate,
    MakeFloat,
    check_float_steps,
    check_full_attention,
    check_generation,
    check_no_sinks_unless_given,
    check_refused_floats,
    check_short_window,
)
from verify.decode.form_checks import check_form, check_refused_forms, check_said_values
from verify.decode.hostile_models import (
    PALETTES,
    TYPICAL,
    hostile,
    hostile_rows,
    loud,
    of_exact_residual,
    ruled,
    ruler,
    tied,
)
from verify.decode.integer_checks import (
    MakeInteger,
    check_integer_decode,
    check_integer_step,
    check_refused_steps,
    check_row_order,
)
from verify.decode.model_checks import (
    check_exp_table,
    check_infinite_sums,
    check_multipliers,
    check_narrow_models,
    check_quantised,
    check_random_model,
    check_structured_model,
)
from verify.decode.oracle import Found, gathered
from verify.decode.window_checks import check_refused_windows, check_window
from verify.refinement import Difference
from verify.stage import StageResult, of_literals, said, spend
from verify.target import answered

Parts = Iterator[Found]

WINDOWS: tuple[tuple[int | None, int], ...] = (
    *((window, sinks) for window in (1, 2, 3, 6) for sinks in range(min(window, 4))),
    (None, 0),
    (None, 2),
)
TOKENS = (3, 14, 3, 0, 9, 15)
"""A repeated token, so that equal scores meet, and the first and the last of the vocabulary."""

CYCLE = 17
"""Steps in which the structured rule comes back to its start, having met every token, and once more."""

EXTREMES = (
    (Requantiser(65_535, 1), Requantiser(32_768, 40), *TYPICAL[2:4], Requantiser(65_535, 1)),
    (*TYPICAL[:3], Requantiser(65_535, 1), Requantiser(32_768, 31)),
)
"""Multipliers at the ends of their ranges, where sums need 64 bits, all saturates or nothing is left."""

REALS = (
    *(2.0**power for power in (-26, -25, -1, 0, 13, 14, 15)),
    *(np.nextafter(2.0**power, 0) for power in (-25, 0, 14, 15)),
    1 / 3,
    0.75 + 2**-17,
    1.0 - 2**-18,
    0.0,
    -1.0,
    np.inf,
)
"""Either side of where a multiplier's shift changes or ends, a half to round up, one rounded up to 2^16, and no multiplier's."""


def decode_stage(budget: int | None) -> StageResult:
    """Every rule of the window and the decode step on a few models, windows and starts; the same ones every time."""
    differences: list[Difference] = []
    steps = 0
    for part in (window_parts, float_parts, integer_parts, model_parts, behaviour_parts):
        for found, taken in part():
            differences += found
            steps += taken
            spend(steps, budget)
    broken = said(differences)
    return StageResult("fail" if broken else "pass", broken, None, steps)


def unit_stage(budget: int | None) -> StageResult:
    """The form in which models are kept, which takes a schema longer to look at than all of the other stage."""
    model = load("random-1-16")
    wide = check_form(load("structured-32"))
    differences, steps = gathered((check_form(model), wide, check_refused_forms(model), check_said_values(model)))
    return of_literals(differences, steps, budget)


def window_parts() -> Parts:
    """The window rule on a small grid."""
    for window, sinks in WINDOWS:
        yield check_window(window, sinks, range(1, 12))
    yield check_refused_windows()


def float_parts(make: MakeFloat = FloatDecoder, run: Generate = generate) -> Parts:
    """The float reference: with and without a residual, of two widths, with scores at which exp overflows, and with ties."""
    model = tiny_lm.random(1, 16)
    for window, sinks in ((1, 0), (2, 0), (3, 1), (None, 0)):
        yield check_float_steps(model, TOKENS, window, sinks, make)
    for other in (loud(model), tiny_lm.random(2, 32), replace(model, residual=False)):
        yield check_float_steps(other, TOKENS[:4], 3, 0, make)
    for other in (model, tied(model)):
        yield check_generation(other, 5, 4, 2, 1, run)
    yield check_refused_floats(model, make)
    yield check_no_sinks_unless_given(model, TOKENS, 2)
    yield check_full_attention(model, TOKENS, make)
    yield check_short_window(model, TOKENS, make)


def integer_parts(make: MakeInteger = IntegerDecoder) -> Parts:
    """The integer decoder: a decode of a kept model, and steps that use every byte, saturate, round at halves and tie."""
    kept = load("random-1-16")
    for window, sinks in ((1, 0), (3, 1), (None, 0)):
        yield check_integer_decode(kept, TOKENS[:2], 5, window, sinks, make)
    for seed, width, residual in ((1, 16, -(2**15)), (2, 16, 300), (3, 32, 2**15 - 1)):
        model = hostile(seed, width, residual=residual)
        for rows, palette in zip((0, 1, 2, 9), PALETTES[:4], strict=True):
            yield check_integer_step(model, 15 - rows, hostile_rows(seed, rows, width, palette), make)
        orders = [np.arange(5)[::-1], np.array([2, 0, 4, 1, 3])]
        yield check_row_order(model, seed, hostile_rows(seed, 5, width), orders, make)
    for seed, multipliers in enumerate(EXTREMES):
        model = hostile(seed, 32, (-128, 127), multipliers)
        yield check_integer_step(model, 0, hostile_rows(seed, 254, 32, (-128, 127)), make)
    halves = hostile(6, 16, (-1, 0, 1), [Requantiser(2**15, 16)] * 5, residual=1)
    yield check_integer_step(halves, 2, hostile_rows(6, 3, 16, (-1, 0, 1)), make)
    measuring = ruler()
    for index in (1, 199, 200):
        yield check_integer_step(measuring, 0, ruled(index), make)
    yield check_refused_steps(kept, make)


def model_parts() -> Parts:
    """The models: floats, multipliers, integers kept and computed, two that have none, and the table of exponentials."""
    model, structured = tiny_lm.random(1, 16), tiny_lm.structured(16)
    yield check_random_model(model, 1, 16)
    yield check_structured_model(structured, 16)
    yield check_structured_model(tiny_lm.structured(24), 24)
    yield check_narrow_models()
    yield check_multipliers(REALS)
    # The largest output of one is a largest sum and of the other a least one.
    for any_model in (model, replace(model, embedding=-model.embedding), structured):
        yield check_quantised(any_model)
    yield check_quantised(model, load(model.name))
    yield check_quantised(tiny_lm.random(4, 24))
    # Halves are rounded up, to the last factor that fits and to the first that does not.
    for factor in (0.5, 1.25, 2**15 - 1.0, 2**15 - 0.5):
        yield check_quantised(of_exact_residual(factor))
    yield check_quantised(tied(model))
    yield check_quantised(replace(model, unembedding=np.inf * model.unembedding))
    yield check_infinite_sums(model)
    for table in (exp_table(), exponentials()):
        yield check_exp_table(table)


def behaviour_parts(make: MakeInteger = IntegerDecoder, run: Generate = generate) -> Parts:
    """Whole decodes: the logit error of one model and window, and the structured rule with and without its attention."""
    model = tiny_lm.random(1, 16)
    yield check_logit_error(answered(measured, model, load(model.name), 4, (3,), 8, make, run))
    structured = load("structured-16")
    for window in (None, 1, 4):
        yield check_rule(structured, window, (0,), CYCLE, 0, make)
    yield check_float_rule(tiny_lm.structured(16), 4, (0,), CYCLE, run)
    yield check_knocked_out(structured, 4, (9,), CYCLE, make)
