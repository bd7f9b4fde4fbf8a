"""Errors of GATHER's walk: each code with its ERRPC, the order among them, and what has no value afterwards."""

import pytest

from spec.isa import (
    EXT_WORDS,
    Av,
    Dot,
    DotL,
    ErrorCode,
    Fence,
    Gather,
    Halt,
    Instruction,
    Load,
    Score,
    Store,
    StReg,
)
from spec.isa_semantics import Machine, Unspecified, run
from tests.small_chips import FINE, TABLE, VALID, after, by_one, chip, paged, set_program, set_row


def ended_walk(
    *table: int,
    count: int = 1,
    half: int = 0,
    logp: int = 0,
    lo: int = 0,
    pool: int = 100,
    npages: int = 8,
    mask: int = 3,
    btbase: int = TABLE,
) -> tuple[ErrorCode, int]:
    """How a GATHER, instruction 1, through the table ends."""
    program = (Fence(), Gather(0, count, half, address_register=3))
    return run(paged(*program, table=table, logp=logp, lo=lo, pool=pool, npages=npages, mask=mask, btbase=btbase))


PAGE, EXT = (ErrorCode.PAGE, 1), (ErrorCode.EXT_RANGE, 1)


@pytest.mark.parametrize(
    "word", [0, 1, 0x7FFF_FFFF, VALID + 8, VALID + 0xFFFF, *(VALID + (1 << b) for b in range(16, 31))]
)
def test_an_entry_without_valid_with_a_bit_between_or_with_too_high_a_page_is_an_error(word: int) -> None:
    assert ended_walk(word) == PAGE
    assert ended_walk(VALID, word) == FINE
    assert ended_walk(VALID, word, count=2) == PAGE


def test_a_page_is_below_npages_and_there_are_up_to_65536() -> None:
    for npages, code in ((0, PAGE), (6, PAGE), (7, FINE), (0x1FFFF, FINE)):
        assert ended_walk(VALID + 6, npages=npages) == code
    for npages, code in ((0xFFFF, PAGE), (0x10000, EXT), (0x1FFFF, EXT)):
        assert ended_walk(VALID + 0xFFFF, npages=npages) == code
    assert ended_walk(VALID + 0x10000, npages=0x1FFFF) == PAGE


def test_a_row_ends_within_memory() -> None:
    # P = 1: page 7 of pool 8128 is words 8184 .. 8187 and 8188 .. 8191; a word on, and its value does not fit.
    assert ended_walk(VALID + 7, pool=8128) == FINE
    assert ended_walk(VALID + 7, pool=8128, half=1) == FINE
    assert ended_walk(VALID + 7, pool=8129) == FINE
    assert ended_walk(VALID + 7, pool=8129, half=1) == EXT
    assert ended_walk(VALID + 7, pool=8133) == EXT
    assert ended_walk(VALID, pool=8188) == FINE and ended_walk(VALID, pool=8189) == EXT
    # The farthest page there is does not wrap: word 2^20 - 1 + 65535*1024 + 512 + 127*4.
    assert ended_walk(VALID + 0xFFFF, pool=2**20 - 1, npages=0x1FFFF, logp=7, lo=127, half=1) == EXT


def test_rows_of_a_page_are_looked_at_one_by_one() -> None:
    # P = 4 at pool 8184: rows 0 and 1 fit, row 2 does not.
    assert ended_walk(VALID, logp=2, pool=8184, count=2) == FINE
    assert ended_walk(VALID, logp=2, pool=8184, count=3) == EXT
    assert ended_walk(VALID, logp=2, pool=8184, count=1, lo=2) == EXT


def test_an_entry_stands_within_memory() -> None:
    # Slots 0 and 1 are words 8190 and 8191.
    assert ended_walk(VALID, VALID, btbase=8190, count=2) == FINE
    assert ended_walk(VALID, VALID, btbase=8190, count=3) == EXT
    assert ended_walk(VALID, VALID, btbase=8190, count=3, mask=1) == FINE
    assert run(paged(Gather(0, 1, 0), table=[], logp=0, btbase=2**20 - 1)) == (ErrorCode.EXT_RANGE, 0)
    assert run(paged(Gather(0, 1, 0), table=[], logp=0, btbase=8192)) == (ErrorCode.EXT_RANGE, 0)


