"""DMA: requests of the queue's current entry, and answers for its head entry. Source: docs/chip.md section 6, DMA and Flush."""

from impl.chip_model.hazards import quiet
from impl.chip_model.memory import Memory
from impl.chip_model.queue import Descriptor, Queue
from impl.chip_model.rows import row_of, words_of
from impl.chip_model.scratchpad import Scratchpad
from impl.chip_model.walk import Walk
from spec.isa import MOST_OUTSTANDING, Op

# Members by names of their own: to look one up in its Enum, as Python 3.11 does it, takes longer than all else in a cycle.
LOAD, GATHER, STORE, STREG = Op.LOAD, Op.GATHER, Op.STORE, Op.STREG


class Dma:
    """Moves what the queue says between memory and the scratchpad, and drains what a flush leaves.

    To be called while the queue is not empty or the chip drains; in other cycles it does nothing.
    """

    __slots__ = (
        "_answered",
        "_current",
        "_lanes",
        "_memory",
        "_queue",
        "_row_words",
        "_rows_launched",
        "_rows_written",
        "_scratchpad",
        "_walk",
        "draining",
        "in_flight",
        "loaded_row",
        "next_register",
        "outstanding",
        "read",
        "row_register",
        "store_reads",
        "word",
        "write",
    )

    _current: Descriptor | None
    store_reads: bool
    """Output: a store's read of a row is launched in this cycle."""
    loaded_row: int | None
    """Output: the row that is written to the scratchpad in this cycle."""

    def __init__(self, lanes: int, queue: Queue, memory: Memory, scratchpad: Scratchpad, walk: Walk) -> None:
        self._lanes = lanes
        self._row_words = lanes // 4
        self._queue = queue
        self._memory = memory
        self._scratchpad = scratchpad
        self._walk = walk
        self.outstanding = 0
        self.word = 0
        """Accepted words of the current entry, of the current row if that is a GATHER."""
        self._rows_launched = 0
        self.in_flight = False
        self.row_register: tuple[int, ...] | None = None
        """A store's row as words, None while it is not valid; the next register likewise."""
        self.next_register: tuple[int, ...] | None = None
        self._answered: list[int] = []
        """Words of the row that the head entry is filling."""
        self._rows_written = 0
        self.draining = False
        """Whether something raised or accepted before a flush is still outstanding."""

        self.read: int | None = None
        """Output: the address of the read that is raised; after the edge, of one that was not accepted and stays."""
        self.write: tuple[int, int] | None = None
        """Output: address and word of the write that is raised, likewise."""

    def evaluate(self) -> None:
        """Set the outputs from the registers and the memory's answer."""
        self.loaded_row = None
        self.store_reads = False
        self._current = entry = self._queue.current
        if entry is not None:
            if entry.kind is LOAD:
                if self.outstanding < MOST_OUTSTANDING:
                    self.read = entry.address + self.word
            elif entry.kind is GATHER:
                self.read = self._walk.evaluate(entry, self.word, self.outstanding)
            elif entry.kind is STORE:
                self._evaluate_store(entry)
            elif quiet(self.outstanding):
                self.write = entry.address, entry.tok
        # The table's answer is never taken for a row's last word: its read is raised between rows, so it comes between them.
        response = self._memory.response
        if response is not None and len(self._answered) == self._row_words - 1:
            self.loaded_row = self._queue.entries[0].row + self._rows_written
            self._scratchpad.write(self.loaded_row, row_of([*self._answered, response], self._lanes))

    def _evaluate_store(self, entry: Descriptor) -> None:
        if self.row_register is not None:
            self.write = entry.address + self.word, self.row_register[self.word % self._row_words]
        self.store_reads = (
            quiet(self.outstanding)
            and self._rows_launched < entry.count
            and not self.in_flight
            and self.next_register is None
        )
        if self.store_reads:
            self._scratchpad.launch(entry.row + self._rows_launched)

    def clock(self) -> None:
        """Pass the edge. What is raised is accepted if memory is ready, else it stays."""
        response = self._memory.response
        table_word: int | None = None
        if response is not None:
            self.outstanding -= 1
            if self._walk.table_pending and self._walk.is_answer():
                table_word = response
            elif not self.draining:
                self._clock_response(response)
        accepted = self._memory.ready and (self.read is not None or self.write is not None)
        entry = self._current
        if entry is not None:
            if entry.kind is GATHER:
                self._clock_gather(entry, accepted, table_word)
            else:
                if entry.kind is STORE:
                    self._clock_store_rows(accepted)
                if accepted:
                    self.word += 1
                    if self.word == (1 if entry.kind is STREG else entry.count * self._row_words):
                        self._clock_last_word(entry)
        if accepted:
            self.outstanding += self.read is not None
            self.read = self.write = None
        if self.draining:
            self._clock_draining()

    def flush(self) -> None:
        """Forget all but what memory was or is being asked for; after `clock`, at the same edge."""
        self.word = self._rows_launched = self._rows_written = 0
        self.in_flight = False
        self.row_register = self.next_register = None
        self._answered.clear()
        self._walk.clear()
        self._clock_draining()

    def _clock_draining(self) -> None:
        self.draining = self.outstanding > 0 or self.read is not None or self.write is not None

    def _clock_response(self, response: int) -> None:
        if self.loaded_row is None:
            self._answered.append(response)
            return
        self._answered.clear()
        self._queue.written(self.loaded_row)
        self._rows_written += 1
        if self._rows_written == self._queue.entries[0].count:
            self._rows_written = 0
            self._queue.leave()

    def _clock_last_word(self, entry: Descriptor) -> None:
        """The last word of a LOAD, a STORE or a STREG is accepted."""
        self.word = self._rows_launched = 0
        self._queue.accept()
        if entry.kind is not LOAD:
            self._queue.leave()

    def _clock_gather(self, entry: Descriptor, accepted: bool, table_word: int | None) -> None:
        word = self._walk.clock(entry, self.word, accepted, table_word, self.outstanding)
        self.word = word or 0
        if word is None:
            self._queue.accept()

    def _clock_store_rows(self, accepted: bool) -> None:
        """The store's row register, next register and read in flight."""
        last_word = accepted and self.word % self._row_words == self._row_words - 1
        free = self.row_register is None or last_word
        if last_word:
            self.row_register = None
        if free and self.next_register is not None:
            self.row_register, self.next_register = self.next_register, None
        elif self.in_flight and free:
            self.row_register = words_of(self._scratchpad.output)
        elif self.in_flight:
            self.next_register = words_of(self._scratchpad.output)
        self.in_flight = self.store_reads
        self._rows_launched += self.store_reads
