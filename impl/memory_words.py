"""Rows of int8 as the words of the chip's memory, and back. Source: docs/chip.md section 1."""

import numpy as np
import numpy.typing as npt

from impl.chip import MemoryWords

LANES_A_WORD = 4

Rows = npt.NDArray[np.int8]


def row_words(lanes: int) -> int:
    """RW, the words of a row of so many lanes, a multiple of 4."""
    return lanes // LANES_A_WORD


def packed(rows: Rows) -> MemoryWords:
    """The words of the rows (k, L), L a multiple of 4, row after row; lane 4w stands in bits 7:0 of word w."""
    return rows.ravel().view("<u4").astype(np.uint32)


def unpacked(words: MemoryWords, lanes: int) -> Rows:
    """The rows (k, L) that the words hold."""
    return words.astype("<u4").view(np.int8).reshape(-1, lanes)


def sums(words: MemoryWords) -> npt.NDArray[np.int32]:
    """The words as the 32-bit sums with sign that a DOTL leaves."""
    return words.astype(np.uint32).view(np.int32)
