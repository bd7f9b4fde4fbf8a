"""Contracts of the inductive step: each operation, with any argument, from any state of a pool of three pages.

Page size, length, sinks, released pages, the number of other owners and the arguments are unbounded; only the pool is small.
What holds in every such state and is kept by every operation holds for ever. An argument in rows is given as pages and the
rows missing from them, for the reason that division.py gives.
"""

from spec.operations import Append, Fork, Release, Trim, Truncate
from spec.page_table import pages_for
from verify.contracts.id_target import some_rows
from verify.contracts.planted import Planted, broken_by


def append_keeps_the_invariants(planted: Planted, pages: int, missing: int) -> list[str]:
    """The oracle's step, copy-on-write included: rows that fill the last page, so many pages more, but for `missing` rows.

    pre: planted.valid() and 0 <= missing < planted.page_size
    pre: planted.room + pages * planted.page_size >= missing
    post: _ == []
    """
    size = planted.page_size
    rows = planted.room + pages * size - missing
    # Found here, with little else for the solver to consider, and used below.
    assert -planted.length % size == planted.room
    assert pages_for(planted.length, size) == planted.dropped + planted.held
    assert pages_for(rows - planted.room, size) == pages
    assert pages_for(planted.length + rows, size) == planted.dropped + planted.held + pages
    return broken_by(planted, Append(0, some_rows(rows)))


def fork_keeps_the_invariants(planted: Planted, pages: int, missing: int) -> list[str]:
    """The oracle's step.

    pre: planted.valid() and 0 <= missing < planted.page_size
    post: _ == []
    """
    return broken_by(planted, Fork(0, 1, pages * planted.page_size - missing))


def trim_keeps_the_invariants(planted: Planted, pages: int, offset: int) -> list[str]:
    """The oracle's step.

    pre: planted.valid() and 0 <= offset < planted.page_size
    post: _ == []
    """
    keep_from = pages * planted.page_size + offset
    assert keep_from // planted.page_size == pages
    assert pages_for(planted.sinks, planted.page_size) == planted.sink_pages
    return broken_by(planted, Trim(0, keep_from))


def truncate_keeps_the_invariants(planted: Planted, pages: int, missing: int) -> list[str]:
    """The oracle's step.

    pre: planted.valid() and 0 <= missing < planted.page_size
    post: _ == []
    """
    length = pages * planted.page_size - missing
    assert pages_for(length, planted.page_size) == pages
    return broken_by(planted, Truncate(0, length))


def release_keeps_the_invariants(planted: Planted) -> list[str]:
    """The oracle's step.

    pre: planted.valid()
    post: _ == []
    """
    return broken_by(planted, Release(0))
