"""What the compiler makes, of both widths and in every form: programs, registers, memory, and what does not fit a chip.

Programs, maps and registers are typed from docs/chip.md sections 3 and 7; how many pages fit is counted anew.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from impl.compiler import Compiled, PagedCompiled, resident, streamed
from impl.integer_model import IntegerModel
from impl.memory_map import CompileError, Gathering, MemoryMap, PagedMap, paged_map
from impl.memory_words import packed, sums, unpacked
from impl.program import disassemble, from_words
from spec.isa import EXT_WORDS
from spec.isa_machine import MemoryWords, words_of
from verify.decode.hostile_models import hostile
from verify.decode.oracle import Found
from verify.programs import section_7
from verify.programs.claims import refused, same
from verify.programs.steps import NARROW, WIDE

PAGE_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
MOST = 65_536
"""Pages that 16 bits of a table entry name."""

Make = Callable[[], Compiled | PagedCompiled]


def check_rows_as_words() -> Iterator[Found]:
    """Rows as words and back, the first lane in the lowest bits, and sums with their signs (CHIP-ISA)."""
    rows = np.array([[1, 2, 3, 4, -1, -128, 127, 0], [5, 6, 7, 8, 9, 10, 11, 12]], np.int8)
    words = [0x04030201, 0x007F80FF, 0x08070605, 0x0C0B0A09]
    mirrored = [0xFF807F00, 0x01020304, 0x090A0B0C, 0x05060708]
    yield same("CHIP-ISA", "the words of rows", (words, "uint32"), lambda: _listed(packed(rows)))
    yield same("CHIP-ISA", "the words of a view", (mirrored, "uint32"), lambda: _listed(packed(rows[:, ::-1])))
    yield same("CHIP-ISA", "no rows", ([], "uint32"), lambda: _listed(packed(rows[:0])))
    given = np.array(words, np.uint32)
    yield same("CHIP-ISA", "the rows of words", (rows.tolist(), "int8"), lambda: _listed(unpacked(given, 8)))
    signed = np.array([0xFFFFFFFF, 0x80000000, 5], np.uint32)
    yield same("CHIP-ISA", "sums", ([-1, -(2**31), 5], "int32"), lambda: _listed(sums(signed)))


def check_programs() -> Iterator[Found]:
    """The programs of section 7, their maps, the memory that they find, and the registers of a step (CHIP-INT)."""
    gather = section_7.GATHER
    for model, program, gathering, once, kept in (
        (NARROW, section_7.PROGRAM_16, section_7.GATHERING_16, section_7.ONCE_16, section_7.RESIDENT_16),
        (WIDE, section_7.PROGRAM_32, section_7.GATHERING_32, section_7.ONCE_32, section_7.RESIDENT_32),
    ):
        width = model.width
        places, paged = section_7.MAPS[width], section_7.PAGED_MAPS[width]
        forms: tuple[tuple[str, Make, str, str, MemoryMap | PagedMap], ...] = (
            ("host gathers", partial(streamed, model), "", program, places),
            ("host gathers, sizes given", partial(streamed, model, width, 8192), "", program, places),
            ("chip gathers", partial(streamed, model, gather=gather), "", gathering, paged),
            ("resident", partial(resident, model, gather), once, kept, paged),
            ("resident, sizes given", partial(resident, model, gather, width, 8192), once, kept, paged),
        )
        for form, make, *due in forms:
            yield same("CHIP-INT", f"{form}, width {width}", (*due, width, width // 4), partial(_shown, make))
            memory = stored(model, places).tolist()
            yield same("CHIP-INT", f"{form}, memory of width {width}", memory, partial(_memory, make))
    for model, token, new_row, offset in ((NARROW, 5, 2416, 20), (WIDE, 15, 5344, 120), (NARROW, 0, 2416, 0)):
        step = ((9, 255), (10, token), (12, new_row), (13, offset))
        yield same("CHIP-INT", f"registers, token {token}", step, partial(streamed(model).registers, token, 255))


def check_pages() -> Iterator[Found]:
    """Registers, and where a new row goes, in pages of every size; slot 3P - 1 is the last row of page 2 (CHIP-INT)."""
    for model, size in ((model, size) for model in (NARROW, WIDE) for size in PAGE_SIZES):
        row, gather = model.width // 4, Gathering(size, 3)
        ahead = (32 + 4 * model.width) * row + 16 + 1
        table, pool, end = ahead, ahead + 4, ahead + 4 + 3 * 2 * size * row
        key = pool + 2 * 2 * size * row + (size - 1) * row
        step = ((9, 7), (10, 9), (11, 70), (12, key), (13, 9 * row))
        walker = ((0x18, table), (0x19, 3), (0x1A, pool), (0x1B, PAGE_SIZES.index(size)), (0x1D, 3))
        value = f"store  row=512 cnt=1 addr=r4+{size * row:#06x}"
        for make in (partial(streamed, model, gather=gather), partial(resident, model, gather)):
            due = (end, size * row, key, (*step, *walker), True)
            yield same("CHIP-INT", f"width {model.width}, pages of {size}", due, partial(_of_pages, make, size, value))


def check_room() -> Iterator[Found]:
    """As many pages as fit, in the least ring that has an entry for each, are there if no number is given (CHIP-GATHER)."""
    for width, size, sizes in (
        *((16, size, (EXT_WORDS,)) for size in PAGE_SIZES),
        *((32, size, (EXT_WORDS,)) for size in PAGE_SIZES),
        (16, 4, range(434, 800, 3)),
        (16, 1, range(410, 500)),
    ):
        for words in sizes:
            due = _most_pages(width, size, words)
            yield same(
                "CHIP-GATHER", f"width {width}, {words} words, pages of {size}", due, partial(_room, width, size, words)
            )
    for words, room in (
        (590_224, (65_535, MOST, 590_217)),
        (590_225, (MOST, MOST, 590_225)),
        (2**20, (MOST, MOST, 590_225)),
    ):
        yield same("CHIP-GATHER", f"{words} words, pages of a row", room, partial(_room, 16, 1, words))
    yield same("CHIP-GATHER", "just enough", 705, lambda: paged_map(16, 705, Gathering(4, 9)).end)
    for size in (-4, 0, 3, 5, 127, 256):
        says = f"a page of the chip has 1, 2, 4, 8, 16, 32, 64, 128 rows, not {size}"
        yield _no_pool(Gathering(size), EXT_WORDS, says)
    for pages in (0, -1, MOST + 1):
        yield _no_pool(Gathering(1, pages), 2**21, f"a pool has 1 .. 65536 pages, not {pages}")
    yield _no_pool(Gathering(4, 9), 704, "9 pages of 4 rows take 705 words of memory, and the chip has 704")
    for words, left in ((433, 32), (401, 0), (100, 0)):
        yield _no_pool(Gathering(4), words, f"a page of 4 rows takes 32 words, and the chip has {left} left of {words}")


def check_misfits() -> Iterator[Found]:
    """Models of another width, vocabulary or shape than the chip's, and a memory that is a word too small (CHIP-INT)."""
    yield same("CHIP-INT", "memory that just fits", 2441, lambda: streamed(NARROW, words=2441).map.end)
    yield same("CHIP-INT", "memory that just fits", 5377, lambda: streamed(WIDE, words=5377).map.end)
    small = "takes 2441 words of memory, and the chip has 2440"
    yield refused("CHIP-INT", small, CompileError, (f"hostile-1-16 {small}",), lambda: streamed(NARROW, words=2440))
    for model, lanes, says in (
        (NARROW, 32, "hostile-1-16 has width 16, and the chip 32 lanes"),
        (WIDE, 16, "hostile-1-32 has width 32, and the chip 16 lanes"),
        (NARROW, 8, "a chip has 16 or 32 lanes, not 8"),
        (hostile(1, 64), None, "a chip has 16 or 32 lanes, not 64"),
        *((misshapen, None, says) for misshapen, says in _misshapen()),
    ):
        for make in (
            partial(streamed, model, lanes),
            partial(streamed, model, lanes, gather=section_7.GATHER),
            partial(resident, model, section_7.GATHER, lanes),
        ):
            yield refused("CHIP-INT", says, CompileError, (says,), make)


