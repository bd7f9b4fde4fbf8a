"""Where everything of a compiled model stands in the chip's memory, for each way in which past rows come to a step.

All places are word addresses, and rows stand without gaps. Source: docs/chip.md sections 4 and 7.
"""

from dataclasses import dataclass

from impl.decoder import LONGEST_CONTEXT
from impl.memory_words import row_words
from impl.tiny_lm import VOCABULARY
from spec.isa import LANES, Register

PAGE_SIZES = tuple(1 << exponent for exponent in range(8))
"""Rows of a page: LOGP has 3 bits."""
MOST_PAGES = 1 << 16
"""A table entry names a page in 16 bits."""
ENTRY_VALID = 1 << 31
_RINGS = tuple(1 << exponent for exponent in range(MOST_PAGES.bit_length()))


class CompileError(ValueError):
    """A model, or a pool of pages, that the chip cannot decode with."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """The pool that a chip gathers from by itself: rows of a page, and pages (None: as many as its memory has room for)."""

    page_size: int
    pages: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """The memory of a chip for which the host gathers: `projections` are those of Wq, Wk and Wv, `new_row` key and value.

    `keys` and `values` have room for the past of the longest context; `end` is the first word behind everything.
    """

    embedding: int
    projections: int
    output: int
    unembedding: int
    keys: int
    values: int
    new_row: int
    logits: int
    token: int
    end: int


@dataclass(frozen=True, slots=True)
class PagedMap:
    """The memory of a chip that gathers by itself: the ring of the block table, then the pool, the last of all.

    The ring has `ring` entries, a power of two and no fewer than the `pages` of the pool: as no request holds more, no two
    of its pages meet in one entry, whatever a window has let go before them.
    """

    embedding: int
    projections: int
    output: int
    unembedding: int
    logits: int
    token: int
    table: int
    pool: int
    end: int
    page_size: int
    pages: int
    ring: int

    @property
    def walker(self) -> tuple[tuple[int, int], ...]:
        """Host address and value of each register of the walker."""
        return (
            (Register.BTBASE, self.table),
            (Register.BTMASK, self.ring - 1),
            (Register.POOL, self.pool),
            (Register.LOGP, self.page_size.bit_length() - 1),
            (Register.NPAGES, self.pages),
        )


def check_lanes(lanes: int) -> None:
    """CompileError for a number of lanes that no chip has."""
    if lanes not in LANES:
        raise CompileError(f"a chip has {' or '.join(map(str, LANES))} lanes, not {lanes}")


def host_map(width: int) -> MemoryMap:
    """The map of a model of that width whose past rows the host gathers."""
    row = row_words(width)
    past = (LONGEST_CONTEXT - 1) * row
    return MemoryMap(*_places((*_weights(width), past, past, 2 * row, VOCABULARY, 1)))


def paged_map(width: int, words: int, gathering: Gathering) -> PagedMap:
    """The map of a model of that width on a chip with so many words, whose past rows stand in the pool.

    Raises CompileError for a page size that the walker does not know, or a pool that the chip has no room for.
    """
    size, pages = gathering.page_size, gathering.pages
    if size not in PAGE_SIZES:
        raise CompileError(f"a page of the chip has {', '.join(map(str, PAGE_SIZES))} rows, not {size}")
    page = 2 * size * row_words(width)
    before = (*_weights(width), VOCABULARY, 1)
    room = words - sum(before)
    if pages is None:
        pages = max(min(ring, (room - ring) // page) for ring in _RINGS)
        if pages < 1:
            raise CompileError(
                f"a page of {size} rows takes {page} words, and the chip has {max(0, room)} left of {words}"
            )
    if not 1 <= pages <= MOST_PAGES:
        raise CompileError(f"a pool has 1 .. {MOST_PAGES} pages, not {pages}")
    ring = next(ring for ring in _RINGS if ring >= pages)
    places = PagedMap(*(*_places((*before, ring, pages * page)), size, pages, ring))
    if places.end > words:
        raise CompileError(f"{pages} pages of {size} rows take {places.end} words of memory, and the chip has {words}")
    return places


def _weights(width: int) -> tuple[int, int, int, int]:
    """Words of E, of Wq, Wk and Wv, of Wo, and of U."""
    row = row_words(width)
    return VOCABULARY * row, 3 * width * row, width * row, VOCABULARY * row


def _places(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Where each part begins, and where the last one ends."""
    return tuple(sum(sizes[:index]) for index in range(len(sizes) + 1))
