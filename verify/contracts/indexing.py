"""Contracts of the page table's index arithmetic, on tables of any length and pages of any size.

A block table stands here for the number of its pages alone, and notes which of them it is asked for.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from impl import page_table
from impl import window as host
from spec import window as oracle
from spec.operations import Operation, Outcome, Read, Refused, Trim, Truncate
from spec.page_table import Request, State, pages_for, step
from verify.contracts.division import at
from verify.contracts.id_target import IdTarget, decided, some_rows
from verify.contracts.shape import Shape


class Part:
    """Pages start .. stop-1 of a block table, each of them page 0."""

    def __init__(self, start: int, stop: int) -> None:
        self.start = start
        self.stop = stop

    def __iter__(self) -> Iterator[int]:
        left = self.stop - self.start
        while left > 0:
            yield 0
            left -= 1

    def __reversed__(self) -> Iterator[int]:
        return iter(())  # a cut gives back what planted.py checks; here only where it cuts matters


class PageCount:
    """A block table's pages, of which only the number is known."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __bool__(self) -> bool:
        return decided(self.count > 0)

    def __getitem__(self, part: Any) -> Any:
        if isinstance(part, slice):
            return Part(part.start or 0, self.count if part.stop is None else part.stop)
        return 0

    def __delitem__(self, part: slice) -> None:
        self.count -= (self.count if part.stop is None else part.stop) - (part.start or 0)

    def extend(self, pages: Sequence[int]) -> None:
        """More pages at the end."""
        self.count += len(pages)

    fromlist = extend


class Long(Shape):
    """A request of any length."""

    __slots__ = ()

    def divides(self, page: int, offset: int) -> bool:
        """Row page * P + offset lies there, which is no condition: division.py confirms it of every row."""
        return at(self.page_size, page, offset)

    def table(self) -> page_table.PageTable:
        """The table with this request alone; each of its pages is page 0."""
        table = page_table.PageTable(3, self.page_size)
        pages = cast("Any", PageCount(self.held))
        table.tables[0] = page_table.BlockTable(self.sinks, self.sink_pages, self.length, self.dropped, pages)
        table.counts[0] = 1
        table.free.remove(0)
        return table

    def after(self, operation: Operation) -> tuple[State, Outcome]:
        """The oracle's step with this request alone."""
        request = Request(some_rows(self.length), self.sinks, self.dropped, some_rows(self.held))
        return step(State(3, self.page_size, {0: request}, self.held, {}, self.held), operation)


def sinks_fill_the_fewest_pages(sinks: int, page_size: int) -> tuple[int, int, int]:
    """A new request's sinks fill just the pages that hold them.

    pre: page_size >= 1 and sinks >= 0
    post: 0 <= _[0] * _[2] - _[1] < _[2]
    """
    table = page_table.PageTable(1, page_size)
    table.new(0, sinks)
    return table.tables[0].sink_pages, sinks, page_size


def appended_rows_need_the_oracles_pages(page_size: int, pages: int, room: int, more: int, missing: int) -> object:
    """The pages of the rows that find no room are the oracle's difference of ceilings.

    pre: page_size >= 1 and 0 <= room < page_size and 0 <= missing < page_size
    pre: pages * page_size >= room and more >= 1
    post: _[0] == _[1]
    """
    length, rows = pages * page_size - room, room + more * page_size - missing
    assert -length % page_size == room
    assert pages_for(length, page_size) == pages
    fresh = page_table.PageTable(1, page_size)._pages_for(rows - -length % page_size)
    return fresh, pages_for(length + rows, page_size) - pages_for(length, page_size)


