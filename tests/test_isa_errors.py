"""Errors of the chip's programs: every code with its ERRPC, the order among them, and what memory then holds."""

import pytest

from spec.isa import (
    EXT_WORDS,
    Av,
    Dot,
    DotL,
    ErrorCode,
    Fence,
    Halt,
    Instruction,
    Load,
    Score,
    Store,
    StReg,
    encode,
)
from spec.isa_semantics import Ended, run
from tests.small_chips import FINE, by_one, chip, columns

B_ROWS = {0: [1]} | columns(100, *[1] * 255)
ALL_ONES = {1: 2**32 - 1}
"""R1, which is -1 as a count and the farthest row or address."""


def ended(*program: Instruction, lanes: int = 16) -> Ended:
    """How the program ends, after a FENCE, over 255 B rows from row 100 and an A row 0."""
    return run(chip(Fence(), *program, lanes=lanes, rows=B_ROWS, registers=ALL_ONES))


def test_a_status_holds_its_code_its_error_and_done() -> None:
    assert FINE.status == 0x002
    assert Ended(ErrorCode.ILLEGAL, 3).status == 0x106 and Ended(ErrorCode.PC_END, 255).status == 0x706


@pytest.mark.parametrize(
    "words",
    [
        (0, 0),
        (0x0000_0000, 1),
        (0x0C00_0000, 0),
        (0xFC00_0000, 0),
        (0x0400_0001, 0),
        (0x0800_0000, 1),
        # SETQ with M = 32767, with sh 0 and with sh 41.
        (0x1001_7FFF, 0),
        (0x1000_8000, 0),
        (0x1029_8000, 0),
        # DOT with fl 4, DOTL with fl 2, SCORE with a dst.
        (0x4001_9001, 0x0400_0002),
        (0x4401_9001, 0x0200_0002),
        (0x4801_9001, 0x0000_0001),
        # GATHER with a bit of an address.
        (0x2800_0000, 0x0000_0001),
    ],
)
def test_what_is_no_instruction_of_this_chip_is_illegal(words: tuple[int, int]) -> None:
    machine = chip(Fence(), StReg(0), Fence(), rows=B_ROWS)
    machine.imem[2] = words
    machine.tok = 8
    assert run(machine) == (ErrorCode.ILLEGAL, 2)
    assert machine.memory[0] == 8


@pytest.mark.parametrize(
    "instruction",
    [
        Load(0, -1, 0),
        Store(0, -512, 0),
        Load(0, 0, 0, count_register=1),
        Dot(0, 100, 0, 1, 0),
        Dot(0, 100, -1, 1, 0),
        DotL(0, 100, 0, 1),
        Score(0, 100, 0, 0),
        Score(0, 100, 256, 0),
        Score(0, 100, -1, 0),
        Av(100, 0, 1),
        Av(100, 256, 1),
        # 65 sums are 5 rows of 16, 17 words 5 rows of 4.
        Dot(0, 100, 65, 1, 0),
        DotL(0, 100, 17, 1),
    ],
    ids=str,
)
def test_a_count_out_of_its_range_is_an_error(instruction: Instruction) -> None:
    assert ended(instruction) == (ErrorCode.COUNT, 1)


def test_a_transfer_of_more_than_1024_rows_is_an_error_of_its_count() -> None:
    assert run(chip(Load(0, 511, 0, count_register=1), registers={1: 514})) == (ErrorCode.COUNT, 0)
    assert run(chip(Load(0, 511, 0, count_register=1), registers={1: 513})) == FINE


@pytest.mark.parametrize(
    ("most", "instruction"),
    [(64, Dot(0, 100, 0, 1, 0, count_register=2)), (16, DotL(0, 100, 0, 1, count_register=2))],
)
def test_an_op_has_at_most_four_result_rows(most: int, instruction: Instruction) -> None:
    for lanes in (16, 32):
        limit = most * lanes // 16
        assert run(chip(instruction, lanes=lanes, rows=B_ROWS, registers={2: limit})) == FINE
        assert run(chip(instruction, lanes=lanes, rows=B_ROWS, registers={2: limit + 1})) == (ErrorCode.COUNT, 0)
    assert ended(Score(0, 100, 255, 0)) == FINE


