"""The decoder on a chip that gathers by itself: what the chip is asked, what becomes of memory, and the definition's integers.

The tests on the cycle model need one with a walker; the others ask a chip that computes nothing.
"""

import numpy as np
import pytest

from impl.chip import ChipDied, ChipTimeout, Profile
from impl.chip_decoder import PagedChipDecoder, ProgramFailed
from impl.chip_forms import Form
from impl.chip_model.machine import ChipModel
from impl.compiler import resident, streamed
from impl.decode_cycles import mac_rows, pages_read, port_words
from impl.decoder import Context, ContextTooLongError, Places
from impl.integer_model import IntegerModel
from impl.memory_map import Gathering
from impl.memory_words import packed
from spec.decode import step_from_rows
from spec.isa import DONE, EXT_WORDS
from verify.decode.hostile_models import PALETTES, hostile, hostile_rows
from verify.decode.integer_checks import check_integer_step, check_refused_steps, step_differences
from verify.decode.oracle import parameters
from verify.programs.recording_chip import COUNTERS, RecordingChip

GATHER = Gathering(4, 9)
PLACES = Places(pages=(8, 3), dropped=17, first=69, context=6, slot=3 * 4 + 2)
"""Rows 69 .. 73 and the new row 74: logical pages 17 and 18, in ring entries 1 and 2 of 16; the new row is row 2 of page 3."""
TABLE, POOL, LOGITS, TOKEN = 401, 417, 384, 400
NEW_KEY = POOL + 3 * 32 + 2 * 4


def test_a_step_in_place_is_one_start_with_the_ring_and_the_slot() -> None:
    chip = RecordingChip()
    model = hostile(1, 16)
    PagedChipDecoder(model, chip, GATHER, profile=Profile(7)).step_in_place(5, PLACES)
    ((start, memory, profile),) = chip.asked
    assert start.program == streamed(model, gather=GATHER).program
    assert start.registers == (
        *((9, 6), (10, 5), (11, 69), (12, NEW_KEY), (13, 20)),
        *((0x18, TABLE), (0x19, 15), (0x1A, POOL), (0x1B, 2), (0x1D, 9)),
    )
    ((address, table),) = start.memory
    assert address == TABLE
    assert table.tolist() == [0, 0x80000008, 0x80000003, *[0] * 13]
    assert profile == Profile(7)
    assert np.array_equal(memory[:64], packed(model.embedding)) and not memory[384:].any()


def test_a_resident_step_is_two_starts_of_one_life_and_counts_the_second() -> None:
    chip = RecordingChip(counters=COUNTERS)
    model = hostile(1, 16)
    decoder = PagedChipDecoder(model, chip, GATHER, stays=True)
    decoder.step_in_place(5, PLACES)
    (once, _, _), (step, _, _) = chip.asked
    compiled = resident(model, GATHER)
    assert (once.program, once.registers, once.memory) == (compiled.once, (), ())
    assert step.program == compiled.program and len(step.registers) == 10
    assert decoder.cycles == 800
    assert decoder.last is not None and decoder.last.counters is not None and decoder.last.counters.read_words == 10


def test_the_memory_of_a_step_in_place_is_the_next_ones_and_its_pool_is_the_pages() -> None:
    new = [0x01, 0, 0, 0xFF000000]
    writes = {NEW_KEY: new, NEW_KEY + 16: new[::-1], LOGITS: [0xFFFFFFFE, *range(15)], TOKEN: [9]}
    chip = RecordingChip(token=9, writes=writes)
    decoder = PagedChipDecoder(hostile(1, 16), chip, GATHER)
    step = decoder.step_in_place(0, PLACES)
    assert (step.token, step.logits.tolist()) == (9, [-2, *range(15)])
    assert step.key.tolist() == [1, *[0] * 14, -1] and step.value.tolist() == [*[0] * 3, -1, *[0] * 8, 1, 0, 0, 0]
    assert np.array_equal(decoder.pool.kv[0, 3, :, 2], [step.key, step.value])
    assert np.count_nonzero(decoder.pool.kv) == 4
    decoder.pool.copy_page(3, 5)
    decoder.step_in_place(1, PLACES)
    assert chip.asked[1][1][POOL + 5 * 32 + 8 : POOL + 5 * 32 + 12].tolist() == new


