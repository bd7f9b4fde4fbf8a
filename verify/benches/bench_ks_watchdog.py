"""ks_watchdog: TIMEOUT in the 4,096th busy cycle without progress, and in no other (CHIP-WATCH)."""

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import WATCHDOG_CYCLES
from verify.benches.unit import Unit, unit_after_reset

PROGRESS = ("issue_i", "accept_i", "answer_i", "row_i", "exp_i", "out_i")


async def started(top: HierarchyObject) -> Unit:
    """The first busy cycle after a start."""
    unit = await unit_after_reset(top, "ks_watchdog")
    await unit.clocked(start_i=1)
    unit.pins.drive(start_i=0, busy_i=1)
    return unit


async def quiet(unit: Unit, cycles: int) -> None:
    """So many cycles without a timeout; the next one has begun."""
    for left in range(cycles, 0, -1):
        # The first and the last of them are looked at, and some between: the rest costs time and would say the same.
        if left < 3 or left > cycles - 3 or not left & left - 1:
            await unit.clocking.settled()
            assert not unit.pins["timeout_o"], f"CHIP-WATCH: a timeout {left} cycles too early"
        await unit.clocking.next_cycle()


@cocotb.test()
async def each_kind_of_progress_starts_the_count_anew(top: HierarchyObject) -> None:
    """CHIP-WATCH: each alone comes in the last cycle that there is, which is then no timeout; only then 4,096 pass."""
    unit = await started(top)
    pins = unit.pins
    for event in PROGRESS:
        await quiet(unit, WATCHDOG_CYCLES - 1)
        await unit.sees(**{event: 1})
        assert not pins["timeout_o"], f"CHIP-WATCH: {event} is progress"
        await unit.clocking.next_cycle()
        pins.drive(**{event: 0})
    await quiet(unit, WATCHDOG_CYCLES - 1)
    await unit.sees(finish_i=1)
    assert not pins["timeout_o"], "CHIP-WATCH: the run ends otherwise"
    await unit.clocking.next_cycle()
    await unit.clocked(busy_i=0, finish_i=0)


@cocotb.test()
async def only_busy_cycles_count_and_a_start_begins_at_zero(top: HierarchyObject) -> None:
    """CHIP-WATCH: cycles that are not busy neither count nor time out, those of an earlier run do not count."""
    unit = await started(top)
    pins = unit.pins
    await quiet(unit, 1000)
    pins.drive(busy_i=0)
    await quiet(unit, 5)
    await unit.clocked(start_i=1)
    pins.drive(start_i=0, busy_i=1)
    await quiet(unit, WATCHDOG_CYCLES - 1)
    await unit.clocking.settled()
    assert pins["timeout_o"], "CHIP-WATCH: 4,096 cycles of this run"
    await unit.clocking.next_cycle()
    await unit.clocked(busy_i=0)