@pytest.mark.parametrize("count", [1, 2, 4, 255])
def test_an_av_has_the_count_of_the_last_score(count: int) -> None:
    scores = (Score(0, 100, 7, 0), Score(0, 100, 3, 0))
    assert ended(*scores, Av(100, count, 1)) == (ErrorCode.COUNT, 3)
    assert ended(*scores, Av(100, 3, 1)) == FINE


@pytest.mark.parametrize(
    "instruction",
    [
        Load(1023, 2, 0),
        Load(1, 1, 0, row_register=2),
        # Row 2^32 - 1: neither it nor its sum with a count wraps.
        Load(0, 1, 0, row_register=1),
        Store(0, 2, 0, row_register=1),
        Dot(0, 1000, 25, 1, 0),
        Dot(0, 0, 1, 1, 0, row_register=1),
        Score(0, 1023, 2, 0),
        Av(1023, 2, 1),
        # 2 and 4 result rows, the last of them beyond row 1023.
        Dot(0, 100, 17, 1023, 0),
        DotL(0, 100, 13, 1021),
        Dot(0, 100, 17, 768, 0, apart=True),
        Dot(0, 100, 64, 256, 0, apart=True),
    ],
    ids=str,
)
def test_a_row_beyond_the_scratchpad_is_an_error(instruction: Instruction) -> None:
    assert run(chip(instruction, rows=B_ROWS, registers={1: 2**32 - 1, 2: 1023})) == (ErrorCode.ROW_RANGE, 0)


@pytest.mark.parametrize(
    "instruction",
    [
        Dot(0, 769, 16, 1023, 0),
        Dot(0, 100, 17, 767, 0, apart=True),
        Dot(0, 100, 33, 511, 0, apart=True),
        DotL(0, 100, 13, 1020),
        Score(0, 769, 255, 0),
    ],
    ids=str,
)
def test_the_last_rows_of_the_scratchpad_are_no_error(instruction: Instruction) -> None:
    assert run(chip(instruction, rows=B_ROWS | columns(769, *[1] * 255))) == FINE


@pytest.mark.parametrize(
    "instruction",
    [
        # The A row, the first, the last and a middle B row; the second result row on A and on B.
        Dot(0, 100, 3, 0, 0),
        Dot(0, 100, 3, 100, 0),
        Dot(0, 100, 3, 102, 0),
        DotL(0, 100, 3, 101),
        Dot(0, 100, 17, 99, 0),
        DotL(50, 100, 5, 49),
        Dot(300, 100, 17, 44, 0, apart=True),
        Av(100, 3, 102),
        # Residual rows: 9 of entry 3, which has a residual, and 10 of the entry after it.
        Dot(0, 100, 3, 9, 3),
        Dot(0, 100, 17, 8, 3),
        Dot(0, 100, 17, 9, 2, next_entry=True),
        Dot(0, 100, 17, 10, 3, next_entry=True),
    ],
    ids=str,
)
def test_a_result_row_that_the_op_also_reads_is_an_error(instruction: Instruction) -> None:
    assert ended(by_one(3, 9, 1), by_one(4, 10, -1), instruction) == (ErrorCode.ROW_RANGE, 3)


@pytest.mark.parametrize(
    "instruction",
    [
        # The row before and the row after the B rows; rows between results that are apart.
        Dot(0, 100, 3, 99, 0),
        Dot(0, 100, 3, 103, 0),
        Dot(0, 100, 17, 50, 0, apart=True),
        # A residual row of an entry not used, and of one without residual.
        Dot(0, 100, 17, 9, 2),
        Dot(0, 100, 3, 10, 3, next_entry=True),
        Dot(0, 100, 3, 11, 5),
    ],
    ids=str,
)
def test_a_result_row_that_the_op_does_not_read_is_no_error(instruction: Instruction) -> None:
    rows = B_ROWS | columns(9, 1, 1, 1)
    assert run(chip(by_one(3, 9, 1), by_one(4, 10, -1), by_one(5, 11), instruction, rows=rows)) == FINE


@pytest.mark.parametrize(
    "instruction",
    [
        Load(0, 1, EXT_WORDS - 3),
        Store(100, 2, EXT_WORDS - 7),
        Load(0, 1, EXT_WORDS),
        Load(0, 1, 0, address_register=1),
        Store(100, 1, 0, address_register=1),
        StReg(EXT_WORDS),
        StReg(0, address_register=1),
    ],
    ids=str,
)
def test_a_word_beyond_memory_is_an_error(instruction: Instruction) -> None:
    assert ended(instruction) == (ErrorCode.EXT_RANGE, 1)


