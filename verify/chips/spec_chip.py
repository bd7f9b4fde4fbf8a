"""The chip's definition as a chip: what a program means, in no time at all."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from impl.chip import ChipUnknown, MemoryWords, Profile, Result, Start
from spec.isa import EXT_WORDS
from spec.isa_machine import Machine, Unspecified
from spec.isa_semantics import run
from verify.chips import exchange


class SpecChip:
    """spec.isa_semantics behind the protocol of impl.chip. It has no counters, and when memory answers does not show."""

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
        """A result for each start. Raises ChipUnknown for a program that reads a row which was never written.

        Raises ValueError also for a start among the host's writes, and for what has no meaning without time: a reset in a
        busy cycle, and memory that falls silent.
        """
        exchange.check(starts, memory, self.words, profile)
        if profile.mute_after or any(start.reset_at for start in starts):
            raise ValueError(
                "a definition without time cannot say what was done when memory fell silent or a reset came"
            )
        machine = Machine.fresh(self.lanes, memory)
        return [_result(machine, start) for start in starts]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def _result(machine: Machine, start: Start) -> Result:
    if start.reset_at == 0:
        machine.soft_reset()
    for first, segment in start.memory:
        machine.memory[first : first + len(segment)] = segment
    for address, value in exchange.host_writes(start):
        machine.host_write(address, value)
    try:
        ended = run(machine)
    except Unspecified as error:
        raise ChipUnknown(str(error)) from None
    return Result(machine.memory.copy(), machine.tok, ended.status, ended.error_pc, None)
