"""ks_queue: order, occupancy, the head and the current entry, and the rows that are owed (docs/chip.md section 6)."""

import random
from collections import deque
from dataclasses import dataclass
from typing import Literal

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import QUEUE
from verify.benches.unit import Unit, unit_after_reset

Kind = Literal["load", "store", "streg"]

RATES = {"mostly_full": (0.9, 0.3), "mostly_empty": (0.2, 0.9), "even": (0.6, 0.6)}
"""How likely a push is in a cycle, and how likely each step of what is queued."""


@dataclass(slots=True)
class Entry:
    """A descriptor; `written` rows of a load are in the scratchpad."""

    kind: Kind
    first: int
    count: int
    address: int
    token: int
    written: int = 0


class RingModel:
    """The queue as the definition tells it; `requested` entries from the oldest have all their requests accepted."""

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque()
        self.requested = 0

    @property
    def current(self) -> Entry | None:
        """The oldest entry whose requests are not all accepted."""
        return self.entries[self.requested] if self.requested < len(self.entries) else None

    def compare(self, unit: Unit) -> None:
        """Every output of this cycle with what it has to be."""
        pins, current = unit.pins, self.current
        assert pins["empty_o"] == (not self.entries), f"empty with {len(self.entries)} entries"
        assert pins["full_o"] == (len(self.entries) == QUEUE), f"full with {len(self.entries)} entries"
        assert pins["cur_valid_o"] == (current is not None)
        if current is not None:
            assert (pins["cur_load_o"], pins["cur_store_o"]) == (current.kind == "load", current.kind == "store")
            assert pins["cur_addr_o"] == current.address
            if current.kind == "streg":
                assert pins["cur_tok_o"] == current.token
            else:
                assert pins["cur_count_o"] == current.count
            if current.kind == "store":
                assert pins["cur_first_o"] == current.first
        head = self.entries[0] if self.entries else None
        assert pins["head_load_o"] == (head is not None and head.kind == "load")
        if head is not None and head.kind == "load":
            assert pins["head_row_o"] == head.first + head.written
            assert pins["head_last_o"] == (head.written == head.count - 1)
        self._compare_rows(unit)

    def _compare_rows(self, unit: Unit) -> None:
        pins = unit.pins
        for kind in ("load", "store"):
            valid, firsts, ends = pins[f"q_{kind}_o"], pins["q_first_o"], pins["q_end_o"]
            slots = [slot for slot in range(QUEUE) if valid >> slot & 1]
            seen = [(firsts >> (10 * slot) & 1023, ends >> (11 * slot) & 2047) for slot in slots]
            wanted = [(e.first + e.written, e.first + e.count) for e in self.entries if e.kind == kind]
            assert sorted(seen) == sorted(wanted), f"CHIP-CHASE: rows of {kind}s are {seen}, not {wanted}"


def some_entry(chance: random.Random) -> Entry:
    """Any descriptor with at least one row, the whole scratchpad included."""
    kind: Kind = chance.choice(("load", "store", "streg"))
    count = chance.choice((1, 1, 2, 3, 1024))
    first = chance.randint(0, 1024 - count)
    return Entry(kind, first, count, chance.getrandbits(20), chance.getrandbits(32))


async def driven(unit: Unit, model: RingModel, chance: random.Random, eager: float, busy: float) -> None:
    """One cycle: maybe a push, maybe the end of the current entry's requests, maybe a row or the head's end."""
    pins = unit.pins
    push = chance.random() < eager and len(model.entries) < QUEUE
    new = some_entry(chance)
    current, head = model.current, model.entries[0] if model.entries else None
    head_is_current = current is not None and model.requested == 0
    step = current is not None and chance.random() < busy and (head_is_current or current.kind == "load")
    # Rows of a load come in while it is still current, its last one only after all its requests.
    row = head is not None and head.kind == "load" and chance.random() < busy
    row = row and head is not None and (model.requested > 0 or head.written < head.count - 1)
    pop = (row and head is not None and head.written == head.count - 1) or (
        step and head_is_current and current is not None and current.kind != "load"
    )
    pins.drive(
        push_i=int(push),
        push_load_i=int(new.kind == "load"),
        push_store_i=int(new.kind == "store"),
        push_first_i=new.first,
        push_count_i=new.count,
        push_addr_i=new.address,
        push_tok_i=new.token,
        next_i=int(step),
        row_i=int(row),
        pop_i=int(pop),
    )
    await unit.clocking.settled()
    model.compare(unit)
    await unit.clocking.next_cycle()
    if row and head is not None:
        head.written += 1
    if step:
        model.requested += 1
    if pop:
        model.entries.popleft()
        model.requested -= 1
    if push:
        model.entries.append(new)


@cocotb.test()
@cocotb.parametrize(rates=[cocotb.Param(rates, name) for name, rates in RATES.items()])
async def the_ring_is_in_order(top: HierarchyObject, rates: tuple[float, float]) -> None:
    """Pushes, requests, rows and ends at random, against a list; several times around the ring."""
    unit, chance, model = await unit_after_reset(top, "ks_queue"), random.Random(51), RingModel()
    for _ in range(600):
        await driven(unit, model, chance, *rates)


@cocotb.test()
async def eight_entries_fill_it_and_one_that_leaves_makes_room(top: HierarchyObject) -> None:
    """Occupancy 0 .. 8, then a leave and a push in the same cycle."""
    unit, model = await unit_after_reset(top, "ks_queue"), RingModel()
    pins = unit.pins
    for number in range(QUEUE):
        await unit.clocking.settled()
        model.compare(unit)
        entry = Entry("store", number, 1, number, 0)
        pins.drive(push_i=1, push_load_i=0, push_store_i=1, push_first_i=number, push_count_i=1, push_addr_i=number)
        await unit.clocking.next_cycle()
        model.entries.append(entry)
    pins.drive(push_i=0)
    for number in range(QUEUE, 3 * QUEUE):
        await unit.clocking.settled()
        model.compare(unit)
        pins.drive(next_i=1, pop_i=1, push_i=0)
        await unit.clocking.next_cycle()
        model.entries.popleft()
        pins.drive(next_i=0, pop_i=0, push_i=1, push_first_i=number, push_addr_i=number)
        await unit.clocking.settled()
        model.compare(unit)
        await unit.clocking.next_cycle()
        model.entries.append(Entry("store", number, 1, number, 0))
        pins.drive(push_i=0)
