"""ks_av: the rounded mean of every lane, lane l in cycle s + 10 + l (CHIP-INT, CHIP-CYCLE)."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.chip_under_test import LANES
from verify.benches.formulas import mean
from verify.benches.unit import Unit, unit_after_reset

FIRST_BYTE = 10


async def averaged(unit: Unit, sums: list[int], z: int) -> None:
    """Raise last_i in a cycle s, give the lanes their sums, and check when and with what each byte comes."""
    pins, seen = unit.pins, []
    for late in range(FIRST_BYTE + LANES + 4):
        pins.drive(last_i=int(late == 0), z_i=z, sum_i=sums[pins["lane_o"] % LANES])
        await unit.clocking.settled()
        due = FIRST_BYTE <= late < FIRST_BYTE + LANES
        assert pins["valid_o"] == due, f"CHIP-CYCLE: valid_o is {int(not due)} in s + {late}"
        if due:
            lane = pins["out_lane_o"]
            assert lane == late - FIRST_BYTE, f"CHIP-CYCLE: lane {lane} in s + {late}"
            assert pins["out_last_o"] == (lane == LANES - 1)
            seen.append(pins["byte_o"])
        await unit.clocking.next_cycle()
    wanted = [mean(a, z) & 0xFF for a in sums]
    assert seen == wanted, f"CHIP-INT: sums {sums} over {z} gave {seen}, not {wanted}"


@cocotb.test()
async def the_means_of_equal_rows_are_the_rows(top: HierarchyObject) -> None:
    """a = v*Z gives v, from -128 to 127, with the smallest Z and the largest."""
    unit = await unit_after_reset(top, "ks_av")
    for z in (255, 255 * 255):
        for first in range(-128, 128, LANES):
            await averaged(unit, [(first + lane) * z for lane in range(LANES)], z)


@cocotb.test()
async def halves_round_up(top: HierarchyObject) -> None:
    """Means at v + 1/2 exactly, and one below it, for negative and positive v."""
    unit = await unit_after_reset(top, "ks_av")
    z = 510
    for below in (0, 1):
        await averaged(unit, [v * z + z // 2 - below for v in range(-LANES // 2, LANES // 2)], z)
    await averaged(unit, [v * z + z // 2 for v in range(-128, -128 + LANES)], z)
    await averaged(unit, [v * 255 + 127 for v in range(127 - LANES, 127)], 255)


@cocotb.test()
async def random_sums_one_after_another(top: HierarchyObject) -> None:
    """Nothing of one AV is left in the next."""
    unit, chance = await unit_after_reset(top, "ks_av"), random.Random(8)
    for _ in range(20):
        z = chance.randint(255, 255 * 255)
        await averaged(unit, [chance.randint(-128 * z, 127 * z) for _ in range(LANES)], z)
