"""ks_sm: weights e_t and their sum Z of the scores that were put, and when they are done (CHIP-INT, CHIP-CYCLE)."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.formulas import exponentials
from verify.benches.unit import Unit, unit_after_reset

LARGEST = 2**19


async def scored(unit: Unit, scores: list[int], m: int, sh: int, pauses: tuple[int, ...] = (0,)) -> None:
    """Put the scores, with pauses of so many cycles before each, and check done, every weight and Z."""
    wanted = exponentials(scores, m, sh)
    unit.pins.drive(m_i=m, sh_i=sh)
    for t, s in enumerate(scores):
        for _ in range(pauses[t % len(pauses)]):
            await unit.clocked(put_i=0, last_i=0)
        last = t == len(scores) - 1
        await unit.sees(put_i=1, last_i=int(last), t_i=t, s_i=s)
        assert not unit.pins["done_o"], "done before the last score"
        await unit.clocking.next_cycle()
    unit.pins.drive(put_i=0, last_i=0)
    # The last put was in cycle s; this is s + 1, and done belongs to s + 1 + count alone.
    for late in range(len(scores) + 3):
        await unit.clocking.settled()
        due = late == len(scores)
        assert unit.pins["done_o"] == due, (
            f"CHIP-CYCLE: done_o is {int(not due)} in s + {1 + late} of {len(scores)} scores"
        )
        await unit.clocking.next_cycle()
    for t, e in enumerate(wanted):
        await unit.sees(e_t_i=t)
        assert unit.pins["e_o"] == e, (
            f"CHIP-INT: e_{t} of {scores[t]} below {max(scores)} is {unit.pins['e_o']}, not {e}"
        )
        await unit.clocking.next_cycle()
    assert unit.pins["z_o"] == sum(wanted), f"CHIP-INT: Z is {unit.pins['z_o']}, not {sum(wanted)}"


@cocotb.test()
async def one_score_weighs_255(top: HierarchyObject) -> None:
    """The largest score is below itself by 0, whatever it is, negative ones and the smallest of all included."""
    unit = await unit_after_reset(top, "ks_sm")
    for score in (0, 1, -1, LARGEST, -LARGEST):
        await scored(unit, [score], 2**15, 1)


@cocotb.test()
async def distances_cover_the_table_and_go_beyond_it(top: HierarchyObject) -> None:
    """Indexes 0 .. 255 and larger ones, which stay at 255, with the largest score first, last and in the middle."""
    unit = await unit_after_reset(top, "ks_sm")
    await scored(unit, [-2 * i for i in range(255)], 2**15, 16)
    await scored(unit, [-i for i in range(254, -1, -1)], 2**15, 14)
    await scored(unit, [*range(40), *range(40, -40, -1)], 3 * 2**14, 15)
    await scored(unit, [-LARGEST, LARGEST, 0], 2**16 - 1, 1)
    await scored(unit, [-LARGEST, LARGEST, LARGEST - 1], 2**16 - 1, 40)


@cocotb.test()
async def a_score_starts_from_nothing_that_the_last_one_left(top: HierarchyObject) -> None:
    """A lower maximum after a higher one, fewer scores after more, Z from 0 again."""
    unit = await unit_after_reset(top, "ks_sm")
    for scores in ([1000, 2000, 3000], [-3000, -2000], [-5, -5, -5, -5], [7]):
        await scored(unit, scores, 2**15, 18)


@cocotb.test()
async def scores_may_come_with_pauses(top: HierarchyObject) -> None:
    """CX waits for loads, so puts have pauses; 255 scores, the most there are, at random."""
    unit, chance = await unit_after_reset(top, "ks_sm"), random.Random(5)
    scores = [chance.randint(-9000, 9000) for _ in range(255)]
    await scored(unit, scores, 40000, 22, pauses=(0, 0, 3, 1))
    await scored(unit, scores[:31], 65535, 21, pauses=(2,))
