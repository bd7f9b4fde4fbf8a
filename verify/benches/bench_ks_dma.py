"""ks_dma: in every cycle the request, the loaded row and the leave that docs/chip.md section 6 tells (CHIP-QUIET)."""

import random
from collections import deque
from dataclasses import dataclass
from itertools import cycle

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import MOST_OUTSTANDING
from verify.benches.chip_under_test import ROW_WORDS
from verify.benches.op_rows import side_by_side
from verify.benches.patterns import PATTERNS, Traffic
from verify.benches.store_model import StoreModel
from verify.benches.unit import Unit, unit_after_reset


@dataclass(slots=True)
class Entry:
    """A descriptor: a load of `count` rows, a STREG of `token`, or a store that has its words with it."""

    address: int
    first: int = 0
    count: int = 0
    token: int = 0
    store: StoreModel | None = None
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
    filled: int = 0

    @property
    def current(self) -> Entry | None:
        """The oldest entry whose requests are not all accepted."""
        return self.entries[self.requested] if self.requested < len(self.entries) else None

    def request(self) -> tuple[bool, int, int] | None:
        """Write or read, address and data of the request that is raised in this cycle."""
        entry = self.current
        if entry is None:
            return None
        if entry.is_load:
            return (False, entry.address + self.word, 0) if self.outstanding < MOST_OUTSTANDING else None
        if entry.store is None:
            return (True, entry.address, entry.token) if self.outstanding == 0 else None
        data = entry.store.data()
        return None if data is None else (True, entry.address + self.word, data)

    def is_last(self) -> bool:
        """Whether the current entry's request is its last."""
        entry = self.current
        return entry is not None and self.word == max(1, entry.count * ROW_WORDS) - 1


async def followed(unit: Unit, entries: list[Entry], traffic: Traffic) -> int:
    """Work through the entries, all queued from the start, and compare every cycle; the most reads outstanding."""
    pins, model = unit.pins, DmaModel(deque(entries))
    ready, gaps, chance = cycle(traffic.ready), cycle(traffic.gaps), random.Random(5)
    answers: deque[tuple[int, int]] = deque()
    free_from, now, most, at_output, row = 0, 0, 0, 0, list[int]()
    while model.entries:
        entry, head, is_ready = model.current, model.entries[0], bool(next(ready))
        due = bool(answers) and answers[0][0] <= now
        answer = answers.popleft()[1] if due else 0xBAD0BAD0
        pins.drive(
            req_ready_i=int(is_ready),
            rsp_valid_i=int(due),
            rsp_data_i=answer,
            cur_valid_i=int(entry is not None),
            cur_load_i=int(entry is not None and entry.is_load),
            cur_store_i=int(entry is not None and entry.store is not None),
            cur_first_i=entry.first if entry else 0,
            cur_count_i=entry.count if entry else 0,
            cur_addr_i=entry.address if entry else 0,
            cur_tok_i=entry.token if entry else 0,
            head_load_i=int(head.is_load),
            head_last_i=int(head.is_load and head.written == head.count - 1),
            rdata_i=at_output,
        )
        await unit.clocking.settled()
        request = model.request()
        seen = (bool(pins["req_we_o"]), pins["req_addr_o"], pins["req_wdata_o"]) if pins["req_valid_o"] else None
        assert seen == request, f"CHIP-QUIET, CHIP-CYCLE: cycle {now} raises {seen}, not {request}"
        accepted = request is not None and is_ready
        steps = accepted and model.is_last()
        assert pins["next_o"] == steps, f"next_o in cycle {now}"
        assert pins["read_o"] == (accepted and request is not None and not request[0])
        assert pins["write_o"] == (accepted and request is not None and request[0])
        if due:
            row.append(answer)
        fills = len(row) == ROW_WORDS
        assert pins["row_we_o"] == fills, f"row_we_o in cycle {now}"
        if fills:
            assert pins["row_data_o"] == side_by_side(row, width=32), f"loaded row in cycle {now}"
        pops = (fills and head.written == head.count - 1) or (steps and entry is not None and not entry.is_load)
        assert pins["pop_o"] == pops, f"pop_o in cycle {now}"
        quiet = model.outstanding == 0
        launch = entry.store.launch(quiet) if entry is not None and entry.store is not None else None
        assert pins["st_launch_o"] == (launch is not None), f"CHIP-QUIET: st_launch_o in cycle {now}"
        assert launch is None or pins["st_row_o"] == launch
        at_output = chance.getrandbits(64)
        if launch is not None and entry is not None and entry.store is not None:
            at_output = side_by_side(entry.store.rows[launch - entry.first], width=32)
        if accepted and request is not None and not request[0]:
            when = max(now + 1 + next(gaps), free_from)
            free_from = when + 1
            answers.append((when, request[1] * 0x9E3779B1 & 0xFFFFFFFF))
        if entry is not None and entry.store is not None:
            entry.store.clocked(quiet, accepted)
        model.outstanding += int(accepted and request is not None and not request[0]) - int(due)
        model.word = 0 if steps else model.word + int(accepted)
        model.requested += int(steps)
        head.written += int(fills)
        row = [] if fills else row
        if pops:
            model.entries.popleft()
            model.requested -= 1
        most = max(most, model.outstanding)
        now += 1
        await unit.clocking.next_cycle()
    pins.drive(cur_valid_i=0, rsp_valid_i=0)
    await unit.clocking.settled()
    assert not pins["req_valid_o"] and not pins["st_launch_o"]
    await unit.clocking.next_cycle()
    return most


def some_entries(chance: random.Random, count: int) -> list[Entry]:
    """Loads, stores and STREGs, of one row and of more."""
    found = []
    for _ in range(count):
        address, rows = chance.randrange(2**20 - 64), chance.choice((1, 1, 2, 5))
        kind = chance.choice(("load", "store", "streg"))
        words = [[chance.getrandbits(32) for _ in range(ROW_WORDS)] for _ in range(rows)]
        first = chance.randint(0, 1024 - rows)
        if kind == "streg":
            found.append(Entry(address, token=chance.getrandbits(32)))
        else:
            found.append(Entry(address, first, rows, store=StoreModel(first, words) if kind == "store" else None))
    return found


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in PATTERNS])
async def every_cycle_is_as_the_definition_says_on(top: HierarchyObject, traffic: Traffic) -> None:
    """Sixteen descriptors, one behind the other, on that memory."""
    unit, chance = await unit_after_reset(top, "ks_dma"), random.Random(91)
    await followed(unit, [Entry(64, 0, 12), *some_entries(chance, 15)], traffic)


@cocotb.test()
async def sixteen_reads_may_be_outstanding(top: HierarchyObject) -> None:
    """No more, on a memory that answers late, and no fewer."""
    unit = await unit_after_reset(top, "ks_dma")
    assert await followed(unit, [Entry(0, 0, 9)], Traffic("late", gaps=(40,))) == MOST_OUTSTANDING
