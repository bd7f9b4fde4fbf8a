"""The decoder on a chip that gathers by itself, on the cycle model: the definition's integers, wherever its rows stand."""

import numpy as np
import pytest

from impl.chip_decoder import PagedChipDecoder, ProgramFailed
from impl.chip_forms import Form
from impl.chip_model.machine import ChipModel
from impl.decode_cycles import mac_rows, pages_read, port_words
from impl.decoder import Places
from impl.integer_model import IntegerModel
from impl.memory_map import Gathering
from spec.decode import step_from_rows
from verify.decode.hostile_models import PALETTES, hostile, hostile_rows
from verify.decode.integer_checks import check_integer_step, step_differences
from verify.decode.oracle import parameters
from verify.programs.section_7 import GATHER


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize(
    ("rows", "palette", "page_size"),
    [(0, PALETTES[0], 4), (1, PALETTES[1], 1), (30, PALETTES[0], 2), (64, PALETTES[0], 64), (254, PALETTES[1], 4)],
)
def test_a_step_that_the_chip_gathers_is_exact_at_the_extremes(
    stays: bool, width: int, rows: int, palette: tuple[int, ...], page_size: int
) -> None:
    """DEC-INT from the empty past to the longest, as contiguous LOADs have it."""
    model = hostile(rows, width, palette, residual=-(2**15))

    def make(model: IntegerModel) -> PagedChipDecoder:
        return PagedChipDecoder(model, ChipModel(width), Gathering(page_size), stays)

    assert check_integer_step(model, rows % 16, hostile_rows(7, rows, width, palette), make)[0] == []


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("page_size", [1, 2, 4, 16])
@pytest.mark.parametrize("first", [0, 5, 67, 2**16 * 16 + 3, 2**32 - 16, 2**32 + 7])
def test_wherever_its_rows_stand_a_step_reads_them_and_writes_one_row(stays: bool, page_size: int, first: int) -> None:
    """DEC-INT over shuffled pages, a ring that comes round, and rows whose numbers pass 2^32; the port has its roofline."""
    model, context = hostile(5, 16), 20
    decoder = PagedChipDecoder(model, ChipModel(16), Gathering(page_size), stays)
    draw = np.random.default_rng(first % 997 + page_size)
    decoder.pool.kv[:] = draw.integers(-128, 128, decoder.pool.kv.shape)
    dropped, last = first // page_size, (first + context - 1) // page_size
    pages = draw.permutation(decoder.pool.pages)[: last - dropped + 1].tolist()
    where = [(pages[row // page_size - dropped], row % page_size) for row in range(first, first + context)]
    rows = np.array([decoder.pool.kv[0, page, :, offset] for page, offset in where[:-1]])
    page, offset = where[-1]
    before = decoder.memory.copy()
    said = decoder.step_in_place(9, Places(pages, dropped, first, context, page * page_size + offset))
    due = step_from_rows(parameters(model), 9, rows[:, 0], rows[:, 1])
    assert step_differences("DEC-INT", due, said, f"rows {first} .. in pages of {page_size}") == []
    assert np.array_equal(decoder.pool.kv[0, page, :, offset], [due.key, due.value])
    changed = set(np.flatnonzero(decoder.memory != before).tolist())
    places = decoder.compiled.map
    key = places.pool + (page * 2 * page_size + offset) * 4
    new = {*range(key, key + 4), *range(key + page_size * 4, key + page_size * 4 + 4)}
    assert changed <= new | set(range(places.logits, places.pool))
    assert decoder.last is not None and decoder.last.counters is not None
    counters = decoder.last.counters
    form = Form.RESIDENT if stays else Form.CHIP_GATHER
    read = pages_read(first, context, page_size)
    assert counters.read_words + counters.written_words == port_words(16, context, form, read)
    assert counters.mac == mac_rows(16, context)
    assert decoder.cycles == counters.total >= port_words(16, context, form, read)


def test_a_page_that_the_request_does_not_hold_is_an_error_of_the_gather() -> None:
    decoder = PagedChipDecoder(hostile(5, 16), ChipModel(16), GATHER)
    before = decoder.memory.copy()
    with pytest.raises(ProgramFailed, match=r"the error PAGE at\n +8 .* gather row=257 cnt=r1-1 ra=3 kv=0"):
        decoder.step_in_place(9, Places((1,), 3, 11, 4, 6))
    assert np.array_equal(decoder.memory, before)
