"""The decoder on a chip: the integers of the definition on the cycle model, and a clear error for every way a chip can fail."""

from dataclasses import replace

import numpy as np
import pytest

from impl.chip import ChipDied, ChipError, ChipTimeout, Profile
from impl.chip_decoder import ChipDecoder, ProgramFailed
from impl.chip_model.machine import ChipModel
from impl.compiler import streamed
from impl.decode_cycles import mac_rows, port_words
from impl.decoder import Context
from impl.integer_model import IntegerModel
from impl.memory_map import CompileError
from impl.memory_words import packed
from impl.model_files import load, names
from spec.isa import EXT_WORDS
from verify.decode.hostile_models import PALETTES, hostile, hostile_rows
from verify.decode.integer_checks import check_integer_decode, check_integer_step, check_refused_steps
from verify.programs.recording_chip import COUNTERS, RecordingChip

NO_ROWS = Context(*[np.zeros((0, 16), np.int8)] * 2)


def test_a_step_is_one_start_of_the_compiled_program_with_its_past_in_place() -> None:
    chip = RecordingChip()
    model = hostile(1, 16)
    past = Context(np.full((2, 16), 3, np.int8), np.full((2, 16), -1, np.int8))
    ChipDecoder(model, chip, Profile(7)).step(5, past)
    ((start, memory, profile),) = chip.asked
    assert start.program == streamed(model).program
    assert start.registers == ((9, 3), (10, 5), (12, 2416), (13, 20))
    assert [(address, words.tolist()) for address, words in start.memory] == [
        (384, [0x03030303] * 8),
        (1400, [0xFFFFFFFF] * 8),
    ]
    assert profile == Profile(7)
    assert memory.shape == (EXT_WORDS,) and memory.dtype == np.uint32
    assert np.array_equal(memory[:64], packed(model.embedding))


def test_what_the_program_stores_is_what_a_step_gives() -> None:
    """A key, a value, 16 sums with sign, and the token, from where the memory map puts them."""
    writes = {2416: [0x01, 0, 0, 0xFF000000, 0x80, 0, 0, 0x7F000000], 2424: [0xFFFFFFFE, *range(15)], 2440: [9]}
    step = ChipDecoder(hostile(1, 16), RecordingChip(token=9, writes=writes)).step(0, NO_ROWS)
    assert step.token == 9 and type(step.token) is int
    assert step.logits.dtype == np.int32 and step.logits.tolist() == [-2, *range(15)]
    assert step.key.dtype == np.int8 and step.key.tolist() == [1, *[0] * 14, -1]
    assert step.value.dtype == np.int8 and step.value.tolist() == [-128, *[0] * 14, 127]


def test_cycles_add_up_over_the_steps_and_the_last_result_is_kept() -> None:
    decoder = ChipDecoder(hostile(1, 16), RecordingChip(counters=COUNTERS))
    assert (decoder.last, decoder.cycles) == (None, 0)
    decoder.step(0, NO_ROWS)
    decoder.step(1, NO_ROWS)
    assert decoder.cycles == 800
    assert decoder.last is not None and decoder.last.counters == COUNTERS


def test_a_chip_without_time_has_no_cycles() -> None:
    decoder = ChipDecoder(hostile(1, 16), RecordingChip())
    decoder.step(0, NO_ROWS)
    assert decoder.cycles == 0


@pytest.mark.parametrize(
    ("status", "error_pc", "says"),
    [
        (
            0x0406,
            12,
            "the program ended with the error COUNT at\n 12  0x418  48840000 30000000  score  a=0 row=256 cnt=r1 q=3",
        ),
        (
            0x0506,
            13,
            "the program ended with the error DIV0 at\n 13  0x41a  4c880000 00000002  av     row=512 cnt=r1 dst=2",
        ),
        (0x0706, 255, "the program ended with the error PC_END at\ninstruction 255, behind the program"),
        (0x0001, 0, "the status at the end of a run is 0x0001: neither done nor done with an error"),
        (0x0003, 0, "0x0003: neither"),
        (0x0000, 0, "0x0000: neither"),
        (0x0006, 0, "0x0006: neither"),
        (0x0402, 3, "0x0402: neither"),
        (0x0906, 3, "0x0906: neither"),
    ],
)
def test_a_program_that_does_not_end_well_is_told_with_its_error_and_instruction(
    status: int, error_pc: int, says: str
) -> None:
    decoder = ChipDecoder(hostile(1, 16), RecordingChip(status, error_pc, counters=COUNTERS))
    with pytest.raises(ProgramFailed) as caught:
        decoder.step(0, NO_ROWS)
    assert says in str(caught.value)
    assert isinstance(caught.value, ChipError)
    assert decoder.last is not None and decoder.last.status == status
    assert decoder.cycles == 400


@pytest.mark.parametrize(("register", "written"), [(3, 4), (16, 16)])
def test_a_token_that_makes_no_sense_is_no_step(register: int, written: int) -> None:
    decoder = ChipDecoder(hostile(1, 16), RecordingChip(token=register, writes={2440: [written]}))
    with pytest.raises(ChipDied, match=rf"the chip's token is {register}, and it wrote {written}"):
        decoder.step(0, NO_ROWS)


def test_a_chip_that_gives_no_result_is_heard() -> None:
    decoder = ChipDecoder(hostile(1, 16), RecordingChip(fault=ChipTimeout("no end within 9 cycles")))
    with pytest.raises(ChipTimeout, match="no end within 9 cycles"):
        decoder.step(0, NO_ROWS)
    assert (decoder.last, decoder.cycles) == (None, 0)


def test_too_many_rows_and_what_is_no_row_are_refused_before_the_chip_runs() -> None:
    chip = RecordingChip()
    assert check_refused_steps(hostile(1, 16), lambda model: ChipDecoder(model, chip))[0] == []
    assert chip.asked == []


@pytest.mark.parametrize(
    ("chip", "says"),
    [
        (RecordingChip(lanes=32), "width 16, and the chip 32 lanes"),
        (RecordingChip(words=2000), "and the chip has 2000"),
    ],
)
def test_a_model_that_does_not_fit_the_chip_is_refused(chip: RecordingChip, says: str) -> None:
    with pytest.raises(CompileError, match=says):
        ChipDecoder(hostile(1, 16), chip)


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
