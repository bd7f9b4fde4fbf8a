"""What the searches of the page table leave out, as quick checks: its readers, rows of many layers and elements, arrays and sizes
that are none, copies, and pools over memory of somebody else's.

A search reads a cache by its tables and in rows of one element and two layers. Each check takes the classes that it checks, and
gives what differs and how many operations it applied.
"""

from array import array
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from impl.kv_cache import KVCache
from impl.page_table import NO_PAGE, PageTable
from impl.pool import Pool
from verify.refinement import Difference
from verify.target import Raised, answered

Found = tuple[list[Difference], int]
Rows = npt.NDArray[np.int8]

CACHE_LINE = 64  # bytes
SIZE, FIRST_PAGE, LENGTH, SINKS, HELD = 2, 2, 11, 3, (0, 1, 4, 5)
"""Of request 0 of `table_of_a_trimmed_request`: rows a page, its first page, rows, sinks, and the logical pages that it holds."""


def storage_differences(
    cache: type[KVCache] = KVCache, table: type[PageTable] = PageTable
) -> tuple[list[Difference], int]:
    """What differs in any of the checks, and the operations applied."""
    differences: list[Difference] = []
    steps = 0
    for found, taken in _checks(cache, table):
        differences += found
        steps += taken
    return differences, steps


def _checks(cache: type[KVCache], table: type[PageTable]) -> Iterator[Found]:
    yield check_readers(table)
    for page_size in (1, 3):
        yield check_rows(cache, page_size)
    yield check_sizes(cache, table)
    yield check_arrays(cache)
    yield check_memory(cache)


def table_of_a_trimmed_request(make: Callable[[int, int], PageTable]) -> PageTable:
    """Request 0 has 3 sinks, so 2 pages that stay, and 11 rows of which the pages of rows 4 .. 7 are gone; 1 is a fork of it, 2
    one of its first 3 rows, 3 has one row, in the page that was freed last."""
    table = make(10, SIZE)
    table.new(9)
    table.append(9, FIRST_PAGE * SIZE)
    table.new(0, SINKS)
    table.append(0, LENGTH)
    table.trim(0, 9)
    table.fork(0, 1)
    table.fork(0, 2, 3)
    table.new(3)
    table.append(3)
    table.release(9)
    return table


