"""The chip and its memory: one life from power-on, host writes and starts, cycle by cycle. Source: docs/chip.md."""

from collections.abc import Callable, Sequence

import numpy as np

from impl.chip import ChipTimeout, MemoryWords, Profile, Result, Start
from impl.chip_model.compute import Compute
from impl.chip_model.dma import Dma
from impl.chip_model.memory import Memory, memory_of
from impl.chip_model.queue import Queue
from impl.chip_model.registers import Registers
from impl.chip_model.scratchpad import Scratchpad
from impl.chip_model.sequencer import HELD, ISSUES, Sequencer
from impl.chip_model.trace import Snapshot
from impl.chip_model.walk import Walk
from spec.isa import (
    EXT_WORDS,
    IMEM_BASE,
    IMEM_INSTRUCTIONS,
    LANES,
    RESET,
    START,
    WATCHDOG_CYCLES,
    ErrorCode,
    Register,
)

CTRL = Register.CTRL

Observer = Callable[[Snapshot], None]

WORD_BITS = 32
HOST_ADDRESS_BITS = 11

IDLE_CYCLES = 64
"""For how long the host leaves the chip alone after a run; docs/chip.md section 6, Memory profiles."""


class ChipModel:
    """The chip as a cycle model; `observer`, if there is one, is called in each busy cycle."""

    def __init__(self, lanes: int, words: int = EXT_WORDS, cycle_limit: int = 1_000_000) -> None:
        if lanes not in LANES:
            raise ValueError(f"lanes are one of {LANES}, not {lanes}")
        self.lanes = lanes
        self.words = words
        self.cycle_limit = cycle_limit
        self.observer: Observer | None = None

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        """A result for each start; see Chip. A host write takes a cycle.

        Raises ValueError also for a write that no port can carry, and for a profile that the definition does not have.
        """
        if memory.shape != (self.words,) or memory.dtype != np.uint32:
            raise ValueError(f"memory is {self.words} words of uint32, not {memory.shape} of {memory.dtype}")
        machine = Machine(self.lanes, memory_of(np.ascontiguousarray(memory).copy(), profile))
        return [self._run_start(machine, start) for start in starts]

    def _run_start(self, machine: "Machine", start: Start) -> Result:
        """What the start leaves once the chip was left alone after the run, as the next start finds it."""
        writes = host_writes(start)
        if start.reset_at == 0:
            machine.host_write(CTRL, RESET)
        for address, words in start.memory:
            machine.write_memory(address, words)
        for address, value in writes:
            machine.host_write(address, value)
        machine.start()
        registers = machine.registers
        last = min(start.reset_at or self.cycle_limit, self.cycle_limit)
        self._pass_cycles(machine, last)
        if registers.counting.total == start.reset_at:
            machine.soft_reset()
        if registers.busy:
            raise ChipTimeout(f"the run is not over after {self.cycle_limit} cycles")
        machine.memory.end_run()
        machine.idle(IDLE_CYCLES)
        words = machine.memory.words.copy()
        return Result(words, registers.token, registers.status, registers.error_pc, registers.counting.values())

    def _pass_cycles(self, machine: "Machine", last: int) -> None:
        """Pass the busy cycles of a run, but none after the one of that number."""
        registers, observer = machine.registers, self.observer
        for cycle in range(1, last + 1):
            if not registers.busy:
                return
            machine.evaluate()
            if observer is not None:
                observer(machine.snapshot(cycle))
            machine.clock()


def host_writes(start: Start) -> list[tuple[int, int]]:
    """The host's writes before CTRL, in order. Raises ValueError for one that does not fit the host port, and for a start."""
    if start.reset_at is not None and start.reset_at < 0:
        raise ValueError(f"a run has no cycle {start.reset_at}")
    program = start.program or ()
    if len(program) > IMEM_INSTRUCTIONS:
        raise ValueError(f"a program has at most {IMEM_INSTRUCTIONS} instructions, not {len(program)}")
    words = [word for instruction in program for word in instruction]
    writes = [(IMEM_BASE + i, word) for i, word in enumerate(words)] + list(start.registers)
    for address, value in writes:
        if address >> HOST_ADDRESS_BITS or value >> WORD_BITS:
            raise ValueError(f"the host port cannot write {value:#x} to {address:#x}")
        if address == CTRL and value & (START | RESET) == START:
            raise ValueError("a start is a run, not one of the writes before it")
    return writes


