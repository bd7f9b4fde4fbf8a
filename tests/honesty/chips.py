"""Chips: models of the chip that leave out a rule or tell wrong results, and programs by their meaning and by their cycles."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import Any
from unittest.mock import patch

from impl.chip import Chip, ChipDied, MemoryWords, Profile, Result, Start
from impl.chip_model.machine import ChipModel
from impl.chip_model.requantise import Requantiser
from impl.decoder import Context
from impl.model_files import load
from impl.program import assemble, from_words, to_words
from impl.row_store import PagedStore
from spec.isa import CODE_SHIFT, Gather, Halt, IllegalInstruction, decode
from tests.honesty.case import Case, broken, broken_among_others, right
from tests.test_chip_hazards import WITHOUT
from verify.chips import comparison
from verify.chips import judge as judge_of
from verify.chips import trials as trials_of
from verify.chips.comparison import compare_decodes, counter_differences, decode_cases, memory_differences
from verify.chips.judge import DecodeTrial, Judge
from verify.chips.program_cases import MEMORY, OUT
from verify.chips.spec_chip import SpecChip
from verify.chips.trials import LANES, Trial, trials
from verify.programs import text_checks
from verify.programs.spellings import SPELLINGS
from verify.programs.text_checks import check_texts
from verify.refinement import Difference

CYCLES = 20_000
LATENCIES = (4,)

Tell = Callable[[Sequence[Start], Profile, list[Result]], list[Result]]
"""What a chip tells of starts and of a memory, from what the model leaves; it may raise a ChipError."""


class TellingModel(ChipModel):
    """The cycle model, whose results are told by `tell`, and of which a part may be answered for it."""

    def __init__(self, tell: Tell | None = None, part: tuple[object, str, Callable[..., object]] | None = None) -> None:
        super().__init__(LANES, cycle_limit=CYCLES)
        self.tell, self.part = tell, part

    def run(
        self,
        starts: Sequence[Start],
        memory: MemoryWords,
        profile: Profile = Profile(),  # noqa: B008
    ) -> list[Result]:
        try:
            found = self._found(starts, memory, profile)
        except (AssertionError, IndexError, KeyError) as error:
            raise ChipDied(f"{type(error).__name__}: {error}") from error
        return found if self.tell is None else self.tell(starts, profile, found)

    def _found(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile) -> list[Result]:
        if self.part is None:
            return super().run(starts, memory, profile)
        with patch.object(*self.part):
            return super().run(starts, memory, profile)


def other_memory(result: Result) -> Result:
    """The result with another word where programs store what they computed."""
    memory = result.memory.copy()
    memory[OUT] ^= 1
    return replace(result, memory=memory)


def always(tell: Callable[[Result], Result]) -> Tell:
    """Every result told so."""
    return lambda starts, profile, found: [tell(result) for result in found]


def where(tells: Callable[[Sequence[Start], Profile, Result], bool], tell: Callable[[Result], Result]) -> Tell:
    """The results for which that holds told so, the others as they are."""
    return lambda starts, profile, found: [tell(r) if tells(starts, profile, r) else r for r in found]


def gathers(starts: Sequence[Start], _: Profile, __: Result) -> bool:
    """Whether there is a GATHER in the program."""
    return any(isinstance(one, Gather) for start in starts for one in instructions(start))


def instructions(start: Start) -> list[object]:
    """The instructions of the start's program, None where words are none."""
    found: list[object] = []
    for words in start.program or ():
        try:
            found.append(decode(*words))
        except IllegalInstruction:
            found.append(None)
    return found


def raising(*_: object) -> list[Result]:
    """No result."""
    raise ChipDied("no result")


def counting(result: Result) -> Result:
    """One stall more than there was."""
    assert result.counters is not None
    return replace(result, counters=result.counters._replace(stall=result.counters.stall + 1))


def failed(_: Sequence[Start], __: Profile, result: Result) -> bool:
    """Whether an error ended the run."""
    return result.status >> CODE_SHIFT != 0


def later(starts: Sequence[Start], _: Profile, __: Result) -> bool:
    """Whether there was a start before."""
    return len(starts) > 1


def by_chance(_: Sequence[Start], profile: Profile, __: Result) -> bool:
    """Whether memory is not always ready."""
    return profile.seed != 0


