"""What the chip holds between two instructions, and how its scratchpad and its memory are read and written.

Source: docs/chip.md section 1.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spec.isa import ENTRIES, IMEM_INSTRUCTIONS, LANES, SPAD_ROWS, Words
from spec.numerics import Integers, Multiplier

MemoryWords = NDArray[np.uint32]

BYTES_A_WORD = 4
MODULUS = 1 << 32


class Unspecified(ValueError):  # noqa: N818
    """A scratchpad row is read that was never written; no legal program does (docs/chip.md section 1)."""


class Entry(NamedTuple):
    """A requantisation entry; these are its values after reset (docs/chip.md section 1)."""

    by: Multiplier = Multiplier(2**15, 1)
    residual_row: int = 0
    residual: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """What a SCORE leaves: e_t, (count,), and their sum Z (docs/chip.md section 4)."""

    exponentials: Integers
    total: int

    @property
    def count(self) -> int:
        """How many rows it scored (docs/chip.md section 4)."""
        return len(self.exponentials)


@dataclass(slots=True, eq=False)
class Machine:
    """The chip between instructions, with its values of power-on and reset (docs/chip.md section 1).

    `memory` has EXT_WORDS words; `registers` are R0 .. R7, of which R0 is read as 0 whatever stands there; `scratchpad`
    is (1024, lanes), of which only rows that are `written` have a value; `scored` is None until a SCORE has run.
    """

    lanes: int
    memory: MemoryWords
    imem: list[Words] = field(default_factory=lambda: [(0, 0)] * IMEM_INSTRUCTIONS)
    registers: list[int] = field(default_factory=lambda: [0] * 8)
    tok: int = 0
    entries: list[Entry] = field(default_factory=lambda: [Entry()] * ENTRIES)
    scratchpad: NDArray[np.int8] = field(init=False)
    written: NDArray[np.bool_] = field(init=False)
    scored: Scored | None = None

    def __post_init__(self) -> None:
        if self.lanes not in LANES:
            raise ValueError(f"a chip has {' or '.join(map(str, LANES))} lanes, got {self.lanes}")
        if self.memory.dtype != np.uint32 or self.memory.ndim != 1:
            raise ValueError(f"memory is uint32, (words,), got {self.memory.dtype} of shape {self.memory.shape}")
        self.scratchpad = np.zeros((SPAD_ROWS, self.lanes), np.int8)
        self.written = np.zeros(SPAD_ROWS, np.bool_)

    @classmethod
    def fresh(cls, lanes: int, memory: MemoryWords) -> "Machine":
        """A chip of that width after power-on and reset, with its own copy of the memory (docs/chip.md section 1)."""
        return cls(lanes, memory.copy())

    @property
    def words_a_row(self) -> int:
        """RW, the words of memory that a scratchpad row takes (docs/chip.md section 1)."""
        return self.lanes // BYTES_A_WORD

    def register(self, number: int) -> int:
        """R[number], 32 bits without sign; R0 is always 0 (docs/chip.md section 3)."""
        return self.registers[number] % MODULUS if number else 0

    def row(self, number: int) -> Integers:
        """The lanes of a scratchpad row, (lanes,). Unspecified if it was never written (docs/chip.md section 1)."""
        return self.rows(number, 1).reshape(self.lanes)

    def rows(self, first: int, count: int) -> Integers:
        """The lanes of rows first .., (count, lanes). Unspecified if one was never written (docs/chip.md section 1)."""
        unwritten = np.flatnonzero(~self.written[first : first + count])
        if len(unwritten):
            raise Unspecified(f"scratchpad row {first + unwritten[0]} is read and was never written")
        return self.scratchpad[first : first + count].astype(np.int64)

    def set_row(self, number: int, lanes: Integers) -> None:
        """Write the int8 values as a scratchpad row (docs/chip.md section 1)."""
        self.scratchpad[number] = lanes
        self.written[number] = True


def words_of(lanes: Integers) -> MemoryWords:
    """int8 values as words, 4 a word, the lowest lane in bits 7:0 (docs/chip.md section 1); one axis, row by row."""
    return np.frombuffer(lanes.astype(np.int8).tobytes(), "<u4").astype(np.uint32)


def lanes_of(words: MemoryWords) -> Integers:
    """The int8 values that words hold, bits 7:0 of a word first, on one axis (docs/chip.md section 1)."""
    return np.frombuffer(words.astype("<u4").tobytes(), np.int8).astype(np.int64)
