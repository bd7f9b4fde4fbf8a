"""The paged KV cache that a host uses: a page table and the pool whose rows it places."""

from typing import Any

import numpy as np
import numpy.typing as npt

from impl.page_table import PageTable
from impl.pool import Pool


class KVCache:
    """Keys and values of many requests in one pool of pages.

    Rows go in and come out as arrays whose axes are (layer, K or V, row, element). The operations and their errors are
    those of PageTable; an array of another shape or dtype raises ValueError. Whatever raises has changed nothing.
    """

    __slots__ = ("_row_shape", "pool", "table")

    def __init__(
        self, pages: int, page_size: int, layers: int = 1, width: int = 1, dtype: npt.DTypeLike = np.int8
    ) -> None:
        self._start(Pool(layers, pages, page_size, width, dtype))

    @classmethod
    def over(cls, pool: Pool) -> "KVCache":
        """A cache without requests that keeps its rows in that pool."""
        cache = cls.__new__(cls)
        cache._start(pool)
        return cache

    def _start(self, pool: Pool) -> None:
        self.table = PageTable(pool.pages, pool.page_size)
        self.pool = pool
        self._row_shape = (pool.layers, 2, pool.width)

    def new(self, request: int, sinks: int = 0) -> None:
        """Start an empty request; see PageTable.new."""
        self.table.new(request, sinks)

    def append_row(self, request: int, row: npt.NDArray[Any]) -> None:
        """Append one row of shape (layers, 2, width). Raises ValueError, UnknownRequest and OutOfPages."""
        table, pool = self.table, self.pool
        if row.shape != self._row_shape or row.dtype != pool.dtype:
            raise ValueError(f"a row is {self._row_shape} of {pool.dtype}, not {row.shape} of {row.dtype}")
        copy = table.append(request)
        if copy is not None:
            pool.copy_page(copy.source, copy.destination)
        # Its slot, without the call and the range checks of `locate`: they would cost as much as the append.
        entry = table.tables[request]
        pool.slots[entry.last, (entry.length - 1) % table.page_size] = row

    def append(self, request: int, rows: npt.NDArray[Any]) -> None:
        """Append k rows of shape (layers, 2, k, width), all or none.

        Raises ValueError, UnknownRequest, BadArgument when k = 0, and OutOfPages.
        """
        table, pool = self.table, self.pool
        shape = rows.shape
        if shape[:2] + shape[3:] != self._row_shape or rows.dtype != pool.dtype:
            wanted = f"({pool.layers}, 2, k, {pool.width}) of {pool.dtype}"
            raise ValueError(f"rows are {wanted}, not {shape} of {rows.dtype}")
        k = shape[2]
        copy = table.append(request, k)
        if copy is not None:
            pool.copy_page(copy.source, copy.destination)
        # Their slots, without the calls and the range checks of `locate`, as for one row.
        entry = table.tables[request]
        offset = (entry.length - k) % table.page_size
        touched = -(-(offset + k) // table.page_size)
        pool.write(entry.pages[len(entry.pages) - touched :], offset, rows)

    def fork(self, source: int, request: int, at: int | None = None) -> None:
        """Start `request` with the first `at` rows of `source`, nothing copied; see PageTable.fork."""
        self.table.fork(source, request, at)

    def trim(self, request: int, keep_from: int) -> None:
        """Release the pages wholly before row `keep_from`; see PageTable.trim."""
        self.table.trim(request, keep_from)

    def truncate(self, request: int, length: int) -> None:
        """Cut the request back to its first `length` rows; see PageTable.truncate."""
        self.table.truncate(request, length)

    def release(self, request: int) -> None:
        """End the request; see PageTable.release."""
        self.table.release(request)

    def rows(self, request: int, lo: int, hi: int) -> npt.NDArray[Any]:
        """Rows lo .. hi-1 as a fresh array (layers, 2, hi - lo, width), whose strides depend on where the rows lay.

        Raises UnknownRequest, BadArgument and RowsReleased.
        """
        pages, offset = self.table.locate(request, lo, hi)
        return self.pool.gather(pages, offset, hi - lo)

    def clone(self) -> "KVCache":
        """An independent copy, rows included."""
        other = KVCache.__new__(KVCache)
        other.table = self.table.clone()
        other.pool = self.pool.clone()
        other._row_shape = self._row_shape
        return other
