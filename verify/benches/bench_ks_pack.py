"""ks_pack: result rows from bytes and words, the out register, and the argmax (CHIP-CYCLE, CHIP-INT)."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.chip_under_test import LANES, ROW_WORDS
from verify.benches.formulas import packed
from verify.benches.unit import Unit, unit_after_reset


async def put(unit: Unit, data: int, lane: int, j: int, rowend: bool, word: bool) -> None:
    """One byte or word in one cycle, then none."""
    await unit.clocked(put_i=1, data_i=data, lane_i=lane, j_i=j, rowend_i=int(rowend), word_i=int(word))
    unit.pins.drive(put_i=0, rowend_i=0)


async def put_bytes(unit: Unit, values: list[int], first_j: int = 0) -> None:
    """A row of bytes, one a cycle."""
    for lane, value in enumerate(values):
        # Bits above the byte must not matter.
        await put(unit, 0xABCDEF00 | value & 0xFF, lane, first_j + lane, lane == len(values) - 1, word=False)


async def holds(unit: Unit, row: int | None) -> None:
    """Nothing is valid, or this row is, in this cycle."""
    await unit.clocking.settled()
    assert unit.pins["valid_o"] == (row is not None), f"valid_o is {unit.pins['valid_o']}"
    if row is not None:
        assert unit.pins["row_o"] == row, f"the out register is {unit.pins['row_o']:x}, not {row:x}"


@cocotb.test()
async def a_row_is_valid_in_the_cycle_after_its_last_byte_and_until_it_is_taken(top: HierarchyObject) -> None:
    """Rows of every length; lanes beyond are 0 whatever was there before."""
    unit = await unit_after_reset(top, "ks_pack")
    for length in (LANES, 1, LANES - 1, 2, LANES // 2):
        values = [-1 - lane for lane in range(length)]
        await holds(unit, None)
        await put_bytes(unit, values)
        row = packed(values)
        for _ in range(3):
            await holds(unit, row)
            await unit.clocking.next_cycle()
        unit.pins.drive(take_i=1)
        await holds(unit, row)
        await unit.clocked(take_i=1)
        unit.pins.drive(take_i=0)
        await holds(unit, None)
        await unit.clocking.next_cycle()


@cocotb.test()
async def a_second_row_waits_behind_the_first(top: HierarchyObject) -> None:
    """While the first cannot be written the next is packed; it is valid in the cycle after the first is taken."""
    unit = await unit_after_reset(top, "ks_pack")
    first, second = list(range(LANES)), [50 + lane for lane in range(3)]
    await put_bytes(unit, first)
    await put_bytes(unit, second, first_j=LANES)
    await holds(unit, packed(first))
    await unit.clocked(take_i=1)
    await holds(unit, packed(second))
    await unit.clocked(take_i=1)
    unit.pins.drive(take_i=0)
    await holds(unit, None)


@cocotb.test()
async def a_row_that_is_taken_at_once_costs_no_cycle(top: HierarchyObject) -> None:
    """Bytes go on, one a cycle, while rows leave: the row of bytes c .. c + 15 is valid in c + 16 alone."""
    unit = await unit_after_reset(top, "ks_pack")
    values = [(7 * j) % 256 - 128 for j in range(4 * LANES)]
    for j in range(4 * LANES + 1):
        full, last = j > 0 and j % LANES == 0, j == 4 * LANES
        unit.pins.drive(put_i=int(not last), data_i=(values[j] & 0xFF) if not last else 0, lane_i=j % LANES)
        unit.pins.drive(j_i=j, rowend_i=int(j % LANES == LANES - 1), take_i=int(full))
        await holds(unit, packed(values[j - LANES : j]) if full else None)
        await unit.clocking.next_cycle()


@cocotb.test()
async def words_are_little_endian_and_missing_ones_are_zero(top: HierarchyObject) -> None:
    """A row of L/4 words, then one of a single word."""
    unit = await unit_after_reset(top, "ks_pack")
    words = [0x03020100, 0xFFFEFDFC, 0x80000000, 0x7FFFFFFF, 1, 2, 3, 4][:ROW_WORDS]
    for chosen in (words, words[1:2]):
        for lane, word in enumerate(chosen):
            await put(unit, word, lane, lane, lane == len(chosen) - 1, word=True)
        await holds(unit, sum(word << (32 * lane) for lane, word in enumerate(chosen)))
        await unit.clocked(take_i=1)
        unit.pins.drive(take_i=0)


async def largest(unit: Unit, values: list[int]) -> int:
    """arg_o after these words, each compared with the largest so far in the cycle after it."""
    for j, value in enumerate(values):
        lane = j % ROW_WORDS
        rowend = lane == ROW_WORDS - 1 or j == len(values) - 1
        unit.pins.drive(take_i=unit.pins["valid_o"])
        await put(unit, value & 0xFFFFFFFF, lane, j, rowend, word=True)
        # Of a register, so it is there at once, and the inputs of this cycle can still be driven.
        seen, wanted = unit.pins["arg_o"], values.index(max(values[: j + 1]))
        assert seen == wanted, f"CHIP-INT: TOK of {values[: j + 1]} would be {seen}, not {wanted}"
    unit.pins.drive(take_i=1)
    await unit.clocking.next_cycle()
    unit.pins.drive(take_i=0)
    return unit.pins["arg_o"]


@cocotb.test()
async def the_argmax_is_the_lowest_of_the_largest(top: HierarchyObject) -> None:
    """Ties, all equal, the largest first, last and twice, only negative words; a new op forgets the last one."""
    unit, chance = await unit_after_reset(top, "ks_pack"), random.Random(9)
    cases = [[5, 5], [1, 2, 2, 1], [-7] * 9, [9, 1, 9], [-1, -2, -1], [-(2**19), 2**19], [2**19, -(2**19)], [3]]
    cases += [[chance.randint(-3, 3) for _ in range(chance.randint(1, 4 * ROW_WORDS))] for _ in range(30)]
    for values in cases:
        await largest(unit, values)
