"""A decode by every form of the program, on all four chips: the host gathers, the chip gathers, and weights that stay."""

import pytest

from impl.chip_forms import Form
from impl.model_files import load
from verify.bounds import Profile
from verify.chips.available import Open
from verify.chips.choice import CHIPS, SIMULATED
from verify.chips.comparison import compare_decodes, decode_cases

CASES = (
    ("random-1-16", None, 4),
    ("random-1-16", 8, 1),
    ("structured-16", 4, 2),
    ("random-2-16", 9, 16),
    ("random-1-32", 6, 4),
)
"""Model, window and rows of a page."""


@pytest.mark.usefixtures(*SIMULATED)
@pytest.mark.parametrize(("model", "window", "page_size"), CASES)
@pytest.mark.parametrize("form", [Form.CHIP_GATHER, Form.RESIDENT])
def test_a_chip_that_gathers_decodes_alike_on_all_four(
    opened: Open, profile: Profile, form: Form, model: str, window: int | None, page_size: int
) -> None:
    """CHIP-GATHER, CHIP-INT, CHIP-CYCLE: the definition's integers through the block table, in the same cycles."""
    latencies, steps = ((1, 4, 16), 32) if profile.name == "deep" else ((1, 4, 16), 12)
    integers = load(model)
    chips = {name: opened(name, integers.width) for name in CHIPS}
    tally = compare_decodes(decode_cases([integers], [window], (5,), latencies, page_size, steps, form), chips)
    assert tally.differences == []
    assert tally.steps == len(latencies) * steps
