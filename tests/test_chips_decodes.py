"""Decodes on several chips at once: what was asked before is not asked again, and counts all the same."""

from collections.abc import Sequence

import pytest

from impl.chip import MemoryWords, Profile, Result, Start
from impl.chip_forms import Form
from impl.chip_model.machine import ChipModel
from impl.model_files import load
from verify.chips import exchange
from verify.chips.comparison import DecodeTally, compare_decode, compare_decodes, decode_cases


class RecordingChip(ChipModel):
    """A cycle model that keeps all that it was asked."""

    def __init__(self, lanes: int) -> None:
        super().__init__(lanes)
        self.asked: list[tuple[bytes, bytes]] = []

    def run(self, starts: Sequence[Start], memory: MemoryWords, profile: Profile = Profile()) -> list[Result]:  # noqa: B008
        """What the model says."""
        self.asked.append((exchange.request(starts, profile, self.cycle_limit), memory.tobytes()))
        return super().run(starts, memory, profile)


@pytest.mark.parametrize("form", Form)
def test_decodes_ask_a_step_once_and_count_it_each_time(form: Form) -> None:
    cases = decode_cases([load("random-1-16"), load("structured-16")], [None, 3], [0, 1], [1, 4], 4, 12, form)
    each, always = DecodeTally(), RecordingChip(16)
    for case in cases:
        compare_decode(case, {"model": always}, each)
    once = RecordingChip(16)
    tally = compare_decodes(cases, {"model": once})
    assert (tally.steps, tally.cycles, tally.differences) == (each.steps, each.cycles, [])
    assert {*once.asked} == {*always.asked}
    assert len(once.asked) == len({*once.asked}) < len(always.asked) == each.steps
