"""What a judge of the RTL runs: each trial with what it has to leave, the rule that it is written for, and its control.

The control tells that rule from others: starts that do the same without it, and must be right for it to be the broken one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from impl.chip import Profile, Result, Start
from impl.chip_model.machine import ChipModel
from impl.program import to_words
from spec.isa import Fence, Halt
from spec.rules import RULES
from verify.chips.program_cases import ERRORS, LIVES, MEMORY, ORDER, REGISTERS, Program
from verify.chips.spec_chip import SpecChip
from verify.chips.walk_cases import RESETS, SILENCES, SILENT_FROM, WALK_ERRORS, WALKS

LANES = 16
LATENCIES = (4, 1, 16)
CHANCE = Profile(seed=7)
"""Memory that is not always ready."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Starts on a memory, and what each leaves: by the model, and by the definition where that has a meaning for it.

    With a rule, `control` must be right for it to be broken, and `otherwise` says in words what that is.
    """

    name: str
    profile: Profile
    starts: tuple[Start, ...]
    expected: tuple[Mapping[str, Result], ...]
    rule: str = ""
    control: tuple[Start, ...] = ()
    otherwise: str = ""

    @property
    def where(self) -> str:
        """The trial in words."""
        latency, seed, silent = self.profile
        memory = f"seed {seed}" if seed else f"latency {latency}"
        return f"{self.name}, {memory}{f', silent after {silent} requests' if silent else ''}"


def trials(latencies: Sequence[int] = LATENCIES) -> Iterator[Trial]:
    """Programs of rules of order at every latency, walks also by chance, the others at the first one or on their own memory."""
    first = Profile(latencies[0])
    for name, program in ORDER.items():
        word, start = name.partition(":")[0], _start(program)
        rule = word if word in RULES else ""
        for latency in latencies:
            control = (fenced(start),) if rule else ()
            yield _trial(name, Profile(latency), [start], rule, control, "with FENCE between its instructions")
    for name, program in ERRORS.items():
        yield _of_error(name, _start(program), first)
    for name, starts in LIVES.items():
        yield _trial(name, first, starts)
    for name, walk in WALKS.items():
        for profile in (*map(Profile, latencies), CHANCE):
            yield _trial(name, profile, [walk.start], "CHIP-GATHER", [walk.loads], "with LOADs of the same rows")
    for name, start in WALK_ERRORS.items():
        yield _of_error(name, start, first)
    lives = [(name, "CHIP-WATCH", SILENT_FROM, starts) for name, starts in SILENCES.items()]
    lives += [(name, "CHIP-RESET", *life) for name, life in RESETS.items()]
    for name, rule, profile, starts in lives:
        yield _trial(name, profile, starts, rule, starts[-1:], "when its last start is the first", timed=True)


def fenced(start: Start) -> Start:
    """The same start with a FENCE behind each of its instructions."""
    fence = to_words((Fence(),))
    return Start(tuple(words for one in start.program or () for words in (one, *fence)), start.registers)


def until_error(start: Start, error_pc: int) -> Start:
    """The same start with a HALT in the place of the instruction of that number."""
    program = (start.program or ())[:error_pc]
    return Start((*program, *to_words((Halt(),))), start.registers, start.memory)


def _start(program: Program) -> Start:
    return Start(to_words(program), REGISTERS)


def _of_error(name: str, start: Start, profile: Profile) -> Trial:
    ended = SpecChip(LANES).run([start], MEMORY)[0]
    control = until_error(start, ended.error_pc)
    return _trial(name, profile, [start], "CHIP-ERROR", [control], "with HALT where the error is")


def _trial(
    name: str,
    profile: Profile,
    starts: Sequence[Start],
    rule: str = "",
    control: Sequence[Start] = (),
    otherwise: str = "",
    timed: bool = False,
) -> Trial:
    """That trial; `timed` says that it depends on time, which the definition of what a program means does not have."""
    by_cycles = ChipModel(LANES).run(starts, MEMORY, profile)
    expected: list[dict[str, Result]] = [{"model": model} for model in by_cycles]
    if not timed:
        by_meaning = SpecChip(LANES).run(starts, MEMORY, profile)
        expected = [{"spec": spec} | one for spec, one in zip(by_meaning, expected, strict=True)]
    return Trial(name, profile, tuple(starts), tuple(expected), rule, tuple(control), otherwise)
