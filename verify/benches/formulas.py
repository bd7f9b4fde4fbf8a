"""The chip's arithmetic as docs/chip.md section 2 writes it, in plain Python integers that never wrap or round."""

import math
from collections.abc import Sequence

LUT = tuple(math.floor(255 * math.exp(-i / 32) + 0.5) for i in range(256))


def rhu(x: int, s: int) -> int:
    """(x + 2^(s-1)) >> s, floored."""
    return (x + (1 << (s - 1))) >> s


def sat8(x: int) -> int:
    """x clamped to -128 .. 127."""
    return max(-128, min(127, x))


def requantised(acc: int, m: int, sh: int, rm: int = 0, xr: int = 0) -> int:
    """RQ(acc; M, sh, Rm, xr): one rounding."""
    return sat8(rhu((acc + rm * xr) * m, sh))


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """sum_l A[l]*B[l]."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def exponentials(scores: Sequence[int], m: int, sh: int) -> list[int]:
    """e_t of every score."""
    return [LUT[min(255, rhu((max(scores) - s) * m, sh))] for s in scores]


def mean(a: int, z: int) -> int:
    """o of one lane: floor((2*a + 257*Z)/(2*Z)) - 128."""
    return (2 * a + 257 * z) // (2 * z) - 128


def weighted_mean(weights: Sequence[int], rows: Sequence[Sequence[int]]) -> list[int]:
    """o of every lane of the rows."""
    return [mean(dot(weights, lane), sum(weights)) for lane in zip(*rows, strict=True)]


def packed(lanes: Sequence[int]) -> int:
    """A scratchpad row as one number, lane 0 in bits 7:0."""
    return sum((lane & 0xFF) << (8 * place) for place, lane in enumerate(lanes))


def lanes_of(row: int, count: int) -> list[int]:
    """The lanes of a row as one number, each -128 .. 127."""
    return [((row >> (8 * place)) + 128) % 256 - 128 for place in range(count)]


def words_of(lanes: Sequence[int]) -> list[int]:
    """A row as words of memory: word w holds lanes 4w .. 4w+3, lane 4w in bits 7:0."""
    row = packed(lanes)
    return [(row >> (32 * w)) & 0xFFFFFFFF for w in range(len(lanes) // 4)]


def lanes_of_words(words: Sequence[int]) -> list[int]:
    """The lanes that words of memory hold."""
    return lanes_of(sum(word << (32 * w) for w, word in enumerate(words)), 4 * len(words))
