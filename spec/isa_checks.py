"""What an instruction names once R is read, and the first error that it has: the tables of docs/chip.md section 4."""

from typing import assert_never

from spec.isa import (
    ENTRIES,
    LONGEST_OP,
    LONGEST_TRANSFER,
    MOST_RESULT_ROWS,
    RESULT_STRIDE,
    SPAD_ROWS,
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
    SetQ,
    Store,
    StReg,
)
from spec.isa_machine import MODULUS, Entry, Machine
from spec.isa_walk import Walked, walked

Transfer = Load | Store | Gather
RowOp = Dot | DotL | Score | Av
"""The op of docs/chip.md section 4; spec.isa.Op is an opcode."""


def count_of(instruction: Transfer | RowOp, machine: Machine) -> int:
    """cnt + R[rc], modulo 2^32 with sign (docs/chip.md section 4)."""
    total = instruction.count + machine.register(instruction.count_register)
    return (total + MODULUS // 2) % MODULUS - MODULUS // 2


def first_of(instruction: Transfer | RowOp, machine: Machine) -> int:
    """row + R[rr], modulo 2^32 and unsigned (docs/chip.md section 4)."""
    return (instruction.row + machine.register(instruction.row_register)) % MODULUS


def address_of(instruction: Load | Store | StReg, machine: Machine) -> int:
    """addr + R[ra], modulo 2^32 and unsigned (docs/chip.md section 4)."""
    return (instruction.address + machine.register(instruction.address_register)) % MODULUS


def result_rows(op: RowOp, machine: Machine) -> range:
    """The rows that the op writes, result row i at place i (docs/chip.md section 4)."""
    match op:
        case Dot():
            stride = RESULT_STRIDE if op.apart else 1
            return _from(op.dst, -(-count_of(op, machine) // machine.lanes), stride)
        case DotL():
            return _from(op.dst, -(-count_of(op, machine) // machine.words_a_row), 1)
        case Score():
            return range(0)
        case Av():
            return _from(op.dst, 1, 1)


def entry_of(dot: Dot, result: int, machine: Machine) -> Entry:
    """The entry that requantises result row `result`, (q + result*fl[0]) mod 16 (docs/chip.md section 4)."""
    return machine.entry((dot.entry + result * dot.next_entry) % ENTRIES)


def read_rows(op: RowOp, machine: Machine) -> set[int]:
    """The op's A row, B rows and residual rows (docs/chip.md section 4)."""
    first = first_of(op, machine)
    b_rows = range(first, first + count_of(op, machine))
    match op:
        case Dot():
            used = [entry_of(op, result, machine) for result in range(len(result_rows(op, machine)))]
            return {op.a, *b_rows, *(entry.residual_row for entry in used if entry.residual)}
        case DotL() | Score():
            return {op.a, *b_rows}
        case Av():
            return {*b_rows}


def walk_of(gather: Gather, machine: Machine) -> Walked:
    """The walk of a GATHER whose count is in its range, from logical row R[ra] on (docs/chip.md section 4)."""
    first_row = machine.register(gather.address_register)
    return walked(first_row, count_of(gather, machine), gather.half, machine)


def first_error(instruction: Instruction, machine: Machine) -> ErrorCode:
    """The first error, in the definition's order, of an instruction that is not ILLEGAL, or NONE (CHIP-ERROR).

    Of a GATHER it is EXT_RANGE or PAGE exactly for an error of its walk. Source: docs/chip.md section 4.
    """
    match instruction:
        case Halt() | Fence() | SetQ():
            return ErrorCode.NONE
        case StReg():
            return _outside_memory(address_of(instruction, machine), 1, machine)
        case Load() | Store() | Gather():
            return _error_of_transfer(instruction, machine)
        case Dot() | DotL() | Score() | Av():
            return _error_of_op(instruction, machine)
    assert_never(instruction)


def _error_of_transfer(transfer: Transfer, machine: Machine) -> ErrorCode:
    count = count_of(transfer, machine)
    if not 0 <= count <= LONGEST_TRANSFER:
        return ErrorCode.COUNT
    if count == 0:
        return ErrorCode.NONE
    if first_of(transfer, machine) + count > SPAD_ROWS:
        return ErrorCode.ROW_RANGE
    if isinstance(transfer, Gather):
        return walk_of(transfer, machine).error
    return _outside_memory(address_of(transfer, machine), count * machine.words_a_row, machine)


def _error_of_op(op: RowOp, machine: Machine) -> ErrorCode:
    count, results = count_of(op, machine), result_rows(op, machine)
    if not 1 <= count <= LONGEST_OP or len(results) > MOST_RESULT_ROWS:
        return ErrorCode.COUNT
    scored = machine.last_score() if isinstance(op, Av) else None
    if scored is not None and count != scored.count:
        return ErrorCode.COUNT
    if first_of(op, machine) + count > SPAD_ROWS or any(row >= SPAD_ROWS for row in results):
        return ErrorCode.ROW_RANGE
    if not read_rows(op, machine).isdisjoint(results):
        return ErrorCode.ROW_RANGE
    if isinstance(op, Av) and scored is None:
        return ErrorCode.DIV0
    return ErrorCode.NONE


def _outside_memory(address: int, words: int, machine: Machine) -> ErrorCode:
    return ErrorCode.EXT_RANGE if address + words > len(machine.memory) else ErrorCode.NONE


def _from(start: int, count: int, stride: int) -> range:
    return range(start, start + count * stride, stride)
