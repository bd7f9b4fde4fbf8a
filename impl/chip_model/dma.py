"""DMA: requests of the queue's current entry, and answers for its head entry. Source: docs/chip.md section 6, DMA."""

from impl.chip_model.hazards import quiet
from impl.chip_model.memory import Memory
from impl.chip_model.queue import Descriptor, Queue
from impl.chip_model.rows import row_of, words_of
from impl.chip_model.scratchpad import Scratchpad
from spec.isa import MOST_OUTSTANDING, Op

# Members by names of their own: to look one up in its Enum, as Python 3.11 does it, takes longer than all else in a cycle.
LOAD, STORE, STREG = Op.LOAD, Op.STORE, Op.STREG


class Dma:
    """Moves what the queue says between memory and the scratchpad. To be called while the queue is not empty."""

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

    def __init__(self, lanes: int, queue: Queue, memory: Memory, scratchpad: Scratchpad) -> None:
        self._lanes = lanes
        self._row_words = lanes // 4
        self._queue = queue
        self._memory = memory
        self._scratchpad = scratchpad
        self._current: Descriptor | None = None

        self.outstanding = 0
        self.word = 0
        """Accepted words of the current entry."""
        self._rows_launched = 0
        self.in_flight = False
        self.row_register: tuple[int, ...] | None = None
        """A store's row as words, None while it is not valid; the next register likewise."""
        self.next_register: tuple[int, ...] | None = None
        self._answered: list[int] = []
        """Words of the row that the head entry is filling."""
        self._rows_written = 0

        self.read: int | None = None
        """Output: the address of the read that is raised."""
        self.write: tuple[int, int] | None = None
        """Output: address and word of the write that is raised."""
        self.store_reads = False
        """Output: a store's read of a row is launched in this cycle."""
        self.loaded_row: int | None = None
        """Output: the row that is written to the scratchpad in this cycle."""

    def evaluate(self) -> None:
        """Set the outputs from the registers and the memory's answer."""
        self.read = self.write = self.loaded_row = None
        self.store_reads = False
        self._current = entry = self._queue.current()
        if entry is not None:
            if entry.kind is LOAD:
                if self.outstanding < MOST_OUTSTANDING:
                    self.read = entry.address + self.word
            elif entry.kind is STORE:
                self._evaluate_store(entry)
            elif quiet(self.outstanding):
                self.write = entry.address, entry.tok
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
        """Pass the edge. Memory is always ready: what is raised is accepted."""
        entry = self._current
        response = self._memory.response
        if self.read is not None:
            self.outstanding += 1
        if response is not None:
            self.outstanding -= 1
            self._clock_response(response)
        if entry is None:
            return
        if entry.kind is STORE:
            self._clock_store_rows()
        if self.read is not None or self.write is not None:
            self.word += 1
            if self.word == (1 if entry.kind is STREG else entry.count * self._row_words):
                self.word = self._rows_launched = 0
                self._queue.accept()
                if entry.kind is not LOAD:
                    self._queue.leave()

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

    def _clock_store_rows(self) -> None:
        """The store's row register, next register and read in flight."""
        last_word = self.write is not None and self.word % self._row_words == self._row_words - 1
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
