"""Programs on every chip: what the instructions mean one after the other, in the cycles that the definition has for them."""

import numpy as np
import pytest

from impl.chip import Profile, Result, Start
from impl.program import to_words
from spec.isa import CODE_SHIFT, DONE, ERROR, EXT_WORDS, ErrorCode
from verify.chips.available import Open
from verify.chips.choice import CHIPS, SIMULATED
from verify.chips.comparison import counter_differences, memory_differences
from verify.chips.program_cases import ERRORS, ORDER, REGISTERS, Program

LATENCIES = (1, 2, 3, 4, 5, 7, 16)
MEMORY = np.random.default_rng(5).integers(0, 2**32, EXT_WORDS, np.uint32)


def results(opened: Open, program: Program, latency: int) -> dict[str, Result]:
    """What each of the four chips makes of the program."""
    start = Start(to_words(program), REGISTERS)
    return {name: opened(name, 16).run([start], MEMORY, Profile(latency))[0] for name in CHIPS}


@pytest.mark.usefixtures(*SIMULATED)
@pytest.mark.parametrize("program", ORDER.values(), ids=ORDER)
def test_a_program_means_and_takes_the_same_everywhere(opened: Open, program: Program) -> None:
    """CHIP-ISA, CHIP-TIME, CHIP-CYCLE, at every latency of memory."""
    for latency in LATENCIES:
        found = results(opened, program, latency)
        assert found["spec"].status == DONE
        assert [*memory_differences(found), *counter_differences(found)] == []


@pytest.mark.usefixtures(*SIMULATED)
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_ends_a_run_alike_everywhere(opened: Open, name: str) -> None:
    """CHIP-ISA, CHIP-CYCLE: the code, the instruction's number, and memory as the older instructions left it."""
    for latency in LATENCIES:
        found = results(opened, ERRORS[name], latency)
        assert found["spec"].status == ErrorCode[name] << CODE_SHIFT | ERROR | DONE
        assert [*memory_differences(found), *counter_differences(found)] == []
