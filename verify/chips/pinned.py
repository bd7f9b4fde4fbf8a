"""Cases with the ends that are pinned for them: STATUS, ERRPC and counters that each start leaves, on every chip that has time.

The cases are those of verify/chips/program_cases.py and walk_cases.py, and the corpus. The pins, in pinned.json by the name of
the case, are the RTL's: `python -m verify pin-chip` takes them from both simulators. A start has STATUS, ERRPC, then total, dma,
mac, vec, stall, read and written words, and where time decides what memory holds, so that the definition cannot say it, a
checksum of memory.
"""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from impl.chip import ChipError, MemoryWords, Profile, Result, Start
from impl.program import to_words
from verify.chips.comparison import memory_differences
from verify.chips.corpus import corpus
from verify.chips.program_cases import ERRORS, LIVES, MEMORY, ORDER, REGISTERS
from verify.chips.spec_chip import SpecChip
from verify.chips.walk_cases import RESETS, SILENCES, SILENT_FROM, WALK_ERRORS, WALKS
from verify.refinement import Difference

PINS = Path(__file__).with_name("pinned.json")

WIDE = (
    "CHIP-CHASE: an op reads rows that are still on their way",
    "CHIP-QUIET: a store reads its row after the load before it",
    "scores, weights and their mean, twice, while rows come",
    "scores that are negative, equal or far apart, and a mean at its halves",
)
"""Programs that a chip of 32 lanes runs too."""

Ends = tuple[tuple[int, ...], ...]
Run = Callable[[Sequence[Start], MemoryWords, Profile], list[Result]]


class Case(NamedTuple):
    """A life of a chip with so many lanes, on this memory."""

    name: str
    lanes: int
    profile: Profile
    starts: Sequence[Start]
    memory: MemoryWords = MEMORY

    @property
    def timed(self) -> bool:
        """Whether what happens depends on cycles, so that the definition, which has none, cannot say it."""
        return self.profile.mute_after > 0 or any(start.reset_at for start in self.starts)


def cases() -> Iterator[Case]:
    """All of them, the corpus last."""
    yield from plain_cases()
    for name, program in ERRORS.items():
        yield Case(name, 16, Profile(), [Start(to_words(program), REGISTERS)])
    for name, starts in LIVES.items():
        yield Case(name, 16, Profile(16), starts)
    for name, start in WALK_ERRORS.items():
        yield Case(name, 16, Profile(), [start])
    for name, starts in SILENCES.items():
        yield Case(name, 16, SILENT_FROM, starts)
    for name, (profile, starts) in RESETS.items():
        yield Case(name, 16, profile, starts)
    for name in WIDE:
        yield Case(f"32 lanes, {name}", 32, Profile(), [Start(to_words(ORDER[name]), REGISTERS)])
    for number, case in enumerate(corpus()):
        yield Case(f"program {number} of the corpus", case.lanes, case.profile, case.starts, case.memory)


def plain_cases() -> Iterator[Case]:
    """Those of one start, which HALT ends."""
    for name, program in ORDER.items():
        yield Case(name, 16, Profile(), [Start(to_words(program), REGISTERS)])
    for name, walk in WALKS.items():
        for profile in (Profile(), Profile(1), Profile(seed=7)):
            yield Case(f"{name}, {profile}", 16, profile, [walk.start])


def read_pins() -> dict[str, Ends]:
    """The pinned ends of each case, by its name."""
    pins: dict[str, list[list[int]]] = json.loads(PINS.read_text(encoding="utf-8"))
    return {name: tuple(map(tuple, ends)) for name, ends in pins.items()}


def pins_text(pins: Mapping[str, Ends]) -> str:
    """What pinned.json has for these pins: JSON, a case a line."""
    lines = (f"{json.dumps(name)}: {json.dumps(ends, separators=(',', ':'))}" for name, ends in pins.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def ends_of(case: Case, results: Sequence[Result]) -> Ends:
    """What is pinned of these results."""
    return tuple(
        (
            one.status,
            one.error_pc,
            *(one.counters or ()),
            *((zlib.crc32(one.memory.astype("<u4").tobytes()),) if case.timed else ()),
        )
        for one in results
    )


def differences(case: Case, run: Run, meaning: SpecChip, pinned: Ends) -> list[Difference]:
    """Where a chip's run of the case is not what it means, if time does not decide that, and not as pinned."""
    rule = case.name.partition(":")[0] if case.name.startswith("CHIP-") else "CHIP-ISA"
    try:
        results = run(case.starts, case.memory, case.profile)
    except ChipError as error:
        return [Difference(rule, f"{case.name}: a result", f"{type(error).__name__}: {error}")]
    found: list[Difference] = []
    if not case.timed:
        for expected, result in zip(meaning.run(case.starts, case.memory), results, strict=True):
            found += memory_differences({"spec": expected, f"model, {case.name}": result})
    ends = ends_of(case, results)
    if ends != pinned:
        found.append(Difference("CHIP-CYCLE", f"{case.name}: STATUS, ERRPC and counters {pinned}", f"{ends}"))
    return found
