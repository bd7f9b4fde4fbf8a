"""Memory as its profile says, to the cycle, and soft resets: a stand-in is timed, and its misdeeds are seen."""

from collections.abc import Iterator

import numpy as np
import pytest

from impl.chip import ChipDied, ChipTimeout, Profile, Result, Start
from tests.toy_chip.timing import chance_in, copied, pipelined
from tests.toy_chip.toy import KINDS, MEMORY, Misdeed, copies, toy
from verify.chips.simulated import SimulatedChip

SEEDS = (1, 0xDEADBEEF, 0x80000000, 12_345)
IDLE_CYCLES = 64


@pytest.fixture(scope="module", params=KINDS)
def chip(request: pytest.FixtureRequest) -> Iterator[SimulatedChip]:
    """The stand-in in each simulator."""
    request.getfixturevalue(request.param)
    with toy(request.param) as running:
        yield running


def total(result: Result) -> int:
    """Busy cycles."""
    assert result.counters is not None
    return result.counters.total


def dropped(result: Result) -> int:
    """Answers that had come, up to the cycle in which the bench read this register, after a reset gave up on them."""
    assert result.counters is not None
    return result.counters.dma


def left_alone(result: Result) -> int:
    """Idle cycles before the host's first write for this start, since the run before it or since reset."""
    assert result.counters is not None
    return result.counters.vec


def reads(words: int, reset_at: int | None = None) -> Start:
    """A start that only reads, a word a cycle."""
    return copies(words, misdeed=Misdeed.PIPELINED, reset_at=reset_at)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_memory_waits_and_answers_as_its_seed_says(chip: SimulatedChip, seed: int) -> None:
    profile = Profile(seed=seed)
    for words in (1, 2, 7, 30):
        (result,) = chip.run([copies(words, target=50)], MEMORY, profile)
        assert total(result) == copied(words, profile).total
        assert result.memory[50 : 50 + words].tolist() == MEMORY[:words].tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_random_memory_answers_in_order_and_one_a_cycle(chip: SimulatedChip, seed: int) -> None:
    profile = Profile(seed=seed)
    results = chip.run([reads(words) for words in range(1, 16)], MEMORY, profile)
    assert [total(result) for result in results] == [pipelined(words, profile).total for words in range(1, 16)]
    weighted = 0
    for result, word in zip(results, MEMORY.tolist(), strict=False):
        weighted = (3 * weighted + word) % (1 << 32)
        assert result.token == weighted


def test_the_seeds_make_memory_wait_and_an_answer_wait_for_the_one_before_it() -> None:
    timings = [pipelined(15, Profile(seed=seed)) for seed in SEEDS]
    assert all(timing.refused_reads for timing in timings)
    assert all(timing.answers == sorted(set(timing.answers)) for timing in timings)
    assert any(
        late == early + 1 for timing in timings for early, late in zip(timing.answers, timing.answers[1:], strict=False)
    )


def test_random_memory_begins_anew_in_every_run_of_a_life(chip: SimulatedChip) -> None:
    profile = Profile(seed=77)
    results = chip.run([copies(5, target=50, wait=wait) for wait in (0, 0, 3, 0)], MEMORY, profile)
    assert {total(results[i]) for i in (0, 1, 3)} == {copied(5, profile).total}
    assert total(results[2]) != total(results[0])


@pytest.mark.parametrize("latency", [1, 4, 37])
def test_memory_that_is_not_muted_yet_is_as_fast_as_the_fixed_one(chip: SimulatedChip, latency: int) -> None:
    fixed, muted = (chip.run([copies(4, target=50)], MEMORY, Profile(latency, 0, after))[0] for after in (0, 8))
    assert (fixed.counters, fixed.memory.tolist()) == (muted.counters, muted.memory.tolist())
    for after in (1, 7):
        with pytest.raises(ChipTimeout, match="at the cycle limit"):
            chip.run([copies(4, target=50)], MEMORY, Profile(latency, 0, after))


def test_the_requests_until_memory_falls_silent_are_counted_in_each_run_anew(chip: SimulatedChip) -> None:
    results = chip.run([reads(5), reads(5), reads(5)], MEMORY, Profile(2, 0, 6))
    assert [result.status for result in results] == [2, 2, 2]
    with pytest.raises(ChipTimeout, match="start 1"):
        chip.run([reads(5), reads(6)], MEMORY, Profile(2, 0, 6))


@pytest.mark.parametrize(("latency", "after", "early"), [(4, 5, 1), (1, 5, 4), (60, 5, 0), (4, 9, 5), (4, 3, 0)])
def test_what_muted_memory_held_back_comes_after_the_run_one_answer_a_cycle(
    chip: SimulatedChip, latency: int, after: int, early: int
) -> None:
    # A reset ends the run, so that its end does not wait for answers. The register is read in the sixth idle cycle.
    (result,) = chip.run([reads(15, reset_at=100)], MEMORY, Profile(latency, 0, after))
    held_back = after - early
    # One more request waited; it is accepted in the first idle cycle.
    due = held_back + (latency <= 4 and held_back < 5)
    assert dropped(result) == min(5, due)
    results = chip.run([reads(15, reset_at=100), reads(2)], MEMORY, Profile(latency, 0, after))
    assert dropped(results[1]) == held_back + 1
    assert (results[1].status, total(results[1])) == (2, pipelined(2, Profile(latency)).total)


@pytest.mark.parametrize("profile", [Profile(), Profile(37), Profile(seed=9), Profile(3, 0, 99)])
def test_the_host_leaves_the_chip_alone_between_runs(chip: SimulatedChip, profile: Profile) -> None:
    written = (50, np.array([1, 2, 3], np.uint32))
    starts = [copies(1, target=9), Start(registers=((10, 2),), memory=(written,)), Start(reset_at=0), Start()]
    results = chip.run(starts, MEMORY, profile)
    assert [left_alone(result) for result in results] == [0, IDLE_CYCLES, IDLE_CYCLES, IDLE_CYCLES]


