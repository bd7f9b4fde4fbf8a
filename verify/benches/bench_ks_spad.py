"""ks_spad: a read gives its row one cycle later; a write is seen by reads of later cycles alone (CHIP-CYCLE)."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import SPAD_ROWS
from verify.benches.chip_under_test import LANES
from verify.benches.unit import unit_after_reset


@cocotb.test()
async def every_row_holds_its_own_bits(top: HierarchyObject) -> None:
    """All 1,024 rows, written once each, read back one a cycle."""
    unit, chance = await unit_after_reset(top, "ks_spad"), random.Random(1)
    rows = [chance.getrandbits(8 * LANES) for _ in range(SPAD_ROWS)]
    for address, row in enumerate(rows):
        await unit.clocked(we_i=1, waddr_i=address, wdata_i=row)
    unit.pins.drive(we_i=0, re_i=1)
    for address in range(SPAD_ROWS + 1):
        unit.pins.drive(raddr_i=address % SPAD_ROWS)
        await unit.clocking.settled()
        if address:
            assert unit.pins["rdata_o"] == rows[address - 1], f"row {address - 1}"
        await unit.clocking.next_cycle()


@cocotb.test()
async def a_read_in_the_cycle_of_a_write_gives_the_old_row(top: HierarchyObject) -> None:
    """Reads and writes of a few rows at random, both ports in one cycle, against the definition's order."""
    unit, chance = await unit_after_reset(top, "ks_spad"), random.Random(2)
    rows = [chance.getrandbits(8 * LANES) for _ in range(4)]
    for address, row in enumerate(rows):
        await unit.clocked(we_i=1, waddr_i=address, wdata_i=row)
    met = 0
    wanted: int | None = None
    for _ in range(400):
        reads, writes = chance.random() < 0.8, chance.random() < 0.5
        source, target, row = chance.randrange(4), chance.randrange(4), chance.getrandbits(8 * LANES)
        await unit.sees(re_i=int(reads), raddr_i=source, we_i=int(writes), waddr_i=target, wdata_i=row)
        if wanted is not None:
            assert unit.pins["rdata_o"] == wanted
        wanted = rows[source] if reads else None
        met += reads and writes and source == target
        if writes:
            rows[target] = row
        await unit.clocking.next_cycle()
    assert met > 20
