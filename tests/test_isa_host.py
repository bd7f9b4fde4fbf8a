"""What a host writes to the chip while it is not busy, and what a soft reset keeps: docs/chip.md section 3."""

import re
from pathlib import Path

import numpy as np
import pytest

from spec.isa import (
    RESET,
    START,
    WALKER_BITS,
    WATCHDOG_CYCLES,
    Av,
    DotL,
    ErrorCode,
    Gather,
    Load,
    Register,
    Score,
    Store,
    StReg,
    encode,
)
from spec.isa_header import verilog_header
from spec.isa_machine import Walker
from spec.isa_semantics import Machine, Unspecified, run
from tests.small_chips import FINE, after, by_half, chip, columns, lanes, padded, set_program

ALL = 2**32 - 1
State = tuple[object, ...]


def state(machine: Machine) -> State:
    """All that a host write could change, as one value."""
    return (
        machine.memory.tolist(),
        list(machine.imem),
        list(machine.registers),
        machine.tok,
        list(machine.entries),
        machine.written.tolist(),
        machine.scratchpad.tolist(),
        None if machine.scored is None else (machine.scored.exponentials.tolist(), machine.scored.total),
        machine.walker,
        set(machine.lost),
    )


def used() -> Machine:
    """A chip with TOK 1, an entry, rows, a SCORE, R1 = 9, R7 = 8 and a walker."""
    program = (by_half(2), Score(0, 1, 2, 2), DotL(0, 1, 2, 50, argmax=True))
    machine = chip(*program, rows={0: [1]} | columns(1, 3, 5), words={40: 4}, registers={1: 9, 7: 8})
    machine.walker = Walker(10, 3, 20, 2, 5)
    return after(machine)


@pytest.mark.parametrize("number", range(1, 8))
def test_r1_to_r7_take_32_bits(number: int) -> None:
    machine = chip()
    machine.host_write(8 + number, ALL)
    assert machine.registers == [ALL if n == number else 0 for n in range(8)]
    machine.host_write(8 + number, 0)
    assert machine.registers == [0] * 8


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        (0x18, Walker(btbase=0xF_FFFF)),
        (0x19, Walker(btmask=0xFFFF)),
        (0x1A, Walker(pool=0xF_FFFF)),
        (0x1B, Walker(logp=7)),
        (0x1D, Walker(npages=0x1_FFFF)),
    ],
)
def test_a_register_of_the_walker_keeps_as_many_low_bits_as_it_has(address: int, kept: Walker) -> None:
    machine = chip()
    machine.host_write(address, ALL)
    assert machine.walker == kept
    machine.host_write(address, 0xAAAA_AAA5)
    assert machine.walker == tuple(value & 0xAAAA_AAA5 for value in kept)
    machine.host_write(address, ~sum(kept) & ALL)
    assert machine.walker == Walker()


def test_writes_of_several_registers_stay_side_by_side() -> None:
    machine = chip()
    for address, value in ((0x18, 1), (0x19, 2), (0x1A, 3), (0x1B, 4), (0x1D, 5), (0x09, 6), (0x0F, 7)):
        machine.host_write(address, value)
    assert machine.walker == (1, 2, 3, 4, 5) and machine.registers == [0, 6, 0, 0, 0, 0, 0, 7]


def test_a_written_walker_is_what_a_gather_walks() -> None:
    # P = 2^(10 & 7) = 4, page 1 of pool 100 at 132, row 1 at 136; BTBASE and BTMASK lose what is above them.
    machine = chip(Gather(0, 1, 0, address_register=1), words={8: 0x8000_0001, 136: 9})
    for address, value in (
        (0x18, 0x10_0008),
        (0x19, 0x3_0000),
        (0x1A, 0x30_0064),
        (0x1B, 10),
        (0x1D, 0x4_0002),
        (9, 5),
    ):
        machine.host_write(address, value)
    assert lanes(after(machine), 0) == padded(9)
    # 2^17 pages are none.
    machine.host_write(0x1D, 0x2_0000)
    assert run(machine) == (ErrorCode.PAGE, 0)


@pytest.mark.parametrize(
    "address",
    [1, 2, 3, 4, 7, 8, *range(0x10, 0x18), 0x1C, 0x1E, 0x1F, 0x20, 0x3FF, 0x600, 0x7FF],
)
@pytest.mark.parametrize("value", [0, 3, ALL])
def test_every_other_write_changes_nothing(address: int, value: int) -> None:
    machine = used()
    before = state(machine)
    machine.host_write(address, value)
    assert state(machine) == before


def test_register_0_stays_0() -> None:
    machine = chip(Load(10, 1, 100), words={100: 1})
    machine.host_write(8, 5)
    assert machine.registers[0] == 0 and lanes(after(machine), 10) == padded(1)


