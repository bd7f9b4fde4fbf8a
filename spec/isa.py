"""The chip's vocabulary: sizes, host registers, instructions as values, and their 64-bit encodings (CHIP-ENC).

One table, FIELDS, says where every field of every instruction stands; encode, decode and layout read nothing else.
What the instructions mean is spec.isa_semantics. Source: docs/chip.md sections 1, 3 and 4.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

Words = tuple[int, int]
"""An instruction as it stands in IMEM: w0, the low word, and w1, the high one."""

IMEM_BASE = 0x400
IMEM_INSTRUCTIONS = 256
SPAD_ROWS = 1024
ENTRIES = 16
QUEUE = 8
MOST_OUTSTANDING = 16
MOST_RESULT_ROWS = 4
LONGEST_OP = 255
LONGEST_TRANSFER = 1024
RESULT_STRIDE = 256
LANES = (16, 32)
EXT_WORDS = 8192
WATCHDOG_CYCLES = 4096

START, RESET = 1, 2
"""The bits of CTRL: one starts a program, the other is a soft reset, whatever the first is."""
BUSY, DONE, ERROR, CODE_SHIFT = 1, 2, 4, 8
"""The bits of STATUS, and where its code stands."""


class Op(IntEnum):
    """The opcodes, bits 31:26 of w0."""

    HALT = 1
    FENCE = 2
    SETQ = 4
    LOAD = 8
    STORE = 9
    GATHER = 10
    STREG = 12
    DOT = 16
    DOTL = 17
    SCORE = 18
    AV = 19


class ErrorCode(IntEnum):
    """What ends a run, bits 15:8 of STATUS."""

    NONE = 0
    ILLEGAL = 1
    EXT_RANGE = 2
    ROW_RANGE = 3
    COUNT = 4
    DIV0 = 5
    PAGE = 6
    PC_END = 7
    TIMEOUT = 8


class Register(IntEnum):
    """Host addresses of the registers, counters, and BTBASE .. NPAGES, the registers of the walker."""

    CTRL = 0x000
    STATUS = 0x001
    ERRPC = 0x002
    TOK = 0x003
    R0 = 0x008
    R1 = 0x009
    R2 = 0x00A
    R3 = 0x00B
    R4 = 0x00C
    R5 = 0x00D
    R6 = 0x00E
    R7 = 0x00F
    TOTAL = 0x010
    DMA = 0x011
    MAC = 0x012
    VEC = 0x013
    STALL = 0x014
    RDW = 0x015
    WRW = 0x016
    BTBASE = 0x018
    BTMASK = 0x019
    POOL = 0x01A
    LOGP = 0x01B
    NPAGES = 0x01D


WALKER_BITS = {
    Register.BTBASE: 20,
    Register.BTMASK: 16,
    Register.POOL: 20,
    Register.LOGP: 3,
    Register.NPAGES: 17,
}
"""The low bits that each register of the walker has; a write keeps no others."""


@dataclass(frozen=True, slots=True)
class Halt:
    """End the run once all before it is finished."""


@dataclass(frozen=True, slots=True)
class Fence:
    """Go on once all before it is finished."""


@dataclass(frozen=True, slots=True)
class SetQ:
    """Set requantisation entry `entry`: multiplier m / 2^shift, residual row and residual multiplier."""

    entry: int
    m: int
    shift: int
    residual_row: int = 0
    residual: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """Bring count + R[count_register] rows from memory, each sum of a field and a register read at issue."""

    row: int
    count: int
    address: int
    count_register: int = 0
    row_register: int = 0
    address_register: int = 0


@dataclass(frozen=True, slots=True)
class Store:
    """Bring count + R[count_register] rows to memory."""

    row: int
    count: int
    address: int
    count_register: int = 0
    row_register: int = 0
    address_register: int = 0


@dataclass(frozen=True, slots=True)
class Gather:
    """Bring logical rows R[address_register] .. of the keys (half 0) or values (half 1) through the block table."""

    row: int
    count: int
    half: int
    count_register: int = 0
    row_register: int = 0
    address_register: int = 0


@dataclass(frozen=True, slots=True)
class StReg:
    """Write TOK to memory, one word."""

    address: int
    address_register: int = 0


@dataclass(frozen=True, slots=True)
class Dot:
    """Requantised dot products of row a with the B rows; each result row with the next entry, or 256 rows apart."""

    a: int
    row: int
    count: int
    dst: int
    entry: int
    next_entry: bool = False
    apart: bool = False
    count_register: int = 0
    row_register: int = 0


@dataclass(frozen=True, slots=True)
class DotL:
    """Dot products of row a with the B rows, 32 bits each; with argmax, TOK becomes the place of the largest."""

    a: int
    row: int
    count: int
    dst: int
    argmax: bool = False
    count_register: int = 0
    row_register: int = 0


@dataclass(frozen=True, slots=True)
class Score:
    """Exponentials, and their sum, of the dot products of row a with the B rows."""

    a: int
    row: int
    count: int
    entry: int
    count_register: int = 0
    row_register: int = 0


@dataclass(frozen=True, slots=True)
class Av:
    """The mean of the B rows, weighted by the last SCORE's exponentials, as row dst."""

    row: int
    count: int
    dst: int
    count_register: int = 0
    row_register: int = 0


Instruction = Halt | Fence | SetQ | Load | Store | Gather | StReg | Dot | DotL | Score | Av


class FieldError(ValueError):
    """A value that its field cannot hold."""


class IllegalInstruction(ValueError):  # noqa: N818
    """Words that are no instruction: the ILLEGAL of section 4."""


