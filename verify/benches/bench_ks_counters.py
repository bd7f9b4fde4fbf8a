"""ks_counters: seven counters of events in busy cycles, 0 at a start (CHIP-CYCLE)."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.unit import Unit, unit_after_reset

EVENTS = ("busy_i", "dma_i", "mac_i", "vec_i", "stall_i", "rdw_i", "wrw_i")
"""In the order of the counters: TOTAL, DMA, MAC, VEC, STALL, RDW, WRW."""
RDW, WRW = 5, 6


def counters(unit: Unit) -> list[int]:
    """All seven, TOTAL first."""
    value = unit.pins["counters_o"]
    return [value >> (32 * place) & 0xFFFFFFFF for place in range(len(EVENTS))]


@cocotb.test()
async def an_event_of_a_busy_cycle_is_counted_once(top: HierarchyObject) -> None:
    """Random events, busy most of the time, a start now and then; an event of cycle c is there in c + 1."""
    unit, chance = await unit_after_reset(top, "ks_counters"), random.Random(12)
    wanted = [0] * len(EVENTS)
    for _ in range(500):
        busy = chance.random() < 0.8
        start = not busy and chance.random() < 0.1
        events = [int(busy), *[chance.getrandbits(1) & int(busy) for _ in EVENTS[1:]]]
        if events[RDW]:
            # One word a cycle is accepted at most.
            events[WRW] = 0
        await unit.sees(start_i=int(start), **dict(zip(EVENTS, events, strict=True)))
        assert counters(unit) == wanted, "CHIP-CYCLE: TOTAL, DMA, MAC, VEC, STALL, RDW, WRW"
        if start:
            wanted = [0] * len(EVENTS)
        elif busy:
            wanted = [count + event for count, event in zip(wanted, events, strict=True)]
        await unit.clocking.next_cycle()
    assert all(wanted)


@cocotb.test()
async def each_event_has_its_own_counter(top: HierarchyObject) -> None:
    """One event at a time, more than 256 times: only its counter and TOTAL move, and carry beyond a byte."""
    unit = await unit_after_reset(top, "ks_counters")
    for place, event in enumerate(EVENTS):
        await unit.clocked(start_i=1, busy_i=0)
        unit.pins.drive(start_i=0, **{event: 1, "busy_i": 1})
        await unit.clocking.next_cycle(300)
        unit.pins.drive(**dict.fromkeys(EVENTS, 0))
        await unit.clocking.settled()
        assert counters(unit) == [300 if spot in (0, place) else 0 for spot in range(len(EVENTS))], event
        await unit.clocking.next_cycle()
