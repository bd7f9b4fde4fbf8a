"""The fields of an instruction, from its bits. Source: docs/chip.md section 4."""

from functools import lru_cache
from typing import NamedTuple

from spec.isa import Op

Layout = dict[str, tuple[int, int]]
"""Fields of a word by name: highest and lowest bit."""

SIGNED = {"cnt": 10, "rm": 16}
"""Bits of the fields that have a sign."""

LEAST_M = 1 << 15
SHIFTS = range(1, 41)

OPCODE_AT = 26
"""The lowest bit of the opcode, which has the rest of w0."""
_ROWS: Layout = {"rc": (25, 23), "rr": (22, 20), "row": (19, 10), "cnt": (9, 0)}
_ADDRESS: Layout = {"ra": (31, 29), "addr": (19, 0)}

LAYOUTS: dict[int, tuple[Layout, Layout]] = {
    Op.HALT: ({}, {}),
    Op.FENCE: ({}, {}),
    Op.SETQ: ({"q": (25, 22), "sh": (21, 16), "m": (15, 0)}, {"xrow": (25, 16), "rm": (15, 0)}),
    Op.LOAD: (_ROWS, _ADDRESS),
    Op.STORE: (_ROWS, _ADDRESS),
    Op.GATHER: (_ROWS, {"ra": (31, 29), "kv": (28, 28)}),
    Op.STREG: ({}, _ADDRESS),
    Op.DOT: (_ROWS, {"q": (31, 28), "fl": (25, 24), "a": (19, 10), "dst": (9, 0)}),
    Op.DOTL: (_ROWS, {"fl": (24, 24), "a": (19, 10), "dst": (9, 0)}),
    Op.SCORE: (_ROWS, {"q": (31, 28), "a": (19, 10)}),
    Op.AV: (_ROWS, {"dst": (9, 0)}),
}
"""w0 below the opcode, and w1, of what this chip runs; fl has the bits of its named values."""


class Illegal(Exception):  # noqa: N818 the definition's word
    """The bits are no instruction of this chip."""


class Fields(NamedTuple):
    """Fields under the definition's names; what an instruction does not have is 0."""

    op: Op
    q: int
    sh: int
    m: int
    xrow: int
    rm: int
    rc: int
    rr: int
    row: int
    cnt: int
    ra: int
    addr: int
    kv: int
    fl: int
    a: int
    dst: int


@lru_cache(maxsize=4096)
def decode(w0: int, w1: int) -> Fields:
    """The fields of the instruction. Raises Illegal where section 4 says ILLEGAL."""
    opcode, low = divmod(w0, 1 << OPCODE_AT)
    if opcode not in LAYOUTS:
        raise Illegal(f"opcode {opcode}")
    op = Op(opcode)
    values = dict.fromkeys(Fields._fields[1:], 0)
    for word, layout in zip((low, w1), LAYOUTS[op], strict=True):
        values |= {name: _field(name, word, high, low) for name, (high, low) in layout.items()}
        if word & ~_used(layout):
            raise Illegal("a bit that the instruction does not use")
    fields = Fields(op, **values)
    if op is Op.SETQ and (fields.m < LEAST_M or fields.sh not in SHIFTS):
        raise Illegal(f"M {fields.m}, sh {fields.sh}")
    return fields


def _used(layout: Layout) -> int:
    """The bits of a word that its fields take."""
    return sum((1 << (high + 1)) - (1 << low) for high, low in layout.values())


def _field(name: str, word: int, high: int, low: int) -> int:
    """The value of a field, with its sign if it has one."""
    value = (word >> low) & ((1 << (high + 1 - low)) - 1)
    bits = SIGNED.get(name)
    return value - (1 << bits) if bits and value >> (bits - 1) else value
