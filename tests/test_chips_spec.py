"""The definition as a chip: starts, host writes and what it refuses."""

import numpy as np
import pytest

from impl.chip import ChipUnknown, Start
from spec.isa import IMEM_BASE, Halt, Load, Store, StReg, encode
from verify.chips.spec_chip import SpecChip

MEMORY = np.arange(100, dtype=np.uint32)
COPY = tuple(encode(one) for one in (Load(0, 2, 0, address_register=1), Store(0, 2, 50), Halt()))


def test_a_later_start_keeps_program_registers_and_memory() -> None:
    written = np.array([9, 9], np.uint32)
    first, second = SpecChip(16, 100).run([Start(COPY, ((9, 4),)), Start(memory=((4, written),))], MEMORY)
    assert first.memory[50:58].tolist() == list(range(4, 12))
    assert second.memory[50:58].tolist() == [9, 9, *range(6, 12)]
    assert (first.status, first.counters) == (2, None)
    assert MEMORY.tolist() == list(range(100))


def test_runs_begin_anew() -> None:
    chip = SpecChip(16, 100)
    chip.run([Start(COPY, ((9, 4),))], MEMORY)
    assert chip.run([Start(COPY)], MEMORY)[0].memory[50] == 0
    assert chip.run([Start()], MEMORY)[0].status == 0x106


def test_the_host_writes_half_an_instruction_at_a_time() -> None:
    low, high = encode(StReg(7))
    halt = encode(Halt())[0]
    writes = ((IMEM_BASE, low), (IMEM_BASE + 1, high), (IMEM_BASE + 2, halt), (8, 5), (0x3, 5), (0x7FF, 5))
    (result,) = SpecChip(16, 100).run([Start(registers=writes)], MEMORY)
    assert (result.status, result.memory[7]) == (2, 0)


def test_what_the_definition_leaves_open_is_unknown_or_refused() -> None:
    with pytest.raises(ChipUnknown, match="row 0 is read and was never written"):
        SpecChip(16, 100).run([Start((encode(Store(0, 1, 0)),))], MEMORY)
    with pytest.raises(ValueError, match="a host write of CTRL starts the program"):
        SpecChip(16, 100).run([Start(registers=((0, 1),))], MEMORY)
    with pytest.raises(ValueError, match="memory has shape"):
        SpecChip(16, 99).run([Start()], MEMORY)
