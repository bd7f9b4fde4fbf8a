"""What searches of the prefix cache leave out, as quick checks: sizes, defaults, arrays of another kind, readers.

A search makes caches of one kind, commits rows of their shape alone, and reads the rows that are there. Each check takes the
class that it checks and says fact by fact what is due and what is shown.
"""

from collections.abc import Callable, Iterator

import numpy as np

from impl.page_groups import Full, Window
from impl.prefix_cache import PrefixCache
from verify.managers.prefix_case import A, B, C, PrefixCase, spelled
from verify.managers.shown import Fact, raised
from verify.target import answered

REFUSED: tuple[tuple[str, Callable[[PrefixCache], object]], ...] = (
    ("UnknownRequest", lambda cache: cache.append(C, [])),
    ("UnknownRequest", lambda cache: cache.commit(C, spelled([1], 2))),
    ("UnknownRequest", lambda cache: cache.fork(C, A, 99)),
    ("UnknownRequest", lambda cache: cache.truncate(C, -1)),
    ("UnknownRequest", lambda cache: cache.release(C)),
    ("UnknownRequest", lambda cache: cache.rows(C, 9, 1, 0)),
    ("DuplicateRequest", lambda cache: cache.admit(A, [])),
    ("DuplicateRequest", lambda cache: cache.fork(A, B, 99)),
    ("BadArgument", lambda cache: cache.admit(C, [])),
    ("BadArgument", lambda cache: cache.append(A, ())),
    ("BadArgument", lambda cache: cache.fork(A, C, -1)),
    ("BadArgument", lambda cache: cache.fork(A, C, 9)),  # reserved and not written
    ("BadArgument", lambda cache: cache.truncate(A, -1)),
    ("BadArgument", lambda cache: cache.truncate(A, 10)),
    ("BadArgument", lambda cache: cache.rows(A, 2, 0, 1)),
    ("BadArgument", lambda cache: cache.rows(A, -1, 0, 1)),
    ("BadArgument", lambda cache: cache.rows(A, 0, 0, 9)),
    ("BadArgument", lambda cache: cache.rows(A, 0, 2, 1)),
    ("BadArgument", lambda cache: cache.rows(A, 0, -1, 1)),
    ("RowsReleased", lambda cache: cache.fork(A, C, 6)),
    ("RowsReleased", lambda cache: cache.truncate(A, 3)),
    ("RowsReleased", lambda cache: cache.rows(A, 1, 3, 5)),
    ("OutOfPages", lambda cache: cache.admit(C, [9, 9, 9, 9, 9])),
    ("OutOfPages", lambda cache: cache.admit(C, [1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1, 1])),
    ("OutOfPages", lambda cache: cache.append(B, [1, 1, 1, 1, 1, 1])),
    ("ValueError", lambda cache: cache.commit(A, spelled([1, 2], 2))),
    ("ValueError", lambda cache: cache.commit(A, spelled([1], 1))),
    ("ValueError", lambda cache: cache.commit(A, spelled([1], 2).astype(np.int32))),
    ("ValueError", lambda cache: cache.commit(A, spelled([1], 2)[0])),
)
"""What `busy` must refuse, and by which error."""


def busy(make: type[PrefixCache] = PrefixCache) -> PrefixCase:
    """A has 8 rows written and 1 reserved, B forked off after 7 and went on; the window let 2 pages go. 4 are available."""
    case = PrefixCase(14, 2, Full(), Window(4), make=make)
    case.admit(A, "12345678")
    case.cache.fork(A, B, 7)
    case.append(B, "9")
    case.cache.append(A, [9])
    return case


def check_refusals(make: type[PrefixCache] = PrefixCache) -> Iterator[Fact]:
    """What raises does so by its name, and has changed nothing (PT-REFUSE)."""
    case = busy(make)
    before = case.state
    for error, call in REFUSED:
        yield "PT-REFUSE", error, raised(call, case.cache)
        if case.state != before:
            yield "PT-REFUSE", "nothing has changed", f"something has, by what raises {error}"
            case = busy(make)


def check_readers(make: type[PrefixCache] = PrefixCache) -> Iterator[Fact]:
    """Any range of held rows is read, an empty one among released rows too, as an array of its own (PT-ROWS)."""
    case = busy(make)
    rows = [1, 12, 123, 1234, 12345, 123456, 1234567, 12345678]
    for group, first in ((0, 0), (1, 4)):
        for lo in range(first, 9):
            for hi in range(lo, 9):
                yield "PT-ROWS", rows[lo:hi], answered(case.rows, A, lo, hi, group)
    yield "PT-ROWS", [], answered(case.rows, A, 2, 2, 1)
    case.cache.rows(A, 0, 0, 8)[:] = 0
    case.cache.rows(A, 0, 0, 1)[:] = 0
    yield "PT-ROWS", rows, answered(case.rows, A, 0, 8)


def check_sizes(make: type[PrefixCache] = PrefixCache) -> Iterator[Fact]:
    """Sizes below 1, no groups, and rows that are no numbers, make no cache; unless told it has one full group, of one layer and
    one byte (PT-TOTAL)."""
    for sizes in ((0, 2), (2, 0), (2, 2, (Full(),), 0), (2, 2, (Full(),), 1, 0), (2, 2, (Full(),), 1, 1, object)):
        yield "PT-TOTAL", "ValueError", raised(make, *sizes)
    yield "PT-TOTAL", "ValueError", raised(make, 2, 2, ())
    cache = make(2, 2)
    cache.admit(A, [1, 2, 3])
    rows = np.arange(6, dtype=np.int8).reshape(1, 1, 2, 3, 1)
    cache.commit(A, rows)
    yield "PT-TOTAL", (Full(),), cache.groups
    yield "PT-ROWS", rows[0].tolist(), cache.rows(A, 0, 0, 3).tolist()


CACHE_CHECKS = (check_refusals, check_readers, check_sizes)
