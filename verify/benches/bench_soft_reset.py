"""Soft reset and TIMEOUT on the whole chip: what is raised stays, answers are dropped, the next run is like a first one."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import (
    CODE_SHIFT,
    DONE,
    ERROR,
    RESET,
    START,
    WATCHDOG_CYCLES,
    Av,
    Dot,
    DotL,
    ErrorCode,
    Gather,
    Halt,
    Instruction,
    Load,
    Register,
    Score,
    SetQ,
    Store,
    StReg,
)
from verify.benches.chip_under_test import LANES, ROW_WORDS, ChipUnderTest, chip_after_reset
from verify.benches.host_port import COUNTERS, Ended
from verify.benches.patterns import FEW, Traffic, scattered, steady
from verify.benches.walk_model import VALID, Walker

OUT = 0x1000
OUT_WORDS = 256
WALKER = Walker(btbase=0x800, btmask=3, pool=0x400, logp=1, npages=4)
NEVER = Traffic("never", ready=(0,))
CLEARED = (Register.STATUS, Register.ERRPC, Register.TOK, *COUNTERS, *(Register.R0 + number for number in range(8)))
TRAFFICS = (*(each for each in FEW if each.name in ("always", "latency_23", "prime_beats")), scattered(5))

EVERYTHING: tuple[Instruction, ...] = (
    Load(row=0, count=LANES + 4, address=0),
    Gather(row=100, count=5, half=1, address_register=1),
    SetQ(entry=0, m=40000, shift=22),
    Dot(a=0, row=1, count=LANES, dst=200, entry=0),
    Store(row=0, count=2, address=OUT),
    Score(a=0, row=100, count=5, entry=0),
    Av(row=100, count=5, dst=201),
    DotL(a=0, row=1, count=4, dst=202, argmax=True),
    Store(row=200, count=3, address=OUT + 32),
    StReg(address=OUT + 64),
    Halt(),
)
AFTER_EVERYTHING = 320
"""Cycles within which it ends on most of TRAFFICS; the cycles of the resets are spread over them."""


async def filled_chip(top: HierarchyObject, traffic: Traffic) -> ChipUnderTest:
    """A chip with rows, a pool and a block table in memory."""
    chip, chance = await chip_after_reset(top, traffic), random.Random(19)
    chip.memory.fill(0, [chance.getrandbits(32) for _ in range(0x500)])
    chip.memory.fill(WALKER.btbase, [VALID | page for page in (2, 0, 3, 1)])
    for name, value in WALKER._asdict().items():
        await chip.host.write(Register[name.upper()], value)
    return chip


async def ran(chip: ChipUnderTest, traffic: Traffic) -> tuple[Ended, list[int]]:
    """The whole program on that memory, from a known state of it; what it left."""
    chip.memory.fill(OUT, [0] * OUT_WORDS)
    chip.memory.behave(traffic)
    await chip.host.write(Register.R1, 5)
    ended = await chip.host.run(EVERYTHING)
    return ended, chip.memory.words[OUT : OUT + OUT_WORDS]


@cocotb.test()
@cocotb.parametrize(traffic=[cocotb.Param(traffic, traffic.name) for traffic in TRAFFICS])
async def the_run_after_a_soft_reset_is_a_first_run_on(top: HierarchyObject, traffic: Traffic) -> None:
    """CHIP-RESET: in any cycle of a program that uses all there is; registers are 0 at once, what is kept is kept."""
    chip = await filled_chip(top, traffic)
    first = await ran(chip, traffic)
    assert first[0].status == DONE and first[0].total, first
    for cycle in (1, 3, 9, 40, 91, 109, 125, 141, 163, 230, AFTER_EVERYTHING):
        await chip.host.write(Register.R1, 5)
        await chip.host.start()
        await chip.clocking.next_cycle(cycle - 1)
        await chip.host.soft_reset(chip.clocking.cycle & START | RESET)
        cleared = [await chip.host.read(address) for address in CLEARED]
        assert cleared == [0] * len(CLEARED), f"CHIP-RESET: in busy cycle {cycle}: {cleared}"
        assert await chip.host.read(Register.POOL) == WALKER.pool, "CHIP-RESET keeps the walker's registers"
        # A host leaves the chip alone until it has drained.
        await chip.clocking.next_cycle(64)
        assert chip.memory_port.outstanding == 0
        again = await ran(chip, traffic)
        assert again == first, f"CHIP-RESET: after a reset in busy cycle {cycle}: {again[0]}, not {first[0]}"


@cocotb.test()
async def a_raised_request_stays_until_it_is_accepted(top: HierarchyObject) -> None:
    """CHIP-RESET: the read, the write and the table's read that a reset meets stay, unchanged, and are then all that comes."""
    for program, waits in (
        ((Load(row=0, count=2, address=77), Halt()), (False, 77, 0)),
        ((StReg(address=OUT), Halt()), (True, OUT, 0)),
        ((Store(row=7, count=3, address=OUT + 8), Halt()), (True, OUT + 8, 0x07070707)),
        ((Gather(row=0, count=2, half=0), Halt()), (False, WALKER.btbase, 0)),
    ):
        chip = await filled_chip(top, steady(1))
        chip.memory.fill(77, [0x07070707] * ROW_WORDS)
        await chip.host.run((Load(row=7, count=1, address=77), Halt()))
        before = len(chip.memory_port.accepted)
        chip.memory.behave(NEVER)
        await chip.host.load(program)
        await chip.host.start()
        await chip.clocking.next_cycle(20)
        await chip.host.soft_reset()
        for _ in range(30):
            await chip.clocking.settled()
            seen = tuple(chip.pins[f"mem_req_{name}"] for name in ("we", "addr", "wdata"))
            assert chip.pins["mem_req_valid"] and seen == waits, f"CHIP-RESET: {waits} stays raised, not {seen}"
            await chip.clocking.next_cycle()
        chip.memory.behave(steady(3))
        await chip.clocking.next_cycle(40)
        accepted = [tuple(request) for request in chip.memory_port.accepted[before:]]
        assert accepted == [waits], f"CHIP-RESET: {accepted} were accepted"
        assert chip.memory_port.outstanding == 0
        ended = await chip.host.run((Store(row=7, count=1, address=OUT + 16), Halt()))
        assert ended.status == DONE
        assert chip.memory.words[OUT + 16 : OUT + 20] == [0x07070707] * ROW_WORDS, "CHIP-RESET keeps the scratchpad"


