"""The chip's software and its cycle model as one quick stage: programs as text and as words, compiled, and run.

What runs is held against what the program means, by memory, token, status and ERRPC, and against pinned counters. A part
ends at its first difference, and the stage at the first part that has one.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from impl.chip import ChipError, MemoryWords, Profile, Result, Start
from impl.chip_forms import Form, decoder_on
from impl.chip_model.machine import ChipModel
from impl.decoder import Decoder
from impl.integer_model import IntegerModel
from impl.program import to_words
from verify.chips.comparison import memory_differences
from verify.chips.pinned_counters import PINNED
from verify.chips.program_cases import ERRORS, LIVES, MEMORY, ORDER, REGISTERS
from verify.chips.spec_chip import SpecChip
from verify.chips.walk_cases import RESETS, SILENCES, SILENT_FROM, WALK_ERRORS, WALKS
from verify.decode.hostile_models import PALETTES, hostile, hostile_rows
from verify.decode.integer_checks import check_integer_step
from verify.decode.oracle import Found
from verify.programs.suite import PARTS
from verify.refinement import Difference
from verify.stage import StageResult
from verify.suite import said, spend

CYCLE_LIMIT = 20_000
"""No case takes a third of it: a run that goes on and on ends here."""

WIDE = tuple(
    (name, ORDER[name])
    for name in (
        "CHIP-CHASE: an op reads rows that are still on their way",
        "CHIP-QUIET: a store reads its row after the load before it",
        "scores, weights and their mean, twice, while rows come",
        "scores that are negative, equal or far apart, and a mean at its halves",
    )
)
"""Programs that a chip of 32 lanes runs too."""

Case = tuple[str, Profile, Sequence[Start]]


def programs_stage(budget: int | None) -> StageResult:
    """Hold the assembler, the compiler, the cycle model and the decoders on a chip to what is typed and to what is meant."""
    differences: list[Difference] = []
    steps = 0
    for part in (*PARTS, runs, decodes):
        for found, taken in part():
            differences += found
            steps += taken
            spend(steps, budget)
            if differences:
                broken = said(differences)
                return StageResult("fail", broken, None, steps)
    return StageResult("pass", {}, None, steps)


def runs() -> Iterator[Found]:
    """Programs and lives on the cycle model, against what they mean and with their pinned counters (CHIP-ISA, CHIP-CYCLE)."""
    model, meaning = ChipModel(16, cycle_limit=CYCLE_LIMIT), SpecChip(16)
    for name, profile, starts in untimed():
        yield run_differences(name, model.run, profile, starts, meaning), len(starts)
    for name, profile, starts in timed():
        yield run_differences(name, model.run, profile, starts, None), len(starts)
    wide = ChipModel(32, cycle_limit=CYCLE_LIMIT)
    for name, program in WIDE:
        start = Start(to_words(program), REGISTERS)
        yield run_differences(f"32 lanes, {name}", wide.run, Profile(), [start], SpecChip(32)), 1


def untimed() -> Iterator[Case]:
    """The cases that mean the same whenever memory answers."""
    for name, program in (*ORDER.items(), *ERRORS.items()):
        yield name, Profile(), [Start(to_words(program), REGISTERS)]
    for name, starts in LIVES.items():
        yield name, Profile(16), starts
    for name, walk in WALKS.items():
        for profile in (Profile(), Profile(1), Profile(seed=7)):
            yield f"{name}, {profile}", profile, [walk.start]
    for name, start in WALK_ERRORS.items():
        yield name, Profile(), [start]


def timed() -> Iterator[Case]:
    """The cases in which memory falls silent or a reset comes."""
    yield from ((name, SILENT_FROM, starts) for name, starts in SILENCES.items())
    yield from ((name, *life) for name, life in RESETS.items())


Run = Callable[[Sequence[Start], MemoryWords, Profile], list[Result]]


def run_differences(
    name: str, run: Run, profile: Profile, starts: Sequence[Start], meaning: SpecChip | None
) -> list[Difference]:
    """What differs from the meaning, if there is one without time, and from the pinned ends."""
    rule = name.partition(":")[0] if name.startswith("CHIP-") else "CHIP-ISA"
    try:
        results = run(starts, MEMORY, profile)
    except ChipError as error:
        return [Difference(rule, f"{name}: a result", f"{type(error).__name__}: {error}")]
    found: list[Difference] = []
    if meaning is not None:
        for expected, result in zip(meaning.run(starts, MEMORY), results, strict=True):
            found += memory_differences({"spec": expected, f"model, {name}": result})
    ends = tuple((one.status, one.error_pc, *(one.counters or ())) for one in results)
    if ends != PINNED[name]:
        found.append(Difference("CHIP-CYCLE", f"{name}: STATUS, ERRPC and counters {PINNED[name]}", f"{ends}"))
    return found


def decodes() -> Iterator[Found]:
    """A step of each form on the chip's definition is that of the definition of a step, over few rows and many (DEC-INT)."""
    for form in Form:
        for width, rows, page_size in ((16, 0, 4), (16, 9, 2), (32, 5, 4)):
            model = hostile(rows, width, PALETTES[0], residual=-(2**15))
            past = hostile_rows(7, rows, width, PALETTES[0])
            yield check_integer_step(model, rows, past, partial(_decoder, form, page_size))


def _decoder(form: Form, page_size: int, model: IntegerModel) -> Decoder:
    """The decoder of that form on the chip's definition."""
    return decoder_on(form, model, SpecChip(model.width), page_size)
