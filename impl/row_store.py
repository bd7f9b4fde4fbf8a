"""Where a host keeps the rows of its requests: in pages, or in plain lists that hold every row for ever.

Both answer the same calls, so a host runs on either; what a request decodes may not depend on which. A store knows nothing
of tokens or windows. Ids and positions are the host's to check; what the paged store still refuses are the page table's
errors, and it has then changed nothing.
"""

from typing import Protocol

import numpy as np

from impl.decoder import Context, Rows
from impl.kv_cache import KVCache


class RowStore(Protocol):
    """Rows, a key and a value each, of requests that start, grow, share their first rows and end."""

    @property
    def page_size(self) -> int:
        """Rows of a page."""

    @property
    def pages(self) -> int | None:
        """Pages of the pool; None when there is no end of room."""

    @property
    def used(self) -> int:
        """Pages in use, a shared one once."""

    def new(self, request: int, sinks: int) -> None:
        """Start an empty request whose first `sinks` rows are never released."""

    def append(self, request: int, rows: Rows) -> None:
        """Append k rows (2, k, d), keys before values, all or none. Raises OutOfPages."""

    def gather(self, request: int, ranges: tuple[tuple[int, int], ...]) -> Context:
        """The rows lo .. hi-1 of the ascending ranges (lo, hi). Raises RowsReleased."""

    def fork(self, source: int, request: int, at: int) -> None:
        """Start `request` with the first `at` rows of `source`. Raises RowsReleased."""

    def trim(self, request: int, keep_from: int) -> None:
        """Rows before `keep_from` need not be kept, sinks excepted."""

    def truncate(self, request: int, length: int) -> None:
        """Keep the first `length` rows. Raises RowsReleased."""

    def release(self, request: int) -> None:
        """End the request."""

    def held(self, request: int) -> int:
        """Pages that the request holds, shared ones included."""

    def released(self, request: int) -> tuple[int, int]:
        """The rows (lo, hi) that are gone; (0, 0) when none are."""


class PagedStore:
    """Rows in the pages of a cache of one layer."""

    __slots__ = ("_no_rows", "cache")

    def __init__(self, cache: KVCache) -> None:
        pool = cache.pool
        if pool.layers != 1 or pool.dtype != np.int8:
            raise ValueError(f"a store holds 1 layer of int8, not {pool.layers} of {pool.dtype}")
        self.cache = cache
        self._no_rows = np.empty((1, 2, 0, pool.width), np.int8)

    @property
    def page_size(self) -> int:
        """Rows of a page."""
        return self.cache.table.page_size

    @property
    def pages(self) -> int:
        """Pages of the pool."""
        return self.cache.table.pages

    @property
    def used(self) -> int:
        """Pages in use, a shared one once."""
        return self.cache.table.used

    def new(self, request: int, sinks: int = 0) -> None:
        """Start an empty request; see PageTable.new."""
        self.cache.new(request, sinks)

    def append(self, request: int, rows: Rows) -> None:
        """Append k rows (2, k, d), all or none; see KVCache.append."""
        if rows.shape[1] == 1:
            self.cache.append_row(request, rows[None, :, 0])
        else:
            self.cache.append(request, rows[None])

    def gather(self, request: int, ranges: tuple[tuple[int, int], ...]) -> Context:
        """The rows of the ranges, in a fresh array; see KVCache.rows."""
        parts = []  # not a comprehension, which is a call of its own: a gather happens at every step
        for lo, hi in ranges:
            parts.append(self.cache.rows(request, lo, hi))
        # Joined, the parts are (layer, keys or values, row, element).
        rows = parts[0] if len(parts) == 1 else np.concatenate((self._no_rows, *parts), axis=2)
        return Context(rows[0, 0], rows[0, 1])

    def fork(self, source: int, request: int, at: int) -> None:
        """Share the first `at` rows, nothing copied; see PageTable.fork."""
        self.cache.fork(source, request, at)

    def trim(self, request: int, keep_from: int) -> None:
        """Release the pages wholly before row `keep_from`; see PageTable.trim."""
        self.cache.trim(request, keep_from)

    def truncate(self, request: int, length: int) -> None:
        """Keep the first `length` rows and their pages; see PageTable.truncate."""
        self.cache.truncate(request, length)

    def release(self, request: int) -> None:
        """End the request and give its pages back; see PageTable.release."""
        self.cache.release(request)

    def held(self, request: int) -> int:
        """Pages in the request's block table."""
        return len(self.cache.table.tables[request].pages)

    def released(self, request: int) -> tuple[int, int]:
        """The rows of the pages that trim has released."""
        table = self.cache.table.tables[request]
        if not table.dropped:
            return 0, 0
        first = table.sink_pages * self.page_size
        return first, first + table.dropped * self.page_size


class PlainStore:
    """Every row of a request in one list, as if memory had no end: what the paged store must be indistinguishable from."""

    __slots__ = ("_rows", "page_size", "width")

    def __init__(self, width: int, page_size: int) -> None:
        self.width = width
        self.page_size = page_size
        self._rows: dict[int, list[Rows]] = {}

    @property
    def pages(self) -> None:
        """No pool, hence no end of it."""

    @property
    def used(self) -> int:
        """No page is ever in use."""
        return 0

    def new(self, request: int, sinks: int) -> None:
        """Start an empty request; no row is ever released, so sinks need nothing more."""
        self._rows[request] = []

    def append(self, request: int, rows: Rows) -> None:
        """Append k rows (2, k, d)."""
        self._rows[request].extend(rows.swapaxes(0, 1).copy())

    def gather(self, request: int, ranges: tuple[tuple[int, int], ...]) -> Context:
        """The rows of the ranges, in a fresh array."""
        listed = [row for lo, hi in ranges for row in self._rows[request][lo:hi]]
        rows = np.array(listed, np.int8).reshape(len(listed), 2, self.width)
        return Context(rows[:, 0], rows[:, 1])

    def fork(self, source: int, request: int, at: int) -> None:
        """Start `request` with the first `at` rows of `source`."""
        self._rows[request] = self._rows[source][:at]

    def trim(self, request: int, keep_from: int) -> None:
        """Nothing: every row stays."""

    def truncate(self, request: int, length: int) -> None:
        """Keep the first `length` rows."""
        del self._rows[request][length:]

    def release(self, request: int) -> None:
        """Forget the request's rows."""
        del self._rows[request]

    def held(self, request: int) -> int:
        """No page."""
        return 0

    def released(self, request: int) -> tuple[int, int]:
        """No row."""
        return 0, 0
