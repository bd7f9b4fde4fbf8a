"""SM: scores, their exponentials and the sum of these. Source: docs/chip.md section 2, and section 6, SCORE."""

from impl.chip_model.command import Entry
from impl.model_files import exp_table
from spec.isa import LONGEST_OP

LAST_INDEX = 255


class Softmax:
    """What a SCORE leaves, and the walk over its scores, which runs from the cycle after its last S2."""

    __slots__ = ("_entry", "_index", "_largest", "_next", "_scores", "_table", "count", "e", "ran", "running", "z")

    z: int
    _entry: Entry
    _largest: int
    _next: int
    """The score whose index is computed in this cycle, `count` after the last."""
    _index: int | None
    """The index that was computed in the cycle before."""

    def __init__(self) -> None:
        self._table = exp_table()
        self.ran = False
        """There was a SCORE; with `count` set at its issue."""
        self.count = 0
        self.e = [0] * LONGEST_OP
        self._scores = [0] * LONGEST_OP
        self.running = False

    @property
    def looks_up(self) -> bool:
        """Output: an exponential is looked up in this cycle."""
        return self.running and self._index is not None

    def issue(self, count: int, entry: Entry) -> None:
        """Pass the edge at which a SCORE issues."""
        self.ran = True
        self.count = count
        self._entry = entry
        self.z = 0

    def store(self, t: int, score: int) -> None:
        """Pass the edge with s_t in S2."""
        self._scores[t] = score
        self._largest = score if t == 0 else max(score, self._largest)
        if t == self.count - 1:
            self.running = True
            self._next = 0
            self._index = None

    def clock(self) -> bool:
        """Pass an edge of the walk; whether it was the last."""
        if self._index is not None:
            weight = self._table[self._index]
            self.e[self._next - 1] = weight
            self.z += weight
        self.running = self._next < self.count
        if self.running:
            self._index = self._index_of(self._scores[self._next])
            self._next += 1
        return not self.running

    def _index_of(self, score: int) -> int:
        """The place of a score in the table of exponentials."""
        difference = self._largest - score
        return min(LAST_INDEX, (difference * self._entry.m + (1 << (self._entry.sh - 1))) >> self._entry.sh)
