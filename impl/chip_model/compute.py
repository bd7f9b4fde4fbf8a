"""CX: makes an op's reads and takes what they bring through the stages. Source: docs/chip.md section 6, CX."""

from enum import Enum, auto

from impl.chip_model.command import Command, Entry, results_a_row
from impl.chip_model.divider import Divider
from impl.chip_model.hazards import chase, op_may_read, result_may_be_written
from impl.chip_model.mac import Mac
from impl.chip_model.packing import Out, Packing
from impl.chip_model.queue import Queue
from impl.chip_model.registers import Registers
from impl.chip_model.requantise import Requantiser
from impl.chip_model.rows import NO_ROWS, RowSet
from impl.chip_model.scratchpad import Scratchpad
from impl.chip_model.softmax import Softmax
from spec.isa import Op


class Kind(Enum):
    """What a read is for."""

    A = auto()
    RESIDUAL = auto()
    B = auto()


# Members by names of their own, as in dma.py.
A, RESIDUAL, B = Kind
DOT, SCORE, AV = Op.DOT, Op.SCORE, Op.AV


Read = tuple[Kind, int, RowSet, int, Entry]
"""What for, the row, the set of it alone, a B row's number in the op, and the entry that it uses."""


def reads_of(command: Command) -> list[Read]:
    """The op's reads in their order."""
    a = command.fields.a
    reads: list[Read] = [] if command.op is AV else [(A, a, 1 << a, 0, Entry())]
    for entry, start, stop, residual in command.groups:
        if residual:
            reads.append((RESIDUAL, entry.xrow, 1 << entry.xrow, 0, entry))
        reads.extend((B, command.first + j, 1 << command.first + j, j, entry) for j in range(start, stop))
    return reads


