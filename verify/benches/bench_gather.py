"""GATHER on the whole chip: its cycles by hand, its rows, its holds and its errors (CHIP-GATHER, CHIP-ERROR).

Cycles are counted as in bench_cycles: the GATHER is the current entry from cycle 3 on and reads its first table word in it,
which arrives in 3 + k; the entry is used from 4 + k on. A page's next entry is asked for in the first cycle that has its own.
"""

import random

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import CODE_SHIFT, DONE, ERROR, Dot, ErrorCode, Gather, Halt, Instruction, Register, SetQ, Store, StReg
from verify.benches.chip_under_test import ROW_WORDS, ChipUnderTest, chip_after_reset
from verify.benches.patterns import FEW, Traffic, scattered, steady
from verify.benches.walk_model import VALID, Walker

POOL_WORDS, OUT = 4096, 0x1800
BTBASE = 0x1000
TRAFFICS = (*FEW, scattered(77))


def gather(count: int, row: int = 0, half: int = 0, register: int = 0) -> Gather:
    """Logical rows from R[register] on into rows from `row` on."""
    return Gather(row=row, count=count, half=half, address_register=register)


async def walking_chip(top: HierarchyObject, walker: Walker, traffic: Traffic, pages: list[int]) -> ChipUnderTest:
    """A chip with a pool of random rows, and a block table that names these pages."""
    chip = await chip_after_reset(top, traffic)
    chance = random.Random(41)
    chip.memory.fill(0, [chance.getrandbits(32) for _ in range(POOL_WORDS)])
    chip.memory.fill(BTBASE, [VALID | page for page in pages])
    await set_walker(chip, walker)
    return chip


async def set_walker(chip: ChipUnderTest, walker: Walker) -> None:
    """Write the walker's registers."""
    for name, value in walker._asdict().items():
        await chip.host.write(Register[name.upper()], value)


@cocotb.test()
async def a_gather_takes_its_words_and_what_its_table_lets_it_wait(top: HierarchyObject) -> None:
    """CHIP-GATHER: TOTAL of [GATHER, HALT] is the cycle behind the last answer.

    P 4, k 1: table 3, its answer 4, 16 words 5 .. 20, answer 21. P 1, k 1: table 3, next 5, words 6 .. 9, next 10, words
    11 .. 14, words 15 .. 18. k 4: next 8, words 9 .. 12, and its answer in 12, with the last of them: 13. k 5: the answer in 14
    is one cycle late, so next in 15. k 16: words 21 .. 24, entry in 36, next 37, words 38 .. 41, entry in 53, words 54 .. 57.
    P 2, k 4: next 8, words 9 .. 16, words 17 .. 20. P 16, k 16: words 20 .. 35, then 16 are outstanding until 36: 37 .. 40.
    """
    for page_rows, latency, count, total, read_words in (
        (4, 1, 4, 22, 17),
        (1, 1, 3, 20, 15),
        (1, 4, 3, 26, 15),
        (1, 5, 3, 30, 15),
        (1, 16, 3, 74, 15),
        (2, 4, 3, 25, 14),
        (16, 16, 5, 57, 21),
    ):
        walker = Walker(BTBASE, 7, 0, page_rows.bit_length() - 1, 8)
        chip = await walking_chip(top, walker, steady(latency), [3, 1, 2, 0])
        ended = await chip.host.run((gather(count), Halt()))
        where = f"CHIP-GATHER, CHIP-CYCLE: P {page_rows}, latency {latency}, {count} rows"
        assert (ended.status, ended.total, ended.read_words) == (DONE, total, read_words), f"{where}: {ended}"
        assert (ended.dma, ended.stall) == (total - 3, total - 3), f"{where}: {ended}"
    ended = await chip.host.run((Gather(row=1023, count=0, half=1, address_register=7), Halt()))
    assert (ended.status, ended.total, ended.read_words) == (DONE, 3, 0), (
        "a GATHER of no rows issues at once, into nothing"
    )


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in TRAFFICS])
async def rows_come_from_the_pages_that_the_ring_names_on(top: HierarchyObject, traffic: Traffic) -> None:
    """CHIP-GATHER: both halves, pages of 1 .. 128 rows, from the middle of a page on, over the end of the ring and of 2^32."""
    chip = await walking_chip(top, Walker(BTBASE, 3, 0, 0, 0), traffic, [])
    for logp, count, first in ((0, 5, 2), (1, 7, 2**32 - 3), (2, 9, 2**20 + 5), (7, 6, 126)):
        pages = [3, 1, 0, 2] if logp < 7 else [1, 0, 1, 0]
        walker = Walker(BTBASE, 3, 16 * logp, logp, 4)
        chip.memory.fill(BTBASE, [VALID | page for page in pages])
        await set_walker(chip, walker)
        await chip.host.write(Register.R5, first)
        moves = (gather(count, 700, 0, 5), gather(count, 900, 1, 5))
        stores = (
            Store(row=700, count=count, address=OUT),
            Store(row=900, count=count, address=OUT + count * ROW_WORDS),
        )
        ended = await chip.host.run((*moves, *stores, Halt()))
        assert ended.status == DONE, f"STATUS is {ended.status:#x}"
        wanted: list[int] = []
        for half in (0, 1):
            for row in (first + k & 0xFFFFFFFF for k in range(count)):
                address = walker.row_address(chip.memory.words[walker.slot_address(row)], half, row)
                wanted += chip.memory.words[address : address + ROW_WORDS]
        assert chip.memory.words[OUT : OUT + len(wanted)] == wanted, f"CHIP-GATHER: LOGP {logp}, rows from {first}"


