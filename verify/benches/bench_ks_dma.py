"""ks_dma: in every cycle the request, the loaded row and the leave that docs/chip.md section 6 tells (CHIP-QUIET).

A GATHER's own cycles are in bench_ks_walk; here its reads, answers and error are beside all others (CHIP-GATHER, CHIP-ERROR),
and a flush meets them all (CHIP-RESET).
"""

import random
from collections import deque
from dataclasses import dataclass
from itertools import cycle

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import MOST_OUTSTANDING, ErrorCode
from verify.benches.chip_under_test import ROW_WORDS
from verify.benches.op_rows import side_by_side
from verify.benches.patterns import FEW, PATTERNS, Traffic
from verify.benches.store_model import StoreModel
from verify.benches.unit import Unit, unit_after_reset
from verify.benches.walk_model import VALID, Walker, WalkModel

WALKER = Walker(btbase=300, btmask=31, pool=64, logp=1, npages=20)
TABLE = {300 + slot: (VALID | slot * 7 % 20) if slot < 20 else 0 for slot in range(32)}
BAD_ROW = 40


@dataclass(slots=True)
class Entry:
    """A descriptor: a load of `count` rows, a STREG of `token`, a store that has its words with it, or a GATHER with its walk."""

    address: int
    first: int = 0
    count: int = 0
    token: int = 0
    store: StoreModel | None = None
    walk: WalkModel | None = None
    written: int = 0

    @property
    def is_load(self) -> bool:
        """A load is what is no store and has rows."""
        return self.store is None and self.count > 0


@dataclass(slots=True)
class DmaModel:
    """The registers of DMA beside the queue: entries from the oldest, `requested` of them with all requests accepted."""

    entries: deque[Entry]
    requested: int = 0
    outstanding: int = 0
    word: int = 0
    flushed: bool = False
    stale: tuple[bool, int, int] | None = None
    """The request of a flush that is not accepted yet."""

    @property
    def drains(self) -> bool:
        """Whether something from before a flush is outstanding."""
        return self.flushed and (self.stale is not None or self.outstanding > 0)

    @property
    def fault(self) -> ErrorCode:
        """The error of the walk that ends the run in this cycle."""
        walk = self.current.walk if self.current else None
        return walk.fault if walk and not self.outstanding else ErrorCode.NONE

    @property
    def current(self) -> Entry | None:
        """The oldest entry whose requests are not all accepted."""
        return self.entries[self.requested] if self.requested < len(self.entries) else None

    def request(self) -> tuple[bool, int, int] | None:
        """Write or read, address and data of the request that is raised in this cycle."""
        entry = self.current
        if entry is None:
            return self.stale
        if entry.walk is not None:
            raised = entry.walk.raised(self.outstanding < MOST_OUTSTANDING)
            return None if raised is None else (False, raised.address, 0)
        if entry.is_load:
            return (False, entry.address + self.word, 0) if self.outstanding < MOST_OUTSTANDING else None
        if entry.store is None:
            return (True, entry.address, entry.token) if self.outstanding == 0 else None
        data = entry.store.data()
        return None if data is None else (True, entry.address + self.word, data)

    def is_last(self) -> bool:
        """Whether the current entry's request is its last."""
        entry = self.current
        if entry is not None and entry.walk is not None:
            raised = entry.walk.raised(True)
            return raised is not None and raised.last
        return entry is not None and self.word == max(1, entry.count * ROW_WORDS) - 1


