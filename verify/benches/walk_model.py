"""The walk of a GATHER, cycle by cycle, as docs/chip.md section 6 tells it: entry, next, table reads, checks (CHIP-GATHER)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spec.isa import EXT_WORDS, ErrorCode
from verify.benches.chip_under_test import ROW_WORDS

BEYOND = -1
"""What arrives instead of a table word that is at or beyond EXT_WORDS."""
VALID = 1 << 31


class Walker(NamedTuple):
    """The host's registers of the walker."""

    btbase: int
    btmask: int
    pool: int
    logp: int
    npages: int

    def slot_address(self, row: int) -> int:
        """Where the block table names the page of a logical row."""
        return self.btbase + (row >> self.logp & self.btmask)

    def row_address(self, table_word: int, half: int, row: int) -> int:
        """Where the row stands in the page of that table word."""
        page_rows = 1 << self.logp
        page = self.pool + (table_word & 0xFFFF) * 2 * page_rows * ROW_WORDS
        return page + half * page_rows * ROW_WORDS + (row & page_rows - 1) * ROW_WORDS

    def error(self, table_word: int, half: int, row: int) -> ErrorCode:
        """What the check of a row finds, in the order of section 4."""
        if table_word == BEYOND:
            return ErrorCode.EXT_RANGE
        if not table_word & VALID or table_word >> 16 & 0x7FFF or table_word & 0xFFFF >= self.npages:
            return ErrorCode.PAGE
        last = self.row_address(table_word, half, row) + ROW_WORDS - 1
        return ErrorCode.EXT_RANGE if last >= EXT_WORDS else ErrorCode.NONE


class Raised(NamedTuple):
    """A read that is raised, of the table or of row k."""

    table: bool
    address: int
    last: bool = False


@dataclass(slots=True)
class WalkModel:
    """One GATHER of `count` rows from logical row `first`. `raised` and `checks` are of this cycle, `clocked` ends it."""

    walker: Walker
    first: int
    half: int
    count: int
    k: int = 0
    word: int = 0
    entry: int | None = None
    next: int | None = None
    pending: bool = False
    fault: ErrorCode = ErrorCode.NONE
    finished: bool = False

    @property
    def row(self) -> int:
        """Logical row k."""
        return self.first + self.k & 0xFFFFFFFF

    def due(self) -> int | None:
        """The address of the table word that is due."""
        page_rows = 1 << self.walker.logp
        left = page_rows - (self.row & page_rows - 1)
        if self.pending or self.finished or self.fault:
            return None
        if self.entry is None:
            return self.walker.slot_address(self.row)
        if self.next is None and self.k + left < self.count:
            return self.walker.slot_address(self.row + left & 0xFFFFFFFF)
        return None

    def checks(self) -> ErrorCode:
        """What the check of row k in this cycle finds, NONE also when there is none."""
        looks = (
            self.due() is None and self.entry is not None and self.word == 0 and not self.fault and not self.finished
        )
        if not looks or self.entry is None:
            return ErrorCode.NONE
        return self.walker.error(self.entry, self.half, self.row)

    def raised(self, room: bool) -> Raised | None:
        """The read that is raised in this cycle when there is room for one more."""
        table = self.due()
        if table is not None:
            return Raised(True, table) if room and table < EXT_WORDS else None
        if self.entry is None or self.fault or self.finished or self.checks() or not room:
            return None
        last = self.k == self.count - 1 and self.word == ROW_WORDS - 1
        return Raised(False, self.walker.row_address(self.entry, self.half, self.row) + self.word, last)

    def clocked(self, raised: Raised | None, answer: int | None) -> str:
        """The edge: `raised` was accepted, and the table's `answer` came, if any; what a change of page found, if one was."""
        table, found = self.due(), self.checks()
        arrives = BEYOND if table is not None and table >= EXT_WORDS else answer
        turn = ""
        if raised is not None and raised.table:
            self.pending = True
        if answer is not None:
            self.pending = False
        if arrives is not None and self.entry is None:
            self.entry = arrives
        elif arrives is not None:
            self.next = arrives
        if raised is not None and not raised.table:
            self.word = (self.word + 1) % ROW_WORDS
            self.k += self.word == 0
            if self.word == 0 and self.row % (1 << self.walker.logp) == 0 and self.k < self.count:
                turn = "arrives" if arrives is not None else "late" if self.next is None else "ahead"
                self.entry, self.next = self.next, None
        if raised is not None and raised.last:
            self.finished, self.k, self.entry, self.next = True, 0, None, None
        self.fault = self.fault or found
        return turn


def reads_of(model: WalkModel, memory: Sequence[int]) -> list[int]:
    """Addresses of all reads of a fresh walk without an error: a page's rows come behind the next page's table word."""
    walker, rows = model.walker, [model.first + k & 0xFFFFFFFF for k in range(model.count)]
    found: list[int] = []
    for k, row in enumerate(rows):
        if k == 0:
            found.append(walker.slot_address(row))
        if k == 0 or row % (1 << walker.logp) == 0:
            behind = (later for later in rows[k + 1 :] if later % (1 << walker.logp) == 0)
            found += [walker.slot_address(later) for later in behind][:1]
        start = walker.row_address(memory[walker.slot_address(row)], model.half, row)
        found += range(start, start + ROW_WORDS)
    return found