@pytest.mark.parametrize(("number", "low"), [(0, 0x400), (1, 0x402), (255, 0x5FE)])
def test_imem_takes_the_low_word_first_and_each_word_alone(number: int, low: int) -> None:
    machine = chip()
    machine.imem = [(0, 0)] * 256
    machine.host_write(low, 0x1234_5678)
    assert machine.imem[number] == (0x1234_5678, 0)
    machine.host_write(low + 1, ALL)
    assert machine.imem[number] == (0x1234_5678, ALL)
    machine.host_write(low, 1)
    assert machine.imem == [(1, ALL) if n == number else (0, 0) for n in range(256)]


def test_a_program_that_the_host_wrote_runs() -> None:
    machine = Machine.fresh(16, np.zeros(64, np.uint32))
    machine.tok = 6
    for number, instruction in enumerate((StReg(5),)):
        for word, value in enumerate(encode(instruction)):
            machine.host_write(0x400 + 2 * number + word, value)
    machine.host_write(0x402, 0x0400_0000)
    assert run(machine) == FINE and machine.memory[5] == 6


def test_a_start_is_a_run_and_other_bits_of_ctrl_are_nothing() -> None:
    machine = used()
    before = state(machine)
    for value in (0, 4, ALL - 3):
        machine.host_write(0, value)
        assert state(machine) == before
    for value in (1, 5, ALL - 2):
        with pytest.raises(ValueError, match="start is a run"):
            machine.host_write(0, value)


@pytest.mark.parametrize(("address", "value"), [(-1, 0), (0x800, 0), (9, -1), (9, 2**32)])
def test_the_port_has_11_and_32_bits(address: int, value: int) -> None:
    with pytest.raises(ValueError, match="11 bits"):
        chip().host_write(address, value)


@pytest.mark.parametrize("value", [2, 3, ALL])
def test_bit_1_of_ctrl_is_a_soft_reset_whatever_bit_0_is(value: int) -> None:
    written, reset = used(), used()
    written.host_write(0, value)
    reset.soft_reset()
    assert state(written) == state(reset) != state(used())


def test_a_soft_reset_clears_r_tok_and_score_and_keeps_all_else() -> None:
    """R and TOK are 0 and there was no SCORE; memory, IMEM, entries, rows and walker are kept (CHIP-RESET)."""
    machine, before = used(), used()
    machine.soft_reset()
    assert (machine.registers, machine.tok, machine.scored) == ([0] * 8, 0, None)
    machine.registers, machine.tok, machine.scored = before.registers, before.tok, before.scored
    assert state(machine) == state(before)


def test_a_program_after_a_soft_reset_finds_no_score_and_its_entry() -> None:
    machine = used()
    machine.soft_reset()
    assert run(machine) == FINE and machine.tok == 1
    machine.soft_reset()
    set_program(machine, Store(1, 1, 60), StReg(64), Av(1, 2, 52))
    assert run(machine) == (ErrorCode.DIV0, 2)
    assert machine.memory[60:65].tolist() == [3, 0, 0, 0, 0]


def test_a_soft_reset_gives_tok_and_score_a_value_again_and_nothing_else() -> None:
    machine = used()
    set_program(machine, Gather(0, 1, 0))
    assert run(machine) == (ErrorCode.PAGE, 0)
    machine.soft_reset()
    set_program(machine, StReg(0), Load(1, 2, 0), Av(1, 2, 52))
    assert run(machine) == (ErrorCode.DIV0, 2) and machine.memory[0] == 0
    set_program(machine, Load(0, 3, 0), Score(0, 1, 2, 2))
    with pytest.raises(Unspecified, match="entry 2"):
        run(machine)
    set_program(machine, Store(5, 1, 0))
    with pytest.raises(Unspecified, match="row 5 "):
        run(machine)


def test_the_walker_of_the_definition_is_that_of_the_vocabulary() -> None:
    text = (Path(__file__).parent.parent / "docs/chip.md").read_text("utf-8")
    found = re.findall(r"^\| (0x\w{3}) \| ([A-Z]+), (\d+) bits", text, re.M)
    assert {Register[name]: int(bits) for _, name, bits in found} == WALKER_BITS
    assert all(int(address, 16) == Register[name] for address, name, _ in found) and len(found) == 5
    assert tuple(register.name.lower() for register in WALKER_BITS) == Walker._fields
    assert (START, RESET, WATCHDOG_CYCLES) == (1, 2, 4096) and "| 8 | TIMEOUT | 4,096 busy cycles" in text


def test_the_header_names_the_walker_the_bits_of_ctrl_and_the_watchdog() -> None:
    lines = verilog_header().splitlines()
    for line in ("KS_CSR_BTBASE 11'h018", "KS_CSR_LOGP 11'h01b", "KS_CSR_NPAGES 11'h01d", "KS_ERR_PAGE 8'd6"):
        assert f"`define {line}" in lines
    for line in ("KS_CTRL_START 32'd1", "KS_CTRL_RESET 32'd2", "KS_WATCHDOG_CYCLES 13'd4096"):
        assert f"`define {line}" in lines
