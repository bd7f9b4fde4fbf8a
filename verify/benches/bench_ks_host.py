"""ks_host: a run's start and end, TOK, the registers that an instruction reads, and fetch; the port itself is bench_host_port."""

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
    Register,
)
from verify.benches.unit import Unit, unit_after_reset


async def write(unit: Unit, address: int, value: int) -> None:
    """One host write, one cycle."""
    await unit.clocked(h_we_i=1, h_addr_i=address, h_wdata_i=value)
    unit.pins.drive(h_we_i=0)


async def read(unit: Unit, address: int) -> int:
    """The register in this cycle, which goes on."""
    await unit.sees(h_addr_i=address)
    value = unit.pins["h_rdata_o"]
    await unit.clocking.next_cycle()
    return value


@cocotb.test()
async def a_start_makes_the_next_cycle_busy_and_an_end_the_next_one_idle(top: HierarchyObject) -> None:
    """start_o is combinational of the write; end_i with every code, its ERRPC kept only with a code."""
    unit = await unit_after_reset(top, "ks_host")
    pins = unit.pins
    for code in (0, *[int(code) for code in ErrorCode if code]):
        await unit.sees(h_we_i=1, h_addr_i=Register.CTRL, h_wdata_i=START)
        assert (pins["start_o"], pins["busy_o"]) == (1, 0)
        await unit.clocking.next_cycle()
        # A second start, while busy, is none.
        await unit.clocking.settled()
        assert (pins["start_o"], pins["busy_o"]) == (0, 1)
        await unit.clocking.next_cycle()
        pins.drive(h_we_i=0)
        assert await read(unit, Register.STATUS) == BUSY
        await unit.clocked(end_i=1, end_code_i=code, end_pc_i=200 + code)
        pins.drive(end_i=0, end_code_i=0, end_pc_i=0)
        await unit.clocking.settled()
        assert pins["busy_o"] == 0
        await unit.clocking.next_cycle()
        assert await read(unit, Register.STATUS) == (DONE | ERROR | code << CODE_SHIFT if code else DONE)
        assert await read(unit, Register.ERRPC) == (200 + code if code else 0)


@cocotb.test()
async def tok_is_what_was_last_written_to_it(top: HierarchyObject) -> None:
    """Through its own port, while busy, seen in the next cycle by the host and by STREG; a start keeps it."""
    unit = await unit_after_reset(top, "ks_host")
    await write(unit, Register.CTRL, START)
    for token in (7, 0xFFFFFFFF, 13):
        await unit.clocked(tok_we_i=1, tok_i=token)
        unit.pins.drive(tok_we_i=0, tok_i=99)
        assert await read(unit, Register.TOK) == token
        assert unit.pins["tok_o"] == token
    await unit.clocked(end_i=1)
    unit.pins.drive(end_i=0)
    await write(unit, Register.CTRL, START)
    assert await read(unit, Register.TOK) == 13


@cocotb.test()
async def the_head_reads_three_registers_at_once(top: HierarchyObject) -> None:
    """Any three of R0 .. R7, in the same cycle; R0 is 0."""
    unit, chance = await unit_after_reset(top, "ks_host"), random.Random(81)
    values = [0, *[chance.getrandbits(32) for _ in range(7)]]
    for number, value in enumerate(values):
        await write(unit, Register.R0 + number, value if number else 0xFFFFFFFF)
    for _ in range(60):
        chosen = [chance.randrange(8) for _ in range(3)]
        await unit.sees(**dict(zip(("rc_i", "rr_i", "ra_i"), chosen, strict=True)))
        assert [unit.pins[name] for name in ("rc_o", "rr_o", "ra_o")] == [values[number] for number in chosen]
        await unit.clocking.next_cycle()


