"""ks_mac: dot products with the A register and weighted sums of rows, one cycle after a row enters (CHIP-INT)."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.chip_under_test import LANES
from verify.benches.formulas import dot, packed
from verify.benches.unit import Unit, unit_after_reset

EXTREMES = ([-128] * LANES, [127] * LANES, [0] * LANES, [-1] * LANES, [-128, 127] * (LANES // 2))


def random_row(chance: random.Random) -> list[int]:
    """A row of any bytes."""
    return [chance.randint(-128, 127) for _ in range(LANES)]


async def dotted(unit: Unit, a: list[int], rows: list[list[int]]) -> None:
    """Set the A register, then enter a row a cycle and compare each sum one cycle later."""
    await unit.clocked(a_we_i=1, dot_i=0, row_i=packed(a))
    for row, before in zip([*rows, a], [None, *rows], strict=True):
        await unit.sees(a_we_i=0, dot_i=1, row_i=packed(row))
        if before is not None:
            seen = unit.pins.signed("acc_o")
            assert seen == dot(a, before), f"CHIP-INT: {a} times {before} is {seen}, not {dot(a, before)}"
        await unit.clocking.next_cycle()
    unit.pins.drive(dot_i=0)


@cocotb.test()
async def dot_products_of_extremes_and_of_random_rows(top: HierarchyObject) -> None:
    """Up to 2^14 * L, each sign, one a cycle; the A register stays while rows enter."""
    unit, chance = await unit_after_reset(top, "ks_mac"), random.Random(4)
    for a in (*EXTREMES, *[random_row(chance) for _ in range(20)]):
        await dotted(unit, a, [*EXTREMES, *[random_row(chance) for _ in range(10)]])


@cocotb.test()
async def each_lane_of_a_multiplies_the_same_lane_of_b(top: HierarchyObject) -> None:
    """Rows with one lane only: a product at the same place, nothing at any other."""
    unit = await unit_after_reset(top, "ks_mac")
    ones = [[lane + 1 if place == lane else 0 for place in range(LANES)] for lane in range(LANES)]
    for a in ones:
        await dotted(unit, a, ones)


async def added(unit: Unit, weights: list[int], rows: list[list[int]]) -> None:
    """Clear the sums, add every weighted row, with rows that do not count between, and read all lanes."""
    await unit.clocked(clear_i=1, add_i=0)
    unit.pins.drive(clear_i=0)
    for weight, row in zip(weights, rows, strict=True):
        await unit.clocked(add_i=1, e_i=weight, row_i=packed(row))
        if weight % 3 == 0:
            await unit.clocked(add_i=0, e_i=255, row_i=packed([127] * LANES))
    unit.pins.drive(add_i=0)
    for lane, values in enumerate(zip(*rows, strict=True)):
        await unit.sees(lane_i=lane)
        seen = unit.pins.signed("sum_o")
        assert seen == dot(weights, values), f"CHIP-INT: lane {lane} is {seen}, not {dot(weights, values)}"
        await unit.clocking.next_cycle()


@cocotb.test()
async def weighted_sums_from_zero(top: HierarchyObject) -> None:
    """255 rows of the largest weight reach the ends of 24 bits; the next sums start from 0."""
    unit, chance = await unit_after_reset(top, "ks_mac"), random.Random(6)
    for extreme in (-128, 127):
        await added(unit, [255] * 255, [[extreme] * LANES] * 255)
    for count in (1, 2, 60):
        weights = [chance.randint(0, 255) for _ in range(count)]
        await added(unit, weights, [random_row(chance) for _ in range(count)])
