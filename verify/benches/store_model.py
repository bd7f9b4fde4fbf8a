"""A store's words, cycle by cycle, as docs/chip.md section 6 tells it: row register, next register, one read in flight."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from verify.benches.chip_under_test import ROW_WORDS


@dataclass(slots=True)
class StoreModel:
    """One store of `rows`, each its words. `outputs` says what this cycle shows, `clocked` ends it."""

    first: int
    rows: Sequence[Sequence[int]]
    launched: int = 0
    in_flight: int | None = None
    next_row: int | None = None
    row: int | None = None
    word: int = 0
    finished: bool = field(default=False)

    def launch(self, quiet: bool) -> int | None:
        """The scratchpad row whose read is launched in this cycle."""
        free = self.in_flight is None and self.next_row is None and self.launched < len(self.rows)
        return self.first + self.launched if free and quiet and not self.finished else None

    def data(self) -> int | None:
        """The word that is raised, None when none is."""
        return None if self.row is None else self.rows[self.row][self.word]

    def is_last(self) -> bool:
        """Whether that word is the last of the store."""
        return self.row == len(self.rows) - 1 and self.word == ROW_WORDS - 1

    def clocked(self, quiet: bool, accepted: bool) -> None:
        """The edge that ends a cycle in which the raised word was accepted or not."""
        launched = self.launch(quiet) is not None
        leaves = accepted and self.word == ROW_WORDS - 1
        self.finished = self.finished or (accepted and self.is_last())
        if accepted:
            self.word = (self.word + 1) % ROW_WORDS
        if leaves:
            self.row = None
        if self.row is None and self.next_row is not None:
            self.row, self.next_row = self.next_row, None
        elif self.row is None and self.in_flight is not None:
            self.row, self.in_flight = self.in_flight, None
        if self.in_flight is not None:
            self.next_row, self.in_flight = self.in_flight, None
        if launched:
            self.in_flight = self.launched
            self.launched += 1
