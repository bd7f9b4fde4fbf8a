"""A chip that computes nothing: it answers every start with what it is told, and remembers what it was asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from impl.chip import ChipError, Counters, MemoryWords, Profile, Result, Start
from spec.isa import DONE, EXT_WORDS

COUNTERS = Counters(total=400, dma=1, mac=2, vec=3, stall=4, read_words=5, written_words=6)


@dataclass
class RecordingChip:
    """Every start ends with the status, its memory changed at the places given; `statuses` go before, a start each."""

    status: int = DONE
    error_pc: int = 0
    token: int = 0
    counters: Counters | None = None
    writes: Mapping[int, Sequence[int]] = field(default_factory=dict)
    fault: ChipError | None = None
    lanes: int = 16
    words: int = EXT_WORDS
    statuses: Sequence[int] = ()
    asked: list[tuple[Start, MemoryWords, Profile]] = field(default_factory=list)

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        """The result for each start; the second one's counters are twice the first's, and so on."""
        self.asked += [(start, memory.copy(), profile) for start in starts]
        if self.fault is not None:
            raise self.fault
        after = memory.copy()
        for address, words in self.writes.items():
            after[address : address + len(words)] = words
        statuses = [*self.statuses, *[self.status] * len(starts)][: len(starts)]
        return [
            Result(after, self.token, status, self.error_pc, self._counters(number))
            for number, status in enumerate(statuses, start=1)
        ]

    def _counters(self, number: int) -> Counters | None:
        return None if self.counters is None else Counters(*(number * each for each in self.counters))
