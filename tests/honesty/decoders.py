"""Decode steps and numbers: decoders, models and tables that are broken in one place, and those that ship.

The definitions stand against literals worked out by hand, and against what ships where that was written apart.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import ModuleType
from unittest.mock import patch

import numpy as np

from impl import tiny_lm
from impl.decoder import Context, Decoder, IntegerDecoder, Step
from impl.float_reference import FloatDecoder, Generation, generate
from impl.integer_model import IntegerModel
from impl.model_files import load
from impl.quantise import exponentials, quantise
from spec.decode import step_from_rows
from tests import test_decode_oracle, test_numerics_oracle, test_scales_oracle
from tests import test_float_checks as floats
from tests import test_integer_checks as integers
from tests import test_model_checks as models
from tests.breakable_decoders import Breakable, BreakableFloats, BreakableRun, Floats, rules
from tests.honesty.case import Case, asserted, broken, right
from verify.decode import float_checks, model_checks
from verify.decode.behaviour_checks import (
    LogitError,
    check_float_rule,
    check_knocked_out,
    check_logit_error,
    check_rule,
    measured,
)
from verify.decode.float_checks import (
    FLOAT_TOLERANCE,
    check_float_steps,
    check_full_attention,
    check_generation,
    check_no_sinks_unless_given,
    check_refused_floats,
    check_short_window,
    logit_differences,
)
from verify.decode.hostile_models import hostile, hostile_rows
from verify.decode.integer_checks import (
    MakeInteger,
    check_integer_decode,
    check_integer_step,
    check_refused_steps,
    check_row_order,
    step_differences,
)
from verify.decode.model_checks import (
    check_exp_table,
    check_multipliers,
    check_narrow_models,
    check_quantised,
    check_random_model,
    check_structured_model,
)
from verify.decode.oracle import Found, parameters
from verify.decode.suite import TOKENS, behaviour_parts, float_parts, integer_parts, model_parts
from verify.refinement import Difference
from verify.target import Raised

MODEL = tiny_lm.random(1, 16)
INTEGERS = quantise(MODEL)
STRUCTURED = load("structured-16")
EXPONENTIALS = exponentials()
EMPTY = Context(*[np.empty((0, 16), np.int8)] * 2)
HOSTILE = hostile(1, 16)
ROWS = hostile_rows(1, 5, 16)
ORDERS = [np.arange(5)[::-1]]
LOGITS = np.array([1.0, -2.0])


def raising(*_: object) -> Generation:
    """Stands for anything that makes or runs a decoder, and raises."""
    raise RuntimeError("no decoder")


def finds(check: Callable[..., Found], *arguments: object) -> Callable[[], set[str]]:
    """The rules that the check finds broken with these arguments."""
    return lambda: rules([check(*arguments)])


def honesty() -> Iterator[Case]:
    """Everything that is broken in one place, each by the one check that is for it, and what is right."""
    yield from float_cases()
    yield from integer_cases()
    yield from model_cases()
    yield from behaviour_cases()


def float_cases() -> Iterator[Case]:
    """Float references."""
    steps = MODEL, TOKENS, 3, 1
    yield right("DEC-FLOAT", "a float reference written apart", finds(check_float_steps, *steps, BreakableFloats))
    wrong: Callable[..., object]
    for wrong in (floats.KeepsOneRowMore, floats.KeepsOneRowLess, floats.IsOffByABillionth, RaisesInAStep, raising):
        yield broken("DEC-FLOAT", wrong.__name__, finds(check_float_steps, *steps, wrong))
    yield right("DEC-FLOAT", "windows that are refused", finds(check_refused_floats, MODEL, BreakableFloats))
    yield broken("DEC-FLOAT", "TakesAnyToken", finds(check_refused_floats, MODEL, floats.TakesAnyToken))
    run = MODEL, 5, 4, 2, 1
    yield right("DEC-FLOAT", "a greedy decode written apart", finds(check_generation, *run, BreakableRun()))
    for of_run in (floats.FeedsTheStartForEver, floats.LeavesTheStartOut, floats.ShiftsTheLogits, FeedsAnotherToken):
        yield broken("DEC-FLOAT", of_run.__name__, finds(check_generation, *run, of_run()))
    yield broken("DEC-FLOAT", "a decode that raises", finds(check_generation, *run, raising))
    yield right("DEC-FULL", "full attention written apart", finds(check_full_attention, MODEL, TOKENS, BreakableFloats))
    for wrong in (floats.CutsTheFullWindow, floats.DriftsByARounding, raising):
        yield broken("DEC-FULL", wrong.__name__, finds(check_full_attention, MODEL, TOKENS, wrong))
    yield right("DEC-FULL", "a short window written apart", finds(check_short_window, MODEL, TOKENS, BreakableFloats))
    for wrong in (floats.IgnoresTheWindow, DriftsUnderAWindow, raising):
        yield broken("DEC-FULL", f"{wrong.__name__}, short", finds(check_short_window, MODEL, TOKENS, wrong))
    for name, said in (
        ("another shape", LOGITS[:1]),
        ("another type", LOGITS.astype(np.float32)),
        ("no number", np.array([1.0, math.nan])),
        ("an error", Raised("KeyError", "7")),
    ):
        yield broken("DEC-FLOAT", name, named(logit_differences, "DEC-FLOAT", LOGITS, said, FLOAT_TOLERANCE, name))
    sinks = partial(
        with_name, float_checks, "FloatDecoder", lambda *given: FloatDecoder(*given[:2], *given[2:] or (1,))
    )
    asked = finds(check_no_sinks_unless_given, MODEL, (3, 14, 1, 5), 2)
    yield broken("DEC-FLOAT", "a sink that nobody asked for", partial(sinks, asked))
    runs = partial(with_name, float_checks, "generate", lambda *given: generate(*given[:4], *given[4:] or (1,)))
    yield broken("DEC-FLOAT", "a sink that nobody asked a run for", partial(runs, asked))


def integer_cases() -> Iterator[Case]:
    """Integer decoders."""
    wrong: Callable[..., object]
    for check, given in (
        (check_integer_decode, (INTEGERS, TOKENS[:2], 5, 3, 1)),
        (check_integer_step, (HOSTILE, 3, ROWS)),
    ):
        yield right("DEC-INT", f"a decoder written apart, {check.__name__}", finds(check, *given, Breakable))
        for wrong in (integers.MissesTheFirstRow, integers.SwapsKeysAndValues, integers.Raises):
            yield broken("DEC-INT", f"{wrong.__name__}, {check.__name__}", finds(check, *given, wrong))
    yield right("DEC-ORDER", "a decoder written apart", finds(check_row_order, HOSTILE, 3, ROWS, ORDERS, Breakable))
    for wrong in (integers.MissesTheFirstRow, integers.WeighsByPosition, integers.Raises, raising):
        yield broken("DEC-ORDER", wrong.__name__, finds(check_row_order, HOSTILE, 3, ROWS, ORDERS, wrong))
    yield right("DEC-INT", "what the decoder that ships refuses", finds(check_refused_steps, INTEGERS, IntegerDecoder))
    for wrong in (integers.TakesAnyContext, integers.Raises):
        yield broken("DEC-INT", f"{wrong.__name__}, refusals", finds(check_refused_steps, INTEGERS, wrong))
    due = IntegerDecoder(INTEGERS).step(3, EMPTY)
    for name, said in (
        ("another token", due._replace(token=due.token + 1)),
        ("a token of another type", due._replace(token=np.int64(due.token))),  # type: ignore[arg-type]
        ("other logits", due._replace(logits=due.logits + np.int32(1))),
        ("logits of another type", due._replace(logits=due.logits.astype(np.int64))),
        ("another key", due._replace(key=due.key ^ 1)),
        ("another value", due._replace(value=due.value ^ 1)),
        ("no array", due._replace(value=None)),  # type: ignore[arg-type]
        ("an error", Raised("KeyError", "7")),
    ):
        yield broken("DEC-INT", name, named(step_differences, "DEC-INT", due, said, name))


def model_cases() -> Iterator[Case]:
    """Models, multipliers and tables."""
    for name, model in models.BROKEN_MODELS.items():
        yield broken("DEC-MODEL", name, finds(check_quantised, MODEL, model))
    nothing = replace(MODEL, value=0 * MODEL.value)
    yield broken("DEC-MODEL", "integers of a model that has none", finds(check_quantised, nothing, INTEGERS))
    for real, make in models.BROKEN_MULTIPLIERS:
        yield broken("DEC-MODEL", f"multiplier of {real}", finds(check_multipliers, [real], make))
    for number, table in enumerate(((255,) * 256, tuple(exponentials()[:-1]), ())):
        yield broken("DEC-MODEL", f"table {number}", finds(check_exp_table, table))
    for name, table, definition in (
        ("another entry that the reference has no figure of", (*EXPONENTIALS[:2], 0, *EXPONENTIALS[3:]), EXPONENTIALS),
        ("the figures of another table", (255,) * 256, (255,) * 256),
    ):
        yield broken("DEC-MODEL", name, partial(by_table, table, definition))
    yield broken("DEC-MODEL", "a model that is refused", models_refused)
    wide = partial(with_name, model_checks, "structured", lambda width: tiny_lm.structured(max(width, 16)))
    yield broken("DEC-MODEL", "a width that is too narrow and taken", partial(wide, finds(check_narrow_models)))
    for name, floats_of in models.BROKEN_RANDOM.items():
        yield broken("DEC-MODEL", name, finds(check_random_model, floats_of, 1, 16))
    structured = replace(models.STRUCTURED, query=5 * np.eye(16))
    yield broken("DEC-MODEL", "structured, of fives", finds(check_structured_model, structured, 16))


def behaviour_cases() -> Iterator[Case]:
    """Whole decodes."""
    for mean, worst in ((0.04, 0.05), (0.01, 0.15), (math.nan, 0.05), (0.01, math.nan)):
        error = LogitError("m", 16, 4, mean, worst, 1)
        yield broken("DEC-ERROR", f"{mean}, {worst}", finds(check_logit_error, error))
    yield broken("DEC-ERROR", "no error", finds(check_logit_error, Raised("KeyError", "7")))
    good = LogitError("m", 16, 4, 0.0399, 0.1499, 1)
    yield right("DEC-ERROR", "an error below its bounds", finds(check_logit_error, good))
    for wrong in (integers.ForgetsTheResidual, integers.SwapsKeysAndValues):
        yield broken("DEC-ERROR", wrong.__name__, finds(far_from_floats, wrong))
    yield broken("DEC-RULE", "a random model", finds(check_rule, INTEGERS, 4, (0,), 4))
    yield broken("DEC-RULE", "a random model in floats", finds(check_float_rule, MODEL, 4, (0,), 4))
    without = finds(check_knocked_out, STRUCTURED, 4, (0, 1), 8, untouched)
    yield broken("DEC-RULE", "a model that needs no attention", without)


def literals() -> Iterator[Case]:
    """The definitions against literals and plain loops; no order of rows changes a step."""
    yield from asserted("DEC-INT", *LITERAL_INTEGERS)
    yield from asserted("DEC-MODEL", *LITERAL_MODELS)
    yield from asserted("DEC-FLOAT", *LITERAL_FLOATS)
    yield right("DEC-ORDER", "the definition's step", in_any_order)


def differential() -> Iterator[Case]:
    """The definitions against the decoders and models that ship."""
    for rule, parts in (
        ("DEC-FLOAT", float_parts),
        ("DEC-INT", integer_parts),
        ("DEC-MODEL", model_parts),
        ("DEC-RULE", behaviour_parts),
    ):
        yield right(rule, f"what ships: {parts.__name__}", partial(found_by, parts))


def found_by(parts: Callable[[], Iterator[Found]]) -> set[str]:
    """The rules that these checks find broken in what ships."""
    return rules(parts())


LITERAL_INTEGERS = (
    test_numerics_oracle.test_a_rounded_shift_rounds_half_towards_positive_infinity,
    test_numerics_oracle.test_saturation_clamps_to_the_ends_of_int8,
    test_numerics_oracle.test_requantising_saturates_at_both_ends_and_rounds_once,
    test_numerics_oracle.test_the_table_of_exponentials_starts_at_255_and_ends_in_zeros,
    test_numerics_oracle.test_exponentials_look_up_the_distance_to_the_largest_score,
    test_numerics_oracle.test_a_mean_is_rounded_half_up_for_either_sign,
    test_decode_oracle.test_the_next_token_is_the_lowest_of_the_largest,
    test_decode_oracle.test_the_toy_step_has_the_integers_worked_out_by_hand,
    test_decode_oracle.test_the_row_of_a_token_is_rounded_and_saturated_on_its_own,
    test_decode_oracle.test_a_context_of_255_tokens_is_legal_and_exact_at_the_extremes,
    test_decode_oracle.test_arguments_outside_the_decode_step_are_errors,
)
LITERAL_MODELS = (
    test_numerics_oracle.test_multipliers_have_the_values_worked_out_by_hand,
    test_numerics_oracle.test_a_multiplier_is_rounded_half_up,
    test_numerics_oracle.test_a_multiplier_rounded_to_65536_is_halved_with_one_shift_less,
    test_numerics_oracle.test_a_real_without_a_multiplier_is_an_error,
    test_scales_oracle.test_tensors_are_rounded_half_up_in_units_of_their_scale,
    test_scales_oracle.test_multipliers_are_those_worked_out_by_hand,
    test_scales_oracle.test_the_output_reaches_the_sum_of_both_intervals,
    test_scales_oracle.test_the_reach_adds_largest_to_largest_and_least_to_least,
    test_scales_oracle.test_the_structured_model_has_ones_where_its_tensors_do,
    test_scales_oracle.test_tensors_without_integers_are_errors,
)
LITERAL_FLOATS = (
    test_decode_oracle.test_float_attention_is_that_of_plain_loops_under_every_window,
    test_decode_oracle.test_a_window_that_holds_every_token_is_no_window,
)


def named(compare: Callable[..., list[Difference]], *arguments: object) -> Callable[[], list[str]]:
    """The rules of the differences that the comparison finds between these."""
    return lambda: [difference.rule for difference in compare(*arguments)]


def far_from_floats(make: MakeInteger) -> Found:
    """The check of the logit error, of such a decoder."""
    return check_logit_error(measured(MODEL, INTEGERS, 4, (3, 8), 16, make))


def by_table(table: Sequence[int], definition: Sequence[int]) -> set[str]:
    """The rules that the table breaks, were that one the definition's."""
    with patch.object(model_checks, "exp_table", lambda: np.array(definition)):
        return rules([check_exp_table(table)])


