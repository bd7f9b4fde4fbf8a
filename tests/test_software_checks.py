"""The checks of the chip's software see another answer, another error, and a part of the software that is broken."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType

import pytest

from impl.chip import Result
from impl.chip_decoder import PagedChipDecoder
from impl.chip_host import ChipStore
from impl.compiler import streamed
from impl.decoder import Places, Step
from impl.memory_map import Gathering, PagedMap, paged_map
from impl.memory_words import Rows, packed
from impl.program import listing
from impl.row_store import PagedStore
from spec.isa import Words
from verify.decode.oracle import Found
from verify.programs import compiler_checks, decoder_checks, failure_checks, host_checks, page_checks, text_checks
from verify.programs.claims import refused, same
from verify.programs.steps import NARROW


class Forgetful(PagedChipDecoder):
    """The row of a step is not there for the next one."""

    __slots__ = ()

    def step_in_place(self, token: int, places: Places) -> Step:
        before = self.memory.copy()
        step = super().step_in_place(token, places)
        self.memory[:] = before
        return step


@contextmanager
def eager(store: ChipStore, request: int, rows: int) -> Iterator[Callable[[int, int], Places]]:
    """Rows are appended before the chip has made them, and stay when it fails."""
    table = store.cache.table
    copy = table.append(request, rows)
    if copy is not None:
        store.cache.pool.copy_page(copy.source, copy.destination)
    pages, dropped = table.block_table(request), table.dropped(request)
    slots = table.slots
    yield lambda row, attended: Places(
        pages, dropped, row + 1 - attended, attended, *slots(request, row, row + 1).tolist()
    )


def thrifty(width: int, words: int, gathering: Gathering) -> PagedMap:
    """Where as many pages as fit are asked for, one is left out."""
    found = paged_map(width, words, gathering)
    return found if gathering.pages else replace(found, pages=found.pages - 1)


def mirrored(rows: Rows) -> object:
    return packed(rows[:, ::-1])


def unnumbered(words: tuple[Words, ...]) -> str:
    return listing(words).replace("  3  ", "     ")


def patient(result: Result, program: tuple[Words, ...]) -> None:
    """However a run has ended, it is taken for one that has."""


BROKEN: tuple[tuple[ModuleType | type, str, object, Callable[[], Iterator[Found]]], ...] = (
    (text_checks, "listing", unnumbered, text_checks.check_texts),
    (text_checks, "assemble", lambda text: (), text_checks.check_texts),
    (compiler_checks, "packed", mirrored, compiler_checks.check_rows_as_words),
    (compiler_checks, "resident", streamed, compiler_checks.check_programs),
    (compiler_checks, "paged_map", thrifty, compiler_checks.check_room),
    (compiler_checks, "streamed", lambda *_, **__: None, compiler_checks.check_misfits),
    (decoder_checks, "disassemble", lambda program: "", decoder_checks.check_asked_steps),
    (PagedChipDecoder, "step_in_place", Forgetful.step_in_place, page_checks.check_shuffled_pages),
    (host_checks, "PagedChipDecoder", Forgetful, host_checks.check_hosts),
    (ChipStore, "growing", eager, host_checks.check_failed_hosts),
    (ChipStore, "new", PagedStore.new, host_checks.check_refused_hosts),
)


@pytest.mark.parametrize(("place", "name", "broken", "check"), BROKEN, ids=[f"{each[1]}" for each in BROKEN])
def test_a_part_that_is_broken_is_seen(
    monkeypatch: pytest.MonkeyPatch,
    place: ModuleType | type,
    name: str,
    broken: object,
    check: Callable[[], Iterator[Found]],
) -> None:
    monkeypatch.setattr(place, name, broken)
    assert any(found for found, _ in check())


def test_a_run_that_fails_must_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("impl.chip_decoder.check_ended", patient)
    assert any(found for found, _ in failure_checks.check_failed_steps())


def test_what_is_made_must_be_what_is_due_of_its_type() -> None:
    for made, differs in ((lambda: (1, 2), 0), (lambda: [1, 2], 1), (lambda: (1, 3), 1), (lambda: (1, 1 // 0), 1)):
        found, looked = same("CHIP-INT", "two numbers", (1, 2), made)
        assert (len(found), looked) == (differs, 1)


def test_what_is_refused_must_be_refused_with_its_error_and_its_words() -> None:
    def raising(error: Exception) -> Callable[[], object]:
        def make() -> object:
            raise error

        return make

    for made, differs in (
        (raising(ValueError("line 3: row 9")), 0),
        (raising(ValueError("at line 3: row 9")), 1),
        (raising(ValueError("line 3: row 8")), 1),
        (raising(KeyError("line 3: row 9")), 1),
        (lambda: NARROW, 1),
    ):
        found, looked = refused("CHIP-ENC", "a line", ValueError, ("line 3: ", "row 9"), made)
        assert (len(found), looked) == (differs, 1)
