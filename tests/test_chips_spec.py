"""The definition as a chip: starts, host writes and what it refuses."""

import numpy as np
import pytest

from impl.chip import ChipUnknown, Profile, Start
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


def test_a_soft_reset_comes_before_the_other_writes_of_its_start() -> None:
    first, second, third = SpecChip(16, 100).run(
        [Start(COPY, ((9, 4),)), Start(registers=((10, 1),), reset_at=0), Start(registers=((9, 8),), reset_at=0)],
        MEMORY,
    )
    assert [int(result.memory[50]) for result in (first, second, third)] == [4, 0, 8]
    assert (second.status, second.token) == (2, 0)


def test_a_host_write_of_a_reset_is_one_whatever_the_start_bit_is() -> None:
    for value in (2, 3):
        (result,) = SpecChip(16, 100).run([Start(COPY, ((9, 4), (0, value), (0, 4)))], MEMORY)
        assert (result.status, result.memory[50]) == (2, 0)


def test_when_memory_answers_does_not_show() -> None:
    for profile in (Profile(1), Profile(99), Profile(seed=5)):
        (result,) = SpecChip(16, 100).run([Start(COPY, ((9, 4),))], MEMORY, profile)
        assert (result.status, result.memory[50]) == (2, 4)


def test_what_has_no_meaning_without_time_is_refused() -> None:
    for start, profile in ((Start(COPY, reset_at=1), Profile()), (Start(COPY), Profile(4, 0, 100))):
        with pytest.raises(ValueError, match="without time"):
            SpecChip(16, 100).run([start], MEMORY, profile)


def test_what_the_definition_leaves_open_is_unknown_or_refused() -> None:
    with pytest.raises(ChipUnknown, match="scratchpad row 0 is read"):
        SpecChip(16, 100).run([Start((encode(Store(0, 1, 0)),))], MEMORY)
    with pytest.raises(ValueError, match="a start is a run"):
        SpecChip(16, 100).run([Start(registers=((0, 1),))], MEMORY)
    with pytest.raises(ValueError, match="memory has shape"):
        SpecChip(16, 99).run([Start()], MEMORY)
