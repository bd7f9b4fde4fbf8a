"""WALK: the requests of a GATHER, table words ahead of the rows of their pages. Source: docs/chip.md section 6, DMA, requests."""

from impl.chip_model.command import WORD
from impl.chip_model.queue import Descriptor
from impl.chip_model.registers import WalkerRegisters
from spec.isa import MOST_OUTSTANDING, ErrorCode

NO_FAULT, EXT_RANGE, PAGE = ErrorCode.NONE, ErrorCode.EXT_RANGE, ErrorCode.PAGE

BEYOND = WORD
"""The mark for an entry whose own word is not in memory: no table word has this value."""

VALID = 1 << 31
"""What a table word has beside its page."""
MOST_PAGES = 1 << 16


class Walk:
    """Evaluated and clocked by DMA while the current entry is a GATHER; its registers hold nothing otherwise."""

    __slots__ = (
        "_base",
        "_beyond",
        "_found",
        "_reads_table",
        "_registers",
        "_row_words",
        "_table_place",
        "_words",
        "ending",
        "entry",
        "fault",
        "k",
        "next",
        "table_pending",
    )

    _table_place: int
    """Answers that come before the table's, while that is pending."""
    _base: int
    """The address of row k, found where it is checked."""
    _reads_table: bool
    _beyond: bool

    def __init__(self, lanes: int, words: int, registers: WalkerRegisters) -> None:
        self._row_words = lanes // 4
        self._words = words
        self._registers = registers

        self.k = 0
        """Rows whose reads are all accepted."""
        self.entry: int | None = None
        """The table word of row k's page, or BEYOND; None while it is not valid. `next`, that of the page after, likewise."""
        self.next: int | None = None
        self.table_pending = False
        self.fault = NO_FAULT
        self._found = NO_FAULT
        self.ending: tuple[ErrorCode, int] | None = None
        """Output: the fault, and the number of its GATHER, that end the run in this cycle."""

    def evaluate(self, gather: Descriptor, word: int, outstanding: int) -> int | None:
        """The address of the read that is raised in this cycle, if one is."""
        self._reads_table = self._beyond = False
        if self.fault is not NO_FAULT:
            self.ending = (self.fault, gather.pc) if outstanding == 0 else None
            return None
        due = self._due(gather)
        if due is not None:
            address = self._slot_address(gather, due)
            self._beyond = address >= self._words
            self._reads_table = not self._beyond and outstanding < MOST_OUTSTANDING
            return address if self._reads_table else None
        if self.entry is None:
            return None
        if word == 0:
            self._base = self._row_address(gather, self.entry)
            self._found = self._check(self.entry)
            if self._found is not NO_FAULT:
                return None
        return self._base + word if outstanding < MOST_OUTSTANDING else None

    def _due(self, gather: Descriptor) -> int | None:
        """The row whose table word is due, if one is."""
        if self.table_pending:
            return None
        if self.entry is None:
            return self.k
        if self.next is None:
            rows = 1 << self._registers.logp
            following = self.k + rows - (gather.address + self.k & rows - 1)
            if following < gather.count:
                return following
        return None

    def _slot_address(self, gather: Descriptor, k: int) -> int:
        """The address of the table word of the page that row k of the GATHER is in."""
        registers = self._registers
        logical = (gather.address + k) % WORD
        return registers.btbase + (logical >> registers.logp & registers.btmask)

    def _row_address(self, gather: Descriptor, entry: int) -> int:
        """The address of row k in the page that its table word names."""
        rows = 1 << self._registers.logp
        row_of_pool = (2 * (entry - VALID) + gather.kv) * rows + (gather.address + self.k & rows - 1)
        return self._registers.pool + row_of_pool * self._row_words

    def _check(self, entry: int) -> ErrorCode:
        """What is wrong with row k, whose address is found."""
        if entry == BEYOND:
            return EXT_RANGE
        if not 0 <= entry - VALID < min(self._registers.npages, MOST_PAGES):
            return PAGE
        return EXT_RANGE if self._base + self._row_words > self._words else NO_FAULT

    def is_answer(self) -> bool:
        """Whether the answer of this cycle is the table's, for which a read is pending; every answer is asked about."""
        if self._table_place == 0:
            return True
        self._table_place -= 1
        return False

    def clock(self, gather: Descriptor, word: int, accepted: bool, answer: int | None, unanswered: int) -> int | None:
        """Pass the edge; the new `word`, or None after the last word of the last row.

        `answer` is the table's answer of this cycle, and `unanswered` how many answers a read accepted now has before it.
        """
        if self._found is not NO_FAULT:
            self.fault, self._found = self._found, NO_FAULT
        if answer is not None:
            self.table_pending = False
        arriving = BEYOND if self._beyond else answer
        if accepted and self._reads_table:
            self.table_pending = True
            self._table_place = unanswered
        elif accepted:
            word += 1
            if word == self._row_words:
                word = 0
                self.k += 1
                if self.k == gather.count:
                    self.clear()
                    return None
                if (gather.address + self.k) & ((1 << self._registers.logp) - 1) == 0:
                    self.entry, self.next = self.next if arriving is None else arriving, None
                    return word
        if arriving is not None:
            if self.entry is None:
                self.entry = arriving
            else:
                self.next = arriving
        return word

    def clear(self) -> None:
        """Let no register hold anything."""
        self.k = 0
        self.entry = self.next = None
        self.table_pending = False
        self.fault = self._found = NO_FAULT
        self.ending = None
