"""Which rules a chip's RTL breaks: programs and decode steps beside the cycle model and the definition, which run once.

A chip that asks for what section 3 of docs/chip.md rules out, that shows x, or that is still busy long after the model has
ended has left neither memory nor registers as its instructions mean: it breaks CHIP-ISA, and in a decode step CHIP-INT. A
simulator that ends by itself or uses up its time says nothing of the chip: such a run breaks no rule and is lost.

A rule of order is broken where a program that is written for it gives another result, and the same instructions with a FENCE
between any two of them do not: then it is the order that is wrong, and no instruction. Likewise CHIP-GATHER where LOADs of the
same rows give the right result, CHIP-ERROR where the instructions before the error do, CHIP-WATCH and CHIP-RESET where the last
start does from power-on. What only costs cycles is seen as CHIP-CYCLE. Integers that are right at some latency of memory and
wrong at another break CHIP-TIME.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from impl.chip import ChipError, Result, Start
from impl.chip_decoder import ChipDecoder
from impl.chip_model.machine import ChipModel
from impl.decoder import Context
from impl.integer_model import IntegerModel
from impl.model_files import load
from spec.decode import Step, step_from_rows
from verify.chips import tools
from verify.chips.comparison import counter_differences, memory_differences
from verify.chips.exchange import SimulatorDied, SimulatorTimeout
from verify.chips.icarus import IcarusChip
from verify.chips.planted_rtl import SELECT
from verify.chips.program_cases import MEMORY
from verify.chips.simulated import SimulatedChip
from verify.chips.trials import LANES, LATENCIES, Trial, trials
from verify.chips.verilator import VerilatorChip
from verify.decode.hostile_models import hostile, hostile_rows, uniform
from verify.decode.integer_checks import step_differences
from verify.decode.oracle import parameters
from verify.refinement import Difference

SIMULATORS: Mapping[str, type[SimulatedChip]] = {"icarus": IcarusChip, "verilator": VerilatorChip}

CYCLES_A_CYCLE, CYCLES_BESIDES = 3, 300
"""A chip may be busy for so many cycles for each one of the model's, and so many besides; then it does not end any more."""

CPU_SECONDS = 20.0
MOST_LOST = 3
"""So many runs that are lost, and the rest is not tried."""


@dataclass(frozen=True, slots=True)
class DecodeTrial:
    """One decode step over these past rows, with the definition's answer and the model's run."""

    model: IntegerModel
    token: int
    past: Context
    expected: Step
    result: Result


@dataclass(slots=True)
class Judged:
    """Each broken rule with its first difference, the runs that were made, and why some were lost.

    `out_of_cpu` says that the last of these used up its time.
    """

    broken: dict[str, str] = field(default_factory=dict)
    runs: int = 0
    cycles: int = 0
    lost: list[str] = field(default_factory=list)
    out_of_cpu: bool = False

    def note(self, differences: Iterable[Difference], where: str) -> bool:
        """Add them; whether there was any."""
        found = list(differences)
        for one in found:
            self.broken.setdefault(one.rule, f"{where}: {one.oracle}; {one.target}")
        return bool(found)

    def lose(self, error: SimulatorDied | SimulatorTimeout, where: str) -> None:
        self.lost.append(f"{where}: {error}")
        self.out_of_cpu = isinstance(error, SimulatorTimeout)


def version_of(simulator: str) -> str:
    """The version of that simulator. Raises ToolMissing unless all is there that builds and runs the RTL in it."""
    tools.compiler()
    return tools.icarus().version if simulator == "icarus" else f"Verilator {tools.verilator().version}"


def opened(simulator: str, listing: Path, number: int) -> SimulatedChip:
    """The chip of that list of files with the planted fault of that number, 0 none; without the RTL's own assertions.

    They are left out so that it is the definition that has to see the fault. In Verilator, which knows no x, what nobody
    sets begins as ones.
    """
    defines, chosen = ("SYNTHESIS",), (f"+{SELECT}={number}",)
    if simulator == "verilator":
        return VerilatorChip(
            LANES, initial="ones", rtl=listing, defines=defines, plusargs=chosen, cpu_seconds=CPU_SECONDS
        )
    return SIMULATORS[simulator](LANES, rtl=listing, defines=defines, plusargs=chosen, cpu_seconds=CPU_SECONDS)


