"""GATHER brings the rows that the block table names: addresses worked out by hand, and contiguous LOADs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.isa import EXT_WORDS, ErrorCode, Gather, Load, Store
from spec.isa_machine import Walker, lanes_of, words_of
from spec.isa_semantics import Machine, run
from tests.small_chips import TABLE, VALID, after, chip, lanes, padded, paged, pages, set_program, set_row


def sources(machine: Machine, first: int, count: int) -> list[int]:
    """The addresses from which the rows came, each row whole; no other row may be written."""
    assert machine.written.nonzero()[0].tolist() == list(range(first, first + count))
    found = words_of(machine.rows(first, count)).reshape(count, machine.words_a_row).astype(np.int64)
    assert (found == found[:, :1] + np.arange(machine.words_a_row)).all()
    return [int(address) for address in found[:, 0]]


@pytest.mark.parametrize(
    ("logp", "lo", "half", "expected"),
    [
        # P = 1: page p at 100 + 8p, its value 4 after it; slots 0, 1, 2, 3, then 0 again, hold pages 3, 0, 2, 1.
        (0, 0, 0, [124, 100, 116, 108, 124]),
        (0, 2, 1, [120, 112, 128, 104, 120]),
        # P = 2: page p at 100 + 16p, its values 8 after. Row 5 is the second of slot 2, 6 and 7 slot 3, 8 and 9 slot 0.
        (1, 5, 0, [136, 116, 120, 148, 152]),
        (1, 5, 1, [144, 124, 128, 156, 160]),
        # P = 4: page p at 100 + 32p, its values 16 after. Rows 2, 3 of slot 0, then 0, 1, 2 of slot 1.
        (2, 2, 0, [204, 208, 100, 104, 108]),
        (2, 2, 1, [220, 224, 116, 120, 124]),
        # Row 13 is 1 of slot 3, row 16 is 0 of slot 0.
        (2, 13, 0, [136, 140, 144, 196, 200]),
        # P = 16: page p at 100 + 128p, its values 64 after. Row 61 is 13 of slot 3, row 64 is 0 of slot 0.
        (4, 61, 0, [280, 284, 288, 484, 488]),
        (4, 61, 1, [344, 348, 352, 548, 552]),
        (4, 3, 0, [496, 500, 504, 508, 512]),
        # P = 128: page p at 100 + 1024p. Row 126 of slot 0, page 3, which is at 3172; then slot 1, page 0.
        (7, 126, 0, [3676, 3680, 100, 104, 108]),
        (7, 126, 1, [4188, 4192, 612, 616, 620]),
    ],
)
def test_a_row_comes_from_the_page_that_its_slot_names(logp: int, lo: int, half: int, expected: list[int]) -> None:
    machine = paged(Gather(20, 5, half, address_register=3), table=pages(3, 0, 2, 1), logp=logp, lo=lo)
    assert sources(after(machine), 20, 5) == expected


def test_a_row_of_32_lanes_is_8_words() -> None:
    # P = 2: page p at 100 + 32p, its values 16 after. Row 1 of slot 0, page 2; rows 2 and 3 of slot 1, page 1.
    for half, expected in ((0, [172, 132, 140]), (1, [188, 148, 156])):
        machine = paged(Gather(7, 3, half, address_register=3), table=pages(2, 1), logp=1, lo=1, lanes=32)
        assert sources(after(machine), 7, 3) == expected


def test_a_gather_adds_its_registers_and_its_row_may_be_the_last() -> None:
    gather = Gather(1000, -3, 0, count_register=1, row_register=2, address_register=3)
    machine = paged(gather, table=pages(5), logp=1, registers={1: 5, 2: 22, 3: 0})
    assert sources(after(machine), 1022, 2) == [180, 184]


def test_without_an_address_register_the_first_row_is_0() -> None:
    machine = paged(Gather(0, 1, 0), table=pages(2, 1), logp=0, registers={0: 1})
    assert sources(after(machine), 0, 1) == [116]


def test_a_ring_of_one_entry_and_a_mask_with_holes_are_what_their_bits_say() -> None:
    machine = paged(Gather(0, 3, 0), table=pages(2, 1, 3), logp=0, mask=0)
    assert sources(after(machine), 0, 3) == [116, 116, 116]
    # Mask 2: slots 0, 0, 2, 2, 0.
    machine = paged(Gather(0, 5, 0), table=pages(2, 1, 3), logp=0, mask=2)
    assert sources(after(machine), 0, 5) == [116, 116, 124, 124, 116]


def test_a_page_may_stand_in_two_slots_and_a_table_in_its_own_pool() -> None:
    # Pages from word 0: the table, words 4 and 5, is the value of page 0.
    machine = paged(Gather(0, 2, 1), table=pages(0, 0), logp=0, pool=0)
    after(machine)
    assert [lanes(machine, row) for row in (0, 1)] == [[0, 0, 0, -128] * 2 + [6, 0, 0, 0, 7, 0, 0, 0]] * 2


def test_logical_rows_wrap_at_32_bits() -> None:
    # Rows 2^32 - 2 and 2^32 - 1 are the last two of slot 3, P = 4, then rows 0 and 1 of slot 0.
    machine = paged(Gather(0, 4, 0, address_register=3), table=pages(6, 5, 4, 1), logp=2, lo=2**32 - 2)
    assert sources(after(machine), 0, 4) == [140, 144, 292, 296]
    # With every bit of BTMASK row 2^32 - 1, P = 1, has slot 65535, far beyond memory.
    machine = paged(Gather(0, 1, 0, address_register=3), table=[], logp=0, lo=2**32 - 1, mask=0xFFFF)
    assert run(machine) == (ErrorCode.EXT_RANGE, 0)


def test_the_table_and_the_pool_are_what_older_stores_made_of_them() -> None:
    # The row is words VALID + 1, 0, 0, 0, then words 5, 6, 7, 8; page 1 of P = 1 is at 108.
    machine = paged(Store(40, 1, TABLE), Store(41, 1, 108), Gather(0, 1, 0), Store(42, 1, 108), table=[0], logp=0)
    set_row(machine, 40, [1, 0, 0, -128])
    set_row(machine, 41, [5, 0, 0, 0, 6])
    set_row(machine, 42, [9])
    assert lanes(after(machine), 0) == padded(5, 0, 0, 0, 6)
    assert machine.memory[108] == 9


@pytest.mark.parametrize("half", [0, 1])
def test_a_count_of_0_does_nothing_whatever_it_names(half: int) -> None:
    gather = Gather(1023, -3, half, count_register=1, row_register=2, address_register=2)
    machine = paged(gather, table=[], logp=7, btbase=8191, npages=0, registers={1: 3, 2: 2**32 - 1})
    before = machine.memory.tolist()
    after(machine)
    assert not machine.written.any() and machine.memory.tolist() == before


def test_a_gather_of_all_rows_is_no_error() -> None:
    gather = Gather(0, 511, 0, count_register=1)
    assert sources(after(paged(gather, table=pages(1), logp=7, mask=0, registers={1: 513})), 0, 1024)[127:129] == [
        1632,
        1124,
    ]


@given(st.data())
def test_a_gather_brings_what_contiguous_loads_bring(data: st.DataObject) -> None:
    """Any permutation of the pages, page size, first row and ring, against plain lists and against LOADs (CHIP-GATHER)."""
    width, logp = data.draw(st.sampled_from((16, 32)), "lanes"), data.draw(st.integers(0, 5), "LOGP")
    size, rows_a_page = width // 4, 1 << logp
    lo = data.draw(st.integers(0, 70) | st.integers(2**32 - 70, 2**32 - 1) | st.integers(0, 2**32 - 1), "lo")
    count = data.draw(st.integers(0, 40), "count")
    logical = [(lo + k) % 2**32 for k in range(count)]
    spanned = list(dict.fromkeys(row // rows_a_page for row in logical))
    ring = data.draw(st.sampled_from([n for n in (1, 2, 4, 8, 16, 32, 64) if n >= len(spanned)]), "ring")
    numbers = data.draw(st.permutations(range(len(spanned) + 2)), "pages")
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), "seed"))
    content = chance.integers(0, 2**32, (2, count, size), np.uint32)

    machine = chip(lanes=width)
    machine.memory[:] = chance.integers(0, 2**32, EXT_WORDS, np.uint32)
    # Table, pool, then both halves once more in plain order; garbage between.
    pool = 64 + data.draw(st.integers(0, 20), "gap")
    plain = pool + len(numbers) * 2 * rows_a_page * size + 1
    for page, number in zip(spanned, numbers, strict=False):
        machine.memory[page % ring] = VALID | number
    paged_rows = machine.memory[pool : plain - 1].reshape(len(numbers), 2, rows_a_page, size)
    number_of = dict(zip(spanned, numbers, strict=False))
    for k, row in enumerate(logical):
        paged_rows[number_of[row // rows_a_page], :, row % rows_a_page] = content[:, k]
    machine.memory[plain : plain + content.size] = content.reshape(-1)
    machine.walker = Walker(0, ring - 1, pool, logp, len(numbers))

    machine.registers[2], machine.registers[3] = count, lo
    gathers = [Gather(1 + 300 * half, 0, half, 2, 0, 3) for half in (0, 1)]
    loads = [Load(601 + 200 * half, 0, plain + half * count * size, 2) for half in (0, 1)]
    set_program(machine, *gathers, *loads)
    after(machine)
    for half in (0, 1):
        expected = [lanes_of(row).tolist() for row in content[half]]
        assert [lanes(machine, 1 + 300 * half + k) for k in range(count)] == expected
        assert [lanes(machine, 601 + 200 * half + k) for k in range(count)] == expected
    assert machine.written.sum() == 4 * count