def test_of_one_row_the_entry_comes_before_the_page_and_the_page_before_the_row() -> None:
    assert run(paged(Gather(0, 1, 0), table=[], logp=0, btbase=8192, npages=0)) == (ErrorCode.EXT_RANGE, 0)
    assert ended_walk(VALID + 8, pool=2**20 - 1) == PAGE
    assert ended_walk(0, pool=2**20 - 1) == PAGE
    assert ended_walk(VALID, pool=2**20 - 1) == EXT


def test_the_first_row_with_an_error_names_it_whatever_later_rows_have() -> None:
    # Page 7 of pool 8140 is beyond memory, page 0 is not.
    beyond, fine, invalid = VALID + 7, VALID, 0
    assert ended_walk(beyond, invalid, count=2, pool=8140) == EXT
    assert ended_walk(invalid, beyond, count=2, pool=8140) == PAGE
    assert ended_walk(fine, beyond, invalid, count=3, pool=8140) == EXT
    assert ended_walk(fine, invalid, beyond, count=3, pool=8140) == PAGE
    # The entry of row 1, or of row 2 in the next page, beyond memory, against the row 0 before it.
    assert ended_walk(invalid, btbase=8191, count=2) == PAGE
    assert ended_walk(fine, btbase=8191, count=2) == EXT
    assert ended_walk(invalid, btbase=8191, count=3, logp=1) == PAGE
    # P = 4 at pool 8184: rows 2 and 6 are beyond memory, and row 4, the first of slot 1, is invalid, between them.
    assert ended_walk(fine, invalid, count=5, logp=2, pool=8184) == EXT
    assert ended_walk(fine, invalid, count=3, logp=2, pool=8184, lo=4) == PAGE
    assert ended_walk(fine, fine, count=3, logp=2, pool=8184, lo=4) == EXT


def test_an_entry_beyond_the_last_row_is_never_looked_at() -> None:
    # P = 4: 4 rows end with their page, a fifth begins the next; from row 2 on that are 2 and 3.
    assert ended_walk(VALID, 0, count=4, logp=2) == FINE
    assert ended_walk(VALID, 0, count=5, logp=2) == PAGE
    assert ended_walk(VALID, 0, count=2, logp=2, lo=2) == FINE
    assert ended_walk(VALID, 0, count=3, logp=2, lo=2) == PAGE
    assert ended_walk(VALID, btbase=8191, count=4, logp=2) == FINE
    assert ended_walk(VALID, btbase=8191, count=5, logp=2) == EXT
    # Nor one before the first.
    assert ended_walk(0, VALID, count=4, logp=2, lo=4) == FINE


@pytest.mark.parametrize(
    ("gather", "code"),
    [
        (Gather(0, -1, 0), ErrorCode.COUNT),
        (Gather(0, 511, 0, count_register=1), ErrorCode.COUNT),
        (Gather(1023, -1, 1, row_register=2), ErrorCode.COUNT),
        (Gather(0, 0, 0, count_register=2), ErrorCode.COUNT),
        (Gather(1023, 2, 0), ErrorCode.ROW_RANGE),
        (Gather(0, 1, 0, row_register=2), ErrorCode.ROW_RANGE),
        (Gather(1, 511, 0, count_register=4), ErrorCode.ROW_RANGE),
        (Gather(0, 511, 0, count_register=4), ErrorCode.PAGE),
        (Gather(1023, 1, 0), ErrorCode.PAGE),
    ],
    ids=str,
)
def test_count_and_rows_come_before_the_walk(gather: Gather, code: ErrorCode) -> None:
    assert run(paged(gather, table=[0], logp=0, registers={1: 514, 2: 2**32 - 1, 4: 513})) == (code, 0)


