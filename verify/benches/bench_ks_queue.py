"""ks_queue: order, occupancy, the head and the current entry, and the rows that are owed (docs/chip.md section 6)."""

import random
from collections import deque
from dataclasses import dataclass
from typing import Literal

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import QUEUE
from verify.benches.unit import Unit, unit_after_reset

Kind = Literal["load", "gather", "store", "streg"]
LOADS = ("load", "gather")
"""A GATHER is a load in all that concerns rows (CHIP-GATHER)."""

RATES = {"mostly_full": (0.9, 0.3), "mostly_empty": (0.2, 0.9), "even": (0.6, 0.6)}
"""How likely a push is in a cycle, and how likely each step of what is queued."""


@dataclass(slots=True)
class Entry:
    """A descriptor; `written` rows of a load are in the scratchpad."""

    kind: Kind
    first: int
    count: int
    address: int
    word: int
    """TOK of a STREG, the first logical row of a GATHER."""
    half: int
    number: int
    """The instruction's, for ERRPC."""
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
            assert (pins["cur_load_o"], pins["cur_store_o"]) == (current.kind in LOADS, current.kind == "store")
            assert pins["cur_gather_o"] == (current.kind == "gather"), "CHIP-GATHER: a GATHER, or none"
            assert pins["cur_pc_o"] == current.number, "CHIP-ERROR: the number of the instruction"
            if current.kind != "gather":
                assert pins["cur_addr_o"] == current.address
            if current.kind in ("streg", "gather"):
                assert pins["cur_word_o"] == current.word
            if current.kind == "gather":
                assert pins["cur_kv_o"] == current.half
            if current.kind != "streg":
                assert pins["cur_count_o"] == current.count
            if current.kind == "store":
                assert pins["cur_first_o"] == current.first
        head = self.entries[0] if self.entries else None
        assert pins["head_load_o"] == (head is not None and head.kind in LOADS)
        if head is not None and head.kind in LOADS:
            assert pins["head_row_o"] == head.first + head.written
            assert pins["head_last_o"] == (head.written == head.count - 1)
        self._compare_rows(unit)

    def _compare_rows(self, unit: Unit) -> None:
        pins = unit.pins
        for kind, kinds in (("load", LOADS), ("store", ("store",))):
            valid, firsts, ends = pins[f"q_{kind}_o"], pins["q_first_o"], pins["q_end_o"]
            slots = [slot for slot in range(QUEUE) if valid >> slot & 1]
            seen = [(firsts >> (10 * slot) & 1023, ends >> (11 * slot) & 2047) for slot in slots]
            wanted = [(e.first + e.written, e.first + e.count) for e in self.entries if e.kind in kinds]
            assert sorted(seen) == sorted(wanted), f"CHIP-CHASE: rows of {kind}s are {seen}, not {wanted}"


def some_entry(chance: random.Random) -> Entry:
    """Any descriptor with at least one row, the whole scratchpad included."""
    kind: Kind = chance.choice(("load", "gather", "store", "streg"))
    count = chance.choice((1, 1, 2, 3, 1024))
    first = chance.randint(0, 1024 - count)
    half, number = chance.getrandbits(1), chance.getrandbits(8)
    return Entry(kind, first, count, chance.getrandbits(20), chance.getrandbits(32), half, number)


async def driven(unit: Unit, model: RingModel, chance: random.Random, eager: float, busy: float) -> None:
    """One cycle: maybe a push, maybe the end of the current entry's requests, maybe a row or the head's end."""
    pins = unit.pins
    push = chance.random() < eager and len(model.entries) < QUEUE
    new = some_entry(chance)
    current, head = model.current, model.entries[0] if model.entries else None
    head_is_current = current is not None and model.requested == 0
    step = current is not None and chance.random() < busy and (head_is_current or current.kind in LOADS)
    # Rows of a load come in while it is still current, its last one only after all its requests.
    row = head is not None and head.kind in LOADS and chance.random() < busy
    row = row and head is not None and (model.requested > 0 or head.written < head.count - 1)
    pop = (row and head is not None and head.written == head.count - 1) or (
        step and head_is_current and current is not None and current.kind not in LOADS
    )
    pins.drive(
        push_i=int(push),
        push_load_i=int(new.kind in LOADS),
        push_gather_i=int(new.kind == "gather"),
        push_store_i=int(new.kind == "store"),
        push_first_i=new.first,
        push_count_i=new.count,
        push_addr_i=new.address,
        push_word_i=new.word,
        push_kv_i=new.half,
        push_pc_i=new.number,
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
    """Occupancy 0 .. 8, then a leave and a push in turns."""
    unit, model = await unit_after_reset(top, "ks_queue"), RingModel()
    pins = unit.pins
    for number in range(QUEUE):
        pins.drive(push_i=1, push_load_i=0, push_store_i=1, push_first_i=number, push_count_i=1, push_addr_i=number)
        await unit.clocking.settled()
        model.compare(unit)
        await unit.clocking.next_cycle()
        model.entries.append(Entry("store", number, 1, number, 0, 0, 0))
    for number in range(QUEUE, 3 * QUEUE):
        pins.drive(next_i=1, pop_i=1, push_i=0)
        await unit.clocking.settled()
        model.compare(unit)
        await unit.clocking.next_cycle()
        model.entries.popleft()
        pins.drive(next_i=0, pop_i=0, push_i=1, push_first_i=number, push_addr_i=number)
        await unit.clocking.settled()
        model.compare(unit)
        await unit.clocking.next_cycle()
        model.entries.append(Entry("store", number, 1, number, 0, 0, 0))


@cocotb.test()
async def a_flush_empties_it(top: HierarchyObject) -> None:
    """CHIP-RESET: whatever is queued, nothing is in the cycle after, and the ring works on."""
    unit, chance = await unit_after_reset(top, "ks_queue"), random.Random(52)
    for _ in range(6):
        model = RingModel()
        for _ in range(25):
            await driven(unit, model, chance, 0.7, 0.5)
        await unit.reset(push_i=chance.getrandbits(1), next_i=0, row_i=0, pop_i=0)
