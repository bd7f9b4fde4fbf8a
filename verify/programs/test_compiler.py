"""The compiler gives the program of docs/chip.md section 7 and a memory in which nothing lies on anything else."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from impl.chip_forms import Form
from impl.compiler import resident, streamed
from impl.decode_cycles import mac_rows, pages_read, port_words
from impl.memory_map import CompileError, Gathering, MemoryMap, PagedMap
from impl.memory_words import packed, sums, unpacked
from impl.model_files import load, names
from impl.program import disassemble, from_words
from spec.isa import EXT_WORDS, IMEM_INSTRUCTIONS, Load
from verify.decode.hostile_models import hostile
from verify.programs.section_7 import (
    GATHER,
    GATHERING_16,
    MAPS,
    ONCE_32,
    PAGED_MAPS,
    PROGRAM_16,
    PROGRAM_32,
    RESIDENT_32,
)

ROWS = {"embedding": 16, "unembedding": 16, "keys": 254, "values": 254, "new_row": 2}


def extents(width: int, places: MemoryMap | PagedMap) -> dict[str, range]:
    """The words that each part takes, by sizes typed from docs/chip.md: four lanes a word."""
    rows = {**ROWS, "projections": 3 * width, "output": width}
    if isinstance(places, PagedMap):
        del rows["keys"], rows["values"], rows["new_row"]
        rows["pool"] = 2 * places.page_size * places.pages
    words = {name: count * width // 4 for name, count in rows.items()} | {"logits": 16, "token": 1}
    if isinstance(places, PagedMap):
        words["table"] = places.ring
    return {name: range(getattr(places, name), getattr(places, name) + count) for name, count in words.items()}


@pytest.mark.parametrize(("width", "text", "residual"), [(16, PROGRAM_16, 300), (32, PROGRAM_32, -(2**15))])
def test_the_streamed_program_is_that_of_section_7(width: int, text: str, residual: int) -> None:
    compiled = streamed(hostile(1, width, residual=residual))
    assert disassemble(compiled.instructions) == text
    assert from_words(compiled.program) == compiled.instructions
    assert len(compiled.program) == 21 <= IMEM_INSTRUCTIONS


def test_the_streamed_program_of_a_chip_that_gathers_is_that_of_section_7() -> None:
    compiled = streamed(hostile(1, 16), gather=GATHER)
    assert compiled.once is None
    assert disassemble(compiled.instructions) == GATHERING_16
    assert from_words(compiled.program) == compiled.instructions


def test_the_resident_programs_are_those_of_section_7() -> None:
    compiled = resident(hostile(1, 32, residual=-(2**15)), GATHER)
    assert compiled.once is not None and disassemble(from_words(compiled.once)) == ONCE_32
    assert disassemble(compiled.instructions) == RESIDENT_32
    assert from_words(compiled.program) == compiled.instructions


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
@pytest.mark.parametrize("page_size", [1, 2, 4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize("pages", [1, 3, None])
def test_the_parts_of_a_paged_memory_do_not_overlap_and_the_longest_context_fits(
    width: int, page_size: int, pages: int | None
) -> None:
    places = streamed(hostile(1, width), gather=Gathering(page_size, pages)).map
    taken = [word for extent in extents(width, places).values() for word in extent]
    assert len(taken) == len(set(taken)) == max(taken) + 1 == places.end <= EXT_WORDS
    assert places.ring >= places.pages and places.ring & places.ring - 1 == 0
    if pages is None:
        assert places.pages * page_size >= 255 + page_size
        with pytest.raises(CompileError, match=r"of memory, and the chip has 8192"):
            streamed(hostile(1, width), gather=Gathering(page_size, places.pages + 1))
    else:
        assert places.pages == pages


@pytest.mark.parametrize(
    ("gather", "words", "says"),
    [
        *[
            (Gathering(size), EXT_WORDS, f"a page of the chip has 1, 2, 4, 8, 16, 32, 64, 128 rows, not {size}")
            for size in (-4, 0, 3, 5, 127, 256)
        ],
        (Gathering(4, 0), EXT_WORDS, r"a pool has 1 \.\. 65536 pages, not 0"),
        (Gathering(4, -1), EXT_WORDS, r"a pool has 1 \.\. 65536 pages, not -1"),
        (Gathering(1, 65537), 2**20, r"a pool has 1 \.\. 65536 pages, not 65537"),
        (Gathering(4, 9), 704, "9 pages of 4 rows take 705 words of memory, and the chip has 704"),
        (Gathering(4), 433, "a page of 4 rows takes 32 words, and the chip has 32 left of 433"),
        (Gathering(4), 100, "a page of 4 rows takes 32 words, and the chip has 0 left of 100"),
    ],
)
def test_a_pool_that_the_chip_cannot_have_is_refused(gather: Gathering, words: int, says: str) -> None:
    model = hostile(1, 16)
    with pytest.raises(CompileError, match=f"^{says}$"):
        streamed(model, words=words, gather=gather)
    with pytest.raises(CompileError, match=f"^{says}$"):
        resident(model, gather, words=words)


def test_the_least_memory_has_one_page_and_one_entry() -> None:
    places = streamed(hostile(1, 16), words=434, gather=Gathering(4)).map
    assert (places.pages, places.ring, places.end) == (1, 1, 434)


@pytest.mark.parametrize("width", [16, 32])
def test_a_model_that_does_not_fit_is_refused_in_every_form(width: int) -> None:
    model, other = hostile(1, width), 48 - width
    says = f"has width {width}, and the chip {other} lanes"
    with pytest.raises(CompileError, match=says):
        streamed(model, other, gather=GATHER)
    with pytest.raises(CompileError, match=says):
        resident(model, GATHER, other)


def test_a_paged_step_sets_the_registers_of_the_program_and_of_the_walker() -> None:
    """R3 = lo, R4 = the new key; BTBASE, BTMASK, POOL, LOGP, NPAGES. Slot 14 is row 2 of page 3."""
    compiled = streamed(hostile(1, 16), gather=GATHER)
    assert (compiled.row_words, compiled.half_words) == (4, 16)
    assert compiled.registers(5, 9, 70, 14) == (
        (9, 9),
        (10, 5),
        (11, 70),
        (12, 417 + 3 * 32 + 2 * 4),
        (13, 20),
        (0x18, 401),
        (0x19, 15),
        (0x1A, 417),
        (0x1B, 2),
        (0x1D, 9),
    )
    wide = resident(hostile(1, 32), Gathering(128))
    assert wide.registers(0, 1, 0, 2 * 128 + 127)[3] == (12, wide.map.pool + 2 * 2048 + 127 * 8)
    assert wide.registers(0, 1, 0, 0)[8:] == ((0x1B, 7), (0x1D, 3))


@pytest.mark.parametrize("width", [16, 32])
def test_the_parts_of_memory_do_not_overlap_and_end_before_its_end(width: int) -> None:
    compiled = streamed(hostile(1, width))
    assert compiled.map == MAPS[width]
    taken = [word for extent in extents(width, compiled.map).values() for word in extent]
    assert len(taken) == len(set(taken))
    assert max(taken) + 1 == compiled.map.end <= EXT_WORDS


@pytest.mark.parametrize("name", names())
def test_the_weights_stand_where_the_map_says_row_after_row(name: str) -> None:
    model = load(name)
    compiled = streamed(model)
    memory = np.zeros(EXT_WORDS, np.uint32)
    for address, words in compiled.memory:
        memory[address : address + len(words)] = words
    at = {part: memory[extent.start : extent.stop] for part, extent in extents(model.width, compiled.map).items()}
    found = {
        part: unpacked(at.pop(part), model.width) for part in ("embedding", "projections", "output", "unembedding")
    }
    assert np.array_equal(found["embedding"], model.embedding)
    assert np.array_equal(found["projections"], np.concatenate((model.query, model.key, model.value)))
    assert np.array_equal(found["output"], model.output)
    assert np.array_equal(found["unembedding"], model.unembedding)
    assert not any(words.any() for words in at.values())


def test_a_step_sets_the_registers_that_the_program_reads() -> None:
    """R1 = n, R2 = token, R4 = where the new row goes, R5 = token * RW."""
    assert streamed(hostile(1, 16)).registers(5, 9) == ((9, 9), (10, 5), (12, 2416), (13, 20))
    assert streamed(hostile(1, 32)).registers(15, 255) == ((9, 255), (10, 15), (12, 5344), (13, 120))


def test_the_first_lane_stands_in_the_lowest_bits() -> None:
    rows = np.array([[1, 2, 3, 4, -1, -128, 127, 0]], np.int8)
    words = packed(rows)
    assert words.dtype == np.uint32 and words.tolist() == [0x04030201, 0x007F80FF]
    assert np.array_equal(unpacked(words, 8), rows)
    assert packed(rows[:, ::-1]).tolist() == [0xFF807F00, 0x01020304]
    assert sums(np.array([0xFFFFFFFF, 0x80000000, 5], np.uint32)).tolist() == [-1, -(2**31), 5]
    assert packed(np.zeros((0, 16), np.int8)).size == 0


@pytest.mark.parametrize(
    ("lanes", "words", "says"),
    [
        (32, EXT_WORDS, "hostile-1-16 has width 16, and the chip 32 lanes"),
        (8, EXT_WORDS, "a chip has 16 or 32 lanes, not 8"),
        (16, 2440, "hostile-1-16 takes 2441 words of memory, and the chip has 2440"),
    ],
)
def test_a_model_that_does_not_fit_the_chip_is_refused(lanes: int, words: int, says: str) -> None:
    with pytest.raises(CompileError, match=says):
        streamed(hostile(1, 16), lanes, words)


def test_a_model_of_another_shape_is_refused() -> None:
    """Another vocabulary, which would not give the 16 logits, and a projection that is not square."""
    model = hostile(1, 16)
    eight, more, narrow = (np.zeros(shape, np.int8) for shape in ((8, 16), (17, 16), (16, 15)))
    for changed, says in (
        (replace(model, unembedding=eight), r"the chip gives 16 logits: unembedding is \(16, 16\), not \(8, 16\)"),
        (replace(model, embedding=more), r"the chip gives 16 logits: embedding is \(16, 16\), not \(17, 16\)"),
        (replace(model, output=narrow), r"output is \(16, 16\), not \(16, 15\)"),
    ):
        with pytest.raises(CompileError, match=says):
            streamed(changed)


def test_a_width_that_no_chip_has_is_refused_and_the_least_memory_suffices() -> None:
    with pytest.raises(CompileError, match="a chip has 16 or 32 lanes, not 64"):
        streamed(hostile(1, 64))
    assert streamed(hostile(1, 16), words=2441).map.end == 2441


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