def stored(model: IntegerModel, places: MemoryMap | PagedMap) -> MemoryWords:
    """Memory before the first step: E, Wq, Wk, Wv, Wo and U row after row where that map, typed, has them, and 0 elsewhere."""
    memory = np.zeros(EXT_WORDS, np.uint32)
    projections = np.concatenate((model.query, model.key, model.value))
    for address, rows in (
        (places.embedding, model.embedding),
        (places.projections, projections),
        (places.output, model.output),
        (places.unembedding, model.unembedding),
    ):
        words = words_of(rows.astype(np.int64))
        memory[address : address + len(words)] = words
    return memory


def _misshapen() -> Iterator[tuple[IntegerModel, str]]:
    """Models each with a tensor of another shape, and what is said of it."""
    for name in ("embedding", "unembedding"):
        # The width is that of the embedding: only its length can be another.
        for shape in ((8, 16), (17, 16), *([(16, 15)] if name == "unembedding" else [])):
            says = f"the chip gives 16 logits: {name} is (16, 16), not {shape}"
            yield _with_shape(name, shape), says
    for name in ("query", "key", "value", "output"):
        for shape in ((16, 15), (17, 16)):
            yield _with_shape(name, shape), f"{name} is (16, 16), not {shape}"


def _with_shape(name: str, shape: tuple[int, int]) -> IntegerModel:
    changed: dict[str, Any] = {name: np.zeros(shape, np.int8)}
    return replace(NARROW, **changed)