@pytest.mark.parametrize(
    "instruction", [Load(0, 1, EXT_WORDS - 8), Store(100, 2, EXT_WORDS - 16), StReg(EXT_WORDS - 1)]
)
def test_the_last_words_of_memory_are_no_error(instruction: Instruction) -> None:
    assert ended(instruction, lanes=32) == FINE


@pytest.mark.parametrize("count", [1, 3, 255])
def test_an_av_before_any_score_divides_by_0(count: int) -> None:
    assert ended(Av(100, count, 1)) == (ErrorCode.DIV0, 1)


def test_a_program_without_an_end_runs_into_instruction_256() -> None:
    machine = chip()
    machine.imem = [encode(Fence())] * 256
    assert run(machine) == (ErrorCode.PC_END, 255)
    machine.imem[255] = encode(Halt())
    assert run(machine) == FINE
    machine.imem[255] = (0, 0)
    assert run(machine) == (ErrorCode.ILLEGAL, 255)


def test_a_program_of_zeros_is_illegal_at_instruction_0() -> None:
    machine = chip()
    machine.imem = [(0, 0)] * 256
    assert run(machine) == (ErrorCode.ILLEGAL, 0)


def test_illegal_comes_before_a_wrong_count() -> None:
    # DOT with fl 4 and with count 0.
    machine = chip(Halt(), rows=B_ROWS)
    machine.imem[0] = (0x4001_9000, 0x0400_0001)
    assert run(machine) == (ErrorCode.ILLEGAL, 0)


@pytest.mark.parametrize(
    "instruction",
    [
        # Also a row beyond the scratchpad, a word beyond memory, a result row on A, and no SCORE.
        Load(1023, -1, 0),
        Load(0, -1, EXT_WORDS),
        Store(0, -1, 0, 0, 1, 1),
        Dot(0, 1000, 65, 1, 0),
        Dot(0, 100, 65, 0, 0),
        DotL(0, 100, 17, 1023),
        Av(100, 0, 1),
        Av(1023, 256, 1),
    ],
    ids=str,
)
def test_a_wrong_count_comes_before_every_later_error(instruction: Instruction) -> None:
    assert ended(instruction) == (ErrorCode.COUNT, 1)


def test_an_av_of_another_count_is_that_before_its_rows_are_looked_at() -> None:
    assert ended(Score(0, 100, 3, 0), Av(1023, 4, 1)) == (ErrorCode.COUNT, 2)


@pytest.mark.parametrize(
    "instruction", [Load(1023, 2, EXT_WORDS), Store(0, 1, 0, 0, 1, 1), Av(1023, 2, 1), Av(100, 2, 100)]
)
def test_a_wrong_row_comes_before_a_wrong_word_and_a_missing_score(instruction: Instruction) -> None:
    assert ended(instruction) == (ErrorCode.ROW_RANGE, 1)


@pytest.mark.parametrize(
    "instruction", [Store(5, 1, EXT_WORDS), Dot(500, 100, 0, 1, 0), Score(500, 1023, 2, 0), Av(500, 1, 1)], ids=str
)
def test_an_error_is_found_before_an_unwritten_row_is_read(instruction: Instruction) -> None:
    assert ended(instruction).code is not ErrorCode.NONE


def test_after_an_error_memory_holds_the_older_writes_and_no_younger_one() -> None:
    rows = {5: [7], 6: [9]}
    machine = chip(Store(5, 1, 40), Store(6, 2, EXT_WORDS - 4), Store(6, 1, 44), StReg(41), rows=rows)
    machine.tok = 1
    assert run(machine) == (ErrorCode.EXT_RANGE, 1)
    assert machine.memory[40] == 7 and machine.memory.sum() == 7


def test_a_run_after_an_error_starts_anew_at_instruction_0() -> None:
    machine = chip(StReg(0), Load(0, -1, 0))
    assert run(machine) == (ErrorCode.COUNT, 1)
    machine.imem[1] = encode(Halt())
    assert run(machine) == FINE
