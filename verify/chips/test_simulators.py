"""A decode on the cycle model and on the RTL in both simulators: every integer and every counter."""

import pytest

from impl.model_files import load
from impl.tiny_lm import VOCABULARY
from verify.bounds import Profile
from verify.chips.available import Open
from verify.chips.choice import SIMULATED
from verify.chips.comparison import compare_decodes, decode_cases
from verify.chips.test_decode import LATENCIES, MODELS, PAGE_SIZE, STEPS, WINDOWS

SOME_STARTS = (0, 3, 7, 15)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.usefixtures(*SIMULATED)
def test_model_and_both_simulators_decode_alike_and_count_alike(
    opened: Open, profile: Profile, model: str, window: int | None
) -> None:
    """CHIP-INT, CHIP-CYCLE, CHIP-TIME: every integer and every counter, at every latency of memory."""
    starts = tuple(range(VOCABULARY)) if profile.name == "deep" else SOME_STARTS
    cases = decode_cases([load(model)], [window], starts, LATENCIES, PAGE_SIZE, STEPS)
    tally = compare_decodes(cases, {name: opened(name, 16) for name in ("model", *SIMULATED)})
    assert tally.differences == []
    assert tally.steps == len(starts) * STEPS * len(LATENCIES)
    assert len(set(tally.cycles.values())) == 1
