"""What a search must have met: every instruction and flag, every reason to wait, every error, what is rare about a GATHER.

What a case has by its programs, its builder counts; why the chip waits, an observer of the cycle model counts. Source:
docs/chip.md sections 4 to 6.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator

from impl.chip import ChipError, Result
from impl.chip_model.machine import ChipModel
from impl.chip_model.sequencer import Head
from impl.chip_model.trace import Snapshot
from spec.isa import (
    CODE_SHIFT,
    MOST_OUTSTANDING,
    QUEUE,
    Av,
    Dot,
    DotL,
    ErrorCode,
    Gather,
    IllegalInstruction,
    Instruction,
    Load,
    Op,
    Score,
    SetQ,
    Store,
    StReg,
    Words,
    decode,
)
from spec.isa_checks import count_of, first_of, result_rows
from spec.isa_machine import Machine
from verify.fuzz.case import FuzzCase

INSTRUCTIONS = tuple(op.name for op in Op if op is not Op.GATHER)
FLAGS = (
    "DOT with the next entry",
    "DOT with result rows apart",
    "DOT with a residual row",
    "DOT with four result rows",
    "DOT that ends with a row of one",
    "DOTL with argmax",
    "DOTL with four result rows",
    "Rm 0 with a row that has no value",
    "op of 255 rows",
    "count 0",
    "register in a sum",
    "sum beyond 2^32",
    "instruction memory unchanged",
)
ERRORS = tuple(code.name for code in ErrorCode if code not in (ErrorCode.NONE, ErrorCode.PAGE, ErrorCode.TIMEOUT))
WALKS = (
    "GATHER",
    "GATHER of keys",
    "GATHER of values",
    "GATHER over a page's end",
    "GATHER over the ring's end",
    "GATHER over row 2^32",
    *(f"GATHER from pages of {1 << logp}" for logp in range(5)),
    "store into the block table",
    "PAGE",
    "PAGE of a walk",
    "EXT_RANGE of a walk",
)
WAITS = (
    "held: the queue is full",
    "held by LOAD",
    "held by STORE",
    "held by RESULT: CX is active",
    "held by RESULT: owed by a load",
    "held by RESULT: a row of a store",
    "held by IDLE: SETQ",
    "held by IDLE: STREG",
    "held by IDLE: HALT",
    "held by IDLE: FENCE",
    "held by IDLE: an error",
    "CX waits by CHASE",
    "CX waits by PORTS: a store reads",
    "a result row waits by PORTS: a loaded row is written",
    "a store or STREG waits by QUIET",
    "16 reads outstanding",
)
TIMES = ("memory that answers at random", "memory that falls silent", "TIMEOUT", "soft reset in a run")
"""What only chips with time can be asked."""
REQUIRED = (*INSTRUCTIONS, *FLAGS, *ERRORS, *WALKS, *WAITS)
"""What a search must have met."""
RESULT_HELD, LOAD_HELD, STORE_HELD, OWED_HELD, STORED_HELD = WAITS[3], WAITS[1], WAITS[2], WAITS[4], WAITS[5]


def met_in_time(case: FuzzCase, results: Iterable[Result]) -> Iterator[str]:
    """What of TIMES the case, with the results of a chip that has time, has met."""
    if case.profile.seed:
        yield TIMES[0]
    if case.profile.mute_after:
        yield TIMES[1]
    if any(result.status >> CODE_SHIFT == ErrorCode.TIMEOUT for result in results):
        yield TIMES[2]
    if any(start.reset_at for start in case.starts):
        yield TIMES[3]


class Watcher:
    """Runs cases on the cycle model and counts why it waits."""

    def __init__(self) -> None:
        self.met: Counter[str] = Counter()

    def watch(self, case: FuzzCase, model: ChipModel) -> None:
        """Count one more case; what the model does not finish counts as far as it came."""
        watch = _Watch(case)
        model.observer = watch.see
        try:
            results = model.run(case.starts, case.memory, case.profile)
        except ChipError:
            results = []
        finally:
            model.observer = None
        failed = {(number, result.error_pc) for number, result in enumerate(results) if result.status >> CODE_SHIFT}
        for (start, pc, reason), cycles in watch.held.items():
            self.met["held by IDLE: an error" if (start, pc) in failed else reason] += cycles
        self.met.update(watch.met)


class _Watch:
    """One case while it runs: its starts, and the queue as far as cycles show it."""

    def __init__(self, case: FuzzCase) -> None:
        self.case = case
        self.machine = Machine.fresh(case.lanes, case.memory[:1])
        self.imem: list[Instruction | None] = [None] * 257
        """What each place holds as an instruction, None where it is none."""
        self.start = -1
        self.queue: deque[tuple[type[Instruction], int]] = deque()
        self.owed: set[int] = set()
        self.held: Counter[tuple[int, int, str]] = Counter()
        self.met: Counter[str] = Counter()

    def see(self, seen: Snapshot) -> None:
        """Take in a busy cycle."""
        if seen.cycle == 1:
            self._begin()
        while len(self.queue) > seen.occupancy:
            self.queue.popleft()
        if seen.head is Head.HELD:
            self.held[self.start, seen.head_pc, self._reason(seen)] += 1
        met = self.met
        if seen.waits:
            met[WAITS[12] if seen.store_reads else WAITS[11]] += 1
        met[WAITS[13]] += seen.loaded_row is not None and seen.out_row is not None
        met[WAITS[15]] += seen.outstanding == MOST_OUTSTANDING
        idle = seen.read is None and seen.write is None and not seen.store_reads
        if idle and 0 < seen.outstanding < MOST_OUTSTANDING:
            met[WAITS[14]] += any(kind in (Store, StReg) for kind, _ in self.queue)
        if seen.loaded_row is not None:
            self.owed.discard(seen.loaded_row)
        if seen.head is Head.ISSUES:
            self._issue(self.imem[seen.head_pc])

    def _begin(self) -> None:
        self.start += 1
        start = self.case.starts[self.start]
        if start.reset_at == 0:
            self.machine.soft_reset()
        for address, value in start.registers:
            self.machine.host_write(address, value)
        self.imem[: len(start.program or ())] = map(_decoded, start.program or ())
        self.queue.clear()
        self.owed.clear()

    def _issue(self, instruction: Instruction | None) -> None:
        match instruction:
            case Load() | Store() | Gather() if count := count_of(instruction, self.machine):
                self.queue.append((type(instruction), count))
                if not isinstance(instruction, Store):
                    first = first_of(instruction, self.machine)
                    self.owed.update(range(first, first + count))
            case StReg():
                self.queue.append((StReg, 1))

    def _reason(self, seen: Snapshot) -> str:
        """Why the head is held, unless it has an error."""
        instruction = self.imem[min(seen.head_pc, 256)]
        if instruction is None:
            return "held by IDLE: an error"
        match instruction:
            case Load() | Store() | Gather() | StReg() if seen.occupancy == QUEUE:
                return WAITS[0]
            case Store():
                return STORE_HELD
            case Load() | Gather():
                return LOAD_HELD
            case SetQ() | StReg():
                return f"held by IDLE: {type(instruction).__name__.upper()}"
            case Dot() | DotL() | Score() | Av():
                if seen.active:
                    return RESULT_HELD
                owed = not self.owed.isdisjoint(result_rows(instruction, self.machine))
                return OWED_HELD if owed else STORED_HELD
        return f"held by IDLE: {type(instruction).__name__.upper()}"


def _decoded(words: Words) -> Instruction | None:
    """The instruction of these words, None for what is none."""
    try:
        return decode(*words)
    except IllegalInstruction:
        return None
