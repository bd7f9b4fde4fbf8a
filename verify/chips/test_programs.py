"""Programs on every chip: what the instructions mean one after the other, in the cycles that the definition has for them."""

from collections.abc import Mapping

import pytest

from impl.chip import Chip, Profile, Result, Start
from impl.chip_model.machine import ChipModel
from impl.program import to_words
from spec.isa import CODE_SHIFT, DONE, ERROR, ErrorCode
from verify.chips.available import Open
from verify.chips.choice import CHIPS, POWER_ON, SIMULATED, open_chips
from verify.chips.comparison import counter_differences, memory_differences
from verify.chips.program_cases import ERRORS, LIVES, MEMORY, ORDER, REGISTERS, Program
from verify.chips.trials import CHANCE
from verify.chips.walk_cases import RESETS, SILENCES, SILENT_FROM, TIMEOUT_AT, WALK_ERRORS, WALKS, Walk, silent

LATENCIES = (1, 2, 3, 4, 5, 7, 16)
TIMED = {name: (SILENT_FROM, starts) for name, starts in SILENCES.items()} | dict(RESETS)


def results(chips: Mapping[str, Chip], program: Program, latency: int) -> dict[str, Result]:
    """What each chip makes of the program."""
    start = Start(to_words(program), REGISTERS)
    return {name: chip.run([start], MEMORY, Profile(latency))[0] for name, chip in chips.items()}


@pytest.fixture
def chips(opened: Open) -> dict[str, Chip]:
    """All four."""
    return {name: opened(name, 16) for name in CHIPS}


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
        assert found["spec"].status == ErrorCode[name.partition(":")[0]] << CODE_SHIFT | ERROR | DONE
        assert [*memory_differences(found), *counter_differences(found)] == []


@pytest.mark.usefixtures("verilator")
def test_what_registers_hold_at_power_on_is_in_no_result() -> None:
    """CHIP-ISA, CHIP-CYCLE: zeros, ones and chance in whatever nobody has set yet, in programs with and without an error."""
    with open_chips(tuple(POWER_ON), 16) as variants:
        for program in (*ORDER.values(), *ERRORS.values()):
            found = results(variants, program, LATENCIES[0])
            assert [*memory_differences(found), *counter_differences(found)] == []


@pytest.mark.usefixtures(*SIMULATED)
@pytest.mark.parametrize("starts", LIVES.values(), ids=LIVES)
def test_starts_one_after_the_other_are_alike_everywhere(opened: Open, starts: tuple[Start, ...]) -> None:
    """CHIP-ISA, CHIP-CYCLE: what a start keeps and what it clears."""
    for latency in LATENCIES:
        found = {name: opened(name, 16).run(starts, MEMORY, Profile(latency)) for name in CHIPS}
        for results_of_one in zip(*found.values(), strict=True):
            one = dict(zip(found, results_of_one, strict=True))
            assert [*memory_differences(one), *counter_differences(one)] == []


@pytest.mark.usefixtures(*SIMULATED)
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_a_walk_brings_what_loads_bring(chips: dict[str, Chip], walk: Walk) -> None:
    """CHIP-GATHER, CHIP-CYCLE: the same rows on every chip, whoever brings them."""
    for profile in (*map(Profile, LATENCIES), CHANCE):
        found = {name: chip.run([walk.start], MEMORY, profile)[0] for name, chip in chips.items()}
        assert found["spec"].status == DONE
        assert [*memory_differences(found), *counter_differences(found)] == []
    gathered, loaded = chips["spec"].run([walk.start, walk.loads], MEMORY)
    assert (gathered.memory == loaded.memory).all()


@pytest.mark.usefixtures(*SIMULATED)
@pytest.mark.parametrize("name", WALK_ERRORS)
def test_an_error_of_the_walk_ends_a_run_alike_everywhere(chips: dict[str, Chip], name: str) -> None:
    """CHIP-ERROR, CHIP-CYCLE: the code, the GATHER's number, and memory as the older instructions left it."""
    for latency in LATENCIES:
        found = {who: chip.run([WALK_ERRORS[name]], MEMORY, Profile(latency))[0] for who, chip in chips.items()}
        assert found["spec"].status == ErrorCode[name.partition(":")[0]] << CODE_SHIFT | ERROR | DONE
        assert [*memory_differences(found), *counter_differences(found)] == []


@pytest.mark.usefixtures(*SIMULATED)
@pytest.mark.parametrize(("profile", "starts"), TIMED.values(), ids=TIMED)
def test_silence_and_resets_are_alike_everywhere(opened: Open, profile: Profile, starts: tuple[Start, ...]) -> None:
    """CHIP-WATCH, CHIP-RESET, CHIP-CYCLE: what each start leaves, on the chips that have time."""
    found = {name: opened(name, 16).run(starts, MEMORY, profile) for name in CHIPS if name != "spec"}
    for results_of_one in zip(*found.values(), strict=True):
        one = dict(zip(found, results_of_one, strict=True))
        assert [*memory_differences(one), *counter_differences(one)] == []


def test_the_last_start_of_a_life_does_what_it_does_from_power_on() -> None:
    """CHIP-WATCH, CHIP-RESET, of the cycle model; and the reset of one life comes in the cycle before a TIMEOUT."""
    model = ChipModel(16)
    for profile, starts in TIMED.values():
        *_, last = model.run(starts, MEMORY, profile)
        (alone,) = model.run(starts[-1:], MEMORY, profile)
        assert (last.status, last.error_pc, last.token) == (alone.status, alone.error_pc, alone.token)
        assert last.status == DONE
    timeout = model.run([silent()], MEMORY, SILENT_FROM)[0]
    assert timeout.status == ErrorCode.TIMEOUT << CODE_SHIFT | ERROR | DONE
    assert timeout.counters is not None
    assert timeout.counters.total == TIMEOUT_AT
