"""The checks of the models are shown integers, tables and tensors that are not the reference's, and must reject them."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from impl import tiny_lm
from impl.integer_model import IntegerModel, Requantiser
from impl.quantise import ModelError, exponentials, quantise
from tests.breakable_decoders import rules
from verify.decode import model_checks
from verify.decode.model_checks import (
    check_exp_table,
    check_infinite_sums,
    check_multipliers,
    check_narrow_models,
    check_quantised,
    check_random_model,
    check_structured_model,
)

MODEL = tiny_lm.random(1, 16)


def off_by_one(model: IntegerModel, tensor: str) -> IntegerModel:
    """The model with one element of the tensor another."""
    values = getattr(model, tensor).copy()
    values[-1, -1] ^= 1
    return replace(model, **{tensor: values})


INTEGERS = quantise(MODEL)
BY = INTEGERS.requantisers
BROKEN_MODELS: dict[str, IntegerModel] = {
    **{f"one element of {name}": off_by_one(INTEGERS, name) for name in ("embedding", "query", "key", "value")},
    **{f"one element of {name}": off_by_one(INTEGERS, name) for name in ("output", "unembedding")},
    "queries and keys swapped": replace(INTEGERS, query=INTEGERS.key, key=INTEGERS.query),
    "a tensor of another type": replace(INTEGERS, query=INTEGERS.query.astype(np.int16)),
    "M rounded down": replace(INTEGERS, requantisers=BY._replace(value=Requantiser(BY.value.m - 1, BY.value.shift))),
    "a shift too far": replace(INTEGERS, requantisers=BY._replace(query=Requantiser(BY.query.m, BY.query.shift + 1))),
    "k as q": replace(INTEGERS, requantisers=BY._replace(key=BY.query)),
    "no exponent": replace(INTEGERS, exponent=BY.query),
    "no residual": replace(INTEGERS, residual=0),
    "residual one more": replace(INTEGERS, residual=INTEGERS.residual + 1),
    "a logit worth more": replace(INTEGERS, scales=replace(INTEGERS.scales, y=1.0001 * INTEGERS.scales.y)),
    "another name": replace(INTEGERS, name="random-2-16"),
}


@pytest.mark.parametrize("name", BROKEN_MODELS)
def test_integers_that_the_scales_do_not_give_break_model(name: str) -> None:
    assert rules([check_quantised(MODEL, BROKEN_MODELS[name])]) == {"DEC-MODEL"}
    assert rules([check_quantised(MODEL, INTEGERS)]) == set()


def test_integers_for_a_model_that_has_none_break_model() -> None:
    nothing = replace(MODEL, value=0 * MODEL.value)
    assert rules([check_quantised(nothing, INTEGERS)]) == {"DEC-MODEL"}
    assert rules([check_quantised(nothing)]) == set()


def by_logarithm(name: str, real: float) -> Requantiser:
    """A multiplier whose size a rounded logarithm decides, and whose M may be 2^16."""
    shift = 15 - math.floor(math.log2(real))
    return Requantiser(math.floor(real * 2.0**shift + 0.5), shift)


BROKEN_MULTIPLIERS: tuple[tuple[float, Callable[[str, float], Requantiser]], ...] = (
    (1 - 2**-18, by_logarithm),
    (float(np.nextafter(1.0, 0)), by_logarithm),
    (2.0**-26, by_logarithm),
    (2.0**15, by_logarithm),
    (0.0, by_logarithm),
    (1 / 3, lambda name, real: Requantiser(21845 * 2, 17)),
)


@pytest.mark.parametrize(("real", "make"), BROKEN_MULTIPLIERS)
def test_a_multiplier_that_is_not_the_nearest_of_its_size_breaks_model(
    real: float, make: Callable[[str, float], Requantiser]
) -> None:
    assert rules([check_multipliers([real], make)]) == {"DEC-MODEL"}


@pytest.mark.parametrize(
    "table",
    [
        (*exponentials()[1:], 0),
        (255, *exponentials()[:-1]),
        exponentials()[:-1],
        tuple(math.floor(255 * math.exp(-index / 32)) for index in range(256)),
        (),
    ],
)
def test_a_wrong_table_of_exponentials_breaks_model(table: tuple[int, ...]) -> None:
    assert rules([check_exp_table(table)]) == {"DEC-MODEL"}


BROKEN_RANDOM: dict[str, tiny_lm.FloatModel] = {
    "of another seed": tiny_lm.random(2, 16),
    "keys drawn before queries": replace(MODEL, query=MODEL.key, key=MODEL.query),
    "not divided": replace(MODEL, unembedding=4 * MODEL.unembedding),
    "an embedding divided too": replace(MODEL, embedding=MODEL.embedding / 4),
    "no residual": replace(MODEL, residual=False),
    "of another type": replace(MODEL, value=MODEL.value.astype(np.float32)),
}


@pytest.mark.parametrize("name", BROKEN_RANDOM)
def test_another_random_model_breaks_model(name: str) -> None:
    assert rules([check_random_model(BROKEN_RANDOM[name], 1, 16)]) == {"DEC-MODEL"}


STRUCTURED = tiny_lm.structured(16)


@pytest.mark.parametrize(
    "broken",
    [
        replace(STRUCTURED, residual=True),
        replace(STRUCTURED, query=5 * np.eye(16)),
        replace(STRUCTURED, unembedding=STRUCTURED.unembedding.T),
        replace(STRUCTURED, embedding=STRUCTURED.embedding[::-1]),
        tiny_lm.structured(32),
    ],
)
def test_another_structured_model_breaks_model(broken: tiny_lm.FloatModel) -> None:
    assert rules([check_structured_model(broken, 16)]) == {"DEC-MODEL"}


def test_a_model_too_narrow_for_its_tokens_breaks_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rules([check_narrow_models()]) == set()
    monkeypatch.setattr(model_checks, "structured", lambda width: tiny_lm.structured(max(width, 16)))
    assert rules([check_narrow_models()]) == {"DEC-MODEL"}


def test_sums_beyond_the_largest_number_that_are_no_model_error_break_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_the_sum_raises(model: tiny_lm.FloatModel) -> IntegerModel:
        try:
            return quantise(model)
        except ModelError as error:
            raise ValueError("-inf + inf in fsum") from error

    assert rules([check_infinite_sums(MODEL)]) == set()
    monkeypatch.setattr(model_checks, "quantise", as_the_sum_raises)
    assert rules([check_infinite_sums(MODEL)]) == {"DEC-MODEL"}