def with_name(module: ModuleType, name: str, value: object, find: Callable[[], set[str]]) -> set[str]:
    """What is found while that name of the module stands for the value."""
    with patch.object(module, name, value):
        return find()


def models_refused() -> set[str]:
    """The rules that a quantising breaks which refuses every model."""
    with patch.object(model_checks, "quantise", raising):
        return rules([check_quantised(MODEL)])


def in_any_order() -> list[str]:
    """DEC-ORDER when the definition's step depends on the order of its rows."""
    model = parameters(HOSTILE)
    first = step_from_rows(model, 3, ROWS.keys, ROWS.values)
    others = (step_from_rows(model, 3, ROWS.keys[order], ROWS.values[order]) for order in ORDERS)
    return [one.rule for other in others for one in step_differences("DEC-ORDER", first, Step(*other), "order")]


class RaisesInAStep(BreakableFloats):
    """A float reference that cannot decode."""

    def step(self, token: int) -> Floats:
        raise RuntimeError("no step")


class DriftsUnderAWindow(BreakableFloats):
    """A float reference that is not the same to the last bits while its window holds everything."""

    def added(self, y: Floats, x: Floats) -> Floats:
        return super().added(y, x) + (1e-10 if self.window else 0)


class FeedsAnotherToken(BreakableRun):
    """A greedy decode that feeds itself no largest logit, and whose logits are right all the same."""

    def chosen(self, logits: Floats) -> int:
        return int(logits.argmin())


def untouched(model: IntegerModel) -> Decoder:
    """The structured model, whatever was asked for."""
    return IntegerDecoder(STRUCTURED)
