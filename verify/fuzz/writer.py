"""A program in the making, with the chip as the definition leaves it after each instruction.

Whoever writes an instruction knows which rows have a value, what R and the entries hold and what stands in memory, so every
program is legal by construction. What is near the instructions before it, in rows or in memory, is likelier than the rest.
"""

from collections import Counter, deque
from typing import NamedTuple

import numpy as np

from spec.isa import (
    EXT_WORDS,
    IMEM_INSTRUCTIONS,
    SPAD_ROWS,
    Instruction,
    Load,
    Store,
    Words,
    encode,
)
from spec.isa_checks import first_error
from spec.isa_machine import MODULUS, Machine
from spec.isa_semantics import execute
from verify.fuzz.draws import Draw

RECENT = 6
"""Instructions back whose rows and words are likely to be used again."""

CNT, ROW, ADDR = range(-512, 512), range(SPAD_ROWS), range(1 << 20)
"""What the fields to which R is added hold."""

ENDING = 24
"""Instructions that are kept for the end of a program: stores of what it computed, an error, HALT."""

LONGEST_LOAD = 256
"""Rows that one LOAD brings where rows have no value."""

FAR = 256
"""Result rows of one DOT may be so far apart."""


class Span(NamedTuple):
    """Places first .. first + size - 1: rows of the scratchpad, or words of memory."""

    first: int
    size: int

    @property
    def last(self) -> int:
        return self.first + self.size - 1


class Based(NamedTuple):
    """A field and the register that is added to it."""

    field: int
    register: int


class Writer:
    """Writes one program after the other for the same chip."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.program: list[Words] = []
        self.rows: deque[Span] = deque([Span(0, 1)], RECENT)
        self.words: deque[Span] = deque([Span(0, 1)], RECENT)
        self.results: deque[Span] = deque(maxlen=RECENT)
        """Rows that instructions of this program wrote."""
        self.anchors: tuple[int, ...] = ()
        """Addresses that mean something: of the block table, of pages."""
        self.met: Counter[str] = Counter()

    @property
    def lanes(self) -> int:
        return self.machine.lanes

    @property
    def room(self) -> int:
        """Instructions that still fit before the end of the program."""
        return IMEM_INSTRUCTIONS - ENDING - len(self.program)

    def begin(self) -> None:
        """Begin another program on the chip as it is."""
        self.program = []
        self.results.clear()

    def add(self, instruction: Instruction) -> None:
        """Write an instruction that has no error, and do what it does."""
        error = first_error(instruction, self.machine)
        assert not error, f"{instruction} has the error {error.name}"
        execute(instruction, self.machine)
        self.program.append(encode(instruction))
        self.met[type(instruction).__name__.upper()] += 1

    def transfer(self, kind: type[Load] | type[Store], draw: Draw, first: int, count: int, address: int) -> None:
        """Write a LOAD or STORE of at least a row."""
        row, cnt, addr = self.row(draw, first), self.count(draw, count), self.address(draw, address)
        self.add(kind(row.field, cnt.field, addr.field, cnt.register, row.register, addr.register))
        self.touched(first, count)
        self.words.append(Span(address, count * self.machine.words_a_row))
        if kind is Load:
            self.results.append(Span(first, count))

    def touched(self, first: int, count: int) -> None:
        """Make these rows likely to be used again."""
        self.rows.append(Span(first, count))

    def row(self, draw: Draw, first: int) -> Based:
        """row and rr that make `first`."""
        return self._based(draw, first, ROW)

    def address(self, draw: Draw, address: int) -> Based:
        """addr and ra that make `address`."""
        return self._based(draw, address, ADDR)

    def count(self, draw: Draw, count: int) -> Based:
        """cnt and rc that make `count`, which alone fits in cnt."""
        return self._based(draw, count, CNT)

    def written(self, first: int, count: int) -> bool:
        """Whether all of these rows have a value."""
        return bool(self.machine.written[first : first + count].all())

    def ensure(self, draw: Draw, first: int, count: int) -> None:
        """Load what has no value of these rows."""
        missing = np.flatnonzero(~self.machine.written[first : first + count])
        if len(missing):
            start, stop = first + int(missing[0]), first + int(missing[-1]) + 1
            for at in range(start, stop, LONGEST_LOAD):
                rows = min(LONGEST_LOAD, stop - at)
                self.transfer(Load, draw, at, rows, self.place_in_memory(draw, rows))

    def place(self, draw: Draw, count: int) -> int:
        """The first of `count` rows: near rows of the instructions before, most often sharing one with them."""
        recent = self.rows[-1 - draw.below(len(self.rows))]
        choices = (
            recent.first,
            recent.last,
            recent.first - count + 1,
            recent.last + 1,
            recent.first - count,
            recent.first + recent.size // 2,
            recent.first + recent.size // 2 - count // 2,
            recent.last - count + 1,
            recent.first + FAR,
            recent.first + FAR // 2,
            recent.first - FAR,
            SPAD_ROWS - count,
            8 * draw.below(SPAD_ROWS // 8),
        )
        return min(max(choices[draw.below(len(choices))], 0), SPAD_ROWS - count)

    def place_in_memory(self, draw: Draw, rows: int) -> int:
        """An address for so many rows: near words of the instructions before, near the table and pages, or anywhere."""
        size = rows * self.machine.words_a_row
        recent = self.words[-1 - draw.below(len(self.words))]
        choices = (
            recent.first,
            recent.last,
            recent.first - size + 1,
            recent.first + recent.size,
            recent.first - size,
            *self.anchors,
            64 * draw.below(EXT_WORDS // 64),
            64 * draw.below(EXT_WORDS // 64) + draw.below(64),
            EXT_WORDS - size,
        )
        return min(max(choices[draw.below(len(choices))], 0), EXT_WORDS - size)

    def _based(self, draw: Draw, value: int, fits: range) -> Based:
        """A field and a register whose sum modulo 2^32 is the value; no register where none makes it."""
        which = draw.byte()
        if which >= 160 or value not in fits:
            found: list[Based] = []
            for register in range(1, 8):
                field = (value - self.machine.register(register) + MODULUS // 2) % MODULUS - MODULUS // 2
                field = field if fits.start < 0 else field % MODULUS
                if field in fits:
                    found.append(Based(field, register))
            if found:
                based = found[which % len(found)]
                self.met["register in a sum"] += 1
                if based.field + self.machine.register(based.register) >= MODULUS:
                    self.met["sum beyond 2^32"] += 1
                return based
        return Based(value, 0)