MANY: Mapping[str, int] = {"ERRORS": 1, "LIVES": 1, "WALKS": 1, "WALK_ERRORS": 1, "SILENCES": 1, "RESETS": 2}
"""Trials of verify/chips/trials.py of which the first are enough."""

NO_RULE = ""
"""Of trials that no rule of order, of walks, of errors, of silence or of resets is written for."""

TOLD: tuple[tuple[str, str, Tell, tuple[str, ...]], ...] = (
    ("CHIP-GATHER", "another word behind a GATHER", where(gathers, other_memory), ("CHIP-GATHER", "CHIP-ISA")),
    (
        "CHIP-ERROR",
        "the number of another instruction",
        where(failed, lambda result: replace(result, error_pc=result.error_pc + 1)),
        ("CHIP-ERROR", "CHIP-ISA"),
    ),
    ("CHIP-WATCH", "another word after silence", where(later, other_memory), ("CHIP-WATCH", "CHIP-ISA")),
    ("CHIP-RESET", "another word after a reset", where(later, other_memory), ("CHIP-RESET", "CHIP-ISA")),
    (NO_RULE, "another word", always(other_memory), ("CHIP-ISA",)),
    (NO_RULE, "another token", always(lambda result: replace(result, token=result.token ^ 1)), ("CHIP-ISA",)),
    (NO_RULE, "no result", raising, ("CHIP-ISA",)),
    (NO_RULE, "a stall too many", always(counting), ("CHIP-CYCLE",)),
    ("CHIP-GATHER", "another word by chance", where(by_chance, other_memory), ("CHIP-TIME", "CHIP-ISA")),
)
"""The rule whose trials are run, what a chip tells, and the rules that are broken."""


def honesty() -> Iterator[Case]:
    """Chips that leave out a rule or tell what is wrong, and the model as it is; words that are no instruction's."""
    for rule in ("CHIP-CHASE", "CHIP-RESET", NO_RULE):
        name = f"the model, trials of {rule or 'no rule'}"
        yield right(rule or "CHIP-ISA", name, partial(judged, rule, TellingModel()))
    for rule, name, tell, due in TOLD:
        yield broken(due[0], name, partial(judged, rule, TellingModel(tell)), *due[1:])
    for rule, part in {rule: (module, name, answer) for rule, module, name, answer in WITHOUT}.items():
        yield broken_among_others(rule, f"without {rule}", partial(judged, rule, TellingModel(part=part)))
    for find, what in ((stepped, "a step"), (decoded, "a decode")):
        yield right("CHIP-INT", f"{what} of the model", partial(find, TellingModel()))
        yield broken("CHIP-INT", f"{what} without a result", partial(find, TellingModel(raising)))
        zeros = TellingModel(part=(Requantiser, "shifted", zero))
        yield broken("CHIP-INT", f"{what} of zeros", partial(find, zeros), "CHIP-ISA")
        yield broken("CHIP-ISA", f"{what} with another word", partial(find, TellingModel(always(other_memory))))
        yield broken("CHIP-CYCLE", f"{what} with a stall too many", partial(find, TellingModel(always(counting))))
    yield from compared_cases()
    yield from spelled_cases()


def spelled_cases() -> Iterator[Case]:
    """Text, instruction and words of which one is another's."""
    yield right("CHIP-ENC", "every spelling", partial(rejected, "SPELLINGS", SPELLINGS))
    text, instruction, (low, high) = SPELLINGS[2]
    yield broken("CHIP-ENC", "other words", partial(rejected, "SPELLINGS", [(text, instruction, (low ^ 1, high))]))
    makes: tuple[tuple[str, Callable[[Any], object], object, object], ...] = (
        ("assemble", assemble, text, (Halt(),)),
        ("to_words", to_words, [instruction], ((low ^ 1, high),)),
        ("from_words", from_words, [(low, high)], (Halt(),)),
    )
    for name, make, given, wrong in makes:
        answer = partial(answering, make, given, wrong)
        yield broken("CHIP-ENC", f"{name} of one program is another's", partial(rejected, name, answer))


