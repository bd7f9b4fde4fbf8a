"""SEQ: fetches, checks, holds and issues instructions in order. Source: docs/chip.md section 6, SEQ."""

from enum import Enum, auto

from impl.chip_model.checks import Facts, Wrong, examine
from impl.chip_model.command import Command, Entry
from impl.chip_model.compute import Compute
from impl.chip_model.hazards import ending_is_held, load_is_held, op_is_held, setting_is_held, store_is_held
from impl.chip_model.queue import Descriptor, Queue
from impl.chip_model.registers import Registers
from spec.isa import ENTRIES, IMEM_INSTRUCTIONS, ErrorCode, Op, Words

# Members by names of their own, as in dma.py.
HALT, SETQ, LOAD, GATHER, STORE, STREG = Op.HALT, Op.SETQ, Op.LOAD, Op.GATHER, Op.STORE, Op.STREG
NO_ERROR = ErrorCode.NONE


class Head(Enum):
    """What the head does in a cycle."""

    ABSENT = auto()
    HELD = auto()
    ISSUES = auto()
    ENDS = auto()


ABSENT, HELD, ISSUES, ENDS = Head


class Sequencer:
    """The head instruction, the requantisation entries, and where to fetch."""

    __slots__ = (
        "_code",
        "_command",
        "_compute",
        "_descriptor",
        "_lanes",
        "_queue",
        "_registers",
        "_words",
        "does",
        "entries",
        "fetch",
        "head",
        "head_end",
        "head_pc",
        "head_valid",
    )

    fetch: int
    head_valid: bool
    head: Words
    head_end: bool

    # What the head's bits and the registers that it alone may change say does not change while it is the head, so
    # it is worked out once: the command or else its error.
    _command: Command | None
    _code: ErrorCode

    does: Head
    """Output: what the head does in this cycle."""

    def __init__(self, lanes: int, words: int, registers: Registers, queue: Queue, compute: Compute) -> None:
        self._lanes = lanes
        self._words = words
        self._registers = registers
        self._queue = queue
        self._compute = compute

        self.head_pc = 0
        self.entries = [Entry()] * ENTRIES
        self._descriptor: Descriptor | None = None

    def start(self) -> None:
        """Begin at instruction 0."""
        self.fetch = 0
        self.head_valid = False

    def evaluate(self, draining: bool) -> None:
        """Decide what the head does in this cycle."""
        if not self.head_valid:
            self.does = ABSENT
            return
        if draining:  # what a flush left outstanding holds any head
            self.does = HELD
            return
        if self._command is None and self._code is NO_ERROR:
            self._examine()
        command = self._command
        if command is None or command.op is HALT:
            held = ending_is_held(self._compute.active, len(self._queue.entries))
            self.does = HELD if held else ENDS
        elif self._is_held(command):
            self.does = HELD
        else:
            self.does = ISSUES
            if command.words:
                # TOK is taken along here, before the edge.
                self._descriptor = Descriptor(
                    command.op,
                    command.first,
                    command.count,
                    command.address,
                    self._registers.token,
                    command.fields.kv,
                    self.head_pc,
                )

    def clock(self) -> None:
        """Pass the edge of a cycle in which the head is not held."""
        if self.does is ENDS:
            self._registers.end(self._code, self.head_pc - self.head_end)
            return
        if self.does is ISSUES:
            assert self._command is not None
            self._issue(self._command)
        self.head_end = self.fetch == IMEM_INSTRUCTIONS
        self.head_pc = self.fetch
        if not self.head_end:
            imem = self._registers.imem
            self.head = imem[2 * self.fetch], imem[2 * self.fetch + 1]
        self.head_valid = True
        self.fetch += 1
        self._command, self._code = None, NO_ERROR

    def _examine(self) -> None:
        softmax = self._compute.softmax
        facts = Facts(self._lanes, self._words, self._registers.r, self.entries, softmax.ran, softmax.count)
        try:
            self._command = examine(self.head_end, *self.head, facts)
        except Wrong as wrong:
            self._code = wrong.code

    def _is_held(self, command: Command) -> bool:
        """Whether a command without error, other than HALT, is held."""
        queue, compute = self._queue, self._compute
        op = command.op
        if command.is_op:
            return op_is_held(command.results, compute.active, queue.owed, queue.stored)
        if op is LOAD or op is GATHER:
            held = load_is_held(command.rows, compute.active, compute.rows)
            return command.count > 0 and (queue.full or held)
        if op is STORE:
            held = store_is_held(command.rows, compute.active, compute.results)
            return command.count > 0 and (queue.full or held)
        if op is STREG:
            return queue.full or setting_is_held(compute.active)
        if op is SETQ:
            return setting_is_held(compute.active)
        return ending_is_held(compute.active, len(queue.entries))

    def _issue(self, command: Command) -> None:
        if command.is_op:
            self._compute.issue(command)
        elif self._descriptor is not None:
            self._queue.push(self._descriptor)
            self._descriptor = None
        elif command.op is SETQ:
            fields = command.fields
            self.entries[fields.q] = Entry(fields.m, fields.sh, fields.xrow, fields.rm)