def _listed(array: npt.NDArray[np.generic]) -> tuple[object, str]:
    return array.tolist(), array.dtype.name


def _shown(make: Make) -> tuple[object, ...]:
    """The program that goes before, that of a step, the map, lanes and words of a row."""
    compiled = make()
    once = compiled.once if isinstance(compiled, PagedCompiled) else None
    text = disassemble(compiled.instructions)
    alike = from_words(compiled.program) == compiled.instructions
    before = "" if once is None else disassemble(from_words(once))
    return before, text if alike else "", compiled.map, compiled.lanes, compiled.row_words


def _memory(make: Make) -> list[int]:
    """The memory that holds what is to be brought there, in its order, and nothing else."""
    memory = np.zeros(EXT_WORDS, np.uint32)
    for address, words in make().memory:
        memory[address : address + len(words)] = words
    return memory.tolist()


def _of_pages(make: Make, size: int, value: str) -> tuple[object, ...]:
    """End, words of a half, where the key in slot 3P - 1 goes, the registers of its step, whether its value goes there."""
    compiled = make()
    assert isinstance(compiled, PagedCompiled)
    slot = 3 * size - 1
    text = disassemble(compiled.instructions).splitlines()
    registers = compiled.registers(9, 7, 70, slot)
    return compiled.map.end, compiled.half_words, compiled.new_row(slot), registers, value in text


def _most_pages(width: int, size: int, words: int) -> tuple[int, int, int]:
    """The most pages that fit, by trying: the ring's least power of two, and the end of all parts of section 7."""
    row, found = width // 4, (0, 0, 0)
    for pages in range(1, words):
        ring = 1
        while ring < pages:
            ring *= 2
        end = (16 + 3 * width + width + 16) * row + 16 + 1 + ring + pages * 2 * size * row
        if end > words:
            return found
        found = pages, ring, end
    return found


def _room(width: int, size: int, words: int) -> tuple[int, int, int]:
    """Pages, ring and end of the memory of so many words that gathers from as many pages as fit."""
    places = paged_map(width, words, Gathering(size))
    return places.pages, places.ring, places.end


def _no_pool(gather: Gathering, words: int, says: str) -> Found:
    """Such a pool is refused."""
    return refused("CHIP-GATHER", f"{gather}", CompileError, (says,), lambda: streamed(NARROW, None, words, gather))
