"""The integer arithmetic of the oracle is right: literals worked out by hand, and roundings as floors of rationals."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.numerics import (
    Integers,
    Multiplier,
    exp_table,
    exponentials,
    multiplier,
    requantised,
    rounded_mean,
    rounded_shift,
    saturated,
)

HALF = Fraction(1, 2)
ONE = Multiplier(2**15, 15)
INT8 = st.integers(-128, 127)
SIGNIFICANDS = st.integers(2**15, 2**16 - 1)
SHIFTS = st.integers(1, 40)
MULTIPLIERS = st.builds(Multiplier, SIGNIFICANDS, SHIFTS)


def integers(*values: int) -> Integers:
    return np.array(values, np.int64)


def test_a_rounded_shift_rounds_half_towards_positive_infinity() -> None:
    assert rounded_shift(integers(-6, -5, -3, -2, -1, 0, 1, 2, 3, 5, 6), 2).tolist() == [
        -1,
        -1,
        -1,
        0,
        0,
        0,
        0,
        1,
        1,
        1,
        2,
    ]
    assert rounded_shift(integers(-3, -1, 1, 3), 1).tolist() == [-1, 0, 1, 2]
    assert rounded_shift(integers(-(2**39) - 1, -(2**39), 2**39 - 1, 2**39), 40).tolist() == [-1, 0, 0, 1]


def test_saturation_clamps_to_the_ends_of_int8() -> None:
    assert saturated(integers(-129, -128, -127, 0, 127, 128)).tolist() == [-128, -128, -127, 0, 127, 127]


def test_requantising_saturates_at_both_ends_and_rounds_once() -> None:
    assert requantised(integers(127, 128, -128, -129), ONE).tolist() == [127, 127, -128, -128]
    # 0.4 + 0.4 is rounded to 1; each alone would be rounded to 0.
    tenth = Multiplier(52429, 19)
    assert requantised(integers(4, 0, 4), tenth, 2, integers(2, 2, 0)).tolist() == [1, 0, 0]
    assert requantised(integers(2**19), Multiplier(2**16 - 1, 1), -(2**15), integers(127)).tolist() == [-128]


@given(st.integers(-(2**19), 2**19), MULTIPLIERS, st.integers(-(2**15), 2**15 - 1), INT8)
def test_requantising_is_a_rational_rounded_half_up_and_clamped(acc: int, by: Multiplier, rm: int, x: int) -> None:
    exact = math.floor(Fraction((acc + rm * x) * by.m, 2**by.shift) + HALF)
    assert requantised(integers(acc), by, rm, integers(x)).tolist() == [sorted((-128, exact, 127))[1]]


def test_multipliers_have_the_values_worked_out_by_hand() -> None:
    assert multiplier(1.0) == (2**15, 15)
    assert multiplier(0.75) == (3 * 2**14, 16)
    # 2^22 / 127 = 33026.02
    assert multiplier(1 / 127) == (33026, 22)
    assert (multiplier(2**14), multiplier(2**-25)) == ((2**15, 1), (2**15, 40))


def test_a_multiplier_is_rounded_half_up() -> None:
    assert multiplier((2**15 + 0.5) / 2**15) == (2**15 + 1, 15)
    assert multiplier(math.nextafter((2**15 + 0.5) / 2**15, 0)) == (2**15, 15)


def test_a_multiplier_rounded_to_65536_is_halved_with_one_shift_less() -> None:
    assert multiplier(math.nextafter(1, 0)) == (32768, 15)
    assert multiplier((2**16 - 0.5) / 2**16) == (32768, 15)
    assert multiplier((2**16 - 0.75) / 2**16) == (65535, 16)
    # The correction comes before the range: it brings 41 back to 40, and 1 out to 0.
    assert multiplier(math.nextafter(2**-25, 0)) == (32768, 40)


@pytest.mark.parametrize("real", [2.0**15, math.nextafter(2**15, 0), 2.0**-26, 0.0, -1.0, math.inf, math.nan])
def test_a_real_without_a_multiplier_is_an_error(real: float) -> None:
    with pytest.raises(ValueError, match="a multiplier"):
        multiplier(real)


@given(st.floats(2**-25, 2**15 - 1))
def test_a_multiplier_is_within_half_a_unit_of_its_real(real: float) -> None:
    found = multiplier(real)
    assert 2**15 <= found.m < 2**16 and 1 <= found.shift <= 40
    assert abs(Fraction(found.m, 2**found.shift) - Fraction(real)) * 2**found.shift <= HALF


def test_the_table_of_exponentials_starts_at_255_and_ends_in_zeros() -> None:
    table = exp_table()
    assert (table.shape, table[0], table[32], table[199], table[200]) == ((256,), 255, 94, 1, 0)
    assert not table[200:].any() and (np.diff(table) <= 0).all()
    with localcontext(prec=50):
        exact = [math.floor(255 * (Decimal(-i) / 32).exp() + Decimal("0.5")) for i in range(256)]
    assert table.tolist() == exact


def test_exponentials_look_up_the_distance_to_the_largest_score() -> None:
    # exp(-1) * 255 = 93.8; 254 and 300 are beyond the last nonzero entry, and 300 beyond the table.
    assert exponentials(integers(10, -22, 10, -244, -290), ONE).tolist() == [255, 94, 255, 0, 0]
    # Half of the distance 1 is rounded up to entry 1: 255 * exp(-1/32) = 247.2
    assert exponentials(integers(7, 6), Multiplier(2**15, 16)).tolist() == [255, 247]
    assert exponentials(integers(-5), ONE).tolist() == [255]


def test_a_mean_is_rounded_half_up_for_either_sign() -> None:
    assert rounded_mean(integers(3, 1, -1, -3, -4), 2).tolist() == [2, 1, 0, -1, -2]
    assert rounded_mean(integers(-128 * 255, 127 * 255), 255).tolist() == [-128, 127]


@given(st.lists(st.tuples(st.integers(0, 255), INT8), min_size=1, max_size=255))
def test_a_mean_is_the_rational_rounded_half_up(weighted_values: list[tuple[int, int]]) -> None:
    total = 255 + sum(e for e, _ in weighted_values)
    a = sum(e * v for e, v in [*weighted_values, (255, -128)])
    assert rounded_mean(integers(a), total).tolist() == [math.floor(Fraction(a, total) + HALF)]
