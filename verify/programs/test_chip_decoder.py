"""The decoder on the cycle model: the integers of the definition, the words and rows of the rooflines, and an error."""

from dataclasses import replace

import pytest

from impl.chip_decoder import ChipDecoder, ProgramFailed
from impl.chip_model.machine import ChipModel
from impl.decode_cycles import mac_rows, port_words
from impl.integer_model import IntegerModel
from impl.model_files import load, names
from verify.decode.hostile_models import PALETTES, hostile, hostile_rows
from verify.decode.integer_checks import check_integer_decode, check_integer_step


def on_model(model: IntegerModel) -> ChipDecoder:
    """The decoder of that model on the cycle model."""
    return ChipDecoder(model, ChipModel(model.width))


@pytest.mark.parametrize("name", names())
def test_the_cycle_model_decodes_like_the_definition(name: str) -> None:
    """DEC-INT on every standard model."""
    for start, window in ((0, None), (7, 3)):
        assert check_integer_decode(load(name), [start], 6, window, 0, on_model) == ([], 6)


@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize(
    ("rows", "palette"), [(0, PALETTES[0]), (1, PALETTES[1]), (30, PALETTES[0]), (254, PALETTES[1])]
)
def test_a_step_on_the_cycle_model_is_exact_at_the_extremes(width: int, rows: int, palette: tuple[int, ...]) -> None:
    """DEC-INT from the empty past to the longest."""
    model = hostile(rows, width, palette, residual=-(2**15))
    assert check_integer_step(model, rows % 16, hostile_rows(7, rows, width, palette), on_model)[0] == []


@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("rows", [0, 1, 7])
def test_the_port_carries_the_words_and_mac_takes_the_rows_of_the_rooflines(width: int, rows: int) -> None:
    model = hostile(1, width)
    decoder = on_model(model)
    decoder.step(3, hostile_rows(1, rows, width))
    assert decoder.last is not None and decoder.last.counters is not None
    counters = decoder.last.counters
    assert counters.read_words + counters.written_words == port_words(width, rows + 1)
    assert counters.mac == mac_rows(width, rows + 1)
    assert counters.total == decoder.cycles >= max(port_words(width, rows + 1), mac_rows(width, rows + 1))


def test_an_error_on_the_cycle_model_names_the_instruction() -> None:
    """A program whose AV counts one row fewer than its SCORE did."""
    decoder = on_model(hostile(1, 16))
    words = list(decoder.compiled.program)
    words[13] = (words[13][0] | 0x3FF, words[13][1])
    decoder.compiled = replace(decoder.compiled, program=tuple(words))
    with pytest.raises(ProgramFailed, match=r"the error COUNT at\n 13 .* av     row=512 cnt=r1-1 dst=2"):
        decoder.step(0, hostile_rows(1, 4, 16))
