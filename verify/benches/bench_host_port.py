"""Host port of the whole chip: what can be written and when, what a start clears, what reset leaves."""

import random

import cocotb
from cocotb.handle import HierarchyObject

from spec.isa import (
    BUSY,
    CODE_SHIFT,
    DONE,
    ERROR,
    IMEM_BASE,
    IMEM_INSTRUCTIONS,
    RESET,
    START,
    WALKER_BITS,
    ErrorCode,
    Halt,
    Load,
    Register,
    Store,
    StReg,
    encode,
)
from verify.benches.chip_under_test import ROW_WORDS, ChipUnderTest, chip_after_reset
from verify.benches.host_port import COUNTERS
from verify.benches.patterns import Traffic, steady

R = [Register.R0 + number for number in range(8)]
IMEM = range(IMEM_BASE, IMEM_BASE + 2 * IMEM_INSTRUCTIONS)
READ_ONLY = (Register.STATUS, Register.ERRPC, Register.TOK, *COUNTERS)
NOWHERE = (0x004, 0x007, 0x017, 0x01C, 0x01E, 0x01F, 0x020, 0x0FF, 0x100, 0x200, 0x3FF, 0x600, 0x601, 0x7FF)
"""Addresses at the edges of what is mapped; they read 0 and take no writes."""

LONG = (Load(row=0, count=60, address=0), Store(row=0, count=60, address=4096), Halt())


async def idle_chip(top: HierarchyObject) -> ChipUnderTest:
    """A chip after reset, with a memory that answers in the next cycle."""
    return await chip_after_reset(top, steady(1))


@cocotb.test()
async def after_reset_every_register_reads_zero(top: HierarchyObject) -> None:
    """Not busy; STATUS, ERRPC, TOK, R0 .. R7, the walker's registers and counters 0."""
    chip = await idle_chip(top)
    for address in (Register.CTRL, *READ_ONLY, *R, *WALKER_BITS, *NOWHERE):
        assert await chip.host.read(address) == 0, f"{address:#05x} is not 0 after reset"


@cocotb.test()
async def registers_take_writes_and_r0_stays_zero(top: HierarchyObject) -> None:
    """R1 .. R7 hold 32 bits each, independently of one another; R0 is always 0."""
    chip = await idle_chip(top)
    for pattern in (0xFFFFFFFF, 0x80000001, 0x55555555, 0xAAAAAAAA, 0):
        values = [pattern ^ (number * 0x11111111) & 0xFFFFFFFF for number in range(8)]
        for address, value in zip(R, values, strict=True):
            await chip.host.write(address, value)
        assert [await chip.host.read(address) for address in R] == [0, *values[1:]]


@cocotb.test()
async def imem_holds_every_word(top: HierarchyObject) -> None:
    """All 512 words, low word of an instruction first, written in a shuffled order and read in another."""
    chip, chance = await idle_chip(top), random.Random(3)
    words = {address: chance.getrandbits(32) for address in chance.sample(IMEM, len(IMEM))}
    for address, word in words.items():
        await chip.host.write(address, word)
    for address in chance.sample(IMEM, len(IMEM)):
        assert await chip.host.read(address) == words[address], f"IMEM word {address:#05x}"


@cocotb.test()
async def a_register_is_read_in_the_cycle_of_its_address(top: HierarchyObject) -> None:
    """h_rdata is combinational: another address in every cycle gives another register in every cycle."""
    chip = await idle_chip(top)
    for address in R:
        await chip.host.write(address, address * 3)
    for address in (*R, *reversed(R)):
        chip.pins.drive(h_addr=address)
        await chip.clocking.settled()
        assert chip.pins["h_rdata"] == (0 if address == Register.R0 else address * 3)
        await chip.clocking.next_cycle()


@cocotb.test()
async def what_is_read_only_takes_no_write(top: HierarchyObject) -> None:
    """STATUS, ERRPC, TOK and counters keep their values, of a run that ended, whatever is written to them."""
    chip = await idle_chip(top)
    await chip.host.run(LONG)
    before = [await chip.host.read(address) for address in READ_ONLY]
    assert before[0] == DONE and any(before[3:])
    for address in (*READ_ONLY, *NOWHERE):
        await chip.host.write(address, 0xFFFFFFFF)
    assert [await chip.host.read(address) for address in READ_ONLY] == before
    assert [await chip.host.read(address) for address in NOWHERE] == [0] * len(NOWHERE)


@cocotb.test()
async def writes_while_busy_change_nothing(top: HierarchyObject) -> None:
    """R, IMEM and CTRL ignore writes from the first busy cycle to the last, also a start."""
    chip = await idle_chip(top)
    await chip.host.write(Register.R3, 0x1234)
    await chip.host.load(LONG)
    await chip.host.start()
    for _ in range(40):
        await chip.host.write(Register.R3, 0xBAD)
        await chip.host.write(IMEM_BASE + 4, encode(Load(row=0, count=1, address=9))[0])
        await chip.host.write(IMEM_BASE + 2 * IMEM_INSTRUCTIONS - 1, 0xBAD)
        await chip.host.write(Register.CTRL, START)
    ended = await chip.host.ended()
    assert ended.status == DONE
    assert (ended.read_words, ended.written_words) == (60 * ROW_WORDS, 60 * ROW_WORDS)
    assert await chip.host.read(Register.R3) == 0x1234
    assert await chip.host.read(IMEM_BASE + 4) == encode(Halt())[0]
    assert await chip.host.read(IMEM_BASE + 2 * IMEM_INSTRUCTIONS - 1) != 0xBAD
    assert (await chip.host.run(LONG)).total == ended.total


