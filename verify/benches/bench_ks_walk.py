"""ks_walk: in every cycle the read, the end and the fault that docs/chip.md section 6 tells (CHIP-GATHER, CHIP-ERROR)."""

import random
from collections import Counter, deque
from itertools import cycle

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import EXT_WORDS, MOST_OUTSTANDING, ErrorCode
from verify.benches.chip_under_test import ROW_WORDS
from verify.benches.patterns import PATTERNS, Traffic, steady
from verify.benches.unit import Unit, unit_after_reset
from verify.benches.walk_model import VALID, Walker, WalkModel, reads_of

NOISE = 0x80000001
"""A row's word that would be a good table word: what takes it for one is seen."""


async def walked(unit: Unit, model: WalkModel, memory: list[int], traffic: Traffic, older: int = 0) -> Counter[str]:
    """Walk to the end or the fault, every cycle compared; how often each kind of page change was met.

    `older` reads of a load before the GATHER are outstanding; their answers come first.
    """
    pins, walker, met = unit.pins, model.walker, Counter[str]()
    ready, gaps = cycle(traffic.ready), cycle(traffic.gaps)
    answers: deque[tuple[int, int, bool]] = deque((3 + 2 * i, NOISE, False) for i in range(older))
    now, free_from, seen = 0, 3 + 2 * older, list[int]()
    wants_all = not any(walker.error(word, model.half, row) for word, row in pages(model, memory))
    pins.drive(gather_i=1, first_i=model.first & 0x7FFFFF, kv_i=model.half, count_i=model.count)
    pins.drive(btbase_i=walker.btbase, btmask_i=walker.btmask, pool_i=walker.pool)
    pins.drive(logp_i=walker.logp, npages_i=walker.npages)
    expected = reads_of(model, memory) if wants_all else []
    while not model.finished and not (model.fault and not answers):
        outstanding = len(answers)
        answer, is_table = None, False
        if answers and answers[0][0] <= now:
            _, answer, is_table = answers.popleft()
        room = outstanding < MOST_OUTSTANDING
        raised = model.raised(room)
        accepted = raised if next(ready) else None
        pins.drive(room_i=int(room), ahead_i=outstanding - int(answer is not None) & 15)
        pins.drive(accept_i=int(accepted is not None), rsp_valid_i=int(answer is not None))
        await unit.sees(rsp_data_i=NOISE if answer is None else answer)
        where = f"cycle {now} of {model}"
        assert pins["up_o"] == (raised is not None), f"CHIP-GATHER: up_o in {where}"
        if raised is not None:
            assert pins["addr_o"] == raised.address, f"CHIP-GATHER: reads {pins['addr_o']:#x}, not {raised} in {where}"
            assert pins["last_o"] == raised.last, f"CHIP-GATHER: last_o in {where}"
        assert pins["table_o"] == is_table, f"CHIP-GATHER: table_o in {where}"
        assert pins["fault_o"] == bool(model.fault), f"CHIP-ERROR: fault_o in {where}"
        assert not model.fault or pins["fault_code_o"] == model.fault, f"CHIP-ERROR: the code in {where}"
        if accepted is not None:
            seen.append(accepted.address)
            free_from = max(now + 1 + next(gaps), free_from) + 1
            data = memory[accepted.address] if accepted.table else NOISE
            answers.append((free_from - 1, data, accepted.table))
        met[model.clocked(accepted, answer if is_table else None)] += 1
        now += 1
        await unit.clocking.next_cycle()
    assert bool(model.fault) == (not wants_all), f"CHIP-ERROR: {model}"
    assert model.fault or seen == expected, "CHIP-GATHER: a page's entry a page ahead, once, and each word of its rows"
    idle = {"gather_i": 0, "accept_i": 0, "rsp_valid_i": 0}
    if model.fault:
        await unit.clocked(accept_i=0, rsp_valid_i=0)
        assert pins["fault_o"] and pins["fault_code_o"] == model.fault, f"CHIP-ERROR: the code of {model}"
        await unit.reset(**idle)
    else:
        await unit.clocked(**idle)
    met[model.fault.name] += 1
    return met


def pages(model: WalkModel, memory: list[int]) -> list[tuple[int, int]]:
    """The table word, or the mark beyond, and the logical row of every row of the walk."""
    rows = [model.first + k & 0xFFFFFFFF for k in range(model.count)]
    slots = [model.walker.slot_address(row) for row in rows]
    return [(memory[slot] if slot < EXT_WORDS else -1, row) for slot, row in zip(slots, rows, strict=True)]