@cocotb.test()
async def fetch_gives_both_words_of_an_instruction(top: HierarchyObject) -> None:
    """insn_o is {w1, w0} of instruction fetch_i in the same cycle, while busy, too."""
    unit, chance = await unit_after_reset(top, "ks_host"), random.Random(82)
    words = [chance.getrandbits(32) for _ in range(2 * IMEM_INSTRUCTIONS)]
    for number, word in enumerate(words):
        await write(unit, IMEM_BASE + number, word)
    await write(unit, Register.CTRL, START)
    for number in chance.sample(range(IMEM_INSTRUCTIONS), IMEM_INSTRUCTIONS):
        await unit.sees(fetch_i=number)
        assert unit.pins["insn_o"] == words[2 * number] | words[2 * number + 1] << 32, f"instruction {number}"
        await unit.clocking.next_cycle()


@cocotb.test()
async def counters_are_read_in_their_order(top: HierarchyObject) -> None:
    """TOTAL is counter 0, WRW counter 6, each live: the value is of the cycle in which it is read."""
    unit, chance = await unit_after_reset(top, "ks_host"), random.Random(83)
    for _ in range(5):
        for place in range(7):
            await unit.sees(h_addr_i=Register.TOTAL + place)
            assert unit.pins["counter_index_o"] == place
            await unit.clocking.next_cycle()
            word = chance.getrandbits(32)
            unit.pins.drive(counter_i=word)
            assert await read(unit, Register.TOTAL + place) == word


@cocotb.test()
async def the_walker_sees_what_the_host_reads(top: HierarchyObject) -> None:
    """CHIP-GATHER: each register has as many low bits as section 3 says; a busy chip and a soft reset keep them."""
    unit, chance = await unit_after_reset(top, "ks_host"), random.Random(84)
    for _ in range(8):
        values = {register: chance.choice((0xFFFFFFFF, chance.getrandbits(32))) for register in WALKER_BITS}
        for register, value in values.items():
            await write(unit, register, value)
        await write(unit, Register.CTRL, START)
        for register in values:
            await write(unit, register, chance.getrandbits(32))
        await write(unit, Register.CTRL, RESET)
        for register, value in values.items():
            wanted = value & (1 << WALKER_BITS[register]) - 1
            assert await read(unit, register) == wanted, f"{register.name}: written {value:#x}"
            assert unit.pins[f"{register.name.lower()}_o"] == wanted, f"CHIP-GATHER: the walker's {register.name}"


@cocotb.test()
async def a_soft_reset_wins_over_all_else_in_its_cycle(top: HierarchyObject) -> None:
    """CHIP-RESET: busy or not, whatever bit 0 is; R, TOK and STATUS are 0, an end and a TOK of the same cycle are lost."""
    unit = await unit_after_reset(top, "ks_host")
    pins = unit.pins
    for busy in (0, 1):
        for value in (RESET, RESET | START, 0xFFFFFFFF):
            for number in range(1, 8):
                await write(unit, Register.R0 + number, number)
            await write(unit, Register.CTRL, START)
            if busy:
                await unit.clocked(tok_we_i=1, tok_i=5)
            else:
                await unit.clocked(end_i=1, end_code_i=ErrorCode.PAGE, end_pc_i=9)
            pins.drive(tok_we_i=0, end_i=0)
            pins.drive(tok_we_i=busy, tok_i=6, end_i=busy, end_code_i=ErrorCode.TIMEOUT, end_pc_i=7)
            await unit.sees(h_we_i=1, h_addr_i=Register.CTRL, h_wdata_i=value)
            assert (pins["soft_o"], pins["start_o"]) == (1, 0), "CHIP-RESET: a soft reset, whatever bit 0 is"
            await unit.clocking.next_cycle()
            pins.drive(h_we_i=0, tok_we_i=0, end_i=0)
            cleared = [Register.STATUS, Register.ERRPC, Register.TOK, *(Register.R0 + number for number in range(8))]
            assert [await read(unit, address) for address in cleared] == [0] * len(cleared), "CHIP-RESET"
            assert not pins["busy_o"]