@cocotb.test()
async def a_start_while_it_drains_waits_for_the_answers(top: HierarchyObject) -> None:
    """CHIP-RESET: RW reads of a LOAD go in 3 .. 2 + RW; the reset is in 8, the start in 9; its HALT waits for the last answer."""
    latency = 41
    chip = await filled_chip(top, steady(latency))
    await chip.host.load((Load(row=0, count=1, address=0), Halt()))
    await chip.host.start()
    await chip.clocking.next_cycle(7)
    await chip.host.soft_reset()
    await chip.host.start()
    ended = await chip.host.ended()
    # The LOAD is the head now, too: it issues when nothing is outstanding any more, in the cycle behind the last answer.
    issue = 2 + ROW_WORDS + latency + 1 - 9
    total = issue + ROW_WORDS + latency + 1
    assert (ended.status, ended.total, ended.read_words) == (DONE, total, ROW_WORDS), (
        f"CHIP-RESET: {ended}, not {total}"
    )
    # The head is valid from the second busy cycle on; the LOAD issues once, the HALT ends once, else it is held.
    assert ended.stall == total - 3, f"CHIP-RESET: the head is held: {ended}"


@cocotb.test()
async def a_request_of_the_run_before_counts_in_the_run_that_it_meets(top: HierarchyObject) -> None:
    """CHIP-RESET: it is accepted in a busy cycle, so RDW has it; its answer fills no row."""
    chip = await filled_chip(top, NEVER)
    await chip.host.load((Load(row=0, count=1, address=0), Halt()))
    await chip.host.start()
    await chip.clocking.next_cycle(9)
    await chip.host.soft_reset()
    await chip.host.load((StReg(address=OUT), Halt()))
    await chip.host.start()
    await chip.clocking.next_cycle(9)
    chip.memory.behave(steady(4))
    ended = await chip.host.ended()
    assert (ended.status, ended.read_words, ended.written_words) == (DONE, 1, 1), f"CHIP-RESET: {ended}"


@cocotb.test()
async def a_score_before_a_soft_reset_is_forgotten(top: HierarchyObject) -> None:
    """CHIP-RESET: AV is DIV0 then, and not before."""
    chip = await filled_chip(top, steady(1))
    await chip.host.run((Load(row=0, count=4, address=0), Score(a=0, row=1, count=3, entry=0), Halt()))
    assert (await chip.host.run((Av(row=1, count=3, dst=9), Halt()))).status == DONE
    await chip.host.soft_reset()
    ended = await chip.host.run((Av(row=1, count=3, dst=9), Halt()))
    assert ended.status == DONE | ERROR | ErrorCode.DIV0 << CODE_SHIFT, f"CHIP-RESET: {ended}"


@cocotb.test()
async def a_memory_that_stops_is_a_timeout(top: HierarchyObject) -> None:
    """CHIP-WATCH: never ready, the LOAD's issue in 2 was the last progress; without an answer, the table's read in 3 was.

    The run ends 4,096 cycles later, ERRPC is the head's, and what was held back is dropped when it comes.
    """
    chip = await filled_chip(top, steady(1))
    first = await ran(chip, steady(2))
    table = Gather(row=0, count=2, half=0)
    for traffic, program, last in (
        (NEVER, (Load(row=0, count=2, address=0), Halt()), 2),
        (Traffic("mute", gaps=(WATCHDOG_CYCLES + 60,)), (table, StReg(address=OUT), Halt()), 3),
    ):
        chip.memory.behave(traffic)
        ended = await chip.host.run(program)
        assert ended.status == DONE | ERROR | ErrorCode.TIMEOUT << CODE_SHIFT, f"CHIP-WATCH: STATUS {ended.status:#x}"
        assert ended.total == last + WATCHDOG_CYCLES, f"CHIP-WATCH: {ended.total} cycles"
        # The head is what waits: HALT, and STREG's is the second descriptor, so HALT behind it.
        assert ended.error_pc == len(program) - 1, f"CHIP-WATCH: ERRPC is the head's, not {ended.error_pc}"
        chip.memory.behave(steady(2))
        await chip.clocking.next_cycle(100)
        assert chip.memory_port.outstanding == 0
        again = await ran(chip, steady(2))
        assert again == first, f"CHIP-WATCH, CHIP-RESET: the run behind a timeout: {again[0]}, not {first[0]}"
