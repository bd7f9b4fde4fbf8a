"""The harness around the simulators: what a chip does right comes back whole, and each misdeed is an error of its kind."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from impl.chip import ChipDied, ChipError, ChipTimeout, ChipUnknown, Profile, Start
from tests.toy_chip.toy import KINDS, LANES, LISTING, MEMORY, WORDS, Misdeed, copies, toy
from verify.chips.icarus import IcarusChip
from verify.chips.simulated import SimulatedChip
from verify.chips.verilator import Initial, VerilatorChip


@pytest.fixture(scope="module", params=KINDS)
def chip(request: pytest.FixtureRequest) -> Iterator[SimulatedChip]:
    """The stand-in in each simulator."""
    request.getfixturevalue(request.param)
    with toy(request.param) as running:
        yield running


def test_a_start_leaves_its_memory_token_status_and_counters(chip: SimulatedChip) -> None:
    (result,) = chip.run([copies(5, source=2, target=93)], MEMORY)
    expected = MEMORY.copy()
    expected[93:98] = MEMORY[2:7]
    assert result.memory.tolist() == expected.tolist()
    assert result.token == int(MEMORY[2:7].sum(dtype=np.uint32))
    assert (result.status, result.error_pc) == (2, 0)
    assert result.counters is not None
    assert (result.counters.read_words, result.counters.written_words) == (5, 5)


def test_the_last_words_of_memory_are_read_and_written(chip: SimulatedChip) -> None:
    (result,) = chip.run([copies(2, source=WORDS - 2, target=WORDS - 4)], MEMORY)
    assert result.memory[-4:].tolist() == [*MEMORY[-2:], *MEMORY[-2:]]


def test_a_later_start_finds_what_an_earlier_one_and_the_host_left(chip: SimulatedChip) -> None:
    written = np.array([7, 8, 9], np.uint32)
    again = Start(registers=((10, 4), (11, 9), (12, 50)), memory=((10, written),))
    first, second = chip.run([copies(1, source=0, target=9), again], MEMORY)
    assert first.memory[9:13].tolist() == [MEMORY[0], *MEMORY[10:13]]
    assert second.memory[50:54].tolist() == [MEMORY[0], 7, 8, 9]
    assert second.memory[9:13].tolist() == [MEMORY[0], 7, 8, 9]
    assert [result.counters and result.counters.stall for result in (first, second)] == [1, 2]


def test_no_state_leaks_from_one_run_into_the_next(chip: SimulatedChip) -> None:
    runs = [chip.run([copies(3, target=60), copies(1)], MEMORY) for _ in range(3)]
    assert [[result.counters and result.counters.stall for result in run] for run in runs] == [[1, 2]] * 3
    (untouched,) = chip.run([copies(1)], MEMORY)
    assert untouched.memory.tolist() == MEMORY.tolist()


@pytest.mark.parametrize("latency", [1, 4, 37])
def test_an_answer_comes_as_many_cycles_after_its_request_as_the_profile_says(
    chip: SimulatedChip, latency: int
) -> None:
    (result,) = chip.run([copies(10, target=50)], MEMORY, Profile(latency))
    # The stand-in asks in the cycle after its last write, and writes in the cycle after the answer.
    assert result.counters is not None and result.counters.total == 10 * (latency + 2)


def test_the_same_run_takes_the_same_cycles_every_time(chip: SimulatedChip) -> None:
    totals = {str(chip.run([copies(10, wait=20)], MEMORY)[0].counters) for _ in range(3)}
    assert len(totals) == 1


MISDEEDS: tuple[tuple[Misdeed, type[ChipError], str], ...] = (
    (Misdeed.FINISH, ChipDied, "ended by itself in start 0"),
    (Misdeed.ZERO_DELAY, ChipTimeout, "s of CPU and did not end"),
    (Misdeed.READ_DATA, ChipDied, "mem_req_wdata was not 0 in a read"),
    (Misdeed.ASSERTION, ChipDied, "an assertion failed\nASSERTION toy: 20 words"),
    (Misdeed.BABBLE, ChipError, "words, words"),
    (Misdeed.ENDLESS, ChipTimeout, "still busy at the cycle limit"),
    (Misdeed.BEYOND, ChipDied, "a word beyond its memory"),
    (Misdeed.GREEDY, ChipDied, "while 16 reads were outstanding"),
)


@pytest.mark.parametrize(
    ("misdeed", "kind", "words"), MISDEEDS, ids=[misdeed.name.lower() for misdeed, _, _ in MISDEEDS]
)
def test_a_misdeed_is_an_error_and_the_next_run_is_sound(
    chip: SimulatedChip, misdeed: Misdeed, kind: type[ChipError], words: str
) -> None:
    with pytest.raises(kind) as raised:
        chip.run([copies(20, misdeed=misdeed)], MEMORY, Profile(40))
    assert words in str(raised.value)
    assert chip.run([copies(1)], MEMORY)[0].status == 2


def test_the_error_names_the_start_that_misbehaved(chip: SimulatedChip) -> None:
    with pytest.raises(ChipTimeout, match=r"\(start 1, cycle \d+ since power-on\)"):
        chip.run([copies(1), copies(1, misdeed=Misdeed.ENDLESS), copies(1)], MEMORY)


def test_a_start_may_take_exactly_the_cycles_of_the_limit(chip: SimulatedChip) -> None:
    (result,) = chip.run([copies(0, wait=30)], MEMORY)
    assert result.counters is not None
    limit, chip.cycle_limit = chip.cycle_limit, result.counters.total
    try:
        assert chip.run([copies(0, wait=30)], MEMORY)[0].status == 2
        with pytest.raises(ChipTimeout):
            chip.run([copies(0, wait=31)], MEMORY)
    finally:
        chip.cycle_limit = limit


UNKNOWN = (
    (Misdeed.X_VALID, "mem_req_valid was x"),
    (Misdeed.X_WRITE, "mem_req_wdata was x while mem_req_valid was 1"),
    (Misdeed.X_COUNTER, "h_rdata was x"),
)


@pytest.mark.usefixtures("icarus")
@pytest.mark.parametrize(("misdeed", "words"), UNKNOWN, ids=[misdeed.name.lower() for misdeed, _ in UNKNOWN])
def test_an_output_that_is_x_is_unknown_in_icarus(misdeed: Misdeed, words: str) -> None:
    with toy("icarus") as chip, pytest.raises(ChipUnknown, match=words):
        chip.run([copies(2, misdeed=misdeed)], MEMORY)


@pytest.mark.usefixtures("verilator")
def test_what_nobody_set_is_what_was_chosen_in_verilator() -> None:
    def shown(initial: Initial) -> int:
        with VerilatorChip(LANES, WORDS, initial=initial, rtl=LISTING) as chip:
            counters = chip.run([copies(0, misdeed=Misdeed.X_COUNTER)], MEMORY)[0].counters
            assert counters is not None
            return counters.vec

    assert (shown("zeros"), shown("ones")) == (0, 0xFFFFFFFF)
    assert len({shown(1), shown(2)}) == 2
    assert shown(3) == shown(3)


def test_arguments_reach_the_simulation(chip: SimulatedChip) -> None:
    with type(chip)(LANES, WORDS, rtl=LISTING, plusargs=("+TOY_SHOUTS",)) as told:
        with pytest.raises(ChipDied, match="it shouts"):
            told.run([copies(0, misdeed=Misdeed.FINISH)], MEMORY)
        assert told.run([copies(1)], MEMORY)[0].status == 2


@pytest.mark.usefixtures("icarus")
def test_sizes_and_definitions_reach_the_rtl() -> None:
    with IcarusChip(32, WORDS, rtl=LISTING, defines=("TOY_MAC=42",)) as chip:
        (result,) = chip.run([copies(0)], MEMORY)
        assert result.counters is not None and result.counters.mac == 42
        with pytest.raises(ChipDied, match="a toy of 32 lanes"):
            chip.run([copies(0, misdeed=Misdeed.FINISH)], MEMORY)


def waves_of(kind: str, path: Path) -> bytes:
    """The waves of a run that goes well, after those of one that does not."""
    with toy(kind) as chip:
        with pytest.raises(ChipTimeout):
            chip.run([copies(1, misdeed=Misdeed.ENDLESS)], MEMORY, waves=path)
        failed = path.read_bytes()
        assert chip.run([copies(1)], MEMORY, waves=path)[0].status == 2
    assert failed and failed != path.read_bytes()
    return path.read_bytes()


@pytest.mark.usefixtures("icarus")
def test_icarus_leaves_waves_in_fst(tmp_path: Path) -> None:
    assert waves_of("icarus", tmp_path / "run.fst")[0] == 0  # the type of the header block


@pytest.mark.usefixtures("verilator")
def test_verilator_leaves_waves_in_vcd(tmp_path: Path) -> None:
    assert b"mem_req_valid" in waves_of("verilator", tmp_path / "run.vcd")


WRONG = (
    ([copies(1)], MEMORY[1:], Profile(), "memory has shape"),
    ([copies(1)], MEMORY.astype(np.int64), Profile(), "memory has shape"),
    ([copies(1)], MEMORY, Profile(0), "a latency of 0"),
    ([Start(memory=((WORDS - 1, MEMORY[:2]),))], MEMORY, Profile(), "are not within 100 words"),
    ([Start(program=((0, 0),) * 257)], MEMORY, Profile(), "a program of 257 instructions"),
    ([Start(registers=((2048, 0),))], MEMORY, Profile(), "addresses have 11 bits"),
    ([Start(registers=((9, -1),))], MEMORY, Profile(), "values 32"),
)


@pytest.mark.parametrize(("starts", "memory", "profile", "words"), WRONG)
def test_what_no_chip_can_be_asked_is_a_value_error(
    starts: list[Start], memory: np.typing.NDArray[np.uint32], profile: Profile, words: str
) -> None:
    with toy("icarus") as chip, pytest.raises(ValueError, match=words):
        chip.run(starts, memory, profile)


@pytest.mark.parametrize(("lanes", "words"), [(8, 100), (16, 0), (16, 1 << 21)])
def test_a_chip_of_a_size_that_cannot_be_is_a_value_error(lanes: int, words: int) -> None:
    with pytest.raises(ValueError, match=f"a chip of {lanes} lanes and {words} words"):
        IcarusChip(lanes, words)
