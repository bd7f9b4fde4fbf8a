"""ks_entries: 16 requantisation entries, their values after reset, and the four that an op looks at (CHIP-CYCLE)."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import ENTRIES
from verify.benches.unit import Unit, unit_after_reset

Entry = tuple[int, int, int, int]
"""M, sh, xrow, Rm as bits."""
AFTER_RESET: Entry = (32768, 1, 0, 0)


async def same(unit: Unit, entries: list[Entry]) -> None:
    """Every entry through the op's port and through the head's, with and without a step."""
    for index in range(ENTRIES):
        for step in (0, 1):
            await unit.sees(ridx_i=index, hidx_i=index, hstep_i=step)
            pins = unit.pins
            m, sh, _, rm = entries[index]
            assert (pins["m_o"], pins["sh_o"], pins["rm_o"]) == (m, sh, rm), f"entry {index}"
            four = [entries[(index + i * step) % ENTRIES] for i in range(4)]
            assert pins["hrm_nz_o"] == sum((entry[3] != 0) << i for i, entry in enumerate(four)), f"from {index}"
            assert pins["hxrow_o"] == sum(entry[2] << (10 * i) for i, entry in enumerate(four)), f"from {index}"
            await unit.clocking.next_cycle()


@cocotb.test()
async def after_reset_every_entry_is_the_same(top: HierarchyObject) -> None:
    """M = 32768, sh = 1, xrow = 0, Rm = 0."""
    await same(await unit_after_reset(top, "ks_entries"), [AFTER_RESET] * ENTRIES)


@cocotb.test()
async def a_write_sets_one_entry_from_the_next_cycle_on(top: HierarchyObject) -> None:
    """Each entry in turn, all others kept; an Rm with one bit, whichever it is, is not 0."""
    unit, chance = await unit_after_reset(top, "ks_entries"), random.Random(3)
    entries = [AFTER_RESET] * ENTRIES
    for index in chance.sample(range(ENTRIES), ENTRIES):
        entry = chance.randrange(2**15, 2**16), chance.randint(1, 40), chance.getrandbits(10), 1 << index
        await unit.sees(we_i=1, widx_i=index, m_i=entry[0], sh_i=entry[1], xrow_i=entry[2], rm_i=entry[3], ridx_i=index)
        assert unit.pins["m_o"] == entries[index][0], "seen in the cycle of the write"
        await unit.clocked(we_i=1)
        unit.pins.drive(we_i=0, m_i=2**15, sh_i=9, rm_i=0)
        entries[index] = entry
        await same(unit, entries)
    await unit.clocked(we_i=0, widx_i=3, m_i=2**16 - 1)
    await same(unit, entries)
    await same(await unit_after_reset(top, "ks_entries"), [AFTER_RESET] * ENTRIES)