async def followed(unit: Unit, entries: list[Entry], traffic: Traffic, flush_at: int | None = None) -> int:
    """Work through the entries, all queued from the start, and compare every cycle; the most reads outstanding.

    A flush comes in cycle `flush_at` and with an error of a walk; what is left then drains.
    """
    pins, model = unit.pins, DmaModel(deque(entries))
    ready, gaps, chance = cycle(traffic.ready), cycle(traffic.gaps), random.Random(5)
    answers: deque[tuple[int, int, bool]] = deque()
    free_from, now, most, at_output, row = 0, 0, 0, 0, list[int]()
    pins.drive(**{f"{name}_i": value for name, value in WALKER._asdict().items()})
    while model.entries or model.drains:
        entry, head, is_ready = model.current, model.entries[0] if model.entries else None, bool(next(ready))
        walk = entry.walk if entry else None
        due = bool(answers) and answers[0][0] <= now
        _, answer, is_table = answers.popleft() if due else (0, 0xBAD0BAD0, False)
        fault, drains = model.fault, model.drains
        flush = bool(fault) or now == flush_at
        pins.drive(
            flush_i=int(flush),
            req_ready_i=int(is_ready),
            rsp_valid_i=int(due),
            rsp_data_i=answer,
            head_load_i=int(head is not None and head.is_load),
            head_last_i=int(head is not None and head.is_load and head.written == head.count - 1),
            rdata_i=at_output,
            **current_inputs(entry),
        )
        await unit.clocking.settled()
        request = model.request()
        seen = (bool(pins["req_we_o"]), pins["req_addr_o"], pins["req_wdata_o"]) if pins["req_valid_o"] else None
        assert seen == request, f"CHIP-QUIET, CHIP-RESET, CHIP-GATHER: cycle {now} raises {seen}, not {request}"
        assert pins["drain_o"] == drains, f"CHIP-RESET: drain_o in cycle {now}"
        assert pins["fault_o"] == bool(fault), f"CHIP-ERROR: fault_o in cycle {now}"
        assert not fault or pins["fault_code_o"] == fault, f"CHIP-ERROR: the code in cycle {now}"
        accepted = request is not None and is_ready
        reads = accepted and request is not None and not request[0]
        steps = accepted and entry is not None and model.is_last()
        assert pins["next_o"] == steps, f"next_o in cycle {now}"
        assert (pins["read_o"], pins["write_o"]) == (reads, accepted and not reads)
        if due and not is_table and not drains:
            row.append(answer)
        fills = len(row) == ROW_WORDS
        assert pins["row_we_o"] == fills, f"CHIP-RESET: row_we_o in cycle {now}"
        if fills:
            assert pins["row_data_o"] == side_by_side(row, width=32), f"loaded row in cycle {now}"
        pops = (fills and head is not None and head.written == head.count - 1) or (
            steps and entry is not None and not entry.is_load
        )
        assert pins["pop_o"] == pops, f"pop_o in cycle {now}"
        quiet = model.outstanding == 0
        launch = entry.store.launch(quiet) if entry is not None and entry.store is not None else None
        assert pins["st_launch_o"] == (launch is not None), f"CHIP-QUIET: st_launch_o in cycle {now}"
        assert launch is None or pins["st_row_o"] == launch
        at_output = chance.getrandbits(64)
        if launch is not None and entry is not None and entry.store is not None:
            at_output = side_by_side(entry.store.rows[launch - entry.first], width=32)
        raised = walk.raised(model.outstanding < MOST_OUTSTANDING) if walk and accepted else None
        if reads and request is not None:
            free_from = max(now + 1 + next(gaps), free_from) + 1
            of_table = raised is not None and raised.table
            data = TABLE[request[1]] if of_table else request[1] * 0x9E3779B1 & 0xFFFFFFFF
            answers.append((free_from - 1, data, of_table))
        if entry is not None and entry.store is not None:
            entry.store.clocked(quiet, accepted)
        if walk is not None:
            walk.clocked(raised, answer if is_table else None)
        model.outstanding += int(reads) - int(due)
        model.word = 0 if steps else model.word + int(accepted)
        model.requested += int(steps)
        if head is not None:
            head.written += int(fills)
        row = [] if fills else row
        if pops:
            model.entries.popleft()
            model.requested -= 1
        if flush:
            model.entries.clear()
            model.flushed, model.requested, row = True, 0, []
        if flush or model.flushed:
            model.stale = None if accepted else request
        most = max(most, model.outstanding)
        now += 1
        await unit.clocking.next_cycle()
    pins.drive(cur_valid_i=0, rsp_valid_i=0, flush_i=0, head_load_i=0)
    await unit.clocking.settled()
    assert not pins["req_valid_o"] and not pins["st_launch_o"] and not pins["drain_o"]
    await unit.clocking.next_cycle()
    return most


