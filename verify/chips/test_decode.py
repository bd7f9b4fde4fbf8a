"""A decode on a chip: the definition's integers at every step, and the same memory on every chip."""

import pytest

from impl.chip_decoder import ChipDecoder
from impl.integer_model import IntegerModel
from impl.model_files import load
from impl.tiny_lm import VOCABULARY
from verify.bounds import Profile
from verify.chips.available import Open
from verify.chips.choice import CHIPS, SIMULATED
from verify.chips.comparison import compare_decodes, decode_cases
from verify.decode.suite import integer_parts

MODELS = ("structured-16", "random-1-16")
WINDOWS = (None, 8, 4)
LATENCIES = (1, 4, 16)
STEPS, PAGE_SIZE = 32, 4


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("model", MODELS)
def test_all_starts_decode_alike_on_definition_and_model(
    opened: Open, profile: Profile, model: str, window: int | None
) -> None:
    """CHIP-INT, CHIP-ISA: from every start; the profile deep at every latency of memory."""
    starts = tuple(range(VOCABULARY))
    latencies = LATENCIES if profile.name == "deep" else (4,)
    cases = decode_cases([load(model)], [window], starts, latencies, PAGE_SIZE, STEPS)
    tally = compare_decodes(cases, {name: opened(name, 16) for name in ("spec", "model")})
    assert tally.differences == []
    assert tally.steps == len(starts) * STEPS * len(latencies)


@pytest.mark.usefixtures(*SIMULATED)
def test_a_chip_of_32_lanes_decodes_alike_on_all_four(opened: Open) -> None:
    """CHIP-INT, CHIP-CYCLE: two starts of a model twice as wide."""
    tally = compare_decodes(
        decode_cases([load("random-1-32")], [8], (3, 12), LATENCIES, PAGE_SIZE, 12),
        {name: opened(name, 32) for name in ("spec", "model", *SIMULATED)},
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
