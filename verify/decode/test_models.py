"""The tiny models: their integers, how near those come to the floats, and the rule that the structured one obeys."""

from dataclasses import replace

import numpy as np
import pytest

from impl import tiny_lm
from impl.decoder import IntegerDecoder
from impl.model_files import differences, exp_table, float_model, load, names
from impl.quantise import exponentials, quantise
from verify.decode.behaviour_checks import check_float_rule, check_knocked_out, check_logit_error, check_rule, measured
from verify.decode.form_checks import check_form, check_refused_forms, check_said_values
from verify.decode.hostile_models import of_exact_residual, with_residual_factor
from verify.decode.model_checks import (
    check_exp_table,
    check_infinite_sums,
    check_multipliers,
    check_narrow_models,
    check_quantised,
    check_random_model,
    check_structured_model,
)
from verify.decode.oracle import gathered
from verify.summary import Summary

WIDTHS = (16, 32)
STANDARD = {
    *(f"structured-{width}" for width in WIDTHS),
    *(f"random-{seed}-{width}" for width in WIDTHS for seed in (1, 2, 3)),
}
RULE_WINDOWS = [(None, 0), (8, 0), (4, 0), (1, 0), (2, 0), (3, 0), (5, 0), (16, 0), (17, 0), (32, 0), (4, 1), (8, 3)]
ERROR_SEEDS = range(1, 21)


def test_the_standard_models_are_kept() -> None:
    assert set(names()) == STANDARD
    assert differences() == []


@pytest.mark.parametrize("name", names())
def test_a_kept_model_is_what_the_static_scales_of_its_floats_give(name: str) -> None:
    """DEC-MODEL, for what is kept and for what quantising gives now."""
    model = float_model(name)
    assert gathered([check_quantised(model), check_quantised(model, load(name))]) == ([], 2)


@pytest.mark.parametrize("width", [16, 17, 24, 32])
def test_the_float_models_are_those_of_the_reference(width: int) -> None:
    """DEC-MODEL: one stream of normal numbers a seed; ones and sixes."""
    found = [check_random_model(tiny_lm.random(seed, width), seed, width) for seed in (0, 1, 2, 3, 99)]
    assert gathered([*found, check_structured_model(tiny_lm.structured(width), width)])[0] == []


def test_a_model_has_a_width_for_every_token() -> None:
    assert check_narrow_models()[0] == []


@pytest.mark.parametrize("name", names())
def test_a_kept_model_is_its_form_in_json(name: str) -> None:
    """DEC-MODEL."""
    assert check_form(load(name))[0] == []


def test_what_is_no_form_of_a_model_is_refused_with_its_place() -> None:
    model = load("structured-32")
    assert gathered([check_refused_forms(model), check_said_values(model)])[0] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_other_models_are_quantised_by_the_same_scales(width: int) -> None:
    """DEC-MODEL with and without the residual."""
    for seed in range(4, 12):
        model = tiny_lm.random(seed, width)
        assert gathered([check_quantised(model), check_quantised(without_residual(model))])[0] == []


def without_residual(model: tiny_lm.FloatModel) -> tiny_lm.FloatModel:
    """The model whose output is its attention alone."""
    return replace(model, residual=False)


def test_a_model_whose_numbers_do_not_fit_has_no_integers() -> None:
    """DEC-MODEL: the last exponents and residuals that fit, the first that do not, zeros, NaN and infinities."""
    model = tiny_lm.random(1, 16)
    shift = quantise(model).exponent.shift
    for shift_to in (0, 1, 40, 41):
        check = check_quantised(replace(model, query=2.0 ** (shift - shift_to) * model.query))
        assert check[0] == []
    for factor in (32767.4, 32767.6, 40_000):
        assert check_quantised(with_residual_factor(model, factor))[0] == []
    for factor in (0.5, 1.5, 2.25, 32767.0, 32767.5):
        assert check_quantised(of_exact_residual(factor))[0] == []
    assert check_infinite_sums(model)[0] == []
    for tensor in ("embedding", "query", "key", "value", "output", "unembedding"):
        for bad in (0.0, np.nan, np.inf, -np.inf):
            spoilt = getattr(model, tensor) * 0.0 + bad
            assert check_quantised(replace(model, **{tensor: spoilt}))[0] == []


def test_a_multiplier_is_the_nearest_of_its_size() -> None:
    """DEC-MODEL around every power of two and halfway between neighbours, where logarithms and roundings slip."""
    powers = [2.0**power for power in range(-40, 24)]
    reals = [real for power in powers for real in (np.nextafter(power, 0), power, np.nextafter(power, np.inf))]
    reals += [power * (1 + (2 * step + 1) / 2**16) for power in powers for step in (0, 1, 12345, 32766, 32767)]
    reals += [float(real) for real in 10 ** np.random.default_rng(1).uniform(-9, 5, 500)]
    assert check_multipliers([*reals, 0.0, -1.0, np.inf, np.nan])[0] == []


def test_the_table_of_exponentials_is_the_definitions() -> None:
    """DEC-MODEL, kept and computed."""
    assert gathered([check_exp_table(exp_table()), check_exp_table(exponentials())])[0] == []


@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.parametrize("width", WIDTHS)
def test_integers_stay_near_the_windowed_floats(width: int, window: int | None, summary: Summary) -> None:
    """DEC-ERROR from every start for 32 steps; what was measured stands in the closing summary."""
    models = [tiny_lm.random(seed, width) for seed in ERROR_SEEDS]
    errors = [measured(model, quantise(model), window) for model in models]
    summary.logit_errors.extend(errors)
    assert gathered(map(check_logit_error, errors)) == ([], len(models) * 16 * 32)


@pytest.mark.parametrize(("window", "sinks"), RULE_WINDOWS)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_structured_model_follows_its_rule(width: int, window: int | None, sinks: int) -> None:
    """DEC-RULE from every start, in integers and in floats."""
    integers = check_rule(load(f"structured-{width}"), window, sinks=sinks)
    assert gathered([integers, check_float_rule(tiny_lm.structured(width), window)]) == ([], 2 * 16 * 32)


@pytest.mark.parametrize("window", [None, 8, 4, 1, 2, 3, 5, 16])
@pytest.mark.parametrize("width", WIDTHS)
def test_without_its_attention_the_structured_model_fails_from_every_start(width: int, window: int | None) -> None:
    """DEC-RULE: the rule is followed by attention and by nothing else."""
    assert check_knocked_out(load(f"structured-{width}"), window)[0] == []


def test_the_decoder_is_of_the_models_size() -> None:
    decoder = IntegerDecoder(load("structured-32"))
    assert (decoder.width, decoder.vocabulary) == (32, 16)