def current_inputs(entry: Entry | None) -> dict[str, int]:
    """The pins of the current entry."""
    walk = entry.walk if entry else None
    return {
        "cur_valid_i": int(entry is not None),
        "cur_load_i": int(entry is not None and entry.is_load),
        "cur_gather_i": int(walk is not None),
        "cur_store_i": int(entry is not None and entry.store is not None),
        "cur_first_i": entry.first if entry else 0,
        "cur_count_i": entry.count if entry else 0,
        "cur_addr_i": entry.address if entry else 0,
        "cur_word_i": walk.first if walk else entry.token if entry else 0,
        "cur_kv_i": walk.half if walk else 0,
    }


def gather(row: int, count: int, first: int = 0, half: int = 0) -> Entry:
    """A GATHER of rows from a logical row on; there is no page for rows from BAD_ROW on."""
    return Entry(0, first, count, walk=WalkModel(WALKER, row, half, count))


def some_store(chance: random.Random, rows: int, first: int = 0) -> StoreModel:
    """A store of rows with random words."""
    return StoreModel(first, [[chance.getrandbits(32) for _ in range(ROW_WORDS)] for _ in range(rows)])


def some_entries(chance: random.Random, count: int) -> list[Entry]:
    """Loads, GATHERs, stores and STREGs, of one row and of more."""
    found = []
    for _ in range(count):
        address, rows = chance.randrange(2**20 - 64), chance.choice((1, 1, 2, 5))
        kind = chance.choice(("load", "gather", "store", "streg"))
        first = chance.randint(0, 1024 - rows)
        if kind == "streg":
            found.append(Entry(address, token=chance.getrandbits(32)))
        elif kind == "gather":
            found.append(gather(chance.randrange(24), rows, first, chance.getrandbits(1)))
        else:
            found.append(
                Entry(address, first, rows, store=some_store(chance, rows, first) if kind == "store" else None)
            )
    return found


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in PATTERNS])
async def every_cycle_is_as_the_definition_says_on(top: HierarchyObject, traffic: Traffic) -> None:
    """Sixteen descriptors, one behind the other, on that memory."""
    unit, chance = await unit_after_reset(top, "ks_dma"), random.Random(91)
    await followed(unit, [Entry(64, 0, 12), gather(3, 6), *some_entries(chance, 14)], traffic)


@cocotb.test()
async def sixteen_reads_may_be_outstanding(top: HierarchyObject) -> None:
    """No more, on a memory that answers late, and no fewer."""
    unit = await unit_after_reset(top, "ks_dma")
    assert await followed(unit, [Entry(0, 0, 9)], Traffic("late", gaps=(40,))) == MOST_OUTSTANDING


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in FEW])
async def a_flush_keeps_what_is_raised_and_drops_the_answers_on(top: HierarchyObject, traffic: Traffic) -> None:
    """CHIP-RESET: a flush in any cycle of a load, a store, a STREG and a GATHER; what follows begins as after a reset."""
    unit, chance = await unit_after_reset(top, "ks_dma"), random.Random(92)
    for flush_at in (*range(8), 13, 20, 29, 41):
        for first in (Entry(64, 0, 12), gather(3, 9), Entry(8, 0, 4, store=some_store(chance, 4)), Entry(5, token=77)):
            await followed(unit, [first, gather(7, 2), Entry(99, token=8)], traffic, flush_at)
    await followed(unit, some_entries(chance, 4), traffic)


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in FEW])
async def an_error_of_the_walk_waits_for_all_answers_on(top: HierarchyObject, traffic: Traffic) -> None:
    """CHIP-ERROR: with the last answer in, and not before; the load before it is whole, nothing behind it is raised."""
    unit, chance = await unit_after_reset(top, "ks_dma"), random.Random(93)
    for row, count in ((BAD_ROW, 2), (BAD_ROW - 1, 5), (BAD_ROW - 5, 12)):
        await followed(unit, [Entry(64, 0, 3), gather(row, count), Entry(99, token=8)], traffic)
    await followed(unit, some_entries(chance, 4), traffic)