@cocotb.test()
@cocotb.parametrize(latency=[1, 3, 12])
async def an_op_follows_a_gather_row_by_row_and_holds_the_next(top: HierarchyObject, latency: int) -> None:
    """CHIP-CHASE, CHIP-LOAD: a GATHER is a load: row j is written in 4 + k + RW*j + RW - 1 + k, one onto an op's rows waits."""
    chip = await walking_chip(top, Walker(BTBASE, 7, 0, 4, 8), steady(latency), [3, 1])
    n = 10
    written = 4 + latency + ROW_WORDS * n + ROW_WORDS - 1 + latency
    op = Dot(a=0, row=1, count=n, dst=600, entry=0)
    ended = await chip.host.run((gather(n + 1), op, Halt()))
    assert ended.total == written + 1 + 4 + 1, f"CHIP-CHASE: {ended.total} cycles"
    for row, held in ((0, True), (n, True), (600, True), (n + 1, False), (599, False)):
        ended = await chip.host.run((op, gather(1, row), Halt()))
        # Issued in 3, or when the op is over, in 8 + n: then one more than a LOAD of a row, and the latency twice.
        issue = 8 + n if held else 3
        total = max(8 + n, issue + 2 + ROW_WORDS + 2 * latency)
        late = ended.total - total
        assert late in ((0,) if held else (0, 1)), f"CHIP-LOAD: row {row}: {ended.total} cycles, not {total}"


@cocotb.test()
@cocotb.parametrize(latency=[1, 4])
async def an_error_of_the_walk_ends_the_run(top: HierarchyObject, latency: int) -> None:
    """CHIP-ERROR: code, ERRPC and cycle by hand; all before it is written, nothing behind it; the next run is whole.

    STREG goes in 3, and the GATHER, issued in 3, has the port from 4 on, a cycle later than above. Its entry is there in 5 + k,
    the next one is asked for first and answered in 5 + 2k, so the check is in 6 + k. The fault is there in the cycle after the
    check, and ends the run once no answer is outstanding.
    """
    good, bad, k = Walker(BTBASE, 7, 0, 0, 8), (7 + latency, 6 + 2 * latency), latency
    for slots, walker, code, total in (
        ([0], good, ErrorCode.PAGE, max(bad)),
        ([VALID | 1 << 30], good, ErrorCode.PAGE, max(bad)),
        ([VALID | 8], good, ErrorCode.PAGE, max(bad)),
        ([VALID | 0xFFF], good._replace(npages=2**16), ErrorCode.EXT_RANGE, max(bad)),
        # The marks arrive in 4 and 5, the check is in 6.
        ([], good._replace(btbase=2**20 - 8), ErrorCode.EXT_RANGE, 7),
        # Words of row 0 in 6 + k .. 9 + k, the third entry asked for in 10 + k, the second one checked in 11 + k.
        ([VALID | 5, 0], good, ErrorCode.PAGE, max(12 + k, 11 + 2 * k)),
    ):
        chip = await walking_chip(top, walker, steady(latency), [])
        chip.memory.fill(BTBASE, slots)
        program: tuple[Instruction, ...] = (StReg(address=OUT), gather(3), StReg(address=OUT + 1), Halt())
        chip.memory.fill(OUT, [7, 7])
        ended = await chip.host.run(program)
        where = f"CHIP-ERROR: {[hex(slot) for slot in slots]}"
        assert ended.status == DONE | ERROR | code << CODE_SHIFT, f"{where}: STATUS is {ended.status:#x}"
        assert ended.error_pc == 1, f"{where}: ERRPC is that of the GATHER, not {ended.error_pc}"
        assert chip.memory.words[OUT : OUT + 2] == [0, 7], (
            f"{where}: older instructions finish, younger ones do nothing"
        )
        assert ended.total == total, f"{where}: {ended.total} cycles, not {total}"
        chip.memory.fill(BTBASE, [VALID | 3])
        await set_walker(chip, good)
        ended = await chip.host.run((SetQ(entry=0, m=2**15, shift=1), gather(1, 9), Store(9, 1, OUT), Halt()))
        assert ended.status == DONE and ended.read_words == ROW_WORDS + 1, f"{where}: the next run: {ended}"
        assert chip.memory.words[OUT : OUT + ROW_WORDS] == chip.memory.words[3 * 2 * ROW_WORDS :][:ROW_WORDS]
