"""The fuzzer can fail: each rule of the chip's order left out of the cycle model, and values that are slightly wrong, are found.

What it finds is shrunk to a few instructions. How many programs that took is each test's property `programs to find`.
"""

from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from impl.chip import Chip, ChipDied, MemoryWords, Profile, Result
from impl.chip_model import sequencer
from impl.chip_model.command import Entry
from impl.chip_model.machine import ChipModel
from impl.chip_model.requantise import Requantiser
from impl.chip_model.softmax import Softmax
from impl.command import CommandError
from impl.exit_codes import ExitCode
from impl.program import from_words
from spec.isa import CODE_SHIFT, DONE, ERROR, Dot, ErrorCode, Score
from tests.test_chip_hazards import WITHOUT, never
from verify.cli import main
from verify.fuzz.draws import PHRASE_BYTES, Draw
from verify.fuzz.report import failure_lines, shrunk, witness_of
from verify.fuzz.running import Bench, compare
from verify.fuzz.search import ProgramFailure, ProgramTally, search_programs
from verify.fuzz.witness import from_json, to_json
from verify.witness_files import keep, load_of_program

MOST_CASES = 400
MOST_INSTRUCTIONS = 10
CYCLES = 20_000

Fault = tuple[object, str, Callable[..., object]]
"""Where the model asks, by what name, and what it is answered."""

RULES: tuple[tuple[str, Fault], ...] = (
    *((rule, (module, name, without)) for rule, module, name, without in WITHOUT),
    ("CHIP-IDLE", (sequencer, "ending_is_held", never)),
)


def saturated_too_early(requantiser: Requantiser, entry: Entry) -> int:
    """A lane that is never -128."""
    return max(-127, min(127, requantiser.product >> entry.sh))


def index_not_rounded(softmax: Softmax, score: int) -> int:
    """The index of a score rounded down, not to the nearest."""
    entry = softmax._entry
    return min(255, ((softmax._largest or 0) - score) * entry.m >> entry.sh)


VALUES: tuple[tuple[str, Fault, type[Dot] | type[Score]], ...] = (
    ("saturation", (Requantiser, "shifted", saturated_too_early), Dot),
    ("rounding", (Softmax, "_index_of", index_not_rounded), Score),
)


class FaultyModel(ChipModel):
    """The cycle model with a fault; what it then stumbles over is no result."""

    def __init__(self, lanes: int, fault: Fault) -> None:
        super().__init__(lanes, cycle_limit=CYCLES)
        self.fault = fault

    def run(self, starts: object, memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        module, name, answer = self.fault
        with patch.object(module, name, answer):
            try:
                return super().run(starts, memory, profile)  # type: ignore[arg-type]
            except (AssertionError, IndexError, KeyError) as error:
                raise ChipDied(f"{type(error).__name__}: {error}") from error


class FaultyBench(Bench):
    """Chips of which one, `faulty`, is the model with a fault."""

    def __init__(self, names: tuple[str, ...], fault: Fault) -> None:
        super().__init__(names)
        self.fault = fault

    def opened(self, name: str, lanes: int) -> Chip:
        return FaultyModel(lanes, self.fault) if name == "faulty" else super().opened(name, lanes)


def found(names: tuple[str, ...], fault: Fault) -> tuple[ProgramTally, ProgramFailure]:
    """The search that finds the fault, and what it was shrunk to."""
    with FaultyBench(names, fault) as bench:
        tally = search_programs(bench, MOST_CASES, ProgramTally(names))
        assert tally.failure is not None, f"not found in {tally.programs} programs"
        failure = shrunk(tally.failure, tally, bench)
        case = from_json(to_json(witness_of(failure, names))).case
        assert compare(case, bench.chips(case.lanes)).rules == failure.compared.rules
    return tally, failure


@pytest.mark.parametrize("names", [("spec", "faulty"), ("spec", "model", "faulty")], ids=["integers", "and counters"])
@pytest.mark.parametrize(
    ("rule", "fault"), RULES, ids=[f"{rule} {fault[1]} {n}" for n, (rule, fault) in enumerate(RULES)]
)
def test_a_model_without_a_rule_of_order_is_found(
    record_property: Callable[[str, object], None], names: tuple[str, ...], rule: str, fault: Fault
) -> None:
    tally, failure = found(names, fault)
    record_property("programs to find", tally.programs)
    print(f"{rule} without {fault[1]}: {tally.programs} programs to find, on {', '.join(names)}")
    print(*failure_lines(failure.case, failure.compared), sep="\n")
    assert failure.case.instructions <= MOST_INSTRUCTIONS
    assert len(failure.case.starts) == 1


@pytest.mark.parametrize(("name", "fault", "kind"), VALUES, ids=[name for name, _, _ in VALUES])
def test_a_value_that_is_slightly_wrong_is_found(
    record_property: Callable[[str, object], None], name: str, fault: Fault, kind: type[Dot] | type[Score]
) -> None:
    tally, failure = found(("spec", "faulty"), fault)
    record_property("programs to find", tally.programs)
    print(f"{name}: {tally.programs} programs to find")
    print(*failure_lines(failure.case, failure.compared), sep="\n")
    assert failure.case.instructions <= MOST_INSTRUCTIONS
    (start,) = failure.case.starts
    assert any(isinstance(instruction, kind) for instruction in from_words(start.program or ()))


def test_a_model_that_would_never_end_times_out_and_differs() -> None:
    tally, failure = found(("spec", "faulty"), (sequencer, "ending_is_held", lambda active, occupancy: True))
    assert tally.programs < MOST_CASES
    assert f"{ErrorCode.TIMEOUT << CODE_SHIFT | ERROR | DONE}" in failure.compared.differences[0].target


def test_a_saved_witness_is_replayed_by_the_command_line(tmp_path: Path) -> None:
    _, failure = found(("spec", "faulty"), RULES[0][1])
    path, why = keep(tmp_path, witness_of(failure, ("spec", "faulty")))
    assert path is not None and not why
    for arguments in ([], ["--chip", "spec"], ["--chip", "model,spec"]):
        ran = CliRunner().invoke(main, ["replay", str(path), *arguments], standalone_mode=False)
        assert ran.return_value is ExitCode.PASS, ran.output
    assert CliRunner().invoke(main, ["replay", str(path), "--chip", "none"]).exit_code == 2
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(CommandError, match="no witness of a program: at version"):
        load_of_program(path)


def test_chance_without_bytes_is_the_simplest() -> None:
    draw = Draw(bytes(PHRASE_BYTES))
    assert [draw.below(7), draw.below(1000), draw.one_of("abc"), draw.chance(128)] == [0, 0, "a", False]
    assert Draw(b"").below(9) == 0
