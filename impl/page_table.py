"""The page table: which page of the pool holds which row of which request. Page ids only, no storage.

Every operation looks for its errors first and changes the table after, so an operation that raises has changed nothing.
Errors are looked for in one order: UnknownRequest, DuplicateRequest, BadArgument, RowsReleased, OutOfPages.
Source: docs/reference.md section 2.
"""

from array import array
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class PageTableError(Exception):
    """The table refuses the operation, and nothing has changed."""


# The names are the refusal reasons of spec/operations.py, hence no suffix "Error".
class UnknownRequest(PageTableError):  # noqa: N818
    """No live request has this id."""


class DuplicateRequest(PageTableError):  # noqa: N818
    """A live request has this id already."""


class BadArgument(PageTableError):  # noqa: N818
    """A number of rows or a position lies outside its range."""


class RowsReleased(PageTableError):  # noqa: N818
    """A row that the operation needs lay in a page that trim has released."""


class OutOfPages(PageTableError):  # noqa: N818
    """The pool has fewer free pages than the append needs."""


NO_PAGE = -1


class Copy(NamedTuple):
    """A copy-on-write that the storage replays before it writes the appended rows."""

    source: int
    destination: int


class BlockTable:
    """One request: its page ids and what it takes to find a row in them.

    Logical page p holds rows p*P .. (p+1)*P - 1 of the request. Logical pages 0 .. sink_pages-1 are never trimmed; trim
    releases from there on, so logical pages sink_pages .. sink_pages+dropped-1 are gone and `pages` names the others.
    `last` repeats the last of them, or is NO_PAGE: every append asks for it, and a look-up in an array makes an object.
    """

    __slots__ = ("dropped", "last", "length", "pages", "sink_pages", "sinks")

    def __init__(self, sinks: int, sink_pages: int, length: int, dropped: int, pages: "array[int]") -> None:
        self.sinks = sinks
        self.sink_pages = sink_pages
        self.length = length
        self.dropped = dropped
        self.pages = pages
        self.last = pages[-1] if pages else NO_PAGE


