"""The compiler's resident programs are its streamed one in two parts; the port's and MAC's rooflines; the pages of a step."""

from itertools import pairwise

import pytest

from impl.chip_forms import Form
from impl.compiler import resident, streamed
from impl.decode_cycles import mac_rows, pages_read, port_words
from impl.memory_map import Gathering, paged_map
from impl.program import from_words
from spec.isa import EXT_WORDS, Load
from verify.decode.hostile_models import hostile
from verify.programs.compiler_checks import PAGE_SIZES
from verify.programs.section_7 import GATHER, PAGED_MAPS


@pytest.mark.parametrize("width", [16, 32])
def test_a_resident_step_is_a_streamed_one_without_what_the_first_program_does(width: int) -> None:
    model = hostile(3, width)
    whole, kept = streamed(model, gather=GATHER), resident(model, GATHER)
    assert (whole.map, kept.map) == (PAGED_MAPS[width], PAGED_MAPS[width])
    brought = [each for each in whole.instructions if each not in kept.instructions]
    assert [each for each in whole.instructions if each in kept.instructions] == list(kept.instructions)
    assert kept.once is not None
    (load, *entries), loads = from_words(kept.once)[:-1], [each for each in brought if isinstance(each, Load)]
    assert [each for each in brought if not isinstance(each, Load)] == entries
    assert isinstance(load, Load)
    assert (load.row, load.address) == (loads[0].row, loads[0].address)
    assert load.count == sum(each.count for each in loads)
    for before, after in pairwise(loads):
        assert after.row == before.row + before.count
        assert after.address == before.address + before.count * width // 4


@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("page_size", PAGE_SIZES)
def test_a_pool_has_room_for_the_longest_context_wherever_it_begins(width: int, page_size: int) -> None:
    assert paged_map(width, EXT_WORDS, Gathering(page_size)).pages * page_size >= 255 + page_size


@pytest.mark.parametrize(
    ("width", "context", "words", "rows"),
    [
        (16, 1, 349, 82),
        (16, 2, 357, 84),
        (16, 32, 597, 144),
        (32, 1, 1193, 146),
        (32, 8, 1305, 160),
        (32, 255, 5257, 654),
    ],
)
def test_the_rooflines_are_the_counts_of_section_7(width: int, context: int, words: int, rows: int) -> None:
    assert (port_words(width, context), mac_rows(width, context)) == (words, rows)


@pytest.mark.parametrize(
    ("form", "width", "context", "pages", "words"),
    [
        (Form.CHIP_GATHER, 16, 1, 0, 349),
        (Form.CHIP_GATHER, 16, 32, 8, 613),
        (Form.CHIP_GATHER, 32, 8, 2, 1309),
        (Form.RESIDENT, 16, 1, 0, 29),
        (Form.RESIDENT, 16, 8, 2, 89),
        (Form.RESIDENT, 32, 32, 8, 553),
    ],
)
def test_resident_weights_take_their_words_off_the_port_and_a_page_adds_two(
    form: Form, width: int, context: int, pages: int, words: int
) -> None:
    assert port_words(width, context, form, pages) == words


@pytest.mark.parametrize(
    ("first", "context", "page_size", "pages"),
    [(0, 1, 4, 0), (7, 1, 4, 0), (0, 2, 4, 1), (0, 5, 4, 1), (0, 6, 4, 2), (3, 3, 4, 2), (4, 5, 4, 1), (5, 8, 1, 7)],
)
def test_a_step_reads_the_pages_that_its_past_rows_touch(first: int, context: int, page_size: int, pages: int) -> None:
    assert pages_read(first, context, page_size) == pages
