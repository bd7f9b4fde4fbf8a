"""External memory, one class a profile. Source: docs/chip.md section 3, and section 6, Memory profiles."""

from abc import ABC, abstractmethod
from collections import deque

from impl.chip import MemoryWords, Profile

SEED_BITS = 32
STATES = 1 << SEED_BITS
DELAY_BITS = 4

Write = tuple[int, int]
"""Address and word."""


class Memory(ABC):
    """Words, and the reads that are on their way.

    It is evaluated and clocked in cycles in which a request may be raised or an answer be on its way, and in every busy
    cycle if it is `restless`.
    """

    __slots__ = ("_view", "ready", "response", "words")

    restless = False

    def __init__(self, words: MemoryWords) -> None:
        self.words = words
        self._view = words.data
        self.ready = True
        """Output: whether a request that is raised in this cycle is accepted."""
        self.response: int | None = None
        """Output: the answer of this cycle."""

    @abstractmethod
    def begin_run(self) -> None:
        """Pass the edge of a start."""

    @abstractmethod
    def end_run(self) -> None:
        """Pass the edge that ends a run, after its clock."""

    @abstractmethod
    def evaluate(self) -> None:
        """Set ready and the response."""

    @abstractmethod
    def clock(self, read: int | None, write: Write | None) -> None:
        """Pass the edge: take the read (address) or the write that is raised, if it is accepted."""


class FixedMemory(Memory):
    """FIXED: the reads are a ring of as many places as the latency has cycles."""

    __slots__ = ("_answers", "_at")

    def __init__(self, words: MemoryWords, latency: int) -> None:
        super().__init__(words)
        self._answers: list[int | None] = [None] * latency
        self._at = 0

    def begin_run(self) -> None:
        """Nothing: it answers in a run as it does outside of one."""

    def end_run(self) -> None:
        """Nothing, likewise."""

    def evaluate(self) -> None:
        """Set the response: what was read `latency` cycles ago."""
        self.response = self._answers[self._at]

    def clock(self, read: int | None, write: Write | None) -> None:
        """Pass the edge: take the read (address) or the write that is raised."""
        self._answers[self._at] = None if read is None else self._view[read]
        self._at = (self._at + 1) % len(self._answers)
        if write is not None:
            self._view[write[0]] = write[1]


class RandomMemory(Memory):
    """RANDOM: the state, a xorshift, says whether memory is ready and how long a read takes at least."""

    __slots__ = ("_coming", "_now", "_running", "_seed", "_state")

    restless = True

    _running: bool
    _state: int

    def __init__(self, words: MemoryWords, seed: int) -> None:
        super().__init__(words)
        self._seed = seed
        self._now = 0
        self._coming: deque[tuple[int, int]] = deque()
        """The first cycle that an answer may come in, and its word, in the order of acceptance."""

    def begin_run(self) -> None:
        """Pass the edge of a start."""
        self._running = True
        self._state = self._seed

    def end_run(self) -> None:
        """Pass the edge that ends a run."""
        self._running = False

    def evaluate(self) -> None:
        """Set ready, and the response: the oldest answer if its time has come, one a cycle."""
        self.ready = not self._running or self._state & 3 != 0
        coming = self._coming
        self.response = coming[0][1] if coming and coming[0][0] <= self._now else None

    def clock(self, read: int | None, write: Write | None) -> None:
        """Pass the edge: take what is raised if it is accepted."""
        if self.response is not None:
            self._coming.popleft()
        if self.ready:
            if read is not None:
                delay = self._state >> 8 & ((1 << DELAY_BITS) - 1)
                self._coming.append((self._now + 1 + delay, self._view[read]))
            if write is not None:
                self._view[write[0]] = write[1]
        self._now += 1
        if self._running:
            self._state = stepped(self._state)


def stepped(state: int) -> int:
    """The state of RANDOM a cycle on."""
    state ^= (state << 13) % STATES
    state ^= state >> 17
    return state ^ (state << 5) % STATES


class MuteMemory(Memory):
    """MUTE: as fixed, until so many requests of a run are accepted; then mute until the run has ended."""

    __slots__ = ("_accepted", "_coming", "_latency", "_most", "_now", "_running")

    _accepted: int
    _running: bool

    def __init__(self, words: MemoryWords, latency: int, most: int) -> None:
        super().__init__(words)
        self._latency = latency
        self._most = most
        self._now = 0
        self._coming: deque[tuple[int, int]] = deque()
        """The cycle that an answer is due in, and its word, in the order of acceptance."""

    def begin_run(self) -> None:
        """Pass the edge of a start."""
        self._running = True
        self._accepted = 0

    def end_run(self) -> None:
        """Pass the edge that ends a run."""
        self._running = False

    def evaluate(self) -> None:
        """Set ready, and the response: the oldest answer that is due, unless mute."""
        self.ready = not self._running or self._accepted < self._most
        coming = self._coming
        self.response = coming[0][1] if self.ready and coming and coming[0][0] <= self._now else None

    def clock(self, read: int | None, write: Write | None) -> None:
        """Pass the edge: take what is raised if it is accepted."""
        if self.response is not None:
            self._coming.popleft()
        if self.ready:
            if read is not None:
                self._coming.append((self._now + self._latency, self._view[read]))
                self._accepted += 1
            elif write is not None:
                self._view[write[0]] = write[1]
                self._accepted += 1
        self._now += 1


def memory_of(words: MemoryWords, profile: Profile) -> Memory:
    """The memory of that profile. Raises ValueError for a profile that the definition does not have."""
    if profile.seed >> SEED_BITS:
        raise ValueError(f"a seed has {SEED_BITS} bits, not {profile.seed:#x}")
    if profile.mute_after < 0 or (profile.seed and profile.mute_after):
        raise ValueError(f"memory is fixed, RANDOM or MUTE: {profile}")
    if profile.seed:
        return RandomMemory(words, profile.seed)
    if profile.latency < 1:
        raise ValueError(f"memory answers after at least one cycle, not {profile.latency}")
    if profile.mute_after:
        return MuteMemory(words, profile.latency, profile.mute_after)
    return FixedMemory(words, profile.latency)