@dataclass(frozen=True)
class Field:
    """Where one attribute of an instruction stands: word 0 or 1, bits high .. low, two's complement if signed.

    `label` is its name in docs/chip.md section 4; `allowed` narrows what its bits could hold.
    """

    name: str
    label: str
    word: int
    high: int
    low: int
    signed: bool = False
    allowed: range | None = None
    kind: Callable[[int], int] = int

    @cached_property
    def mask(self) -> int:
        """The bits of the field in its word."""
        return (1 << self.high + 1) - (1 << self.low)

    @cached_property
    def values(self) -> range:
        """What the field holds."""
        size = 1 << self.high - self.low + 1
        return self.allowed or (range(-size // 2, size // 2) if self.signed else range(size))

    def read(self, word: int) -> int:
        """The field of that word, allowed or not."""
        size = 1 << self.high - self.low + 1
        bits = word >> self.low & size - 1
        return self.kind(bits - size if self.signed and bits >= size // 2 else bits)


OPCODE_LOW = 26

_ROWS = (
    Field("count_register", "rc", 0, 25, 23),
    Field("row_register", "rr", 0, 22, 20),
    Field("row", "row", 0, 19, 10),
    Field("count", "cnt", 0, 9, 0, signed=True),
)
_BASE = Field("address_register", "ra", 1, 31, 29)
_WORD = (_BASE, Field("address", "addr", 1, 19, 0))
_ENTRY = Field("entry", "q", 1, 31, 28)
_A = Field("a", "a", 1, 19, 10)
_DST = Field("dst", "dst", 1, 9, 0)

FIELDS: dict[type[Instruction], tuple[Op, tuple[Field, ...]]] = {
    Halt: (Op.HALT, ()),
    Fence: (Op.FENCE, ()),
    SetQ: (
        Op.SETQ,
        (
            Field("entry", "q", 0, 25, 22),
            Field("shift", "sh", 0, 21, 16, allowed=range(1, 41)),
            Field("m", "M", 0, 15, 0, allowed=range(2**15, 2**16)),
            Field("residual_row", "xrow", 1, 25, 16),
            Field("residual", "Rm", 1, 15, 0, signed=True),
        ),
    ),
    Load: (Op.LOAD, (*_ROWS, *_WORD)),
    Store: (Op.STORE, (*_ROWS, *_WORD)),
    Gather: (Op.GATHER, (*_ROWS, _BASE, Field("half", "kv", 1, 28, 28))),
    StReg: (Op.STREG, _WORD),
    Dot: (
        Op.DOT,
        (
            *_ROWS,
            _ENTRY,
            Field("apart", "fl.1", 1, 25, 25, kind=bool),
            Field("next_entry", "fl.0", 1, 24, 24, kind=bool),
            _A,
            _DST,
        ),
    ),
    DotL: (Op.DOTL, (*_ROWS, Field("argmax", "fl.0", 1, 24, 24, kind=bool), _A, _DST)),
    Score: (Op.SCORE, (*_ROWS, _ENTRY, _A)),
    Av: (Op.AV, (*_ROWS, _DST)),
}
"""Opcode and fields of each instruction; fl.0 and fl.1 are the bits of fl, so that an fl beyond is a bit unused."""

_BY_OPCODE: dict[int, type[Instruction]] = {op: kind for kind, (op, _) in FIELDS.items()}


def encode(instruction: Instruction) -> Words:
    """(w0, w1) of the instruction. FieldError for a value that its field cannot hold (docs/chip.md section 4)."""
    op, fields = FIELDS[type(instruction)]
    words = [op << OPCODE_LOW, 0]
    for field in fields:
        value = operator.index(getattr(instruction, field.name))
        if value not in field.values:
            raise FieldError(f"{op.name}'s {field.name} is in {_span(field.values)}, got {value}")
        words[field.word] |= value << field.low & field.mask
    return words[0], words[1]


def decode(w0: int, w1: int) -> Instruction:
    """The instruction that the words hold. IllegalInstruction for every other word pair (docs/chip.md section 4)."""
    kind = _BY_OPCODE.get(w0 >> OPCODE_LOW)
    if kind is None:
        raise IllegalInstruction(f"no instruction has opcode {w0 >> OPCODE_LOW}")
    op, fields = FIELDS[kind]
    unused = [w0 & (1 << OPCODE_LOW) - 1, w1]
    values: dict[str, Any] = {}
    for field in fields:
        unused[field.word] &= ~field.mask
        value = field.read((w0, w1)[field.word])
        if value not in field.values:
            raise IllegalInstruction(f"{op.name}'s {field.name} is in {_span(field.values)}, got {value}")
        values[field.name] = value
    if any(unused):
        raise IllegalInstruction(f"{op.name} does not use bits {unused[0]:#010x} of w0 and {unused[1]:#010x} of w1")
    return kind(**values)


def layout(kind: type[Instruction]) -> tuple[str, str]:
    """The fields of w0 and of w1 in the notation of docs/chip.md section 4, highest first: "op[31:26], q[25:22]"."""
    _, fields = FIELDS[kind]
    opcode = Field("op", "op", 0, 31, OPCODE_LOW)
    words = ([_notation(f) for f in (opcode, *fields) if f.word == word] for word in (0, 1))
    low, high = (", ".join(word) for word in words)
    return low, high


def _notation(field: Field) -> str:
    return f"{field.label}[{field.high}]" if field.high == field.low else f"{field.label}[{field.high}:{field.low}]"


def _span(values: range) -> str:
    return f"{values[0]} .. {values[-1]}"