class PageTable:
    """Block tables, reference counts and the free list of a pool of `pages` pages of `page_size` rows.

    `counts[page]` is the number of block tables that name the page; `free` is a stack whose last entry is handed out
    next, so a freed page is reused first and a fresh pool hands out 0, 1, 2, ... All three, and `tables`, are for reading.
    """

    __slots__ = ("counts", "free", "page_size", "pages", "tables")

    def __init__(self, pages: int, page_size: int) -> None:
        if pages < 1 or page_size < 1:
            raise ValueError(f"a pool needs at least 1 page of at least 1 row, not {pages} pages of {page_size} rows")
        self.pages = pages
        self.page_size = page_size
        self.counts = [0] * pages
        self.free = array("q", range(pages - 1, -1, -1))
        self.tables: dict[int, BlockTable] = {}

    @property
    def used(self) -> int:
        """Pages that some request holds."""
        return self.pages - len(self.free)

    def new(self, request: int, sinks: int = 0) -> None:
        """Start an empty request whose first `sinks` rows are never trimmed; it holds no page.

        Raises DuplicateRequest, and BadArgument when sinks < 0.
        """
        if request in self.tables:
            raise DuplicateRequest(f"request {request} is live already")
        if sinks < 0:
            raise BadArgument(f"sinks {sinks} is negative")
        self.tables[request] = BlockTable(sinks, self._pages_for(sinks), 0, 0, array("q"))

    def append(self, request: int, k: int = 1) -> Copy | None:
        """Make room for `k` more rows; the copy-on-write to replay when the first of them lands in a shared page.

        Raises UnknownRequest, BadArgument when k < 1, and OutOfPages when not all k rows fit.
        """
        try:  # not `_of`, whose call would be a sixth of an append
            table = self.tables[request]
        except KeyError:
            raise _unknown(request) from None
        if k < 1:
            raise BadArgument(f"cannot append {k} rows")
        copy = None
        length = table.length
        room = -length % self.page_size
        # Most appends of a row pass this by: its page has room and no other owner.
        if k > room or self.counts[table.last] > 1:
            copies = room > 0 and self.counts[table.last] > 1
            fresh = self._pages_for(k - room)
            if fresh + copies > len(self.free):
                raise OutOfPages(f"pages needed to append {k} rows: {fresh + copies}, free: {len(self.free)}")
            if copies:
                copy = self._copy_last_page(table)
            table.pages.extend(self._take(fresh))
            table.last = table.pages[-1]
        table.length = length + k
        return copy

    def fork(self, source: int, request: int, at: int | None = None) -> None:
        """Start `request` with the first `at` rows of `source` (None: all of them), sharing every page that holds them.

        The fork inherits the sinks. Raises UnknownRequest, DuplicateRequest, BadArgument when `at` is not in
        0 .. length, and RowsReleased when `at` falls among the released rows.
        """
        table = self._of(source)
        if request in self.tables:
            raise DuplicateRequest(f"request {request} is live already")
        length = table.length if at is None else at
        kept, dropped = self._cut(table, length)
        shared = table.pages[:kept]
        for page in shared:
            self.counts[page] += 1
        self.tables[request] = BlockTable(table.sinks, table.sink_pages, length, dropped, shared)

    def trim(self, request: int, keep_from: int) -> None:
        """Give back, front to back, the pages that lie wholly before row `keep_from`, sinks excepted.

        Raises UnknownRequest, and BadArgument when keep_from is not in 0 .. length.
        """
        table = self._of(request)
        if not 0 <= keep_from <= table.length:
            raise BadArgument(f"keep_from {keep_from} is not in 0 .. {table.length}")
        first = table.sink_pages
        logical = held = first + table.dropped
        while (logical + 1) * self.page_size <= keep_from:
            logical += 1
        if logical > held:
            stop = first + logical - held
            for page in table.pages[first:stop]:
                self._drop(page)
            del table.pages[first:stop]
            table.last = table.pages[-1] if table.pages else NO_PAGE
            table.dropped += logical - held

    def truncate(self, request: int, length: int) -> None:
        """Cut the request back to its first `length` rows, giving pages back from the last one on.

        Raises UnknownRequest, BadArgument when the length is not in 0 .. the present one, and RowsReleased when it
        falls among the released rows.
        """
        table = self._of(request)
        kept, dropped = self._cut(table, length)
        for page in reversed(table.pages[kept:]):
            self._drop(page)
        del table.pages[kept:]
        table.last = table.pages[-1] if table.pages else NO_PAGE
        table.length = length
        table.dropped = dropped

    def release(self, request: int) -> None:
        """End the request and give its pages back, front to back. Raises UnknownRequest."""
        table = self._of(request)
        for page in table.pages:
            self._drop(page)
        del self.tables[request]

    def requests(self) -> tuple[int, ...]:
        """Ids of the live requests, oldest first."""
        return tuple(self.tables)

    def length(self, request: int) -> int:
        """Rows appended and not truncated, released ones included. Raises UnknownRequest."""
        try:  # not `_of`: hosts ask at every step
            return self.tables[request].length
        except KeyError:
            raise _unknown(request) from None

    def sinks(self, request: int) -> int:
        """Rows at the front that trim never releases. Raises UnknownRequest."""
        return self._of(request).sinks

    def dropped(self, request: int) -> int:
        """Pages that trim has released behind the sinks. Raises UnknownRequest."""
        return self._of(request).dropped

    def block_table(self, request: int) -> tuple[int, ...]:
        """Ids of the pages held, in logical order. Raises UnknownRequest."""
        return tuple(self._of(request).pages)

    def locate(self, request: int, lo: int, hi: int) -> tuple["array[int]", int]:
        """Pages that hold rows lo .. hi-1, in logical order, and the offset of row lo in the first of them.

        Raises UnknownRequest, BadArgument unless 0 <= lo <= hi <= length, and RowsReleased when a row is gone.
        """
        try:  # not `_of`: hosts gather at every step
            table = self.tables[request]
        except KeyError:
            raise _unknown(request) from None
        if not 0 <= lo <= hi <= table.length:
            raise BadArgument(f"rows {lo} .. {hi} are not in 0 .. {table.length}")
        if lo == hi:
            return array("q"), 0
        index, offset = lo // self.page_size, lo % self.page_size
        if table.dropped:
            gone, held = self._released(table)
            if lo < held and gone < hi:
                raise RowsReleased(f"rows {gone} .. {held - 1} are released")
            if lo >= held:
                index -= table.dropped
        return table.pages[index : index + self._pages_for(offset + hi - lo)], offset

    def slots(self, request: int, lo: int, hi: int) -> npt.NDArray[np.int64]:
        """Page * page_size + offset of rows lo .. hi-1, int64 of shape (hi - lo,). Raises what locate raises."""
        pages, offset = self.locate(request, lo, hi)
        first = np.frombuffer(pages, np.int64) * self.page_size
        return (first[:, None] + np.arange(self.page_size)).ravel()[offset : offset + hi - lo]

    def clone(self) -> "PageTable":
        """An independent copy."""
        other = PageTable.__new__(PageTable)
        other.pages = self.pages
        other.page_size = self.page_size
        other.counts = self.counts[:]
        other.free = self.free[:]
        other.tables = {}
        for request, table in self.tables.items():
            pages = table.pages[:]
            other.tables[request] = BlockTable(table.sinks, table.sink_pages, table.length, table.dropped, pages)
        return other

    def _of(self, request: int) -> BlockTable:
        """The request's block table, or UnknownRequest."""
        try:
            return self.tables[request]
        except KeyError:
            raise _unknown(request) from None

    def _pages_for(self, rows: int) -> int:
        """Pages that `rows` rows fill when the first of them starts one."""
        return -(-rows // self.page_size)

    def _released(self, table: BlockTable) -> tuple[int, int]:
        """First released row and the first held one behind it; equal when trim has released no page."""
        first = table.sink_pages * self.page_size
        return first, first + table.dropped * self.page_size

    def _cut(self, table: BlockTable, length: int) -> tuple[int, int]:
        """Held and dropped pages of a table cut to its first `length` rows, or BadArgument or RowsReleased."""
        if not 0 <= length <= table.length:
            raise BadArgument(f"length {length} is not in 0 .. {table.length}")
        gone, held = self._released(table)
        if gone < length < held:
            raise RowsReleased(f"rows {gone} .. {held - 1} are released")
        dropped = table.dropped if length > gone else 0
        return self._pages_for(length) - dropped, dropped

    def _take(self, count: int) -> "array[int]":
        """Take `count` pages off the free list for one owner; the caller has made sure that they are there."""
        counts, free = self.counts, self.free
        taken = free[: -count - 1 : -1]
        del free[len(free) - count :]
        for page in taken:
            counts[page] = 1
        return taken

    def _drop(self, page: int) -> None:
        """Take one owner off the page; the last one to go frees it."""
        self.counts[page] -= 1
        if self.counts[page] == 0:
            self.free.append(page)

    def _copy_last_page(self, table: BlockTable) -> Copy:
        """Give the request a page of its own in place of its last one, which others share."""
        source = table.last
        (destination,) = self._take(1)
        self._drop(source)
        table.pages[-1] = destination
        return Copy(source, destination)


def _unknown(request: int) -> UnknownRequest:
    return UnknownRequest(f"no live request {request}")
