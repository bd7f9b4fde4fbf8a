"""ks_rq: RQ of docs/chip.md section 2, one cycle after its operands (CHIP-INT)."""

import random
from typing import NamedTuple

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.chip_under_test import LANES
from verify.benches.formulas import lanes_of, packed, requantised
from verify.benches.unit import Unit, unit_after_reset

LARGEST_SUM = 2**19


class Operands(NamedTuple):
    """What RQ takes in one cycle; `lane` picks xr from the residual register."""

    acc: int
    m: int = 2**15
    sh: int = 16
    rm: int = 0
    lane: int = 0


async def check(unit: Unit, residual: list[int], vectors: list[Operands]) -> None:
    """Load the residual register, then feed one vector a cycle and compare each byte one cycle later."""
    await unit.clocked(x_we_i=1, x_row_i=packed(residual))
    unit.pins.drive(x_we_i=0, x_row_i=packed([-1] * LANES))
    before: Operands | None = None
    for vector in [*vectors, Operands(0)]:
        await unit.sees(en_i=1, acc_i=vector.acc, m_i=vector.m, sh_i=vector.sh, rm_i=vector.rm, lane_i=vector.lane)
        if before is not None:
            wanted = requantised(before.acc, before.m, before.sh, before.rm, residual[before.lane])
            (seen,) = lanes_of(unit.pins["byte_o"], 1)
            assert seen == wanted, f"CHIP-INT: {before} with xr {residual[before.lane]} gave {seen}, not {wanted}"
        before = vector
        await unit.clocking.next_cycle()


@cocotb.test()
async def halves_round_up_and_bounds_saturate(top: HierarchyObject) -> None:
    """acc/2 for every acc around 0, 127 and -128: each tie, each bound, and both sides of it."""
    await check(await unit_after_reset(top, "ks_rq"), [0] * LANES, [Operands(acc) for acc in range(-300, 301)])


@cocotb.test()
async def every_shift_with_the_largest_operands(top: HierarchyObject) -> None:
    """Shifts 1 .. 40 with the largest and smallest sums, factors and residuals: no bit is lost on the way."""
    residual = [127, -128] * (LANES // 2)
    vectors = [
        Operands(acc, m, sh, rm, lane)
        for sh in range(1, 41)
        for acc in (LARGEST_SUM, -LARGEST_SUM, 1, -1, 0)
        for m, rm in ((2**15, 0), (2**16 - 1, 2**15 - 1), (2**16 - 1, -(2**15)))
        for lane in (0, 1)
    ]
    await check(await unit_after_reset(top, "ks_rq"), residual, vectors)


@cocotb.test()
async def results_near_the_bounds_for_random_factors(top: HierarchyObject) -> None:
    """For each factor, the sums whose results are next to a rounding step at -128, 127, 0 or anywhere between."""
    chance, vectors = random.Random(11), []
    residual = [chance.randint(-128, 127) for _ in range(LANES)]
    for _ in range(600):
        m, sh, lane = chance.randrange(2**15, 2**16), chance.randrange(16, 35), chance.randrange(LANES)
        rm = chance.choice((0, chance.randint(-(2**15), 2**15 - 1)))
        step = chance.choice((-129, -128, -127, -1, 0, 1, 126, 127, 128, chance.randint(-128, 127)))
        acc = ((2 * step - 1) << (sh - 1)) // m - rm * residual[lane] + chance.choice((-1, 0, 1))
        vectors.append(Operands(max(-LARGEST_SUM, min(LARGEST_SUM, acc)), m, sh, rm, lane))
    await check(await unit_after_reset(top, "ks_rq"), residual, vectors)


@cocotb.test()
async def the_residual_row_counts_from_the_cycle_after_it_is_written(top: HierarchyObject) -> None:
    """In the cycle of x_we_i the old row is still used, lane by lane."""
    unit = await unit_after_reset(top, "ks_rq")
    rows = [[16 * row + lane - 128 for lane in range(LANES)] for row in range(3)]
    await unit.clocked(x_we_i=1, x_row_i=packed(rows[0]), m_i=2**15, sh_i=15, rm_i=1, acc_i=0)
    for old, new in ((0, 1), (1, 2)):
        for lane in range(LANES):
            await unit.clocked(x_we_i=0, en_i=1, lane_i=lane)
            await unit.clocking.settled()
            assert lanes_of(unit.pins["byte_o"], 1) == [rows[old][lane]], f"lane {lane} of row {old}"
        await unit.clocked(x_we_i=1, x_row_i=packed(rows[new]), en_i=1, lane_i=5)
        unit.pins.drive(x_we_i=0, lane_i=6)
        await unit.clocking.settled()
        assert lanes_of(unit.pins["byte_o"], 1) == [rows[old][5]], "the new row was used too early"
        await unit.clocking.next_cycle()
