"""ks_counters: seven counters of events in busy cycles, 0 at a start and a soft reset (CHIP-CYCLE)."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from verify.benches.unit import Unit, unit_after_reset

EVENTS = ("busy_i", "dma_i", "mac_i", "vec_i", "stall_i", "rdw_i", "wrw_i")
"""In the order of the counters: TOTAL, DMA, MAC, VEC, STALL, RDW, WRW."""
RDW, WRW = 5, 6


async def counters(unit: Unit) -> list[int]:
    """All seven, TOTAL first, read one a cycle while not busy, so that none moves; the eighth is 0."""
    unit.pins.drive(clear_i=0, **dict.fromkeys(EVENTS, 0))
    found = []
    for place in range(len(EVENTS) + 1):
        await unit.sees(index_i=place)
        found.append(unit.pins["counter_o"])
        await unit.clocking.next_cycle()
    assert found.pop() == 0, "there is no eighth counter"
    return found


@cocotb.test()
async def an_event_of_a_busy_cycle_is_counted_once(top: HierarchyObject) -> None:
    """Random events, busy most of the time, a clear now and then; an event of cycle c is there in c + 1."""
    unit, chance = await unit_after_reset(top, "ks_counters"), random.Random(12)
    wanted = [0] * len(EVENTS)
    for _ in range(800):
        busy = chance.random() < 0.8
        # A start comes while not busy, a soft reset also while busy: then the cycle is not counted.
        start = chance.random() < (0.02 if busy else 0.1)
        events = [int(busy), *[chance.getrandbits(1) & int(busy) for _ in EVENTS[1:]]]
        if events[RDW]:
            # One word a cycle is accepted at most.
            events[WRW] = 0
        place = chance.randrange(len(EVENTS))
        await unit.sees(clear_i=int(start), index_i=place, **dict(zip(EVENTS, events, strict=True)))
        assert unit.pins["counter_o"] == wanted[place], f"CHIP-CYCLE: the counter of {EVENTS[place]}"
        if start:
            wanted = [0] * len(EVENTS)
        elif busy:
            wanted = [count + event for count, event in zip(wanted, events, strict=True)]
        await unit.clocking.next_cycle()
    assert await counters(unit) == wanted and all(wanted), "CHIP-CYCLE: TOTAL, DMA, MAC, VEC, STALL, RDW, WRW"


@cocotb.test()
async def each_event_has_its_own_counter(top: HierarchyObject) -> None:
    """One event at a time, more than 256 times: only its counter and TOTAL move, and carry beyond a byte."""
    unit = await unit_after_reset(top, "ks_counters")
    for place, event in enumerate(EVENTS):
        await unit.clocked(clear_i=1, busy_i=0)
        unit.pins.drive(clear_i=0, **{event: 1, "busy_i": 1})
        await unit.clocking.next_cycle(300)
        wanted = [300 if spot in (0, place) else 0 for spot in range(len(EVENTS))]
        assert await counters(unit) == wanted, event
