"""When the stand-in asks and is answered, written down again from docs/chip.md's memory profiles: one cycle after the other."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from impl.chip import Profile


@dataclass(slots=True)
class Timing:
    """Cycles of a run, 1 the first: those in which a request waited, and with the last of them how long the run is."""

    refused_reads: list[int] = field(default_factory=list)
    refused_writes: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    total: int = 0


def chances(seed: int) -> Iterator[int]:
    """The states of a run's chance: those of its first busy cycle, of its second, and so on."""
    while True:
        yield seed
        seed ^= seed << 13 & 0xFFFFFFFF
        seed ^= seed >> 17
        seed ^= seed << 5 & 0xFFFFFFFF


def chance_in(seed: int, cycle: int) -> int:
    """The state in that busy cycle, or in the idle ones after the busy cycle before it."""
    states = chances(seed)
    for _ in range(cycle - 1):
        next(states)
    return next(states)


class Answers:
    """When memory is ready and answers; cycles are asked for in order."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.states = chances(profile.seed)
        self.cycle = 0
        self.state = 0
        self.accepted = 0
        self.last = 0

    def ready(self, cycle: int) -> bool:
        """Whether a request of that cycle, which is the next or a later one, is accepted."""
        while self.cycle < cycle:
            self.state = next(self.states)
            self.cycle += 1
        if self.profile.seed:
            return self.state % 4 != 0
        return not self.profile.mute_after or self.accepted < self.profile.mute_after

    def accept(self, read: bool) -> int:
        """The cycle of the answer, if it is a read."""
        self.accepted += 1
        if read:
            delay = 1 + (self.state >> 8) % 16 if self.profile.seed else self.profile.latency
            self.last = max(self.cycle + delay, self.last + 1)
        return self.last


def copied(words: int, profile: Profile) -> Timing:
    """A copy: a read, and its write in the cycle after the answer, again and again."""
    found, memory = Timing(), Answers(profile)
    cycle = 1
    for _ in range(words):
        while not memory.ready(cycle):
            found.refused_reads.append(cycle)
            cycle += 1
        found.answers.append(memory.accept(read=True))
        cycle = found.answers[-1] + 1
        while not memory.ready(cycle):
            found.refused_writes.append(cycle)
            cycle += 1
        memory.accept(read=False)
        cycle += 1
    found.total = cycle - 1
    return found


def pipelined(words: int, profile: Profile) -> Timing:
    """Reads alone, one a cycle where memory is ready. The run ends in the cycle after the last answer."""
    found, memory = Timing(), Answers(profile)
    cycle = 1
    for _ in range(words):
        while not memory.ready(cycle):
            found.refused_reads.append(cycle)
            cycle += 1
        found.answers.append(memory.accept(read=True))
        cycle += 1
    found.total = found.answers[-1] + 1
    return found
