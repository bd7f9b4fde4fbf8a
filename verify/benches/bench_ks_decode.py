"""ks_decode: fields of every legal instruction, and ILLEGAL for every other word pair, from docs/chip.md section 4."""

import random
from collections.abc import Iterator
from typing import NamedTuple

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.unit import Unit, unit_after_reset


class Field(NamedTuple):
    """Bits high .. low of an instruction of 64 bits, w0 the low word, at the output `pin`."""

    pin: str
    high: int
    low: int
    allowed: range | None = None


AS_LOAD_W0 = (Field("rc_o", 25, 23), Field("rr_o", 22, 20), Field("row_o", 19, 10), Field("cnt_o", 9, 0))
AS_LOAD_W1 = (Field("ra_o", 63, 61), Field("addr_o", 51, 32))
A, DST = Field("a_o", 51, 42), Field("dst_o", 41, 32)

INSTRUCTIONS: dict[int, tuple[Field, ...]] = {
    1: (),
    2: (),
    4: (
        Field("q_o", 25, 22),
        Field("sh_o", 21, 16, range(1, 41)),
        Field("m_o", 15, 0, range(2**15, 2**16)),
        Field("xrow_o", 57, 48),
        Field("rm_o", 47, 32),
    ),
    8: (*AS_LOAD_W0, *AS_LOAD_W1),
    9: (*AS_LOAD_W0, *AS_LOAD_W1),
    10: (*AS_LOAD_W0, Field("ra_o", 63, 61), Field("kv_o", 60, 60)),
    12: AS_LOAD_W1,
    16: (*AS_LOAD_W0, Field("q_o", 63, 60), Field("fl_o", 59, 56, range(4)), A, DST),
    17: (*AS_LOAD_W0, Field("fl_o", 59, 56, range(2)), A, DST),
    18: (*AS_LOAD_W0, Field("q_o", 63, 60), A),
    19: (*AS_LOAD_W0, DST),
}
"""By opcode; GATHER, 10, has no address of its own (CHIP-GATHER)."""


def allowed(field: Field) -> range:
    """The values that the field may have."""
    return field.allowed or range(1 << (field.high - field.low + 1))


def word_of(op: int, values: dict[str, int]) -> int:
    """The instruction with these fields."""
    return op << 26 | sum(values[field.pin] << field.low for field in INSTRUCTIONS[op])


def some_legal(chance: random.Random, op: int) -> dict[str, int]:
    """Fields of a legal instruction: ends of what is allowed, or anything."""
    return {
        field.pin: chance.choice((allowed(field)[0], allowed(field)[-1], chance.choice(allowed(field))))
        for field in INSTRUCTIONS[op]
    }


def unused_bits(op: int) -> Iterator[int]:
    """Bits that the instruction does not use."""
    used = {bit for field in INSTRUCTIONS[op] for bit in range(field.low, field.high + 1)}
    return (bit for bit in range(64) if bit not in used and bit not in range(26, 32))


async def decodes(unit: Unit, op: int, values: dict[str, int]) -> None:
    """Legal, with these fields."""
    word = word_of(op, values)
    await unit.sees(insn_i=word)
    assert not unit.pins["illegal_o"], f"{word:#018x} is legal"
    assert unit.pins["op_o"] == op
    seen = {pin: unit.pins[pin] for pin in values}
    assert seen == values, f"{word:#018x} has {values}, not {seen}"
    if op not in (16, 17):
        assert unit.pins["fl_o"] == 0, f"{word:#018x} has no flags"
    await unit.clocking.next_cycle()


async def is_illegal(unit: Unit, word: int) -> None:
    """ILLEGAL."""
    await unit.sees(insn_i=word)
    assert unit.pins["illegal_o"] == 1, f"{word:#018x} is ILLEGAL"
    await unit.clocking.next_cycle()


@cocotb.test()
async def legal_instructions_decode_to_their_fields(top: HierarchyObject) -> None:
    """Every opcode with fields at both ends and at random, and every field alone, all ones."""
    unit, chance = await unit_after_reset(top, "ks_decode"), random.Random(21)
    for op, fields in INSTRUCTIONS.items():
        lowest = {field.pin: allowed(field)[0] for field in fields}
        for field in fields:
            await decodes(unit, op, lowest | {field.pin: allowed(field)[-1]})
        for _ in range(30):
            await decodes(unit, op, some_legal(chance, op))


@cocotb.test()
async def a_bit_that_is_not_used_is_illegal(top: HierarchyObject) -> None:
    """Each such bit of each instruction, alone beside the lowest fields and beside random ones."""
    unit, chance = await unit_after_reset(top, "ks_decode"), random.Random(22)
    for op, fields in INSTRUCTIONS.items():
        lowest = {field.pin: allowed(field)[0] for field in fields}
        for bit in unused_bits(op):
            await is_illegal(unit, word_of(op, lowest) | 1 << bit)
            await is_illegal(unit, word_of(op, some_legal(chance, op)) | 1 << bit)


@cocotb.test()
async def an_unknown_opcode_is_illegal(top: HierarchyObject) -> None:
    """All 64: those without an instruction are illegal, with no other bit set and with random ones."""
    unit, chance = await unit_after_reset(top, "ks_decode"), random.Random(23)
    for op in set(range(64)) - set(INSTRUCTIONS):
        await is_illegal(unit, op << 26)
        await is_illegal(unit, chance.getrandbits(64) & ~(63 << 26) | op << 26)


@cocotb.test()
async def a_field_beyond_what_is_allowed_is_illegal(top: HierarchyObject) -> None:
    """Every value of sh and fl that is not allowed, and M below 2^15 at each power of two."""
    unit, chance = await unit_after_reset(top, "ks_decode"), random.Random(24)
    for op, fields in INSTRUCTIONS.items():
        for field in (field for field in fields if field.allowed):
            wrong = set(range(1 << (field.high - field.low + 1))) - set(allowed(field))
            if len(wrong) > 64:
                wrong = {0, 2**15 - 1, *(1 << bit for bit in range(15))}
            for value in sorted(wrong):
                await is_illegal(unit, word_of(op, some_legal(chance, op) | {field.pin: value}))
