"""A case from what chance says: phrases one after the other, on a chip that the definition keeps up to date."""

import copy
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from impl.chip import Profile, Start
from spec.isa import LANES, ErrorCode, Fence, Register
from spec.isa_machine import Machine, Unspecified
from spec.isa_semantics import run
from verify.fuzz import endings, hosts, ops, transfers
from verify.fuzz.case import SEEDS, STYLES, Contents, FuzzCase
from verify.fuzz.draws import Draw, Drawn
from verify.fuzz.writer import Writer

LEAST_ROOM = 20
"""Instructions that must fit for another phrase to begin."""

MOST_LATENCY = 20

Phrase = Callable[[Writer, Draw], None]


class Built(NamedTuple):
    """A case, and how often it has what the summary counts."""

    case: FuzzCase
    met: Counter[str]


def fence(writer: Writer, _draw: Draw) -> None:
    """A FENCE."""
    writer.add(Fence())


PHRASES: tuple[tuple[Phrase, int], ...] = (
    (fence, 2),
    (transfers.load, 8),
    (ops.dot, 12),
    (transfers.store, 8),
    (ops.setq, 5),
    (ops.dotl, 7),
    (ops.score, 5),
    (ops.av, 3),
    (transfers.streg, 4),
    (transfers.burst, 3),
    (transfers.nothing, 1),
    (transfers.gather, 10),
    (transfers.stored_table, 3),
)
AGAIN, FAIL = 3, 3
"""How often a phrase ends a start, with HALT or with an error, and another start follows."""

_WEIGHTED = tuple(phrase for phrase, weight in PHRASES for _ in range(weight))


class Building:
    """A case while its phrases are read."""

    def __init__(self, head: Draw) -> None:
        lanes = LANES[head.chance(64)]
        self.contents = Contents(STYLES[-1 - head.below(len(STYLES))], head.below(SEEDS))
        self.profile = _profile(head)
        self.machine = Machine.fresh(lanes, FuzzCase(lanes, self.contents, ()).memory)
        self.writer = Writer(self.machine)
        self.starts: list[Start] = []
        self.reset_at: int | None = None
        self.writes = hosts.first_writes(head, lanes)
        self._begin()

    def phrase(self, drawn: bytes) -> None:
        """Write what the bytes say: a phrase, or the end of this start and the beginning of another."""
        draw = Draw(drawn)
        which = draw.below(len(_WEIGHTED) + AGAIN + FAIL)
        if self.writer.room < LEAST_ROOM:
            return
        if which < len(_WEIGHTED):
            _WEIGHTED[which](self.writer, draw)
        elif which < len(_WEIGHTED) + AGAIN:
            self._halt(draw)
            if draw.chance(96):
                self._repeat(draw)
            self._next(draw)
        else:
            endings.fail(self.writer, draw)
            self._end()
            self._next(draw)

    def built(self, last: bytes) -> Built:
        """The case, once all phrases are written."""
        self._halt(Draw(last[::-1]))
        met = self.writer.met
        met["starts"] += len(self.starts)
        met["instruction memory unchanged"] += sum(start.program is None for start in self.starts)
        case = FuzzCase(self.machine.lanes, self.contents, tuple(self.starts), self.profile)
        return Built(case, met)

    def _begin(self) -> None:
        if self.reset_at == 0:
            self.machine.soft_reset()
        hosts.apply(self.machine, self.writes)
        self.writer.anchors = self.writes.anchors or self.writer.anchors
        self.writer.begin()

    def _halt(self, draw: Draw) -> None:
        endings.halt(self.writer, draw)
        self._end()

    def _end(self) -> None:
        """Keep the start whose program is written."""
        program = tuple(self.writer.program)
        self.machine.imem[: len(program)] = program
        self.starts.append(Start(program, self.writes.registers, self.writes.memory, self.reset_at))

    def _next(self, draw: Draw) -> None:
        """Begin another start, on a chip of which nothing is known where cycles decide what a run leaves."""
        timed = self.profile.mute_after > 0 or bool(self.reset_at)
        if timed:
            self.machine.lose()
        self.writes = hosts.later_writes(draw, self.machine.lanes, timed)
        which = draw.byte()
        self.reset_at = None if which < 224 else 0 if which < 240 else 1 + 4 * draw.byte()
        self._begin()

    def _repeat(self, draw: Draw) -> None:
        """Start the same program once more, with other registers if every row that it reads then has a value."""
        if self.profile.mute_after or self.reset_at:
            return
        registers = tuple((Register.R0 + 1 + draw.below(7), hosts.value_of(draw)) for _ in range(1 + draw.below(2)))
        for writes in (hosts.Writes(registers, ()), hosts.Writes((), ())):
            machine = copy.deepcopy(self.machine)
            hosts.apply(machine, writes)
            try:
                ended = run(machine)
            except Unspecified:
                continue
            self.machine = self.writer.machine = machine
            self.starts.append(Start(None, writes.registers, writes.memory))
            if ended.code is not ErrorCode.NONE:
                self.writer.met[ended.code.name] += 1
            return


def build(drawn: Drawn) -> Built:
    """The case that these bytes say: the same for the same bytes, and legal whatever they are."""
    building = Building(Draw(drawn.head))
    for phrase in drawn.phrases:
        building.phrase(phrase)
    return building.built(drawn.phrases[-1])


def _profile(head: Draw) -> Profile:
    """A latency, now and then memory with chance or memory that falls silent."""
    latency, which, number = 1 + head.below(MOST_LATENCY), head.byte(), 1 + head.below(1 << 16)
    if which >= 176:
        return Profile(1, seed=number * 0x10001 % (1 << 32))
    if which >= 168:
        return Profile(latency, mute_after=1 + number % 400)
    return Profile(latency)
