"""The integers of a model are right: a model of two tokens worked out by hand, and the scales once more in rationals."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from spec.attention import Tensors
from spec.numerics import Multiplier
from spec.scales import quantised, reach
from tests.test_decode_oracle import random_tensors, structured
from tests.test_numerics_oracle import HALF


def by_hand(residual: bool) -> Tensors:
    """Two tokens of width 2, of powers of two and of multiples of 127, so that every scale is simple."""
    return Tensors(
        embedding=np.array([[127, 0], [-254, 63.5]]) / 128,
        query=np.array([[127, 0], [0, 254]]) / 256,
        key=np.array([[-127, 0], [0, 254]]) / 256,
        value=np.eye(2),
        output=np.array([[-1.0, 0], [0, 1]]),
        unembedding=np.array([[254, 0], [0, -127]]) / 128,
        residual=residual,
    )


def test_tensors_are_rounded_half_up_in_units_of_their_scale() -> None:
    found = quantised(by_hand(residual=True))
    # In units of scale(E) = 254/128/127 = 1/64: 63.5 and 0, -127 and 31.75. Halves go up, so -63.5 is -63.
    assert found.embedding.tolist() == [[64, 0], [-127, 32]]
    assert (found.query.tolist(), found.key.tolist()) == ([[64, 0], [0, 127]], [[-63, 0], [0, 127]])
    assert (found.value.tolist(), found.output.tolist()) == ([[127, 0], [0, 127]], [[-127, 0], [0, 127]])
    assert found.unembedding.tolist() == [[127, 0], [0, -63]]


def test_multipliers_are_those_worked_out_by_hand() -> None:
    found = quantised(by_hand(residual=True))
    # scale_q = 254*127/2^15/127 = 127/2^14, so q takes (1/64)(1/128)/scale_q = 2/127, and 2/127 * 2^21 = 33026.02.
    assert found.multipliers.query == found.multipliers.key == (33026, 21)
    # Wv is 1, so scale_v = scale_x, and v takes scale(Wv) = 1/127.
    assert found.multipliers.value == (33026, 22)
    # 32*(127/2^14)^2/sqrt(2) = 0.0013596, times 2^25 = 45619.70.
    assert found.exponent == (45620, 25)


def test_the_output_reaches_the_sum_of_both_intervals() -> None:
    # Output 0: h in -127 .. 254 and r in -254 .. 127, in 128ths, reach 381, though h + r is 0 for each token alone.
    with_residual = quantised(by_hand(residual=True))
    assert with_residual.logit_scale == pytest.approx(3 / 128 / 64, rel=1e-15)
    # (1/64)(1/127)/(3/128) = 2/381, and 2/381 * 2^23 = 44034.69.
    assert (with_residual.multipliers.output, with_residual.residual) == ((44035, 23), 127)
    without = quantised(by_hand(residual=False))
    assert without.logit_scale == pytest.approx(2 / 128 / 64, rel=1e-15)
    assert (without.multipliers.output, without.residual) == ((33026, 22), 0)


def test_the_reach_adds_largest_to_largest_and_least_to_least() -> None:
    mixed, added = np.array([[1.0, -5], [3, -1]]), np.array([[-7.0, 2], [-2, -4]])
    assert reach(mixed, added).tolist() == [[1, 1], [-6, -9]]


def test_the_structured_model_has_ones_where_its_tensors_do() -> None:
    found = quantised(structured(16))
    for tensor in (found.query, found.key, found.value, found.output):
        assert (tensor == 127 * np.eye(16)).all()
    assert (found.embedding == 127 * np.eye(16)).all() and found.unembedding[3, 0] == 127
    assert {*found.multipliers} == {Multiplier(33026, 22)} and found.residual == 0
    # 32 * (6/127)^2 / 4 = 0.0178560, times 2^21 = 37446.8; a logit is worth 1/127^2.
    assert found.exponent == (37447, 21)
    assert found.logit_scale == pytest.approx(1 / 16129, rel=1e-15)


def exact(tensor: Any) -> Any:
    """The tensor in Fractions, each the float64 itself, as an array of objects."""
    return np.vectorize(Fraction, otypes=[object])(tensor)


def is_nearest(found: Multiplier, square: Fraction) -> bool:
    """Whether m / 2^shift is the real of that square rounded half up, without its root."""
    unit = square * 4**found.shift
    return (found.m - HALF) ** 2 <= unit < (found.m + HALF) ** 2 and 2**15 <= found.m < 2**16


@pytest.mark.parametrize(("vocabulary", "width", "seed"), [(16, 16, 1), (16, 16, 2), (5, 3, 3), (2, 7, 4), (1, 1, 5)])
@pytest.mark.parametrize("residual", [False, True])
def test_scales_in_exact_rationals_give_the_same_integers(
    vocabulary: int, width: int, seed: int, residual: bool
) -> None:
    tensors = random_tensors(vocabulary, width, seed, residual)
    found = quantised(tensors)
    e, wq, wk, wv, wo, u = (exact(tensor) for tensor in tensors[:6])
    for name, tensor in zip(Tensors._fields, (e, wq, wk, wv, wo, u), strict=False):
        largest = abs(tensor).max()
        expected = [[math.floor(value * 127 / largest + HALF) for value in line] for line in tensor]
        assert getattr(found, name).tolist() == expected
    x, q, k, v = abs(e).max(), abs(e @ wq.T).max(), abs(e @ wk.T).max(), abs(e @ wv.T).max()
    h, r = e @ wv.T @ wo.T, e if residual else 0 * e
    y = max(abs(ends(h[:, j]) + ends(r[:, j])) for ends in (max, min) for j in range(width))
    # Largest magnitudes stand for scales of 1/127 of them: a product of two over one keeps one 127.
    for by, real in zip(
        found.multipliers,
        (x * abs(wq).max() / q, x * abs(wk).max() / k, x * abs(wv).max() / v, v * abs(wo).max() / y),
        strict=True,
    ):
        assert is_nearest(by, (real / 127) ** 2)
    assert is_nearest(found.exponent, (32 * q * k / 127**2) ** 2 / width)
    assert found.residual == (math.floor(127 * x / (v * abs(wo).max()) + HALF) if residual else 0)
    assert found.logit_scale == pytest.approx(float(y * abs(u).max() / 127**2), rel=1e-14)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unembedding": np.zeros((2, 2))}, "a scale needs a finite magnitude above 0, got 0.0"),
        ({"value": np.zeros((2, 2))}, "a scale needs"),
        ({"embedding": np.array([[1.0, math.inf], [0, 0]])}, "a scale needs"),
        ({"query": 1e9 * np.eye(2)}, "a multiplier shifts by 1 .. 40"),
        ({"query": 1e-9 * np.eye(2)}, "a multiplier shifts by 1 .. 40"),
        ({"output": 0.003 * np.eye(2)}, "a residual has 16 bits with its sign, got 42333"),
    ],
)
def test_tensors_without_integers_are_errors(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quantised(by_hand(residual=True)._replace(**changes))
