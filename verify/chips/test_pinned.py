"""The pinned cases on the cycle model and on the RTL in both simulators, against what they mean and to the cycle."""

from collections.abc import Callable, Iterator

import pytest

from spec.isa import LANES
from verify.chips.available import Open
from verify.chips.bits import bits
from verify.chips.choice import SIMULATED
from verify.chips.pinned import cases, differences, read_pins
from verify.chips.programs_suite import observed
from verify.chips.refusals import refused
from verify.chips.spec_chip import SpecChip
from verify.decode.oracle import Found


@pytest.mark.parametrize("name", ("model", *SIMULATED))
def test_each_case_means_what_it_means_and_leaves_what_is_pinned(
    opened: Open, request: pytest.FixtureRequest, name: str
) -> None:
    """CHIP-ISA, CHIP-CYCLE: the corpus among them; the pins are the RTL's."""
    if name in SIMULATED:
        request.getfixturevalue(name)
    pins = read_pins()
    meanings = {lanes: SpecChip(lanes) for lanes in LANES}
    found = [
        difference
        for case in cases()
        for difference in differences(case, opened(name, case.lanes).run, meanings[case.lanes], pins[case.name])
    ]
    assert found == []
    assert pins.keys() == {case.name for case in cases()}


@pytest.mark.parametrize("part", (observed, refused, bits))
def test_the_cycle_model_shows_refuses_and_decodes_what_it_must(part: Callable[[], Iterator[Found]]) -> None:
    """CHIP-CYCLE, CHIP-ISA, on the cycle model."""
    assert [difference for found, _ in part() for difference in found] == []
