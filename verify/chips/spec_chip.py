"""The chip's definition as a chip: what a program means, in no time at all."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from impl.chip import ChipUnknown, MemoryWords, Profile, Result, Start
from spec.isa import EXT_WORDS, IMEM_BASE, IMEM_INSTRUCTIONS, START, Register, Words
from spec.isa_machine import Machine, Unspecified
from spec.isa_semantics import run
from verify.chips import exchange


class SpecChip:
    """spec.isa_semantics behind the protocol of impl.chip. It has no counters, and memory's latency does not show."""

    def __init__(self, lanes: int, words: int = EXT_WORDS) -> None:
        exchange.check_size(lanes, words)
        self._lanes = lanes
        self._words = words

    @property
    def lanes(self) -> int:
        return self._lanes

    @property
    def words(self) -> int:
        return self._words

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        """A result for each start. Raises ChipUnknown for a program that reads a row which was never written."""
        exchange.check(starts, memory, self.words, profile)
        machine = Machine.fresh(self.lanes, memory)
        return [_result(machine, start) for start in starts]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def _result(machine: Machine, start: Start) -> Result:
    for first, segment in start.memory:
        machine.memory[first : first + len(segment)] = segment
    for place, words in enumerate(start.program or ()):
        machine.imem[place] = words
    for address, value in start.registers:
        write(machine, address, value)
    try:
        ended = run(machine)
    except Unspecified as error:
        raise ChipUnknown(str(error)) from None
    return Result(machine.memory.copy(), machine.tok, ended.status, ended.error_pc, None)


def write(machine: Machine, address: int, value: int) -> None:
    """Do what a write on the host port does (docs/chip.md section 3). Raises ValueError for a start, which is no write here."""
    if address == Register.CTRL and value & START:
        raise ValueError("a host write of CTRL starts the program before the others are done")
    if Register.R0 < address <= Register.R7:
        machine.registers[address - Register.R0] = value
    if IMEM_BASE <= address < IMEM_BASE + 2 * IMEM_INSTRUCTIONS:
        place, high = divmod(address - IMEM_BASE, 2)
        halves: list[int] = list(machine.imem[place])
        halves[high] = value
        machine.imem[place] = _words(halves)


def _words(halves: list[int]) -> Words:
    low, high = halves
    return low, high
