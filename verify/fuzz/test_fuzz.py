"""Programs at random on the definition, the cycle model and both simulators: the same integers, counters and errors."""

import json
import time

import pytest
from hypothesis import given, settings

from verify.bounds import PROGRAM_BOUNDS, Profile
from verify.chips.choice import CHIPS, SIMULATED
from verify.findings import WITNESS_FOLDER
from verify.fuzz.building import build
from verify.fuzz.draws import Drawn, drawn_cases
from verify.fuzz.report import failure_lines, shrunk, witness_of
from verify.fuzz.running import Bench
from verify.fuzz.search import ProgramTally, search_programs
from verify.fuzz.situations import FLAGS, INSTRUCTIONS, REQUIRED, TIMES, WALKS
from verify.fuzz.witness import ProgramWitness, from_json, to_json
from verify.summary import Summary
from verify.witness_files import keep

WALKING_CASES = 800
BATCH = 500


def searched(chips: tuple[str, ...], cases: int, minutes: float, summary: Summary) -> ProgramTally:
    """The tally of so many cases, then of batches by seed for so many minutes; a difference fails the test."""
    total = ProgramTally(chips)
    summary.program_tallies.append(total)
    end = time.monotonic() + minutes * 60
    with Bench(chips) as bench:
        search_programs(bench, cases, total)
        seed = 0
        while total.failure is None and time.monotonic() < end:
            seed += 1
            total.add(search_programs(bench, BATCH, ProgramTally(chips, seed=seed)))
        if total.failure is not None:
            failure = shrunk(total.failure, total, bench)
            path, why = keep(WITNESS_FOLDER, witness_of(failure, chips))
            lines = [*failure_lines(failure.case, failure.compared), f"witness: {path}{why}"]
            pytest.fail("\n".join(lines), pytrace=False)
    return total


def test_programs_mean_the_same_on_definition_and_model_and_meet_every_situation(
    profile: Profile, summary: Summary
) -> None:
    """CHIP-ISA, CHIP-TIME, CHIP-ERROR."""
    bounds = PROGRAM_BOUNDS[profile.name]
    tally = searched(("spec", "model"), bounds.cases, bounds.minutes, summary)
    assert tally.programs >= bounds.programs
    rare = {name: tally.met[name] for name in REQUIRED if tally.met[name] < bounds.each}
    assert not rare, f"met fewer than {bounds.each} times: {rare}"


@pytest.mark.usefixtures(*SIMULATED)
def test_programs_mean_and_take_the_same_on_all_four(profile: Profile, summary: Summary) -> None:
    """CHIP-ISA, CHIP-CYCLE, CHIP-ERROR, CHIP-GATHER, CHIP-WATCH, CHIP-RESET: programs, walks, silent memory, resets."""
    bounds = PROGRAM_BOUNDS[profile.name]
    tally = searched(tuple(CHIPS), bounds.everywhere, bounds.minutes, summary)
    assert tally.programs >= bounds.everywhere
    assert len({tally.cycles[name] for name in CHIPS if name != "spec"}) == 1
    wanted = (*INSTRUCTIONS, *((*FLAGS, *TIMES) if profile.name != "dev" else ()))
    missing = [name for name in wanted if not tally.met[name]]
    assert not missing


def test_programs_that_walk_are_legal_and_meet_every_situation_of_a_walk() -> None:
    """CHIP-GATHER: whatever is drawn, the definition says what it does."""
    tally = ProgramTally(("spec",))
    with Bench(tally.chips) as bench:
        search_programs(bench, WALKING_CASES, tally)
    assert tally.cases == WALKING_CASES
    assert not [name for name in WALKS if not tally.met[name]]


@settings(max_examples=100)
@given(drawn_cases())
def test_the_same_bytes_build_the_same_case_and_a_witness_keeps_it(drawn: Drawn) -> None:
    case, again = build(drawn).case, build(drawn).case
    kept = to_json(ProgramWitness(case, ()))
    assert json.dumps(kept) == json.dumps(to_json(ProgramWitness(again, ())))
    assert to_json(ProgramWitness(from_json(json.loads(json.dumps(kept))).case, ())) == kept
