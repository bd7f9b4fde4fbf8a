"""Chips of the definition with a program, rows and words already in place, for tests of spec.isa_semantics."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from spec.isa import EXT_WORDS, IMEM_INSTRUCTIONS, ErrorCode, Halt, Instruction, SetQ, Words, encode
from spec.isa_machine import Walker
from spec.isa_semantics import Ended, Machine, run

Rows = Mapping[int, Iterable[int]]

FINE = Ended(ErrorCode.NONE, 0)
ONE, HALF = 15, 16
"""The shifts with which M = 32768 multiplies by 1 and by 1/2."""
VALID = 0x8000_0000
"""The bit of a table word that says that it names a page."""
TABLE = 4
"""Where the block table of a paged chip stands."""


def chip(
    *program: Instruction,
    lanes: int = 16,
    rows: Rows | None = None,
    words: Mapping[int, int] | None = None,
    registers: Mapping[int, int] | None = None,
) -> Machine:
    """A fresh chip that holds the program, HALT after it, these rows filled up with zeros, words and registers."""
    memory = np.zeros(EXT_WORDS, np.uint32)
    for address, word in (words or {}).items():
        memory[address] = word
    machine = Machine.fresh(lanes, memory)
    set_program(machine, *program)
    for number, values in (rows or {}).items():
        set_row(machine, number, values)
    for number, value in (registers or {}).items():
        machine.registers[number] = value
    return machine


def set_program(machine: Machine, *program: Instruction) -> None:
    """Instructions 0 .. become the program and a HALT, all after it 0."""
    words: list[Words] = [encode(instruction) for instruction in (*program, Halt())]
    machine.imem = [*words, *[(0, 0)] * (IMEM_INSTRUCTIONS - len(words))]


def set_row(machine: Machine, number: int, values: Iterable[int]) -> None:
    """The row becomes the values, zeros after them."""
    filled = list(values)
    machine.set_row(number, np.array(filled + [0] * (machine.lanes - len(filled)), np.int64))


def after(machine: Machine) -> Machine:
    """The machine once its program has run to HALT."""
    assert run(machine) == FINE
    return machine


def by_one(entry: int, residual_row: int = 0, residual: int = 0) -> SetQ:
    """A SETQ that multiplies by 1."""
    return SetQ(entry, 32768, ONE, residual_row, residual)


def by_half(entry: int, residual_row: int = 0, residual: int = 0) -> SetQ:
    """A SETQ that multiplies by 1/2, so that rounding is seen."""
    return SetQ(entry, 32768, HALF, residual_row, residual)


def columns(first: int, *values: int) -> dict[int, list[int]]:
    """Rows first .. of which lane 0 holds the values: their dot products with (1, 0, ...) are the values."""
    return {first + i: [value] for i, value in enumerate(values)}


def lanes(machine: Machine, number: int) -> list[int]:
    """The lanes of a written row."""
    return [int(lane) for lane in machine.row(number)]


def padded(*values: int, width: int = 16) -> list[int]:
    """The values, zeros after them."""
    return [*values, *[0] * (width - len(values))]


def paged(
    *program: Instruction,
    table: Sequence[int],
    logp: int,
    lo: int = 0,
    pool: int = 100,
    npages: int = 8,
    mask: int = 3,
    btbase: int = TABLE,
    lanes: int = 16,
    registers: Mapping[int, int] | None = None,
) -> Machine:
    """A chip whose every word holds its own address, but for the table of these entries at btbase; R3 is lo."""
    machine = chip(*program, lanes=lanes, registers={3: lo} | dict(registers or {}))
    machine.memory[:] = np.arange(EXT_WORDS)
    for slot, word in enumerate(table):
        machine.memory[btbase + slot] = word
    machine.walker = Walker(btbase=btbase, btmask=mask, pool=pool, logp=logp, npages=npages)
    return machine


def pages(*numbers: int) -> list[int]:
    """Valid entries of these pages."""
    return [VALID + number for number in numbers]
