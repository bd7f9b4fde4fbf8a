"""What a host leaves to its store and does not see itself: other pools, arrays that are used again, what is told of pages."""

import numpy as np

from impl.decoder import IntegerDecoder, Rows
from impl.host import Host
from impl.kv_cache import KVCache
from impl.model_files import load
from impl.row_store import PagedStore, PlainStore, RowStore
from verify.decode.oracle import Found
from verify.refinement import Difference
from verify.target import Raised, answered

WIDTHS, PAGES, PAGE_SIZE = (1, 3), 9, 2
"""Elements of a key; with one, a single row has the shape of several."""

WIDTH = WIDTHS[-1]


def check_stores() -> Found:
    """Both stores give the rows that they were given, whatever becomes of the arrays, and nothing of what has ended (PT-ROWS)."""
    differences: list[Difference] = []
    asked = 0
    for width in WIDTHS:
        stores: tuple[RowStore, ...] = (
            PagedStore(KVCache(PAGES, PAGE_SIZE, width=width)),
            PlainStore(width, PAGE_SIZE),
        )
        for store in stores:
            where = f"{type(store).__name__}, width {width}"
            said = answered(rows_given_back, store, width)
            found = [("every call", "answered", said)] if isinstance(said, Raised) else said
            differences += [
                Difference("PT-ROWS", f"{where}, {what}: {due}", f"{shown}")
                for what, due, shown in found
                if shown != due
            ]
            asked += len(found)
    return differences, asked


def check_pages() -> Found:
    """A request of pages has no sinks unless asked for, and no rows are no append but a refusal (PT-HOLE, BadArgument)."""
    store = PagedStore(KVCache(PAGES, PAGE_SIZE, width=WIDTH))
    store.new(0)
    store.append(0, np.zeros((2, 5, WIDTH), np.int8))
    store.trim(0, 4)
    shown = store.held(0), store.released(0)
    differences = [] if shown == (1, (0, 4)) else [Difference("PT-HOLE", "1 page, rows 0 .. 3 gone", f"{shown}")]
    said = answered(store.append, 0, np.zeros((2, 0, WIDTH), np.int8))
    if not (isinstance(said, Raised) and said.kind == "BadArgument"):
        differences.append(Difference("BadArgument", "an append of no rows: BadArgument", f"{said}"))
    return differences, 2


def rows_given_back(store: RowStore, width: int) -> list[tuple[str, object, object]]:
    """What each gather has to give, and what it gave."""
    rows = np.arange(2 * 5 * width, dtype=np.int8).reshape(2, 5, width)
    given = rows.copy()
    store.new(0, 0)
    store.append(0, given[:, :4])
    store.append(0, given[:, 4:])
    given[...] = -1
    store.new(1, 0)
    store.fork(0, 2, 3)
    found = [gathered(store, rows, 0, ranges) for ranges in ((), ((0, 5),), ((0, 1), (3, 5)), ((4, 5),))]
    for array in store.gather(0, ((0, 4),)):
        array[...] = -1
    found += [gathered(store, rows, 0, ((0, 5),)), gathered(store, rows, 2, ((0, 3),))]
    store.truncate(0, 2)
    found.append(gathered(store, rows, 0, ((0, 2),)))
    store.release(0)
    found.append(("what has ended", True, isinstance(answered(store.gather, 0, ((0, 1),)), Raised)))
    return found


def gathered(
    store: RowStore, rows: Rows, request: int, ranges: tuple[tuple[int, int], ...]
) -> tuple[str, object, object]:
    """The rows (2, k, d) of the ranges, and what the store gives for them."""
    due = rows[:, [row for lo, hi in ranges for row in range(lo, hi)]]
    said = answered(store.gather, request, ranges)
    shown = said if isinstance(said, Raised) else [(part.dtype.name, part.shape, part.tolist()) for part in said]
    return f"rows {ranges} of {request}", [("int8", part.shape, part.tolist()) for part in due], shown


def check_plain_pages() -> Found:
    """Plain lists have no pool: no page is in use, held or released, and there is no end of them (HOST-PLAIN)."""
    store = PlainStore(WIDTH, PAGE_SIZE)
    store.new(0, 0)
    store.append(0, np.zeros((2, 5, WIDTH), np.int8))
    store.trim(0, 4)
    shown = store.page_size, store.pages, store.used, store.held(0), store.released(0)
    due = PAGE_SIZE, None, 0, 0, (0, 0)
    return ([] if shown == due else [Difference("HOST-PLAIN", f"page size and pages {due}", f"{shown}")]), 1


def check_refused_pools() -> Found:
    """A pool of other rows than a decoder's, one layer of int8, is a ValueError (PT-TOTAL)."""
    differences = []
    cases = ((2, np.int8), (1, np.int16), (2, np.int16))
    for layers, dtype in cases:
        said = answered(PagedStore, KVCache(PAGES, PAGE_SIZE, layers, WIDTH, dtype))
        if not (isinstance(said, Raised) and said.kind == ValueError.__name__):
            differences.append(Difference("PT-TOTAL", f"ValueError for {layers} layers of {dtype.__name__}", f"{said}"))
    return differences, len(cases)


def check_pads() -> Found:
    """A pad token is one of the vocabulary, 0 when none is given, and another one a ValueError (HOST-PAD)."""
    decoder, store = IntegerDecoder(load("random-1-16")), PlainStore(16, PAGE_SIZE)
    made = [answered(Host, decoder, store, *given) for given in ((), (-1,), (0,), (15,), (16,))]
    shown = [said.kind if isinstance(said, Raised) else said.pad_token for said in made]
    due = [0, "ValueError", 0, 15, "ValueError"]
    return ([] if shown == due else [Difference("HOST-PAD", f"pads none, -1, 0, 15, 16: {due}", f"{shown}")]), len(due)