def compared_cases() -> Iterator[Case]:
    """Results that are compared, and rows that every chip is handed one late."""
    late = partial(decoded, TellingModel(), GathersOneRowLate)
    yield broken("CHIP-INT", "a decode of rows that are one late", late)
    (result,) = ChipModel(LANES).run([judge().trials[0].starts[0]], MEMORY)
    for name, differences, told, due in (
        ("memory", memory_differences, other_memory(result), ("CHIP-ISA",)),
        ("token", memory_differences, replace(result, token=result.token ^ 1), ("CHIP-ISA",)),
        ("status", memory_differences, replace(result, status=0), ("CHIP-ISA",)),
        ("number of the instruction", memory_differences, replace(result, error_pc=9), ("CHIP-ISA",)),
        ("counters", counter_differences, counting(result), ("CHIP-CYCLE",)),
        ("nothing", memory_differences, result, ()),
        ("nothing that counts", counter_differences, result, ()),
    ):
        found = partial(between, differences, result, told)
        yield Case(f"another {name}", "CHIP-ISA", found, frozenset(due))


def zero(*_: object) -> int:
    """What a requantiser gives that knows no other number."""
    return 0


@cache
def judge() -> Judge:
    """What a few trials of each kind, and one decode step, have to leave."""
    few: dict[str, Any] = {name: dict(islice(vars(trials_of)[name].items(), most)) for name, most in MANY.items()}
    step = partial(islice, judge_of._decodes(), 1)
    with patch.multiple(trials_of, **few), patch.object(judge_of, "_decodes", step):
        return Judge(LATENCIES)


def judged(rule: str, chip: ChipModel) -> set[str]:
    """The rules that the chip breaks in the trials of that rule, and in no decode."""
    return broken_by(chip, [trial for trial in judge().trials if trial.rule == rule], [])


def stepped(chip: ChipModel) -> set[str]:
    """The rules that the chip breaks in one decode step."""
    return broken_by(chip, [], judge().decodes[:1])


def broken_by(chip: ChipModel, of_order: Sequence[Trial], decodes: Sequence[DecodeTrial]) -> set[str]:
    """The rules that a judge with these trials finds broken."""
    few = copy(judge())
    few.trials, few.decodes = tuple(of_order), tuple(decodes)
    return {*few.judge(chip).broken}  # type: ignore[arg-type]


def decoded(chip: ChipModel, store: type[PagedStore] = PagedStore) -> set[str]:
    """The rules that the chip breaks in a short decode beside definition and model, over such a store."""
    cases = decode_cases([load("random-1-16")], [3], (5,), (4,), 2, 3)
    chips: dict[str, Chip] = {"spec": SpecChip(LANES), "model": ChipModel(LANES), "chip": chip}
    with patch.object(comparison, "PagedStore", store):
        return {one.rule for one in compare_decodes(cases, chips).differences}


class GathersOneRowLate(PagedStore):
    """Hands over all rows but the first."""

    def gather(self, request: int, ranges: tuple[tuple[int, int], ...]) -> Context:
        keys, values = super().gather(request, ranges)
        return Context(keys[1:], values[1:])


def between(compare: Callable[[Mapping[str, Result]], Iterator[Difference]], one: Result, other: Result) -> list[str]:
    """The rules of the differences of two results."""
    return [difference.rule for difference in compare({"one": one, "other": other})]


def answering(make: Callable[[Any], object], given: object, wrong: object, asked: Any) -> object:
    """What is wrong for what is given, and what is made of anything else."""
    return wrong if asked == given else make(asked)


def rejected(name: str, value: object) -> list[str]:
    """The rules that the check of texts breaks, with that name of its module standing for the value."""
    with patch.object(text_checks, name, value):
        return sorted({difference.rule for found, _ in check_texts() for difference in found})


def differential() -> Iterator[Case]:
    """The definition against the cycle model, in programs, walks, errors and a decode."""
    for trial in trials(LATENCIES):
        yield right(trial.rule or "CHIP-ISA", trial.where, partial(by_meaning, trial))
    yield right("CHIP-INT", "a decode on definition and model", partial(decoded, TellingModel()))


def by_meaning(trial: Trial) -> list[str]:
    """The trial's rule, CHIP-ISA without one, when definition and cycle model do not leave the same."""
    apart = any(any(memory_differences(results)) for results in trial.expected)
    return [trial.rule or "CHIP-ISA"] if apart else []