def check_readers(make: Callable[[int, int], PageTable]) -> Found:
    """Whatever the table and a copy of it say of a request is what its operations have made of it (PT-LEN, PT-HOLE, PT-SHARE)."""
    pages = tuple(FIRST_PAGE + page for page in HELD)
    slots = [(FIRST_PAGE + row // SIZE) * SIZE + row % SIZE for row in range(LENGTH)]
    one = answered(table_of_a_trimmed_request, make)
    copy = one if isinstance(one, Raised) else answered(one.clone)
    differences: list[Difference] = []
    for table in (one, copy):
        if isinstance(table, Raised):
            return [Difference("PT-TOTAL", "a table", f"{table}")], 1
        due: list[tuple[str, object, Callable[[], object]]] = [
            ("PT-LIVE", (0, 1, 2, 3), table.requests),
            ("PT-PAGES", 5, partial(getattr, table, "used")),
        ]
        for request, (length, sinks, dropped, held) in enumerate(
            ((LENGTH, SINKS, 2, pages), (LENGTH, SINKS, 2, pages), (3, SINKS, 0, pages[:2]), (1, 0, 0, (5,)))
        ):
            due.append(("PT-LEN", length, partial(table.length, request)))
            due.append(("PT-HOLE", sinks, partial(table.sinks, request)))
            due.append(("PT-HOLE", dropped, partial(table.dropped, request)))
            due.append(("PT-SHARE", held, partial(table.block_table, request)))
        due += [("PT-ROWS", slots[lo:hi], partial(_slots, table, 0, lo, hi)) for lo, hi in _ranges()]
        due += [("PT-ROWS", _located(lo, hi), partial(_pages, table, 0, lo, hi)) for lo, hi in _ranges()]
        for reader in (table.length, table.sinks, table.dropped, table.block_table, table.release):
            due.append(("UnknownRequest", "UnknownRequest", partial(_error, reader, 8)))
        due.append(("UnknownRequest", "UnknownRequest", partial(_error, table.slots, 8, 0, 0)))
        differences += [different for rule, right, read in due for different in _differing(rule, right, read)]
    return differences, 10


def check_rows(make: type[KVCache], page_size: int) -> Found:
    """Rows of 3 layers and 5 elements come back as they went in, fresh, over pages in any order, and from a copy (PT-ROWS)."""
    layers, width = 3, 5
    differences: list[Difference] = []

    def lives() -> Iterator[tuple[Rows, Rows]]:
        cache = make(64, page_size, layers, width)
        for request in range(4):
            cache.new(request)
            cache.append(request, _rows(layers, 5, width, request))
        cache.release(2)
        cache.release(0)
        cache.new(9)
        expected = np.empty((layers, 2, 0, width), np.int8)
        for number, count in enumerate((1, 2 * page_size, 1, 7, page_size)):
            expected = np.concatenate([expected, _rows(layers, count, width, 31 * number)], axis=2)
            cache.append(9, _rows(layers, count, width, 31 * number))
        expected = np.concatenate([expected, _rows(layers, 1, width, 77)], axis=2)
        cache.append_row(9, _rows(layers, 1, width, 77)[:, :, 0])
        cache.fork(9, 10)
        copy = cache.clone()
        cache.append(10, _rows(layers, 1, width, 5))
        length = expected.shape[2]
        for lo, hi in ((0, length), (0, 0), (1, length), (length - 1, length), (page_size, length - 1)):
            for each in (cache, copy):
                each.rows(9, lo, hi)[:] = 99
                yield expected[:, :, lo:hi], each.rows(9, lo, hi)
        yield _rows(layers, 5, width, 1), cache.rows(1, 0, 5)
        cache.release(9)
        yield expected, copy.rows(9, 0, length)

    try:
        for due, shown in lives():
            if shown.shape != due.shape or not np.array_equal(shown, due):
                differences.append(Difference("PT-ROWS", f"pages of {page_size}: {due.tolist()}", f"{shown.tolist()}"))
    except Exception as error:
        differences.append(
            Difference("PT-TOTAL", f"rows over pages of {page_size}", f"{type(error).__name__}: {error}")
        )
    return differences, 20


def check_sizes(cache: type[KVCache], table: type[PageTable]) -> Found:
    """Sizes below 1, and rows that are no numbers, make no cache; what is not said is 1, and int8; no page has an id below 0
    (PT-TOTAL)."""
    made: list[tuple[object, Callable[[], object]]] = []
    for place in range(4):
        sizes = [1, 1, 1, 1]
        sizes[place] = 0
        made.append(("at least 1", partial(_said, "at least 1", cache, *sizes)))
    made += [("at least 1", partial(_said, "at least 1", table, *sizes)) for sizes in ((0, 1), (1, 0))]
    made.append(("plain numbers", partial(_said, "plain numbers", cache, 1, 1, 1, 1, object)))
    made.append(((1, 1), lambda: (table(1, 1).pages, table(1, 1).page_size)))
    made.append(((1, 1, np.dtype(np.int8)), lambda: _sizes(cache(4, 2))))
    made.append(((3, 0, 0), lambda: _of_defaults(cache(4, 2))))
    made.append((True, lambda: NO_PAGE < 0))
    return [different for due, make in made for different in _differing("PT-TOTAL", due, make)], len(made)


def check_arrays(make: type[KVCache]) -> Found:
    """An array of another shape or type is refused, an equal type is not, and what is refused changes nothing (PT-REFUSE)."""
    cache = make(4, 2, 2, 4)
    cache.new(0)
    differences: list[Difference] = []
    shapes = ((1, 2, 1, 4), (2, 2, 1, 3), (2, 1, 1, 4), (2, 2, 4), (2, 2), (2, 2, 1, 4, 1))
    wrong = [np.zeros(shape, np.int8) for shape in shapes]
    wrong += [np.zeros((2, 2, 1, 4), np.int16), np.zeros((2, 2, 1, 4), np.uint8)]
    for rows in wrong:
        differences += _differing("PT-REFUSE", "ValueError", partial(_error, cache.append, 0, rows))
    for row in (np.zeros((2, 2, 5), np.int8), np.zeros((2, 2, 4), np.int16), np.zeros((2, 2, 4), np.uint8)):
        differences += _differing("PT-REFUSE", "ValueError", partial(_error, cache.append_row, 0, row))
    differences += _differing("PT-REFUSE", (0, 0), lambda: (cache.table.length(0), cache.table.used))
    other = make(2, 2, 1, 2, np.int32)
    other.new(0)
    equal = np.full((1, 2, 2), 7, np.dtype(np.int32).newbyteorder().newbyteorder())
    differences += _differing("PT-TOTAL", "nothing", partial(_error, other.append_row, 0, equal))
    differences += _differing("PT-TOTAL", "nothing", partial(_error, other.append, 0, equal[:, :, None]))
    return differences, len(wrong) + 5


def check_memory(make: type[KVCache]) -> Found:
    """A pool begins at a cache line, or is the memory that it is given, neither more nor less of it (PT-ROWS)."""
    differences: list[Difference] = []
    for pages in range(1, 9):
        place = Pool(1, pages, 1, 24).kv.ctypes.data % CACHE_LINE
        differences += [Difference("PT-ROWS", "a pool at a cache line", f"{place} bytes behind one")] if place else []
    layers, pages, page_size, width = 3, 4, 2, 5
    size = layers * pages * 2 * page_size * width
    memory = np.zeros(size, np.uint8)
    cache = make.over(Pool(layers, pages, page_size, width, memory=memory))
    rows = _rows(layers, 8, width, 3)
    cache.new(0)
    cache.append(0, rows)
    due = rows.reshape(layers, 2, pages, page_size * width).transpose(0, 2, 1, 3).ravel()
    if not np.array_equal(memory.view(np.int8), due) or not np.array_equal(cache.rows(0, 1, 7), rows[:, :, 1:7]):
        differences.append(Difference("PT-ROWS", "rows in the memory that the pool is given", "others"))
    for bytes_ in (size - 1, size + 1):
        other = partial(Pool, layers, pages, page_size, width, memory=np.zeros(bytes_, np.uint8))
        differences += _differing("PT-TOTAL", "the pool takes", partial(_said, "the pool takes", other))
    return differences, 12


def _differing(rule: str, due: object, read: Callable[[], object]) -> list[Difference]:
    """The difference when what is read is not what is due, value and type."""
    shown = answered(read)
    return [] if type(shown) is type(due) and shown == due else [Difference(rule, f"{due}", f"{shown}")]


def _error(call: Callable[..., object], *arguments: object) -> str:
    """The name of the exception that the call raises, `nothing` when it raises none."""
    try:
        call(*arguments)
    except MemoryError:
        raise
    except Exception as error:
        return type(error).__name__
    return "nothing"


def _said(words: str, call: Callable[..., object], *arguments: object) -> str:
    """These words when the call raises a ValueError that says them: one of a library, later and by chance, says others."""
    shown = answered(call, *arguments)
    told = isinstance(shown, Raised) and shown.kind == "ValueError" and words in shown.message
    return words if told else f"{shown}"


def _ranges() -> Iterator[tuple[int, int]]:
    """Rows of the trimmed request that can be read: of its sinks' pages, or of those behind the hole."""
    for first, stop in ((0, 4), (8, LENGTH)):
        yield from ((lo, hi) for lo in range(first, stop + 1) for hi in range(lo, stop + 1))


def _located(lo: int, hi: int) -> tuple[list[int], int]:
    """Pages and offset of those rows; no page, and no offset, of none."""
    pages = range(FIRST_PAGE + lo // SIZE, FIRST_PAGE + -(-hi // SIZE))
    return (list(pages), lo % SIZE) if lo < hi else ([], 0)


def _pages(table: PageTable, request: int, lo: int, hi: int) -> tuple[list[int], int]:
    pages, offset = table.locate(request, lo, hi)
    return (pages.tolist() if isinstance(pages, array) else [], offset)


def _slots(table: PageTable, request: int, lo: int, hi: int) -> object:
    slots = table.slots(request, lo, hi)
    return slots.tolist() if slots.dtype == np.int64 else slots


def _rows(layers: int, count: int, width: int, start: int) -> Rows:
    """Rows of shape (layers, 2, count, width), unlike one another."""
    values = np.arange(start, start + layers * 2 * count * width) % 251 - 125
    return values.astype(np.int8).reshape(layers, 2, count, width)


def _sizes(cache: KVCache) -> tuple[int, int, np.dtype[Any]]:
    return cache.pool.layers, cache.pool.width, cache.pool.dtype


def _of_defaults(cache: KVCache) -> tuple[int, int, int]:
    """Rows of a request that got 2 and then one by default, pages that it let go, and its sinks."""
    cache.new(0)
    cache.append(0, np.zeros((1, 2, 2, 1), np.int8))
    cache.table.append(0)
    return cache.table.length(0), cache.table.dropped(0), cache.table.sinks(0)
