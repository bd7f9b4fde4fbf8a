"""Programs on every chip: what the instructions mean one after the other, in the cycles that the definition has for them."""

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from impl.chip import Chip, Profile, Result, Start
from impl.program import to_words
from spec.isa import CODE_SHIFT, DONE, ERROR, EXT_WORDS, ErrorCode
from verify.chips.choice import CHIPS, SIMULATED, open_chip
from verify.chips.comparison import counter_differences, memory_differences
from verify.chips.program_cases import ERRORS, ORDER, REGISTERS, Program

LATENCIES = (1, 2, 3, 4, 5, 7, 16)
MEMORY = np.random.default_rng(5).integers(0, 2**32, EXT_WORDS, np.uint32)


@pytest.fixture(scope="module")
def chips() -> Iterator[dict[str, Chip]]:
    """All four."""
    with ExitStack() as running:
        yield {name: running.enter_context(open_chip(name, 16)) for name in CHIPS}


def results(chips: dict[str, Chip], program: Program, latency: int) -> dict[str, Result]:
    """What each chip makes of the program."""
    start = Start(to_words(program), REGISTERS)
    return {name: chip.run([start], MEMORY, Profile(latency))[0] for name, chip in chips.items()}


@pytest.mark.usefixtures(*SIMULATED)
@pytest.mark.parametrize("program", ORDER.values(), ids=ORDER)
def test_a_program_means_and_takes_the_same_everywhere(chips: dict[str, Chip], program: Program) -> None:
    """CHIP-ISA, CHIP-TIME, CHIP-CYCLE, at every latency of memory."""
    for latency in LATENCIES:
        found = results(chips, program, latency)
        assert found["spec"].status == DONE
        assert [*memory_differences(found), *counter_differences(found)] == []


@pytest.mark.usefixtures(*SIMULATED)
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_ends_a_run_alike_everywhere(chips: dict[str, Chip], name: str) -> None:
    """CHIP-ISA, CHIP-CYCLE: the code, the instruction's number, and memory as the older instructions left it."""
    for latency in LATENCIES:
        found = results(chips, ERRORS[name], latency)
        assert found["spec"].status == ErrorCode[name] << CODE_SHIFT | ERROR | DONE
        assert [*memory_differences(found), *counter_differences(found)] == []
