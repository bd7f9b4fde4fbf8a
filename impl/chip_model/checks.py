"""What is wrong with the instruction in the head. Source: docs/chip.md section 4, the errors."""

from collections.abc import Callable
from typing import NamedTuple

from impl.chip_model.command import OPS, TRANSFERS, Command, Entry
from impl.chip_model.instruction import Illegal, decode
from spec.isa import LONGEST_OP, LONGEST_TRANSFER, MOST_RESULT_ROWS, SPAD_ROWS, ErrorCode, Op


class Facts(NamedTuple):
    """Registers that the checks use, as they are in this cycle, and the chip's sizes."""

    lanes: int
    words: int
    r: list[int]
    entries: list[Entry]
    score_ran: bool
    score_count: int


class Wrong(Exception):  # noqa: N818 it is no failure of this program
    """The instruction in the head has an error."""

    def __init__(self, code: ErrorCode) -> None:
        self.code = code


def examine(end: bool, w0: int, w1: int, facts: Facts) -> Command:
    """The command in the head. Raises Wrong for the first error in the definition's order."""
    if end:
        raise Wrong(ErrorCode.PC_END)
    try:
        fields = decode(w0, w1)
    except Illegal:
        raise Wrong(ErrorCode.ILLEGAL) from None
    command = Command(fields, facts.r, facts.lanes)
    for code, is_wrong in CHECKS:
        if is_wrong(command, facts):
            raise Wrong(code)
    command.find_rows()
    return command


def _count(command: Command, facts: Facts) -> bool:
    """COUNT; with a right count an op's groups are set."""
    if command.op in TRANSFERS:
        return not 0 <= command.count <= LONGEST_TRANSFER
    if command.op not in OPS:
        return False
    if not 1 <= command.count <= LONGEST_OP or len(command.result_rows) > MOST_RESULT_ROWS:
        return True
    command.find_groups(facts.entries, facts.lanes)
    return command.op is Op.AV and facts.score_ran and command.count != facts.score_count


def _row_range(command: Command, facts: Facts) -> bool:
    """ROW_RANGE; a transfer of nothing may name any row."""
    if command.count > 0 and command.first + command.count > SPAD_ROWS:
        return True
    if any(row >= SPAD_ROWS for row in command.result_rows):
        return True
    return any(command.sources() >> row & 1 for row in command.result_rows)


def _ext_range(command: Command, facts: Facts) -> bool:
    """EXT_RANGE; a transfer of nothing may name any address, and what a GATHER names is checked in the walk."""
    return command.op is not Op.GATHER and command.words > 0 and command.address + command.words > facts.words


def _div0(command: Command, facts: Facts) -> bool:
    """DIV0."""
    return command.op is Op.AV and not facts.score_ran


CHECKS: tuple[tuple[ErrorCode, Callable[[Command, Facts], bool]], ...] = (
    (ErrorCode.COUNT, _count),
    (ErrorCode.ROW_RANGE, _row_range),
    (ErrorCode.EXT_RANGE, _ext_range),
    (ErrorCode.DIV0, _div0),
)
"""The checks after PC_END and ILLEGAL, in their order."""
