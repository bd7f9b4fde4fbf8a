"""The integer arithmetic of a decode step: rounding, saturation, multipliers, exponentials and the rounded mean.

Arrays are int64 from end to end, so that no product of int8 wraps. At width 32 the largest sum before a shift,
(acc + Rm*xr)*M + 2^(sh-1), stays below 2^40, so every result is exact. Source: docs/reference.md section 4.
"""

import math
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

LEAST_M, BEYOND_M = 2**15, 2**16
SHIFTS = range(1, 41)
RESIDUALS = range(-(2**15), 2**15)
LAST_EXPONENT = 255


class Multiplier(NamedTuple):
    """The real m / 2^shift, m in [2^15, 2^16), shift in 1 .. 40."""

    m: int
    shift: int


def multiplier(real: float) -> Multiplier:
    """The multiplier nearest to the real, m rounded half up. ValueError unless real > 0 and its shift is in 1 .. 40."""
    if not 0 < real < math.inf:
        raise ValueError(f"a multiplier stands for a finite real above 0, got {real}")
    # frexp is exact; log2 rounds.
    floor_of_log2 = math.frexp(real)[1] - 1
    shift = 15 - floor_of_log2
    m = math.floor(Fraction(real) * Fraction(2) ** shift + Fraction(1, 2))
    if m == BEYOND_M:
        m, shift = LEAST_M, shift - 1
    if shift not in SHIFTS:
        raise ValueError(f"a multiplier shifts by 1 .. 40, {real} needs {shift}")
    return Multiplier(m, shift)


def rounded_shift(x: Integers, shift: int) -> Integers:
    """rhu(x, s): x / 2^s rounded half up, towards +infinity for negative x too; shift >= 1."""
    return (x + (1 << (shift - 1))) >> shift


def saturated(x: Integers) -> Integers:
    """sat8(x): x clamped to -128 .. 127."""
    return np.clip(x, -128, 127)


def requantised(acc: Integers, by: Multiplier, residual: int = 0, x: Integers | int = 0) -> Integers:
    """RQ(acc; M, sh, Rm, xr) = sat8(rhu((acc + Rm*xr)*M, sh)): the residual joins before the one rounding."""
    return saturated(rounded_shift((acc + residual * x) * by.m, by.shift))


@cache
def exp_table() -> Integers:
    """LUT, (256,): entry i is 255 * exp(-i/32) rounded half up; 255 at 0, 1 at 199, 0 from 200. Read-only."""
    table = np.array([math.floor(255 * math.exp(-i / 32) + 0.5) for i in range(LAST_EXPONENT + 1)], np.int64)
    table.flags.writeable = False
    return table


def exponentials(scores: Integers, by: Multiplier) -> Integers:
    """e_t of each score s_t: LUT[min(255, rhu((max s - s_t)*Me, she))], so 255 for the largest; shape (n,), n >= 1."""
    return exp_table()[np.minimum(LAST_EXPONENT, rounded_shift((scores.max() - scores) * by.m, by.shift))]


def rounded_mean(weighted: Integers, total: int) -> Integers:
    """o of a and Z: floor((2a + 257Z) / (2Z)) - 128, which is a/Z rounded half up.

    The 257Z keeps the dividend positive for every mean of int8 values, so truncating division would give the same. Such
    a mean, rounded, is an int8 value again: nothing to saturate.
    """
    return (2 * weighted + 257 * total) // (2 * total) - 128
