"""The chip and its memory: one life from power-on, host writes and starts, cycle by cycle. Source: docs/chip.md."""

from collections.abc import Callable, Sequence

import numpy as np

from impl.chip import ChipTimeout, MemoryWords, Profile, Result, Start
from impl.chip_model.compute import Compute
from impl.chip_model.dma import Dma
from impl.chip_model.memory import Memory
from impl.chip_model.queue import Queue
from impl.chip_model.registers import Registers
from impl.chip_model.scratchpad import Scratchpad
from impl.chip_model.sequencer import HELD, Sequencer
from impl.chip_model.trace import Snapshot
from spec.isa import EXT_WORDS, IMEM_BASE, IMEM_INSTRUCTIONS, LANES, START, Register

Observer = Callable[[Snapshot], None]

WORD_BITS = 32
HOST_ADDRESS_BITS = 11


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
        """A result for each start; see Chip. A host write takes a cycle. Raises ValueError for one that no port can carry."""
        if memory.shape != (self.words,) or memory.dtype != np.uint32:
            raise ValueError(f"memory is {self.words} words of uint32, not {memory.shape} of {memory.dtype}")
        if profile.latency < 1:
            raise ValueError(f"memory answers after at least one cycle, not {profile.latency}")
        machine = Machine(self.lanes, np.ascontiguousarray(memory).copy(), profile.latency)
        return [self._run_start(machine, start) for start in starts]

    def _run_start(self, machine: "Machine", start: Start) -> Result:
        for address, words in start.memory:
            machine.write_memory(address, words)
        for address, value in host_writes(start):
            machine.host_write(address, value)
        machine.host_write(Register.CTRL, START)
        cycle = 0
        registers, observer = machine.registers, self.observer
        while registers.busy:
            cycle += 1
            if cycle > self.cycle_limit:
                raise ChipTimeout(f"the run is not over after {self.cycle_limit} cycles")
            machine.evaluate()
            if observer is not None:
                observer(machine.snapshot(cycle))
            machine.clock()
        words = machine.memory.words.copy()
        return Result(words, registers.token, registers.status, registers.error_pc, registers.counting.values())


def host_writes(start: Start) -> list[tuple[int, int]]:
    """The host's writes before CTRL, in order. Raises ValueError for one that does not fit the host port."""
    program = start.program or ()
    if len(program) > IMEM_INSTRUCTIONS:
        raise ValueError(f"a program has at most {IMEM_INSTRUCTIONS} instructions, not {len(program)}")
    words = [word for instruction in program for word in instruction]
    writes = [(IMEM_BASE + i, word) for i, word in enumerate(words)] + list(start.registers)
    for address, value in writes:
        if address >> HOST_ADDRESS_BITS or value >> WORD_BITS:
            raise ValueError(f"the host port cannot write {value:#x} to {address:#x}")
    return writes


class Machine:
    """All registers of the chip, from power-on reset, and external memory."""

    __slots__ = ("compute", "dma", "memory", "queue", "registers", "scratchpad", "sequencer")

    def __init__(self, lanes: int, memory: MemoryWords, latency: int) -> None:
        self.memory = Memory(memory, latency)
        self.registers = Registers()
        self.scratchpad = Scratchpad()
        self.queue = Queue()
        self.dma = Dma(lanes, self.queue, self.memory, self.scratchpad)
        self.compute = Compute(lanes, self.registers, self.queue, self.scratchpad)
        self.sequencer = Sequencer(lanes, len(memory), self.registers, self.queue, self.compute)

    def write_memory(self, address: int, words: MemoryWords) -> None:
        """Set words of external memory. Raises ValueError for words outside of it."""
        if not 0 <= address <= address + len(words) <= len(self.memory.words):
            raise ValueError(f"{len(words)} words at {address} are not within {len(self.memory.words)} words")
        self.memory.words[address : address + len(words)] = words

    def host_write(self, address: int, value: int) -> None:
        """Pass a cycle in which the host writes."""
        if self.registers.busy:
            self.evaluate()
            self.clock()
        elif self.registers.host_write(address, value):
            self.registers.start()
            self.sequencer.start()

    def evaluate(self) -> None:
        """What is combinational in a busy cycle. Parts whose registers cannot change are left out, also in `clock`."""
        self.sequencer.evaluate()
        dma, compute = self.dma, self.compute
        if self.queue.entries:
            self.memory.evaluate()
            dma.evaluate()
            if compute.active:
                compute.evaluate(dma.store_reads, dma.loaded_row is not None)
        elif compute.active:
            compute.evaluate(store_reads=False, load_writes=False)

    def clock(self) -> None:
        """The edge that ends the cycle. The order of the parts matters only in that the scratchpad's output goes last."""
        self._count()
        if self.queue.entries:
            self.memory.clock(self.dma.read, self.dma.write)
            self.dma.clock()
        if self.compute.active:
            self.compute.clock()
        self.scratchpad.clock()
        self.sequencer.clock()

    def _count(self) -> None:
        counting, compute, dma = self.registers.counting, self.compute, self.dma
        counting.total += 1
        waits = False
        if self.queue.entries:
            counting.dma += 1
            counting.rdw += dma.read is not None
            counting.wrw += dma.write is not None
        if compute.active:
            counting.mac += compute.enters
            counting.vec += compute.all_entered
            waits = compute.waits
        counting.stall += waits or self.sequencer.does is HELD

    def snapshot(self, cycle: int) -> Snapshot:
        """The cycle as an observer sees it, between `evaluate` and `clock`."""
        dma, compute = self.dma, self.compute
        moving = len(self.queue.entries) > 0
        out = compute.packing.out
        return Snapshot(
            cycle,
            self.sequencer.head_pc,
            self.sequencer.does,
            len(self.queue.entries),
            dma.outstanding,
            dma.read if moving else None,
            dma.write if moving else None,
            self.memory.response if moving else None,
            dma.loaded_row if moving else None,
            moving and dma.store_reads,
            compute.active,
            compute.active and compute.waits,
            compute.active and compute.enters,
            None if out is None else out.row,
        )