@pytest.mark.parametrize("profile", [Profile(3), Profile(seed=4)])
def test_a_soft_reset_takes_effect_in_the_busy_cycle_that_it_is_for(chip: SimulatedChip, profile: Profile) -> None:
    last = copied(4, profile).total
    for cycle in (1, 2, 7, last - 1, last):
        (result,) = chip.run([copies(4, target=50, reset_at=cycle)], MEMORY, profile)
        assert (result.status, result.token, result.error_pc, total(result)) == (0, 0, cycle, 0)
    late, plain = (chip.run([copies(4, target=50, reset_at=cycle)], MEMORY, profile)[0] for cycle in (last + 1, None))
    assert (late.status, late.error_pc, late.counters) == (2, 0, plain.counters)


def test_a_soft_reset_before_the_start_comes_before_its_other_writes(chip: SimulatedChip) -> None:
    first, second = chip.run([copies(2, target=50), copies(3, target=60, reset_at=0)], MEMORY)
    assert (first.error_pc, second.error_pc) == (0, 0x100)
    assert (second.status, second.memory[60:63].tolist()) == (2, MEMORY[:3].tolist())


def test_a_reset_leaves_the_memory_written_so_far_and_the_next_start_goes_on(chip: SimulatedChip) -> None:
    cut, after = chip.run([copies(4, target=50, reset_at=10), copies(1, target=70)], MEMORY, Profile(3))
    assert cut.memory[50:54].tolist() == [*MEMORY[:2], *MEMORY[52:54]]  # written in cycles 5, 10
    assert (after.status, after.memory[70]) == (2, MEMORY[0])


def test_a_chip_that_ignores_a_reset_goes_on(chip: SimulatedChip) -> None:
    (result,) = chip.run([copies(4, target=50, misdeed=Misdeed.DEAF, reset_at=3)], MEMORY, Profile(seed=6))
    assert (result.status, result.error_pc) == (2, 0)


def test_the_cycle_limit_goes_before_a_reset_behind_it(chip: SimulatedChip) -> None:
    limit, chip.cycle_limit = chip.cycle_limit, 30
    try:
        (result,) = chip.run([copies(1, misdeed=Misdeed.ENDLESS, reset_at=30)], MEMORY)
        assert result.status == 0
        with pytest.raises(ChipTimeout):
            chip.run([copies(1, misdeed=Misdeed.ENDLESS, reset_at=31)], MEMORY)
    finally:
        chip.cycle_limit = limit


def refused_write(seed: int) -> int:
    """A cycle in which memory lets a write of a copy wait."""
    return copied(20, Profile(seed=seed)).refused_writes[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_write_that_waits_when_a_reset_comes_is_carried_out_in_the_first_idle_cycle(
    chip: SimulatedChip, seed: int
) -> None:
    cycle = refused_write(seed)
    (result,) = chip.run([copies(20, target=50, reset_at=cycle)], MEMORY, Profile(seed=seed))
    written = [i for i in range(20) if result.memory[50 + i] == MEMORY[i]]
    (before,) = chip.run([copies(20, target=50, reset_at=cycle - 1)], MEMORY, Profile(seed=seed))
    assert written and result.memory[50 + written[-1]] != before.memory[50 + written[-1]]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_read_that_waits_when_a_reset_comes_is_answered_by_the_last_state_of_chance(
    chip: SimulatedChip, seed: int
) -> None:
    profile = Profile(seed=seed)
    for cycle in copied(20, profile).refused_reads[:6]:
        (result,) = chip.run([copies(20, target=50, reset_at=cycle)], MEMORY, profile)
        delay = (chance_in(seed, cycle + 1) >> 8) % 16
        assert dropped(result) == (
            2 + delay <= 5
        )  # accepted in the first idle cycle, the register is read in the sixth


@pytest.mark.parametrize("misdeed", [Misdeed.CHANGES, Misdeed.DROPS])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_request_that_does_not_stay_until_it_is_accepted_is_seen(
    chip: SimulatedChip, seed: int, misdeed: Misdeed
) -> None:
    start = copies(20, target=50, misdeed=misdeed)
    assert chip.run([start], MEMORY)[0].status == 2  # as long as nothing waits
    with pytest.raises(ChipDied, match="it changed a request before that was accepted"):
        chip.run([start], MEMORY, Profile(seed=seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reset_that_takes_a_waiting_request_back_is_seen(chip: SimulatedChip, seed: int) -> None:
    profile, cycle = Profile(seed=seed), refused_write(seed)
    start = copies(20, target=50, misdeed=Misdeed.FORGETS, reset_at=cycle)
    with pytest.raises(ChipDied, match="it changed a request before that was accepted"):
        chip.run([start], MEMORY, profile)


WRONG = (
    (Profile(0, 0, 1), None, "a latency of 0"),
    (Profile(4, 1 << 32), None, "more than 32 bits"),
    (Profile(4, 0, -1), None, "more than 32 bits"),
    (Profile(4, 1, 1), None, "never falls silent"),
    (Profile(), -1, "a soft reset in busy cycle -1"),
    (Profile(), 1 << 32, "a soft reset in busy cycle"),
)


@pytest.mark.parametrize(("profile", "reset_at", "words"), WRONG)
def test_a_profile_or_a_reset_that_cannot_be_is_a_value_error(
    profile: Profile, reset_at: int | None, words: str
) -> None:
    with toy("icarus") as chip, pytest.raises(ValueError, match=words):
        chip.run([copies(1, reset_at=reset_at)], MEMORY, profile)