class Compute:
    """One op at a time. Evaluated and clocked while active; `issue` is the edge before that."""

    __slots__ = (
        "_best",
        "_command",
        "_lanes",
        "_launched",
        "_launches",
        "_queue",
        "_reads",
        "_registers",
        "_results_a_row",
        "_s1",
        "_s2",
        "_s3",
        "_scratchpad",
        "_to_enter",
        "_written",
        "active",
        "all_entered",
        "divider",
        "enters",
        "mac",
        "packing",
        "requantiser",
        "results",
        "rows",
        "softmax",
        "waits",
    )

    _command: Command
    _launched: int
    """Reads launched so far."""
    _to_enter: int
    """B rows that have not entered yet."""
    _results_a_row: int
    _launches: bool
    _written: Out | None
    """The out register, if it is written in this cycle."""
    waits: bool
    """Output: CX waits in this cycle."""
    enters: bool
    """Output: a B row enters in this cycle."""
    all_entered: bool
    """Output: all B rows of the op have entered in earlier cycles."""

    def __init__(self, lanes: int, registers: Registers, queue: Queue, scratchpad: Scratchpad) -> None:
        self._lanes = lanes
        self._registers = registers
        self._queue = queue
        self._scratchpad = scratchpad
        self.mac = Mac(lanes)
        self.requantiser = Requantiser(lanes)
        self.softmax = Softmax()
        self.divider = Divider(lanes)
        self.packing = Packing(lanes)

        self.active = False
        self.rows: RowSet = NO_ROWS
        self.results: RowSet = NO_ROWS
        self._reads: list[Read] = []
        self._s1: Read | None = None
        """The read whose row is at the scratchpad's output; s2 and s3: the B row behind it, one and two stages on."""
        self._s2: Read | None = None
        self._s3: Read | None = None
        self._best: tuple[int, int] | None = None
        """The largest accumulator of a DOTL so far, and the lowest row that has it."""

    @property
    def writes_or_looks_up(self) -> bool:
        """Output: the out register is written in this cycle, or an exponential is looked up."""
        return self._written is not None or self.softmax.looks_up

    def issue(self, command: Command) -> None:
        """Pass the edge at which the op issues."""
        self.active = True
        self.rows, self.results = command.rows, command.results
        self._command = command
        self._reads = reads_of(command)
        self._launched = 0
        self._to_enter = command.count
        self._best = None
        self.mac.clear()
        if command.op is SCORE:
            self.softmax.issue(command.count, command.groups[0].entry)
        else:
            self._results_a_row = results_a_row(command.op, self._lanes)

    def evaluate(self, store_reads: bool, load_writes: bool) -> None:
        """Set the outputs, and use the scratchpad's ports in this cycle where the other users leave them."""
        self.enters = self._s1 is not None and self._s1[0] is B
        self.all_entered = self._to_enter == 0
        self._launches = self.waits = False
        if self._launched < len(self._reads):
            _, row, rows, _, _ = self._reads[self._launched]
            self._launches = chase(rows, self._queue.owed) and op_may_read(store_reads)
            self.waits = not self._launches
            if self._launches:
                self._scratchpad.launch(row)
        self._written = self.packing.out if result_may_be_written(load_writes) else None
        if self._written is not None:
            self._scratchpad.write(self._written.row, self._written.value)

    def clock(self) -> None:
        """Pass the edge, the later stages first: each takes what the one before it held in this cycle."""
        command = self._command
        if self._written is not None:
            self._clock_out(command, self._written)
        if self.softmax.running and self.softmax.clock():
            self.active = False
        if self.divider.running:
            self._clock_divider(command)
        if self._s3 is not None:
            self._clock_s3(command, self._s3)
            self._s3 = None
        if self._s2 is not None:
            self._clock_s2(command, self._s2)
            self._s2 = None
        if self._s1 is not None:
            self._clock_s1(command, self._s1)
            self._s1 = None
        if self._launches:
            self._s1 = self._reads[self._launched]
            self._launched += 1

    def flush(self) -> None:
        """Forget the op, and all that is in flight."""
        self.active = False
        self._s1 = self._s2 = self._s3 = None
        self.packing.flush()
        self.softmax.running = False
        self.divider.flush()

    def _clock_s1(self, command: Command, read: Read) -> None:
        kind, _, _, j, _ = read
        value = self._scratchpad.output
        if kind is B:
            self._to_enter -= 1
            if command.op is AV:
                self.mac.add(self.softmax.e[j], value)
                if j == command.count - 1:
                    self.divider.start()
            else:
                self.mac.dot(value)
                self._s2 = read
        elif kind is A:
            self.mac.a = value
        else:
            self.requantiser.residual = value

    def _clock_s2(self, command: Command, read: Read) -> None:
        _, _, _, j, entry = read
        accumulator = self.mac.accumulator
        if command.op is SCORE:
            self.softmax.store(j, accumulator)
            return
        if command.op is DOT:
            self.requantiser.multiply(accumulator, entry, j % self._lanes)
        else:
            self.requantiser.product = accumulator
        self._s3 = read

    def _clock_s3(self, command: Command, read: Read) -> None:
        _, _, _, j, entry = read
        i, place = divmod(j, self._results_a_row)
        if command.op is DOT:
            self.packing.put(place, self.requantiser.shifted(entry))
        else:
            accumulator = self.requantiser.product
            self.packing.put_word(place, accumulator)
            if self._best is None or accumulator > self._best[0]:
                self._best = accumulator, j
        last = j == command.count - 1
        if last or place == self._results_a_row - 1:
            self.packing.finish(command.result_rows[i], last)

    def _clock_divider(self, command: Command) -> None:
        done = self.divider.byte()
        self.divider.clock(self.mac.sums, self.softmax.z)
        if done is not None:
            lane, value = done
            self.packing.put(lane, value)
            if lane == self._lanes - 1:
                self.packing.finish(command.result_rows[0], last=True)

    def _clock_out(self, command: Command, out: Out) -> None:
        """The out register was written to the scratchpad in this cycle."""
        self.packing.written()
        if out.last:
            self.active = False
            if self._best is not None and command.fields.fl & 1:
                self._registers.token = self._best[1]
