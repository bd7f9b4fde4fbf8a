"""What the chip holds between two instructions, and how it, its scratchpad and its registers are read and written.

Source: docs/chip.md sections 1 and 3.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spec.isa import (
    ENTRIES,
    IMEM_BASE,
    IMEM_INSTRUCTIONS,
    LANES,
    RESET,
    SPAD_ROWS,
    START,
    WALKER_BITS,
    Register,
    Words,
)
from spec.numerics import Integers, Multiplier

MemoryWords = NDArray[np.uint32]

BYTES_A_WORD = 4
MODULUS = 1 << 32
HOST_ADDRESSES = 1 << 11

Lost = int | Literal["TOK", "SCORE"]
"""What an error of the walk may leave without a value: the entry of that number, TOK, or what SCORE left."""


class Unspecified(ValueError):  # noqa: N818
    """What has no value is read: a row never written, or what an error lost; no legal program does (sections 1, 4)."""


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


class Walker(NamedTuple):
    """The walker's registers; these are its values after reset (docs/chip.md section 3)."""

    btbase: int = 0
    btmask: int = 0
    pool: int = 0
    logp: int = 0
    npages: int = 0

    @property
    def rows_a_page(self) -> int:
        """P, the rows of each half of a page (docs/chip.md section 3)."""
        return 1 << self.logp


@dataclass(slots=True, eq=False)
class Machine:
    """The chip between instructions, not busy, with its values of power-on and reset (docs/chip.md section 1).

    `memory` has EXT_WORDS words; `registers` are R0 .. R7, of which R0 is read as 0 whatever stands there; `scratchpad`
    is (1024, lanes), of which only rows that are `written` have a value; `scored` is None until a SCORE has run. What
    is in `lost` has no value, whatever stands there.
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
    walker: Walker = field(default_factory=Walker)
    lost: set[Lost] = field(default_factory=set)

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

    def host_write(self, address: int, value: int) -> None:
        """Take a host's write of a 32-bit value; most addresses take none (docs/chip.md section 3).

        ValueError for what the port cannot carry, and for a start, which is spec.isa_semantics.run.
        """
        if not (0 <= address < HOST_ADDRESSES and 0 <= value < MODULUS):
            raise ValueError(f"the host port has 11 bits of address and 32 of data, got {address:#x} and {value:#x}")
        if address == Register.CTRL:
            if value & RESET:
                self.soft_reset()
            elif value & START:
                raise ValueError("a start is a run of the machine")
        elif Register.R1 <= address <= Register.R7:
            self.registers[address - Register.R0] = value
        elif address in WALKER_BITS:
            register = Register(address)
            kept = value & (1 << WALKER_BITS[register]) - 1
            self.walker = self.walker._replace(**{register.name.lower(): kept})
        elif IMEM_BASE <= address < IMEM_BASE + 2 * IMEM_INSTRUCTIONS:
            number, high = divmod(address - IMEM_BASE, 2)
            low_word, high_word = self.imem[number]
            self.imem[number] = (low_word, value) if high else (value, high_word)

    def soft_reset(self) -> None:
        """R and TOK become 0, and there was no SCORE; all else stays (CHIP-RESET; docs/chip.md section 3)."""
        self.registers = [0] * len(self.registers)
        self.set_token(0)
        self.set_scored(None)

    def lose(self) -> None:
        """Scratchpad, TOK, entries and what SCORE left lose their values (docs/chip.md section 4)."""
        self.written[:] = False
        self.lost = {"TOK", "SCORE", *range(ENTRIES)}

    def token(self) -> int:
        """TOK. Unspecified if an error lost it (docs/chip.md section 4)."""
        self._require("TOK", "TOK")
        return self.tok

    def set_token(self, token: int) -> None:
        """Write TOK (docs/chip.md section 4)."""
        self.tok = token
        self.lost.discard("TOK")

    def entry(self, number: int) -> Entry:
        """The requantisation entry. Unspecified if an error lost it (docs/chip.md section 4)."""
        self._require(number, f"entry {number}")
        return self.entries[number]

    def set_entry(self, number: int, entry: Entry) -> None:
        """Write a requantisation entry (docs/chip.md section 4)."""
        self.entries[number] = entry
        self.lost.discard(number)

    def last_score(self) -> Scored | None:
        """What the last SCORE left, None without one. Unspecified if an error lost it (docs/chip.md section 4)."""
        self._require("SCORE", "what SCORE left")
        return self.scored

    def set_scored(self, scored: Scored | None) -> None:
        """Keep what a SCORE leaves, or that there was none (docs/chip.md sections 3 and 4)."""
        self.scored = scored
        self.lost.discard("SCORE")

    def row(self, number: int) -> Integers:
        """The lanes of a scratchpad row, (lanes,). Unspecified if it was never written (docs/chip.md section 1)."""
        return self.rows(number, 1).reshape(self.lanes)

    def rows(self, first: int, count: int) -> Integers:
        """The lanes of rows first .., (count, lanes). Unspecified if one was never written (docs/chip.md section 1)."""
        unwritten = np.flatnonzero(~self.written[first : first + count])
        if len(unwritten):
            raise Unspecified(f"scratchpad row {first + unwritten[0]} is read and has no value")
        return self.scratchpad[first : first + count].astype(np.int64)

    def set_row(self, number: int, lanes: Integers) -> None:
        """Write the int8 values as a scratchpad row (docs/chip.md section 1)."""
        self.scratchpad[number] = lanes
        self.written[number] = True

    def set_rows(self, first: int, lanes: Integers) -> None:
        """Write int8 values, (count, lanes), as scratchpad rows first .. (docs/chip.md section 1)."""
        self.scratchpad[first : first + len(lanes)] = lanes
        self.written[first : first + len(lanes)] = True

    def _require(self, part: Lost, name: str) -> None:
        if part in self.lost:
            raise Unspecified(f"{name} is read, which an error left unspecified")


def words_of(lanes: Integers) -> MemoryWords:
    """int8 values as words, 4 a word, the lowest lane in bits 7:0 (docs/chip.md section 1); one axis, row by row."""
    return np.frombuffer(lanes.astype(np.int8).tobytes(), "<u4").astype(np.uint32)


def lanes_of(words: MemoryWords) -> Integers:
    """The int8 values that words hold, bits 7:0 of a word first, on one axis (docs/chip.md section 1)."""
    return np.frombuffer(words.astype("<u4").tobytes(), np.int8).astype(np.int64)
