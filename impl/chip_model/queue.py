"""The queue of descriptors between SEQ and DMA. Source: docs/chip.md section 6, Queue."""

from collections import deque

from impl.chip_model.rows import NO_ROWS, RowSet, span
from spec.isa import QUEUE, Op

LOADS = frozenset({Op.LOAD, Op.GATHER})
STORE = Op.STORE  # by a name of its own, as in dma.py


class Descriptor:
    """A LOAD, GATHER, STORE or STREG on its way; `address` is the first logical row of a GATHER, and `kv` its half."""

    __slots__ = ("address", "count", "kind", "kv", "owed", "pc", "row", "rows", "tok")

    def __init__(self, kind: Op, row: int, count: int, address: int, tok: int, kv: int, pc: int) -> None:
        self.kind = kind
        self.row = row
        self.count = count
        self.address = address
        self.tok = tok
        self.kv = kv
        self.pc = pc
        self.rows: RowSet = span(row, count)
        self.owed: RowSet = self.rows if kind in LOADS else NO_ROWS
        """Rows that a load has not written yet."""


class Queue:
    """A ring of descriptors, oldest first.

    `owed` and `stored`, what the loads still owe and what the stores own, and `current`, the oldest entry whose requests are
    not all accepted, are kept with the entries that they follow from.
    """

    __slots__ = ("_owed_behind", "accepted", "current", "entries", "owed", "stored")

    def __init__(self) -> None:
        self.entries: deque[Descriptor] = deque()
        self.accepted = 0
        """Entries, from the oldest, whose requests are all accepted."""
        self.current: Descriptor | None = None
        self.owed: RowSet = NO_ROWS
        self._owed_behind: RowSet = NO_ROWS
        """What the entries behind the head owe."""
        self.stored: RowSet = NO_ROWS

    @property
    def full(self) -> bool:
        """Whether all entries are taken."""
        return len(self.entries) >= QUEUE

    def push(self, entry: Descriptor) -> None:
        """Make the entry the youngest."""
        self.entries.append(entry)
        if self.current is None:
            self.current = entry
        self._follow()

    def accept(self) -> None:
        """Make the next entry current."""
        self.accepted += 1
        self.current = self.entries[self.accepted] if self.accepted < len(self.entries) else None

    def leave(self) -> None:
        """Take the head entry out; its requests are all accepted."""
        self.entries.popleft()
        self.accepted -= 1
        self._follow()

    def written(self, row: int) -> None:
        """The head entry, a load, no longer owes the row."""
        head = self.entries[0]
        head.owed &= ~(1 << row)
        self.owed = head.owed | self._owed_behind

    def flush(self) -> None:
        """Become empty."""
        self.entries.clear()
        self.accepted = 0
        self.current = None
        self._follow()

    def _follow(self) -> None:
        self.owed = self._owed_behind = self.stored = NO_ROWS
        for place, entry in enumerate(self.entries):
            self.owed |= entry.owed
            if place:
                self._owed_behind |= entry.owed
            if entry.kind is STORE:
                self.stored |= entry.rows
