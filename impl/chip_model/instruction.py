"""The fields of an instruction, from its bits. Source: docs/chip.md section 4."""

from functools import lru_cache
from typing import NamedTuple

from spec.isa import Op

Layout = dict[str, tuple[int, int]]
"""Fields of a word by name: highest and lowest bit."""

SIGNED = {"cnt": 10, "rm": 16}
"""Bits of the fields that have a sign."""

MOST_FL = {Op.DOT: 3, Op.DOTL: 1}
LEAST_M = 1 << 15
SHIFTS = range(1, 41)

_OPCODE: Layout = {"op": (31, 26)}
_ROWS: Layout = _OPCODE | {"rc": (25, 23), "rr": (22, 20), "row": (19, 10), "cnt": (9, 0)}
_ADDRESS: Layout = {"ra": (31, 29), "addr": (19, 0)}

LAYOUTS: dict[int, tuple[Layout, Layout]] = {
    Op.HALT: (_OPCODE, {}),
    Op.FENCE: (_OPCODE, {}),
    Op.SETQ: (_OPCODE | {"q": (25, 22), "sh": (21, 16), "m": (15, 0)}, {"xrow": (25, 16), "rm": (15, 0)}),
    Op.LOAD: (_ROWS, _ADDRESS),
    Op.STORE: (_ROWS, _ADDRESS),
    Op.GATHER: (_ROWS, {"ra": (31, 29), "kv": (28, 28)}),
    Op.STREG: (_OPCODE, _ADDRESS),
    Op.DOT: (_ROWS, {"q": (31, 28), "fl": (27, 24), "a": (19, 10), "dst": (9, 0)}),
    Op.DOTL: (_ROWS, {"fl": (27, 24), "a": (19, 10), "dst": (9, 0)}),
    Op.SCORE: (_ROWS, {"q": (31, 28), "a": (19, 10)}),
    Op.AV: (_ROWS, {"dst": (9, 0)}),
}
"""w0 and w1 of what this chip runs."""


class Illegal(Exception):  # noqa: N818 the definition's word
    """The bits are no instruction of this chip."""


class Fields(NamedTuple):
    """Fields under the definition's names; what an instruction does not have is 0."""

    op: Op
    q: int = 0
    sh: int = 0
    m: int = 0
    xrow: int = 0
    rm: int = 0
    rc: int = 0
    rr: int = 0
    row: int = 0
    cnt: int = 0
    ra: int = 0
    addr: int = 0
    kv: int = 0
    fl: int = 0
    a: int = 0
    dst: int = 0


@lru_cache(maxsize=4096)
def decode(w0: int, w1: int) -> Fields:
    """The fields of the instruction. Raises Illegal where section 4 says ILLEGAL."""
    layouts = LAYOUTS.get(w0 >> 26)
    if layouts is None:
        raise Illegal(f"opcode {w0 >> 26}")
    values: dict[str, int] = {}
    for word, layout in zip((w0, w1), layouts, strict=True):
        values |= {name: _field(name, word, high, low) for name, (high, low) in layout.items()}
        if word & ~_used(layout):
            raise Illegal("a bit that the instruction does not use")
    op = Op(values.pop("op"))
    fields = Fields(op, **values)
    if fields.fl > MOST_FL.get(op, 0):
        raise Illegal(f"fl {fields.fl}")
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
