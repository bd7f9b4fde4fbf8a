"""External memory that is always ready and answers after a fixed time. Source: docs/chip.md sections 3 and 6."""

from impl.chip import MemoryWords


class Memory:
    """Words, and the reads that are on their way: a ring of as many places as the latency has cycles."""

    __slots__ = ("_answers", "_at", "_view", "response", "words")

    def __init__(self, words: MemoryWords, latency: int) -> None:
        self.words = words
        self._view = words.data
        self._answers: list[int | None] = [None] * latency
        self._at = 0
        self.response: int | None = None
        """Output: the answer of this cycle."""

    def evaluate(self) -> None:
        """Set the response: what was read `latency` cycles ago."""
        self.response = self._answers[self._at]

    def clock(self, read: int | None, write: tuple[int, int] | None) -> None:
        """Pass the edge: take the accepted read (address) or write (address, word)."""
        self._answers[self._at] = None if read is None else self._view[read]
        self._at = (self._at + 1) % len(self._answers)
        if write is not None:
            self._view[write[0]] = write[1]