class Machine:
    """All registers of the chip, from power-on reset, and external memory."""

    __slots__ = (
        "_moving",
        "compute",
        "dma",
        "memory",
        "queue",
        "quiet",
        "registers",
        "scratchpad",
        "sequencer",
        "walk",
    )

    quiet: int
    """Busy cycles without progress, one after the other, up to now."""
    _moving: bool
    """Whether DMA and memory take part in this cycle."""

    def __init__(self, lanes: int, memory: Memory) -> None:
        words = len(memory.words)
        self.memory = memory
        self.registers = Registers()
        self.scratchpad = Scratchpad()
        self.queue = Queue()
        self.walk = Walk(lanes, words, self.registers.walker)
        self.dma = Dma(lanes, self.queue, memory, self.scratchpad, self.walk)
        self.compute = Compute(lanes, self.registers, self.queue, self.scratchpad)
        self.sequencer = Sequencer(lanes, words, self.registers, self.queue, self.compute)

    def write_memory(self, address: int, words: MemoryWords) -> None:
        """Set words of external memory. Raises ValueError for words outside of it."""
        if not 0 <= address <= address + len(words) <= len(self.memory.words):
            raise ValueError(f"{len(words)} words at {address} are not within {len(self.memory.words)} words")
        self.memory.words[address : address + len(words)] = words

    def host_write(self, address: int, value: int) -> None:
        """Pass a cycle that is not busy, in which the host writes."""
        self.idle(1)
        if address == CTRL and value & RESET:
            self.soft_reset()
        else:
            self.registers.host_write(address, value)

    def start(self) -> None:
        """Pass the cycle of the host's write that starts the program."""
        self.idle(1)
        self.registers.start()
        self.sequencer.start()
        self.memory.begin_run()
        self.quiet = 0

    def soft_reset(self) -> None:
        """Pass the edge of a soft reset, after what else changes at that edge."""
        self.registers.soft_reset()
        self.compute.softmax.ran = False
        self.flush()

    def flush(self) -> None:
        """Forget what is in flight inside the chip; after `clock`, at the same edge."""
        self.queue.flush()
        self.compute.flush()
        self.dma.flush()

    def idle(self, cycles: int) -> None:
        """Pass cycles that are not busy, in which the chip may drain."""
        for _ in range(cycles):
            if not self.dma.draining:
                return
            self.memory.evaluate()
            self.dma.evaluate()
            self.memory.clock(self.dma.read, self.dma.write)
            self.dma.clock()

    def evaluate(self) -> None:
        """What is combinational in a busy cycle. Parts whose registers cannot change are left out, also in `clock`."""
        dma, compute, memory = self.dma, self.compute, self.memory
        self.sequencer.evaluate(dma.draining)
        self._moving = False
        if self.queue.entries or dma.draining or memory.restless:
            self._moving = True
            memory.evaluate()
            dma.evaluate()
            if compute.active:
                compute.evaluate(dma.store_reads, dma.loaded_row is not None)
        elif compute.active:
            compute.evaluate(store_reads=False, load_writes=False)

    def clock(self) -> None:
        """The edge that ends the cycle. The order of the parts matters only in that the scratchpad's output goes last."""
        self._count()
        if self._moving:
            self.memory.clock(self.dma.read, self.dma.write)
            self.dma.clock()
        if self.compute.active:
            self.compute.clock()
        self.scratchpad.clock()
        if self.sequencer.does is not HELD:
            self.sequencer.clock()
        if self.walk.ending is not None:
            self._break_off(*self.walk.ending)
        elif self.quiet == WATCHDOG_CYCLES:  # a run that ends otherwise has made progress a cycle or two before
            self._break_off(ErrorCode.TIMEOUT, self.sequencer.head_pc - self.sequencer.head_end)

    def _break_off(self, code: ErrorCode, pc: int) -> None:
        self.registers.end(code, pc)
        self.flush()

    def _count(self) -> None:
        """The counters, and the watchdog's."""
        counting, compute = self.registers.counting, self.compute
        does = self.sequencer.does
        counting.total += 1
        waits = False
        progress = does is ISSUES
        if self._moving:
            dma, memory = self.dma, self.memory
            if self.queue.entries:
                counting.dma += 1
            if memory.response is not None:
                progress = True
            if memory.ready:
                if dma.read is not None:
                    counting.rdw += 1
                    progress = True
                elif dma.write is not None:
                    counting.wrw += 1
                    progress = True
        if compute.active:
            if compute.enters:
                counting.mac += 1
                progress = True
            elif compute.all_entered:
                counting.vec += 1
            waits = compute.waits
            progress = progress or compute.writes_or_looks_up
        counting.stall += waits or does is HELD
        self.quiet = 0 if progress else self.quiet + 1

    def snapshot(self, cycle: int) -> Snapshot:
        """The cycle as an observer sees it, between `evaluate` and `clock`."""
        dma, compute = self.dma, self.compute
        moving = self._moving
        accepts = self.memory.ready
        out = compute.packing.out
        return Snapshot(
            cycle,
            self.sequencer.head_pc,
            self.sequencer.does,
            len(self.queue.entries),
            dma.outstanding,
            dma.read if accepts else None,
            dma.write if accepts else None,
            self.memory.response if moving else None,
            dma.loaded_row if moving else None,
            moving and dma.store_reads,
            compute.active,
            compute.active and compute.waits,
            compute.active and compute.enters,
            None if out is None else out.row,
        )
