"""A failure of the fuzzer as a person reads it: the profile, each start with its program, and the first differences."""

from collections.abc import Iterator
from dataclasses import replace

from impl.chip import Start
from impl.program import listing
from spec.isa import Register
from spec.rules import RULES
from verify.fuzz.case import FuzzCase
from verify.fuzz.running import Bench, Compared
from verify.fuzz.search import ProgramFailure, ProgramTally
from verify.fuzz.shrinking import smallest
from verify.fuzz.witness import ProgramWitness

MOST_SHOWN = 8
MOST_WORDS = 16


def shrunk(failure: ProgramFailure, tally: ProgramTally, bench: Bench) -> ProgramFailure:
    """The failure with a small case that breaks a rule alike."""
    case, compared = smallest(failure.drawn, failure.compared, bench.chips)
    return replace(failure, case=case, compared=compared)


def witness_of(failure: ProgramFailure, chips: tuple[str, ...]) -> ProgramWitness:
    """What is kept of the failure."""
    return ProgramWitness(failure.case, chips, failure.compared.rules)


def failure_lines(case: FuzzCase, compared: Compared) -> Iterator[str]:
    """The case and its first differences, line by line."""
    for difference in compared.differences[:MOST_SHOWN]:
        yield f"{difference.rule}: {RULES[difference.rule]}"
        yield f"  expected: {difference.oracle}"
        yield f"  found:    {difference.target}"
    if len(compared.differences) > MOST_SHOWN:
        yield f"and {len(compared.differences) - MOST_SHOWN} more"
    yield from case_lines(case)


def case_lines(case: FuzzCase) -> Iterator[str]:
    """The case, line by line."""
    profile = case.profile
    answers = f"RANDOM, seed {profile.seed:#x}" if profile.seed else f"latency {profile.latency}"
    answers += f", silent after {profile.mute_after} requests" if profile.mute_after else ""
    contents = f"{case.contents.style}, seed {case.contents.seed}"
    yield f"{case.instructions} instructions in {len(case.starts)} starts on {case.lanes} lanes; memory: {contents}; {answers}"
    for number, start in enumerate(case.starts):
        yield f"start {number}: {_host(start)}"
        if start.program is None:
            yield "  the program before it again"
        else:
            yield from listing(start.program).splitlines()


def _host(start: Start) -> str:
    """What the host writes before the start."""
    parts = [] if start.reset_at is None else [f"soft reset in busy cycle {start.reset_at}"]
    parts += [f"{_name(address)} = {value:#x}" for address, value in start.registers]
    for first, words in start.memory:
        shown = " ".join(f"{int(word):08x}" for word in words[:MOST_WORDS])
        parts.append(f"words {first:#x} ... = {shown}{' ...' if len(words) > MOST_WORDS else ''}")
    return ", ".join(parts) or "the host writes nothing"


def _name(address: int) -> str:
    try:
        return Register(address).name
    except ValueError:
        return f"{address:#x}"
