"""What a program of the chip means: its instructions one after the other, no queue, no time (CHIP-ISA).

Arithmetic is int64 from end to end, in which every sum and product of section 2 is exact. Source: docs/chip.md.
"""

from typing import NamedTuple, assert_never

import numpy as np

from spec.isa import (
    CODE_SHIFT,
    DONE,
    ERROR,
    IMEM_INSTRUCTIONS,
    Av,
    Dot,
    DotL,
    ErrorCode,
    Fence,
    Gather,
    Halt,
    IllegalInstruction,
    Instruction,
    Load,
    Score,
    SetQ,
    Store,
    StReg,
    decode,
)
from spec.isa_checks import address_of, count_of, entry_of, first_error, first_of, result_rows, walk_of
from spec.isa_machine import BYTES_A_WORD, Entry, Machine, Scored, Unspecified, lanes_of, words_of
from spec.numerics import Multiplier, exponentials, requantised, rounded_mean

__all__ = ["Ended", "Machine", "Unspecified", "run"]


class Ended(NamedTuple):
    """How a run ended: NONE and 0 after HALT, else the error and its instruction's number (docs/chip.md section 4)."""

    code: ErrorCode
    error_pc: int

    @property
    def status(self) -> int:
        """STATUS after the run, {code[15:8], err[2], done[1], busy[0]} (docs/chip.md section 3)."""
        return self.code << CODE_SHIFT | (ERROR if self.code else 0) | DONE


def run(machine: Machine) -> Ended:
    """Run the machine's program from instruction 0 to its end, which changes the machine (docs/chip.md sections 3, 4).

    All that a start keeps is kept, so it may be run again. After an error the machine is what the older instructions
    made of it; one of the walk loses all that Machine.lose names. Unspecified when what is read has no value.
    """
    for pc in range(IMEM_INSTRUCTIONS):
        try:
            instruction = decode(*machine.imem[pc])
        except IllegalInstruction:
            return Ended(ErrorCode.ILLEGAL, pc)
        error = first_error(instruction, machine)
        if error:
            if isinstance(instruction, Gather) and error in (ErrorCode.EXT_RANGE, ErrorCode.PAGE):
                machine.lose()
            return Ended(error, pc)
        if isinstance(instruction, Halt):
            return Ended(ErrorCode.NONE, 0)
        execute(instruction, machine)
    return Ended(ErrorCode.PC_END, IMEM_INSTRUCTIONS - 1)


def execute(instruction: Instruction, machine: Machine) -> None:
    """Do what the instruction, which has no error, does to the machine (docs/chip.md section 4)."""
    match instruction:
        case Halt() | Fence():
            pass
        case SetQ():
            by = Multiplier(instruction.m, instruction.shift)
            machine.set_entry(instruction.entry, Entry(by, instruction.residual_row, instruction.residual))
        case Load():
            _load(instruction, machine)
        case Gather():
            _gather(instruction, machine)
        case Store():
            _store(instruction, machine)
        case StReg():
            machine.memory[address_of(instruction, machine)] = machine.token()
        case Dot():
            _dot(instruction, machine)
        case DotL():
            _dotl(instruction, machine)
        case Score():
            _score(instruction, machine)
        case Av():
            _av(instruction, machine)
        case _:
            assert_never(instruction)


def _load(load: Load, machine: Machine) -> None:
    """Rows first .. become count*RW words of memory (docs/chip.md section 4, LOAD)."""
    # A count of 0 names neither a row nor a word, and its address may lie anywhere.
    if count := count_of(load, machine):
        first, address = first_of(load, machine), address_of(load, machine)
        words = machine.memory[address : address + count * machine.words_a_row]
        machine.set_rows(first, lanes_of(words).reshape(count, machine.lanes))


def _gather(gather: Gather, machine: Machine) -> None:
    """Rows first .. become the rows that the walk finds (CHIP-GATHER; docs/chip.md section 4, GATHER)."""
    first = first_of(gather, machine)
    for k, address in enumerate(walk_of(gather, machine).addresses):
        machine.set_row(first + k, lanes_of(machine.memory[address : address + machine.words_a_row]))


def _store(store: Store, machine: Machine) -> None:
    """count*RW words of memory become rows first .. (docs/chip.md section 4, STORE)."""
    # A count of 0 names neither a row nor a word, and its address may lie anywhere.
    if count := count_of(store, machine):
        words = words_of(machine.rows(first_of(store, machine), count))
        address = address_of(store, machine)
        machine.memory[address : address + len(words)] = words


def _dot(dot: Dot, machine: Machine) -> None:
    """Each result row becomes RQ of its share of the sums, lanes beyond count 0 (docs/chip.md section 4, DOT)."""
    sums = machine.rows(first_of(dot, machine), count_of(dot, machine)) @ machine.row(dot.a)
    for i, to in enumerate(result_rows(dot, machine)):
        part = sums[i * machine.lanes : (i + 1) * machine.lanes]
        by, residual_row, residual = entry_of(dot, i, machine)
        x = machine.row(residual_row)[: len(part)] if residual else 0
        lanes = np.zeros(machine.lanes, np.int64)
        lanes[: len(part)] = requantised(part, by, residual, x)
        machine.set_row(to, lanes)


def _dotl(dotl: DotL, machine: Machine) -> None:
    """Each result row becomes L/4 of the sums, 32 bits each, missing ones 0 (docs/chip.md section 4, DOTL)."""
    sums = machine.rows(first_of(dotl, machine), count_of(dotl, machine)) @ machine.row(dotl.a)
    results = result_rows(dotl, machine)
    packed = np.zeros(len(results) * machine.words_a_row, np.int64)
    packed[: len(sums)] = sums
    lanes = np.frombuffer(packed.astype(f"<i{BYTES_A_WORD}").tobytes(), np.int8).astype(np.int64)
    for to, row in zip(results, lanes.reshape(len(results), machine.lanes), strict=True):
        machine.set_row(to, row)
    if dotl.argmax:
        # numpy's argmax is the first of the largest.
        machine.set_token(int(sums.argmax()))


def _score(score: Score, machine: Machine) -> None:
    """e_t and Z become those of the B rows' scores (docs/chip.md sections 2 and 4, SCORE)."""
    scores = machine.rows(first_of(score, machine), count_of(score, machine)) @ machine.row(score.a)
    e = exponentials(scores, machine.entry(score.entry).by)
    machine.set_scored(Scored(e, int(e.sum())))


def _av(av: Av, machine: Machine) -> None:
    """Row dst becomes o, the rounded mean of the B rows weighted by e_t (docs/chip.md sections 2 and 4, AV)."""
    scored = machine.last_score()
    assert scored is not None
    weighted = scored.exponentials @ machine.rows(first_of(av, machine), count_of(av, machine))
    machine.set_row(av.dst, rounded_mean(weighted, scored.total))