@cocotb.test()
async def a_write_counts_from_the_first_cycle_that_is_not_busy(top: HierarchyObject) -> None:
    """[HALT] is busy in two cycles: writes in these are ignored, one in the third is not."""
    chip = await idle_chip(top)
    await chip.host.load((Halt(),))
    for late, expected in ((0, 0), (1, 0), (2, 77)):
        await chip.host.write(Register.R5, 0)
        await chip.host.start()
        await chip.clocking.next_cycle(late)
        await chip.host.write(Register.R5, 77)
        await chip.clocking.next_cycle(3)
        assert await chip.host.read(Register.R5) == expected, f"written in busy cycle {late + 1}"


@cocotb.test()
async def bit_0_of_ctrl_starts_and_bit_1_resets(top: HierarchyObject) -> None:
    """CHIP-RESET: CTRL reads 0; bit 1 is a soft reset, whatever bit 0 is; bits above do nothing, bit 0 starts beside them."""
    chip = await idle_chip(top)
    await chip.host.load((Halt(),))
    for value in (0xFFFFFFFC, RESET, RESET | START, 0xFFFFFFFF, 0xFFFFFFFE):
        await chip.host.write(Register.CTRL, value)
        await chip.clocking.next_cycle(4)
        assert await chip.host.read(Register.STATUS) == 0, f"CHIP-RESET: CTRL := {value:#x} starts"
    await chip.host.write(Register.CTRL, 0xFFFFFFFD)
    assert await chip.host.read(Register.STATUS) == BUSY
    assert await chip.host.read(Register.CTRL) == 0
    assert (await chip.host.ended()).status == DONE


@cocotb.test()
async def the_walkers_registers_have_their_widths(top: HierarchyObject) -> None:
    """CHIP-GATHER: a write keeps as many low bits as a register has, and only while not busy; a soft reset keeps them."""
    chip, chance = await idle_chip(top), random.Random(4)
    for pattern in (0xFFFFFFFF, 0xAAAAAAAA, 0x55555555, 0):
        values = {register: pattern ^ chance.getrandbits(32) if pattern % 5 else pattern for register in WALKER_BITS}
        for register, value in values.items():
            await chip.host.write(register, value)
        wanted = [value & (1 << WALKER_BITS[register]) - 1 for register, value in values.items()]
        assert [await chip.host.read(register) for register in WALKER_BITS] == wanted
        await chip.host.load(LONG)
        await chip.host.start()
        for register in WALKER_BITS:
            await chip.host.write(register, chance.getrandbits(32))
        await chip.host.soft_reset()
        assert [await chip.host.read(register) for register in WALKER_BITS] == wanted, "CHIP-RESET keeps them"
        await chip.clocking.next_cycle(4)


@cocotb.test()
async def a_start_clears_the_last_run_and_keeps_what_the_host_wrote(top: HierarchyObject) -> None:
    """Done, err, code, ERRPC and counters are of the last run alone; R and IMEM stay."""
    chip = await idle_chip(top)
    await chip.host.write(Register.R7, 0xC0FFEE)
    failed = await chip.host.run((StReg(address=5), Load(row=0, count=-1, address=0)))
    assert failed.status == DONE | ERROR | ErrorCode.COUNT << CODE_SHIFT
    assert (failed.error_pc, failed.written_words) == (1, 1)
    await chip.host.load((Halt(),))
    await chip.host.start()
    assert await chip.host.read(Register.ERRPC) == 0
    ended = await chip.host.ended()
    assert (ended.status, ended.error_pc, ended.total) == (DONE, 0, 2)
    assert (ended.dma, ended.mac, ended.vec, ended.stall, ended.read_words, ended.written_words) == (0,) * 6
    assert await chip.host.read(Register.R7) == 0xC0FFEE
    assert await chip.host.read(IMEM_BASE + 2) == encode(Load(row=0, count=-1, address=0))[0]


@cocotb.test()
async def a_start_in_the_first_idle_cycle_is_a_start(top: HierarchyObject) -> None:
    """Fifty runs of [HALT] back to back, two busy cycles and one idle one each."""
    chip = await idle_chip(top)
    await chip.host.load((Halt(),))
    for _ in range(50):
        await chip.host.start()
        await chip.clocking.next_cycle(2)
    assert chip.host_port.busy_cycles == 100


@cocotb.test()
async def reset_ends_a_run_and_clears_the_registers(top: HierarchyObject) -> None:
    """One edge with rst_n low in the middle of a run: idle, all registers 0, and the next run is like any other."""
    chip = await chip_after_reset(top, Traffic("never", ready=(0,)))
    await chip.host.write(Register.R2, 9)
    await chip.host.write(Register.NPAGES, 9)
    await chip.host.load(LONG)
    await chip.host.start()
    await chip.clocking.next_cycle(50)
    fresh = await chip_after_reset(top, steady(1))
    for address in (*READ_ONLY, *R, *WALKER_BITS):
        assert await fresh.host.read(address) == 0, f"{address:#05x} is not 0 after reset"
    ended = await fresh.host.run(LONG)
    assert (ended.status, ended.read_words) == (DONE, 60 * ROW_WORDS)