def test_an_error_of_the_walk_comes_after_older_instructions_and_before_younger_ones() -> None:
    """Older writes are done, younger ones are not, and no younger error is named (CHIP-ERROR)."""
    bad = Gather(0, 2, 0)
    younger: tuple[Instruction, ...] = (StReg(51), Load(0, -1, 0), Gather(0, -1, 0), Load(0, 1, EXT_WORDS), Halt())
    for next_one in younger:
        machine = paged(StReg(50), Store(5, 1, 60), bad, next_one, table=[VALID, 0], logp=0)
        set_row(machine, 5, [7])
        machine.tok = 3
        assert run(machine) == (ErrorCode.PAGE, 2)
        assert machine.memory[48:62].tolist() == [48, 49, 3, *range(51, 60), 7, 0]
    machine = paged(bad, table=[VALID, 0], logp=0)
    machine.imem[1] = (0, 0)
    assert run(machine) == (ErrorCode.PAGE, 0)
    machine = paged(Load(0, -1, 0), bad, table=[], logp=0)
    assert run(machine) == (ErrorCode.COUNT, 0)
    machine = paged(*[Fence()] * 255, bad, table=[0], logp=0)
    assert run(machine) == (ErrorCode.PAGE, 255)


def lost(code: ErrorCode = ErrorCode.PAGE) -> Machine:
    """A chip with rows 0 .. 2, a SCORE, TOK 1 and R1 = 6, after an error of its walk."""
    scored = (by_one(0), Score(0, 1, 2, 0), DotL(0, 1, 2, 9, argmax=True), Gather(30, 2, 0))
    table, pool = ([VALID, 0], 100) if code is ErrorCode.PAGE else ([VALID, VALID + 7], 8140)
    machine = paged(*scored, table=table, logp=0, pool=pool, registers={1: 6})
    for number, row in enumerate(([1], [3], [5])):
        set_row(machine, number, row)
    assert run(machine) == (code, 3)
    return machine


@pytest.mark.parametrize("code", [ErrorCode.PAGE, ErrorCode.EXT_RANGE])
@pytest.mark.parametrize(
    ("program", "what"),
    [
        ((StReg(0),), "TOK"),
        ((Store(0, 1, 0),), "row 0"),
        ((Store(30, 1, 0),), "row 30"),
        ((Load(0, 3, 0), Dot(0, 1, 2, 50, 15)), "entry 15"),
        ((Load(0, 3, 0), Score(0, 1, 2, 0)), "entry 0"),
        ((Load(0, 3, 0), Av(1, 2, 50)), "SCORE"),
    ],
)
def test_after_an_error_of_the_walk_all_but_memory_and_registers_has_no_value(
    code: ErrorCode, program: tuple[Instruction, ...], what: str
) -> None:
    machine = lost(code)
    set_program(machine, *program)
    with pytest.raises(Unspecified, match=what):
        run(machine)


def test_what_is_written_anew_after_an_error_of_the_walk_has_its_value() -> None:
    """A program that reads only what it wrote runs as after power-on, with the R that were left (CHIP-RESET)."""
    anew = (
        Load(0, 1, 200, address_register=1),
        Load(1, 2, 300),
        by_one(0),
        Score(0, 1, 2, 0),
        Dot(0, 1, 2, 50, 0),
        DotL(0, 1, 2, 51, argmax=True),
        Av(1, 2, 52),
        Store(50, 3, 400),
        StReg(412),
    )
    machine, fresh = lost(), paged(table=[VALID, 0], logp=0, registers={1: 6})
    for one in (machine, fresh):
        set_program(one, *anew)
        after(one)
    assert machine.memory.tolist() == fresh.memory.tolist() and machine.registers == fresh.registers
    assert machine.lost == {*range(1, 16)}


@pytest.mark.parametrize(
    "wrong", [Gather(0, -1, 0), Gather(1023, 2, 0), Load(0, 1, EXT_WORDS), StReg(EXT_WORDS), Av(5, 1, 9)], ids=str
)
def test_every_other_error_loses_nothing(wrong: Instruction) -> None:
    machine = paged(by_one(3), wrong, table=[0], logp=0)
    machine.tok = 8
    set_row(machine, 5, [7])
    assert run(machine).error_pc == 1
    set_program(machine, Dot(5, 5, 1, 6, 3), Store(6, 1, 0), StReg(4))
    assert after(machine).memory[:5].tolist() == [49, 0, 0, 0, 8]


def test_a_machine_of_all_zeros_has_no_page() -> None:
    machine = chip(Gather(0, 1, 0))
    assert machine.walker == (0, 0, 0, 0, 0) and run(machine) == (ErrorCode.PAGE, 0)
