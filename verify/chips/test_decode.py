"""A decode on every chip: the definition's integers at every step, the same memory, and the same counters."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from impl.chip import Chip
from impl.chip_decoder import ChipDecoder
from impl.integer_model import IntegerModel
from impl.model_files import load
from impl.tiny_lm import VOCABULARY
from verify.bounds import Profile
from verify.chips.choice import CHIPS, SIMULATED, open_chip
from verify.chips.comparison import DecodeTally, compare_decode, decode_cases
from verify.decode.suite import integer_parts

MODELS = ("structured-16", "random-1-16")
WINDOWS = (None, 8, 4)
LATENCIES = (1, 4, 16)
STEPS, PAGE_SIZE = 32, 4
SOME_STARTS = (0, 3, 7, 15)

Open = Callable[[str, int], Chip]


@pytest.fixture(scope="module")
def opened() -> Iterator[Open]:
    """Each chip opened once for all tests of this module."""
    with ExitStack() as running:
        kept: dict[tuple[str, int], Chip] = {}

        def chip(name: str, lanes: int) -> Chip:
            if (name, lanes) not in kept:
                kept[name, lanes] = running.enter_context(open_chip(name, lanes))
            return kept[name, lanes]

        yield chip


def run(
    chips: dict[str, Chip],
    model: str,
    window: int | None,
    starts: tuple[int, ...],
    latencies: tuple[int, ...],
    steps: int = STEPS,
) -> DecodeTally:
    """The tally of these cases on these chips."""
    tally = DecodeTally()
    for case in decode_cases([load(model)], [window], starts, latencies, PAGE_SIZE, steps):
        compare_decode(case, chips, tally)
    return tally


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("model", MODELS)
def test_all_starts_decode_alike_on_definition_and_model(opened: Open, model: str, window: int | None) -> None:
    """CHIP-INT, CHIP-ISA, CHIP-TIME: from every start, at every latency of memory."""
    starts = tuple(range(VOCABULARY))
    alike = run({name: opened(name, 16) for name in ("spec", "model")}, model, window, starts, (4,))
    assert alike.differences == []
    assert alike.steps == len(starts) * STEPS
    other = run({"model": opened("model", 16)}, model, window, starts, (1, 16))
    assert other.differences == []
    assert other.steps == 2 * len(starts) * STEPS


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.usefixtures(*SIMULATED)
def test_model_and_both_simulators_decode_alike_and_count_alike(
    opened: Open, profile: Profile, model: str, window: int | None
) -> None:
    """CHIP-INT, CHIP-CYCLE: every integer and every counter, at every latency of memory."""
    starts = tuple(range(VOCABULARY)) if profile.name == "deep" else SOME_STARTS
    tally = run({name: opened(name, 16) for name in ("model", *SIMULATED)}, model, window, starts, LATENCIES)
    assert tally.differences == []
    assert tally.steps == len(starts) * STEPS * len(LATENCIES)
    assert len(set(tally.cycles.values())) == 1


@pytest.mark.usefixtures(*SIMULATED)
def test_a_chip_of_32_lanes_decodes_alike_on_all_four(opened: Open) -> None:
    """CHIP-INT, CHIP-CYCLE: two starts of a model twice as wide."""
    tally = run(
        {name: opened(name, 32) for name in ("spec", "model", *SIMULATED)}, "random-1-32", 8, (3, 12), LATENCIES, 12
    )
    assert tally.differences == []
    assert tally.steps == 2 * len(LATENCIES) * 12


@pytest.mark.parametrize("name", CHIPS)
def test_a_chip_is_the_definition_on_models_that_no_training_gives(
    opened: Open, request: pytest.FixtureRequest, name: str
) -> None:
    """CHIP-INT: every byte, saturation, halves, ties, multipliers at their ends, and 254 past rows."""
    if name in SIMULATED:
        request.getfixturevalue(name)

    def on_chip(model: IntegerModel) -> ChipDecoder:
        return ChipDecoder(model, opened(name, model.width))

    for differences, _ in integer_parts(on_chip):
        assert differences == []