def some_walk(chance: random.Random, memory: list[int], rate: float) -> WalkModel:
    """A GATHER over a table that is written into memory for it; each of its words is bad with probability `rate`."""
    logp = chance.choice((0, 0, 1, 1, 2, 2, 3, 5, 7))
    page_words = 2 * ROW_WORDS << logp
    pool = chance.randrange(2000)
    fit = (EXT_WORDS - pool) // page_words
    btmask = chance.choice((0, 1, 3, 15, 0xFF, 0xFFFF, 5, 0x18))
    count = chance.choice((1, 2, 3, 5, 8, 11)) + (chance.randint(0, 2) << logp if logp < 5 else 0)
    first = chance.choice((0, chance.getrandbits(32), 2**32 - 1 - chance.randrange(4 << logp)))
    top = max((first + k >> logp & btmask) for k in range(count))
    btbase = chance.randrange(EXT_WORDS - top) if top < EXT_WORDS else 0
    if chance.random() < rate:
        btbase = EXT_WORDS - min(top, EXT_WORDS - 1)
    walker = Walker(btbase, btmask, pool, logp, chance.choice((fit, fit, chance.randint(1, fit), fit + 3)))
    model = WalkModel(walker, first, chance.getrandbits(1), count)
    for k in range(count):
        slot = walker.slot_address(first + k & 0xFFFFFFFF)
        good = VALID | chance.randrange(min(fit, walker.npages))
        bad = chance.choice((good ^ VALID, good | 1 << chance.randrange(16, 31), VALID | walker.npages, VALID | 0xFFFF))
        if slot < EXT_WORDS:
            memory[slot] = bad if chance.random() < rate else good
    return model


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in PATTERNS])
async def every_cycle_is_as_the_definition_says_on(top: HierarchyObject, traffic: Traffic) -> None:
    """CHIP-GATHER: walks one after another, some behind a load that is still answered, a few of them with an error."""
    unit, chance, memory = await unit_after_reset(top, "ks_walk"), random.Random(61), [0] * EXT_WORDS
    met = Counter[str]()
    for number in range(14):
        model = some_walk(chance, memory, 0.15 if number % 3 == 2 else 0.0)
        met += await walked(unit, model, memory, traffic, older=chance.choice((0, 0, 1, 5, MOST_OUTSTANDING)))
    assert met["NONE"] > 5 and met[ErrorCode.PAGE.name], met


@cocotb.test()
async def a_page_changes_before_with_and_after_its_entry(top: HierarchyObject) -> None:
    """CHIP-GATHER: the latency is swept over the cycle in which a row ends and the next page's entry arrives."""
    unit, memory = await unit_after_reset(top, "ks_walk"), [0] * EXT_WORDS
    memory[100:108] = [VALID | page for page in (7, 2, 5, 0, 6, 1, 4, 3)]
    for logp in (0, 1):
        met = Counter[str]()
        page_reads = ROW_WORDS << logp
        for latency in range(1, page_reads + 3):
            model = WalkModel(Walker(100, 7, 1000, logp, 8), 3, latency & 1, 3 << logp)
            turns = await walked(unit, model, memory, steady(latency))
            # The entry is asked for in the cycle before the page's first word.
            wanted = "ahead" if latency < page_reads else "arrives" if latency == page_reads else "late"
            assert turns[wanted], f"CHIP-GATHER: latency {latency}: {turns}"
            met += turns
        assert met["ahead"] and met["arrives"] and met["late"], met


@cocotb.test()
async def every_bit_of_an_entry_is_looked_at(top: HierarchyObject) -> None:
    """CHIP-ERROR: PAGE for each of bits 31 .. 16 alone and for a page not below NPAGES, EXT_RANGE for a word that is beyond."""
    unit, memory = await unit_after_reset(top, "ks_walk"), [0] * EXT_WORDS
    good = VALID | 3
    fits = (EXT_WORDS - 64) // (2 * ROW_WORDS)
    cases = [(good ^ 1 << bit, 4, ErrorCode.PAGE) for bit in range(16, 32)]
    cases += [(good, 4, ErrorCode.NONE), (good, 3, ErrorCode.PAGE), (good, 0, ErrorCode.PAGE)]
    cases += [(VALID | fits - 1, 65536, ErrorCode.NONE), (VALID | fits, 65536, ErrorCode.EXT_RANGE)]
    # PAGE is looked for before a word of the row, NPAGES has 17 bits.
    cases += [(VALID | 0xFFFF, 65536, ErrorCode.EXT_RANGE), (VALID | 0xFFFF, 65535, ErrorCode.PAGE)]
    for word, npages, code in cases:
        for k in (0, 2) if npages else (0,):
            memory[500:503] = [VALID] * 3
            memory[500 + k] = word
            met = await walked(unit, WalkModel(Walker(500, 3, 64, 0, npages), 0, 1, k + 1), memory, steady(2))
            assert met[code.name], f"CHIP-ERROR: entry {word:#x}, NPAGES {npages}: {met}, not {code.name}"


@cocotb.test()
async def a_slot_beyond_the_memory_is_not_read(top: HierarchyObject) -> None:
    """CHIP-ERROR: nothing is raised for it, and EXT_RANGE comes at its own row, after all rows of the page before."""
    unit, memory = await unit_after_reset(top, "ks_walk"), [0] * EXT_WORDS
    memory[EXT_WORDS - 1] = VALID | 1
    for traffic in PATTERNS[:4]:
        for btbase, rows_before in ((EXT_WORDS, 0), (EXT_WORDS - 1, 4), (2**20 - 1, 0)):
            model = WalkModel(Walker(btbase, 0xFFFF, 0, 2, 9), 0, 0, 7)
            met = await walked(unit, model, memory, traffic)
            assert met["EXT_RANGE"] and model.k == rows_before, f"CHIP-ERROR: {btbase:#x}: row {model.k}"