def located_rows_lie_where_they_were_written(request: Long, page: int, offset: int, rows: int) -> object:
    """Row lo lies in the first page found, as far into it as into its own, and the pages found are those of the range.

    Before page 0 and the place of a row behind released pages lie as many pages fewer as were released.

    pre: request.page_size >= 1 and 0 <= offset < request.page_size
    pre: request.divides(page, offset)
    pre: request.sound()
    post: _[0] == _[1]
    """
    size, lo = request.page_size, page * request.page_size + offset
    # A fact that the solver finds here, with little else to consider, and uses below.
    assert pages_for(request.sinks, size) == request.sink_pages
    _, expected = request.after(Read(0, lo, lo + rows))
    try:
        found, start = request.table().locate(0, lo, lo + rows)
    except page_table.PageTableError as error:
        return type(error).__name__, expected.reason.value if isinstance(expected, Refused) else "accepted"
    if isinstance(expected, Refused):
        return "accepted", expected.reason.value
    if rows == 0:
        return start, 0
    part = cast("Part", found)
    released = request.dropped if page >= request.sink_pages else 0
    pages = pages_for(lo % size + rows, size)
    return (part.start, start, part.stop - part.start), (page - released, offset, pages)


def a_cut_keeps_the_oracles_pages(request: Long, pages: int, missing: int) -> object:
    """Truncation leaves a table of any length with the oracle's number of pages, held and released.

    pre: request.sound() and 0 <= missing < request.page_size
    post: _[0] == _[1]
    """
    length = pages * request.page_size - missing
    assert pages_for(length, request.page_size) == pages
    assert pages_for(request.sinks, request.page_size) == request.sink_pages
    return sides(request, request.table(), Truncate(0, length))


def a_trim_of_any_length_releases_the_oracles_pages(request: Long, pages: int, offset: int) -> object:
    """A trim leaves a table of any length with the oracle's number of pages; the table counts them one by one.

    pre: request.sound() and 0 <= offset < request.page_size
    post: _[0] == _[1]
    """
    table = request.table()
    table.counts[0] = request.held
    return sides(request, table, Trim(0, pages * request.page_size + offset))


def sides(request: Long, table: page_table.PageTable, operation: Operation) -> tuple[object, object]:
    """Outcome, length, released and held pages after the operation, on either side."""
    after, expected = request.after(operation)
    answer, left, due = IdTarget(table).apply(operation), table.tables[0], after.requests[0]
    held = cast("PageCount", left.pages).count
    return (answer, left.length, left.dropped, held), (expected, len(due.rows), due.dropped, len(due.cells))


def decode_step(step: int, window: int, page_size: int, sinks: int) -> tuple[object, object]:
    """Length, held and released pages after append and trim of a step that began with the oracle's; and those of the next."""
    held = oracle.pages_before_append(step, window, page_size, sinks)
    started, sink_pages = pages_for(step - 1, page_size), pages_for(sinks, page_size)
    room, spare = started * page_size - (step - 1), sink_pages * page_size - sinks
    table = Long(page_size, held, started - held, room, sink_pages, spare).table()
    table.append(0)
    table.trim(0, host.keep_from(step, window, sinks))
    left = table.tables[0]
    count = cast("PageCount", left.pages).count
    due = oracle.pages_before_append(step + 1, window, page_size, sinks)
    return (left.length, count, left.dropped), (step, due, pages_for(step, page_size) - due)


def a_decode_step_keeps_the_exact_count(page_size: int, step: int, window: int, sinks: int) -> tuple[object, object]:
    """Table and window rule together, pages of 1 to 3 rows: from a step's exact pages, append and trim lead to the next's.

    pre: 1 <= page_size <= 3 and step >= 1 and 0 <= sinks < window
    post: _[0] == _[1]
    """
    return decode_step(step, window, 1 if page_size == 1 else 2 if page_size == 2 else 3, sinks)


def a_decode_step_with_any_page_size_keeps_the_exact_count(
    page_size: int, step: int, window: int, sinks: int
) -> tuple[object, object]:
    """The same for pages of any size.

    pre: page_size >= 1 and step >= 1 and 0 <= sinks < window
    post: _[0] == _[1]
    """
    return decode_step(step, window, page_size, sinks)