class Judge:
    """What each trial has to leave, found out once; `judge` holds one chip after the other against it."""

    def __init__(self, latencies: Sequence[int] = LATENCIES) -> None:
        self.trials = tuple(trials(latencies))
        self.decodes = tuple(_decodes())

    def judge(self, chip: SimulatedChip) -> Judged:
        """Every rule that the chip breaks, whatever it broke before. Raises ToolMissing and BuildFailedError."""
        judged = Judged()
        right: dict[str, set[bool]] = {}
        for trial in self.trials:
            if len(judged.lost) >= MOST_LOST:
                return judged
            sound = _run(trial, chip, judged)
            if sound is not None:
                right.setdefault(trial.name, set()).add(sound)
        mixed = [name for name, outcomes in right.items() if len(outcomes) > 1]
        judged.note(
            (Difference("CHIP-TIME", "one result at every latency", "two") for _ in mixed), ", ".join(mixed[:1])
        )
        for decode in self.decodes:
            if len(judged.lost) >= MOST_LOST:
                return judged
            _decode(decode, chip, judged)
        return judged


def _decodes() -> Iterator[DecodeTrial]:
    """Steps of models that no training gives, one of them with a mean at its halves, and of a random one."""
    for seed, palette, rows in ((1, (0, 1), 3), (2, (-128, 127), 3), (3, (-3, 0, 2), 5), (4, (-1, 0, 1), 0)):
        yield _decode_trial(hostile(seed, LANES, palette), seed, hostile_rows(seed, rows, LANES, palette))
    yield _decode_trial(uniform(hostile(1, LANES)), 1, hostile_rows(6, 1, LANES))
    yield _decode_trial(load("random-1-16"), 3, hostile_rows(5, 9, LANES, range(-40, 41)))


def _decode_trial(model: IntegerModel, token: int, past: Context) -> DecodeTrial:
    decoder = ChipDecoder(model, ChipModel(LANES))
    decoder.step(token, past)
    assert decoder.last is not None
    expected = step_from_rows(parameters(model), token, past.keys, past.values)
    return DecodeTrial(model, token, past, expected, decoder.last)


def _limit(results: Iterable[Result], starts: Iterable[Start] = ()) -> int:
    cycles = [*(result.counters.total for result in results if result.counters), *(one.reset_at or 0 for one in starts)]
    return CYCLES_BESIDES + CYCLES_A_CYCLE * max(cycles)


def _run(trial: Trial, chip: SimulatedChip, judged: Judged) -> bool | None:
    """Whether memory and registers are right after each start of the trial; None when it was lost."""
    chip.cycle_limit = _limit((one["model"] for one in trial.expected), trial.starts)
    judged.runs += 1
    try:
        found = chip.run(trial.starts, MEMORY, trial.profile)
    except (SimulatorDied, SimulatorTimeout) as error:
        judged.lose(error, trial.where)
        return None
    except ChipError as error:
        found = []
        judged.note([Difference("CHIP-ISA", "its program ends", f"{type(error).__name__}: {error}")], trial.where)
    wrong = not found
    for expected, result in zip(trial.expected, found, strict=False):
        wrong |= judged.note(memory_differences({**expected, "rtl": result}), trial.where)
        judged.note(counter_differences({**expected, "rtl": result}), trial.where)
        judged.cycles += result.counters.total if result.counters else 0
    if wrong and trial.rule and trial.rule not in judged.broken and _right_otherwise(trial, chip, judged):
        judged.broken[trial.rule] = f"{trial.where}: another result, but not {trial.otherwise}"
    return not wrong


def _right_otherwise(trial: Trial, chip: SimulatedChip, judged: Judged) -> bool:
    """Whether the starts that show that nothing else is wrong leave what they should."""
    expected = ChipModel(LANES).run(trial.control, MEMORY, trial.profile)
    chip.cycle_limit = _limit(expected)
    judged.runs += 1
    try:
        found = chip.run(trial.control, MEMORY, trial.profile)
    except ChipError:
        return False
    return not any(
        list(memory_differences({"model": right, "rtl": result})) for right, result in zip(expected, found, strict=True)
    )


def _decode(trial: DecodeTrial, chip: SimulatedChip, judged: Judged) -> None:
    where = f"{trial.model.name}, token {trial.token} over {len(trial.past.keys)} rows"
    decoder = ChipDecoder(trial.model, chip)
    chip.cycle_limit = _limit([trial.result])
    judged.runs += 1
    try:
        said = decoder.step(trial.token, trial.past)
    except (SimulatorDied, SimulatorTimeout) as error:
        judged.lose(error, where)
        return
    except ChipError as error:
        judged.note([Difference("CHIP-INT", "a step", f"{type(error).__name__}: {error}")], where)
    else:
        judged.note(step_differences("CHIP-INT", trial.expected, said, "definition"), where)
    if decoder.last is not None:
        results = {"model": trial.result, "rtl": decoder.last}
        judged.note([*memory_differences(results), *counter_differences(results)], where)
        judged.cycles += decoder.last.counters.total if decoder.last.counters else 0
