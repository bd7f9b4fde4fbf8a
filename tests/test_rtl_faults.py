"""Mistakes planted in the RTL are found, in each simulator, by decoding beside the cycle model and the definition."""

from pathlib import Path

import pytest

from impl.chip_decoder import ChipDecoder
from impl.chip_model.machine import ChipModel
from impl.integer_model import IntegerModel
from impl.model_files import load
from verify.chips.comparison import DecodeTally, compare_decode, decode_cases
from verify.chips.icarus import IcarusChip
from verify.chips.planted_rtl import SELECT, DoesNotFitError, RtlFault, plant
from verify.chips.simulated import SimulatedChip
from verify.chips.verilator import VerilatorChip
from verify.decode.hostile_models import hostile, hostile_rows
from verify.decode.integer_checks import check_integer_step

FAULTS = (
    RtlFault("a product is cut off, not rounded", "ks_rq", "41'd1 << (sh_i - 6'd1)", "41'd0", "CHIP-INT"),
    RtlFault(
        "bytes saturate at -127", "ks_rq", "shifted[40] ? 8'h80 : 8'h7F", "shifted[40] ? 8'h81 : 8'h7F", "CHIP-INT"
    ),
    RtlFault("an exponential's index wraps", "ks_sm", "shifted > 40'd255", "1'b0", "CHIP-INT"),
    RtlFault(
        "of equal logits the last is taken",
        "ks_pack",
        "$signed(data_i) > $signed(best_q)",
        "$signed(data_i) >= $signed(best_q)",
        "CHIP-INT",
    ),
    RtlFault(
        "a read too few is outstanding", "ks_dma", "outstanding_q != 5'd16", "outstanding_q != 5'd15", "CHIP-CYCLE"
    ),
    RtlFault("the last owed row is read", "ks_hazard", "{1'b0, cx_row_i}", "{1'b0, cx_row_i} + 11'd1", "CHIP-INT"),
)

SIMULATORS: dict[str, type[SimulatedChip]] = {"icarus": IcarusChip, "verilator": VerilatorChip}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The list of files of an RTL that has all faults in it."""
    return plant(FAULTS, tmp_path_factory.mktemp("rtl"))


@pytest.fixture(scope="module", params=SIMULATORS)
def simulator(request: pytest.FixtureRequest) -> type[SimulatedChip]:
    """Each simulator that is here."""
    request.getfixturevalue(request.param)
    return SIMULATORS[str(request.param)]


def broken_rules(chip: SimulatedChip) -> set[str]:
    """Rules that decoding on the chip breaks: whole decodes beside the cycle model, then steps over hostile rows."""
    tally = DecodeTally()
    for case in decode_cases([load("random-1-16")], [None], [3], [16], page_size=4, steps=6):
        compare_decode(case, {"model": ChipModel(16), "rtl": chip}, tally)
    rules = {difference.rule for difference in tally.differences}

    def on_chip(model: IntegerModel) -> ChipDecoder:
        return ChipDecoder(model, chip)

    for seed, palette in ((1, (0, 1)), (2, (-128, 127)), (3, (-3, 0, 2))):
        differences, _ = check_integer_step(hostile(seed, 16, palette), 0, hostile_rows(seed, 3, 16, palette), on_chip)
        rules |= {"CHIP-INT" for _ in differences}
    return rules


@pytest.mark.parametrize("number", range(len(FAULTS) + 1), ids=["none", *(fault.title for fault in FAULTS)])
def test_decoding_finds_the_fault(simulator: type[SimulatedChip], planted: Path, number: int) -> None:
    with simulator(16, rtl=planted, plusargs=(f"+{SELECT}={number}",)) as chip:
        rules = broken_rules(chip)
    if number:
        assert FAULTS[number - 1].rule in rules
    else:
        assert rules == set()


def test_a_fault_that_no_longer_fits_is_an_error(tmp_path: Path) -> None:
    """None in its place, and two of it."""
    for before in ("no such expression", "clk_i"):
        with pytest.raises(DoesNotFitError, match="times"):
            plant([RtlFault("stale", "ks_rq", before, "0", "CHIP-INT")], tmp_path)