def test_a_step_of_gathered_rows_fills_the_first_pages_and_leaves_memory_alone() -> None:
    chip = RecordingChip(writes={NEW_KEY: [7]})
    decoder = PagedChipDecoder(hostile(1, 16), chip, GATHER)
    decoder.memory[POOL + 200] = 1
    before = decoder.memory.copy()
    decoder.step(5, Context(np.full((5, 16), 3, np.int8), np.full((5, 16), -1, np.int8)))
    ((start, memory, _),) = chip.asked
    assert start.registers[:4] == ((9, 6), (10, 5), (11, 0), (12, POOL + 32 + 4))
    assert start.memory[0][1].tolist() == [0x80000000, 0x80000001, *[0] * 14]
    ones, threes = [0xFFFFFFFF] * 4, [0x03030303] * 4
    page = [*threes * 4, *ones * 4]
    assert memory[POOL:].tolist() == [*page, *threes, *[0] * 12, *ones, *[0] * (EXT_WORDS - POOL - 32 - 20)]
    assert np.array_equal(decoder.memory, before)


@pytest.mark.parametrize("stays", [False, True])
def test_a_step_that_fails_leaves_memory_as_it_was(stays: bool) -> None:
    model = hostile(1, 16)
    listed = r"the error PAGE at\n +\d+  0x\w+  288407ff 60000000  gather row=257 cnt=r1-1 ra=3 kv=0"
    for chip, error, says in (
        (
            RecordingChip(0x0606, 2 if stays else 8, statuses=[DONE] * stays, writes={NEW_KEY: [7]}),
            ProgramFailed,
            listed,
        ),
        (RecordingChip(0, writes={NEW_KEY: [7]}), ProgramFailed, "0x0000: neither done nor done with an error"),
        (RecordingChip(token=3, writes={NEW_KEY: [7]}), ChipDied, "the chip's token is 3, and it wrote 0"),
        (RecordingChip(fault=ChipTimeout("no end")), ChipTimeout, "no end"),
    ):
        decoder = PagedChipDecoder(model, chip, GATHER, stays)
        before = decoder.memory.copy()
        with pytest.raises(error, match=says):
            decoder.step_in_place(0, PLACES)
        assert np.array_equal(decoder.memory, before)


def test_a_failure_to_bring_the_weights_is_told_with_the_instruction_of_that_program() -> None:
    decoder = PagedChipDecoder(hostile(1, 16), RecordingChip(0x0602, statuses=(0x0206,)), GATHER, stays=True)
    with pytest.raises(ProgramFailed, match=r"the error EXT_RANGE at\n +0  0x400  \w+ \w+  load   row=768 cnt=80"):
        decoder.step_in_place(0, PLACES)


@pytest.mark.parametrize(
    ("token", "places", "error", "says"),
    [
        (16, PLACES, ValueError, r"token 16 is not in 0 \.\. 15"),
        (-1, PLACES, ValueError, r"token -1 is not in 0 \.\. 15"),
        (0, PLACES._replace(context=256), ContextTooLongError, "at most 255 rows, not 256"),
        (0, PLACES._replace(pages=range(10)), ValueError, "has 9 pages, not 10"),
    ],
)
def test_what_the_chip_cannot_be_asked_is_refused_before_it_runs(
    token: int, places: Places, error: type[Exception], says: str
) -> None:
    chip = RecordingChip()
    with pytest.raises(error, match=says):
        PagedChipDecoder(hostile(1, 16), chip, GATHER).step_in_place(token, places)
    assert chip.asked == []


def test_gathered_rows_that_are_none_or_too_many_are_refused_before_the_chip_runs() -> None:
    chip = RecordingChip()
    assert check_refused_steps(hostile(1, 16), lambda model: PagedChipDecoder(model, chip, Gathering(4)))[0] == []
    with pytest.raises(ContextTooLongError, match="has room for 36 rows, not for 37"):
        PagedChipDecoder(hostile(1, 16), chip, GATHER).step(0, hostile_rows(1, 36, 16))
    assert chip.asked == []


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
