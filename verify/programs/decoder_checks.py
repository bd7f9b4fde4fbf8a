"""What decoders ask of a chip that computes nothing, and what they make of its answer; typed from docs/chip.md."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from impl.chip import Profile
from impl.chip_decoder import ChipDecoder, PagedChipDecoder
from impl.program import disassemble, from_words
from spec.isa_machine import MemoryWords, lanes_of
from verify.decode.oracle import Found
from verify.programs import section_7
from verify.programs.claims import same
from verify.programs.compiler_checks import stored
from verify.programs.recording_chip import COUNTERS, RecordingChip
from verify.programs.steps import (
    BEHIND,
    GATHER,
    KEY_16,
    KEY_32,
    NARROW,
    PLACES,
    WIDE,
    Make,
    Stepped,
    hosted,
    in_place,
    over,
    paged,
    resident,
)

WALKER = ((0x18, 401), (0x19, 15), (0x1A, 417), (0x1B, 2), (0x1D, 9))
FIRST = (1, 0, 0, 0x7F000080)
LOGITS = (0xFFFFFFFE, *range(14), 0x80000000)


Asked = tuple[str, tuple[tuple[int, int], ...], list[tuple[int, list[int]]], int | None]
"""A start: its program, registers, memory and reset."""


def check_asked_steps() -> Iterator[Found]:
    """The starts of a step and the memory that they find (CHIP-INT)."""
    threes, ones = [0x03030303] * 20, [0xFFFFFFFF] * 20
    clean = stored(NARROW, section_7.MAPS[16])
    registers = ((9, 6), (10, 5), (12, 2416), (13, 20))
    starts: list[Asked] = [(section_7.PROGRAM_16, registers, [(384, threes), (1400, ones)], None)]
    yield same("CHIP-INT", "the host gathers", (starts, clean.tolist()), partial(_asked, hosted, over(5)))
    for places, lo, ring in (
        (PLACES, 69, [0, 0x80000008, 0x80000003, *[0] * 13]),
        (BEHIND, 2**31 + 57, [0x80000006, *[0] * 13, 0x80000004, 0x80000005]),
    ):
        given = ((9, 6), (10, 5), (11, lo), (12, KEY_16), (13, 20), *WALKER)
        step = (section_7.GATHERING_16, given, [(401, ring)], None)
        yield same("CHIP-INT", f"{places}", ([step], clean.tolist()), partial(_asked, paged, in_place(places)))
        starts = [(section_7.ONCE_16, (), [], None), (section_7.RESIDENT_16, given, [(401, ring)], None)]
        yield same("CHIP-INT", f"{places}", (starts, clean.tolist()), partial(_asked, resident, in_place(places)))
    # Rows that come with a step stand in pages 0, 1, ..., and so does the new one.
    for rows in (0, 3, 4, 5, 35):
        memory = clean.copy()
        for row, words in ((row, words) for row in range(rows) for words in ((0, threes), (16, ones))):
            at = 417 + row // 4 * 32 + row % 4 * 4 + words[0]
            memory[at : at + 4] = words[1][:4]
        given = ((9, rows + 1), (10, 5), (11, 0), (12, 417 + rows // 4 * 32 + rows % 4 * 4), (13, 20), *WALKER)
        ring = [0x80000000 + page if page * 4 <= rows else 0 for page in range(16)]
        starts = [(section_7.GATHERING_16, given, [(401, ring)], None)]
        yield same("CHIP-INT", f"{rows} rows brought", (starts, memory.tolist()), partial(_asked, paged, over(rows)))


def check_given_steps() -> Iterator[Found]:
    """What a step stored is what it gives; cycles add up, but those that bring what stays; memory goes on (CHIP-INT)."""
    cases: tuple[tuple[Make, Stepped, int, tuple[int, int, int, int], int], ...] = (
        (hosted, over(1), 16, (2416, 2420, 2424, 2440), 400),
        (hosted, over(1), 32, (5344, 5352, 5360, 5376), 400),
        (paged, in_place(PLACES), 16, (KEY_16, KEY_16 + 16, 384, 400), 400),
        (paged, in_place(PLACES), 32, (KEY_32, KEY_32 + 32, 1280, 1296), 400),
        (resident, in_place(PLACES), 32, (KEY_32, KEY_32 + 32, 1280, 1296), 800),
    )
    for make, step, width, (key, value, logits, token), cycles in cases:
        first = [*FIRST, *FIRST[::-1]][: width // 4]
        writes = {key: first, value: first[::-1], logits: LOGITS, token: [9]}
        chip = RecordingChip(counters=COUNTERS, token=9, writes=writes, lanes=width)
        lanes = [lanes_of(np.array(words, np.uint32)).tolist() for words in (first, first[::-1])]
        given = (9, "int", [-2, *range(14), -(2**31)], "int32", lanes[0], "int8", lanes[1], "int8")
        due = ((None, 0, 16, width), given, (cycles, cycles), given, (cycles, 2 * cycles))
        yield same("CHIP-INT", f"width {width}, {make.__name__}", due, partial(_given, make, step, chip))
        if make is not hosted:
            memory = stored(NARROW if width == 16 else WIDE, section_7.MAPS[width])
            for address, words in writes.items():
                memory[address : address + len(words)] = words
            yield same(
                "CHIP-INT", f"memory of {make.__name__}", True, partial(_goes_on, make, step, chip, memory, lanes)
            )
    timeless = RecordingChip()
    nothing = (0, "int", [0] * 16, "int32", *[[0] * 16, "int8"] * 2)
    shown = ((None, 0, 16, 16), nothing, (None, 0), nothing, (None, 0))
    yield same("CHIP-INT", "no time", shown, partial(_given, hosted, over(0), timeless))
    for make in (
        lambda chip: ChipDecoder(NARROW, chip, Profile(7)),
        lambda chip: PagedChipDecoder(NARROW, chip, GATHER, profile=Profile(7)),
        lambda chip: PagedChipDecoder(NARROW, chip, GATHER, True, Profile(7)),
    ):
        yield same("CHIP-INT", "the profile given", {Profile(7)}, partial(_profiles, make))
    yield same("CHIP-INT", "no profile given", {Profile()}, partial(_profiles, hosted))


def _asked(make: Make, step: Stepped) -> tuple[object, object]:
    """What the chip is asked in a step: its starts, and the memory that they find."""
    chip = RecordingChip()
    step(make(chip))
    starts = [
        (
            disassemble(from_words(start.program or ())),
            start.registers,
            [(address, words.tolist()) for address, words in start.memory],
            start.reset_at,
        )
        for start, _, _ in chip.asked
    ]
    (memory, *others) = [memory for _, memory, _ in chip.asked]
    return starts, memory.tolist() if all((other == memory).all() for other in others) else None


def _given(make: Make, step: Stepped, chip: RecordingChip) -> tuple[object, ...]:
    """A decoder as it begins, and what two steps give and leave of cycles."""
    decoder = make(chip)
    shown: list[object] = [(decoder.last, decoder.cycles, decoder.vocabulary, decoder.width)]
    for _ in range(2):
        said = step(decoder)
        arrays = [(array.tolist(), array.dtype.name) for array in said[1:]]
        shown.append((said.token, type(said.token).__name__, *(part for pair in arrays for part in pair)))
        counters = decoder.last.counters if decoder.last else None
        shown.append((counters.total if counters else None, decoder.cycles))
    return tuple(shown)


def _goes_on(make: Make, step: Stepped, chip: RecordingChip, memory: MemoryWords, row: list[list[int]]) -> bool:
    """The memory that a step leaves is the next one's, its pool is the pages, and a copied page is copied on the chip."""
    decoder = make(chip)
    step(decoder)
    assert isinstance(decoder, PagedChipDecoder)
    kept = bool((decoder.memory == memory).all()) and decoder.pool.kv[0, 3, :, 2].tolist() == row
    decoder.pool.copy_page(3, 5)
    page = 2 * 4 * chip.lanes // 4
    pool = section_7.PAGED_MAPS[chip.lanes].pool
    memory[pool + 5 * page : pool + 6 * page] = memory[pool + 3 * page : pool + 4 * page]
    step(decoder)
    return kept and bool((chip.asked[-1][1] == memory).all())


def _profiles(make: Make) -> set[Profile]:
    """With which profiles a step runs."""
    chip = RecordingChip()
    over(0)(make(chip))
    return {profile for _, _, profile in chip.asked}
