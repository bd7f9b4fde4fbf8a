"""The compiler gives the program of docs/chip.md section 7 and a memory in which nothing lies on anything else."""

from dataclasses import replace

import numpy as np
import pytest

from impl.compiler import CompileError, MemoryMap, streamed
from impl.decode_cycles import mac_rows, port_words
from impl.memory_words import packed, sums, unpacked
from impl.model_files import load, names
from impl.program import disassemble, from_words
from spec.isa import EXT_WORDS, IMEM_INSTRUCTIONS
from verify.decode.hostile_models import hostile

PROGRAM_16 = """\
load   row=1 cnt=1 addr=r5
load   row=768 cnt=48 addr=0x0040
setq   q=0 M=40503 sh=23
setq   q=1 M=51234 sh=23
setq   q=2 M=33333 sh=22
setq   q=3 M=45678 sh=24
setq   q=4 M=60001 sh=23 xrow=1 Rm=300
dot    a=1 row=768 cnt=48 dst=0 q=0 next apart
load   row=257 cnt=r1-1 addr=0x0180
load   row=513 cnt=r1-1 addr=0x0578
load   row=816 cnt=16 addr=0x0100
load   row=832 cnt=16 addr=0x0140
score  a=0 row=256 cnt=r1 q=3
av     row=512 cnt=r1 dst=2
store  row=256 cnt=1 addr=r4
store  row=512 cnt=1 addr=r4+0x0004
dot    a=2 row=816 cnt=16 dst=3 q=4
dotl   a=3 row=832 cnt=16 dst=4 argmax
store  row=4 cnt=4 addr=0x0978
streg  addr=0x0988
halt
"""
PROGRAM_32 = """\
load   row=1 cnt=1 addr=r5
load   row=768 cnt=96 addr=0x0080
setq   q=0 M=40503 sh=23
setq   q=1 M=51234 sh=23
setq   q=2 M=33333 sh=22
setq   q=3 M=45678 sh=24
setq   q=4 M=60001 sh=23 xrow=1 Rm=-32768
dot    a=1 row=768 cnt=96 dst=0 q=0 next apart
load   row=257 cnt=r1-1 addr=0x0500
load   row=513 cnt=r1-1 addr=0x0cf0
load   row=864 cnt=32 addr=0x0380
load   row=896 cnt=16 addr=0x0480
score  a=0 row=256 cnt=r1 q=3
av     row=512 cnt=r1 dst=2
store  row=256 cnt=1 addr=r4
store  row=512 cnt=1 addr=r4+0x0008
dot    a=2 row=864 cnt=32 dst=3 q=4
dotl   a=3 row=896 cnt=16 dst=4 argmax
store  row=4 cnt=2 addr=0x14f0
streg  addr=0x1500
halt
"""
"""The program of section 7 for each width: typed, not computed."""

MAPS = {
    16: MemoryMap(0, 64, 256, 320, 384, 1400, 2416, 2424, 2440, 2441),
    32: MemoryMap(0, 128, 896, 1152, 1280, 3312, 5344, 5360, 5376, 5377),
}
ROWS = {"embedding": 16, "unembedding": 16, "keys": 254, "values": 254, "new_row": 2}


def extents(width: int, places: MemoryMap) -> dict[str, range]:
    """The words that each part takes, by sizes typed from docs/chip.md: four lanes a word."""
    rows = {**ROWS, "projections": 3 * width, "output": width}
    words = {name: count * width // 4 for name, count in rows.items()} | {"logits": 16, "token": 1}
    return {name: range(getattr(places, name), getattr(places, name) + count) for name, count in words.items()}


@pytest.mark.parametrize(("width", "text", "residual"), [(16, PROGRAM_16, 300), (32, PROGRAM_32, -(2**15))])
def test_the_streamed_program_is_that_of_section_7(width: int, text: str, residual: int) -> None:
    compiled = streamed(hostile(1, width, residual=residual))
    assert disassemble(compiled.instructions) == text
    assert from_words(compiled.program) == compiled.instructions
    assert len(compiled.program) == 21 <= IMEM_INSTRUCTIONS


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
