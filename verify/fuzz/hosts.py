"""What the host writes before a start: registers, the walker's, and memory: a block table, another one beside it, and rows."""

from typing import NamedTuple

import numpy as np

from impl.chip import MemoryWords
from spec.isa import EXT_WORDS, Register
from spec.isa_machine import MODULUS, Machine
from spec.isa_walk import VALID
from verify.fuzz.draws import Draw

VALUES = (0, 1, 2, 3, 5, 8, 16, 17, 33, 64, 100, 200, 255, 256, 500, 512, 1000, 0x800, 0x1000, 0x1FFF, 0x2000)
"""Values of registers; most are also written as what is so far below 0."""

FAR_VALUES = (1 << 31, (1 << 31) - 1, MODULUS - 0x10_0000, 0xFFFF_0000)
TABLE, SPARE, POOL = 0x40, 0x60, 0x400
MASKS = (3, 0, 1, 7, 15, 5)
NAMED = (Register.BTBASE, Register.BTMASK, Register.POOL, Register.LOGP, Register.NPAGES)


class Writes(NamedTuple):
    """Host writes of a start, memory first, and the addresses that mean something to a walk."""

    registers: tuple[tuple[int, int], ...]
    memory: tuple[tuple[int, MemoryWords], ...]
    anchors: tuple[int, ...] = ()


def first_writes(draw: Draw, lanes: int) -> Writes:
    """All registers, and what a walk needs."""
    registers = tuple((Register.R0 + number, value_of(draw)) for number in range(1, 8))
    walker, memory, anchors = _walk(draw, lanes)
    return Writes((*registers, *walker), memory, anchors)


def later_writes(draw: Draw, lanes: int, everything: bool) -> Writes:
    """Some registers, sometimes the walker's with another table, sometimes rows of memory; or everything."""
    if everything:
        return first_writes(draw, lanes)
    registers = tuple((Register.R0 + 1 + draw.below(7), value_of(draw)) for _ in range(draw.below(3)))
    if draw.chance(96):
        walker, memory, anchors = _walk(draw, lanes)
        return Writes((*registers, *walker), memory, anchors)
    if draw.chance(96):
        words = np.full(8, 0x01010101 * draw.byte(), np.uint32)
        return Writes(registers, ((32 * draw.below(EXT_WORDS // 32), words),))
    return Writes(registers, ())


def apply(machine: Machine, writes: Writes) -> None:
    """Write them, memory first."""
    for address, words in writes.memory:
        machine.memory[address : address + len(words)] = words
    for register, value in writes.registers:
        machine.host_write(register, value)


def value_of(draw: Draw) -> int:
    """A value for a register: small, as far below 0, or where sums end."""
    which = draw.below(2 * len(VALUES) + len(FAR_VALUES))
    if which < len(VALUES):
        return VALUES[which]
    which -= len(VALUES)
    return -VALUES[which] % MODULUS if which < len(VALUES) else FAR_VALUES[which - len(VALUES)]


def _walk(
    draw: Draw, lanes: int
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, MemoryWords], ...], tuple[int, ...]]:
    """The walker's registers, tables, and addresses: pages in an order of chance, now and then at the end of memory."""
    logp, mask, pages = draw.below(5), draw.one_of(MASKS), 1 + draw.below(8)
    page_words = 2 * (lanes // 4) << logp
    size = pages * page_words
    where, order = draw.byte(), draw.below(1 << 16)
    table, pool = TABLE, POOL
    if where >= 192:  # the last slot of a ring, or the last page, ends in memory's last word or beyond
        table = EXT_WORDS - mask - (where & 1)
    elif where >= 128:
        pool = EXT_WORDS - size + (where & 1)
    named = np.array([(order + slot * (1 + 2 * (order >> 8))) % pages for slot in range(mask + 1)], np.uint32) + VALID
    if draw.chance(32):
        named[draw.below(mask + 1)] = draw.one_of((0, VALID | pages, VALID | 1 << 16, 1 << 30, 0xFFFF_FFFF))
    memory: list[tuple[int, MemoryWords]] = [(table, named[: EXT_WORDS - table])]
    memory.append((SPARE, named[::-1].copy()))
    values = (table, mask, pool, logp, pages)
    anchors = (SPARE, pool, pool + page_words // 2, min(table, EXT_WORDS - 1), pool + page_words)
    return tuple(zip(map(int, NAMED), values, strict=True)), tuple(memory), anchors
