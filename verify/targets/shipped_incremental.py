"""The adapter of the cache that ships for long replays: it shows what one operation touched, at the cost of that."""

from array import array
from typing import Any

import numpy as np
import numpy.typing as npt

from impl.kv_cache import KVCache
from impl.page_table import PageTableError
from spec.operations import (
    Accepted,
    Append,
    Fork,
    New,
    Operation,
    Outcome,
    Read,
    Release,
    Trim,
    Truncate,
)
from spec.outcomes import ACCEPTED, REFUSED
from verify.target import RequestView, Snapshot
from verify.traces.incremental_target import Glimpse, PoolGlimpse, WholeGlimpse
from verify.traces.tokens import Tokens


class ShippedIncremental:
    """KVCache of one layer and width 1 behind verify/traces/incremental.py's protocol.

    The key of token t is t + 1 and its value -(t + 1), 32 bits each: no two rows are alike, no key is a value, and a slot
    never written is no token's. Tokens lie in 0 .. 2**31 - 2. A single row goes in by `append_row`, as on a decoding host.
    """

    def __init__(self, pages: int, page_size: int) -> None:
        self.cache = KVCache(pages, page_size, layers=1, width=1, dtype=np.int32)
        self._free = list(self.cache.table.free)
        # The same array each time, so that a cache that kept it instead of its numbers would read wrong.
        self._row = np.empty((1, 2, 1), np.int32)

    def apply(self, operation: Operation) -> Outcome:
        """Call the cache; a named error is a refusal."""
        cache = self.cache
        try:
            match operation:
                case Append(request, (token,)):
                    row = self._row
                    row[0, 0, 0], row[0, 1, 0] = token + 1, -token - 1
                    cache.append_row(request, row)
                case Append(request, tokens):
                    cache.append(request, self.rows_of(tokens))
                case Trim(request, keep_from):
                    cache.trim(request, keep_from)
                case Fork(request, to, at):
                    cache.fork(request, to, at)
                case New(request, sinks):
                    cache.new(request, sinks)
                case Release(request):
                    cache.release(request)
                case Truncate(request, length):
                    cache.truncate(request, length)
                case Read(request, lo, hi):
                    return Accepted(_tokens(cache.rows(request, lo, hi)))
        except PageTableError as error:
            return REFUSED[type(error).__name__]
        return ACCEPTED

    def rows_of(self, tokens: Tokens | tuple[int, ...]) -> npt.NDArray[Any]:
        """The rows of these tokens: (1, 2, rows, 1)."""
        rows = np.empty((1, 2, len(tokens), 1), np.int32)
        keys, values = rows[0, :, :, 0]
        np.add(np.asarray(tokens, np.int32), 1, out=keys)
        np.negative(keys, out=values)
        return rows

    def rows(self, request: int, lo: int, hi: int) -> npt.NDArray[Any]:
        """Rows lo .. hi-1 as the cache reads them: (1, 2, rows, 1)."""
        return self.cache.rows(request, lo, hi)

    def glimpse(self, request: int) -> Glimpse | None:
        """The request without its rows; None when it is not live."""
        table = self.cache.table
        # The public block_table makes an object a page and would cost more than the rest of the check.
        entry = table.tables.get(request)
        if entry is None:
            return None
        first = entry.sink_pages
        released = (first, first + entry.dropped) if entry.dropped else (0, 0)
        return Glimpse(entry.length, released, entry.pages)

    def counts(self) -> list[int]:
        """Reference counts, one a page: the table's own."""
        return self.cache.table.counts

    def glimpse_pool(self) -> PoolGlimpse:
        """The pool, and what changed in the free list from its deepest entry that changed on.

        That is found from the top down as far as entries differ, so at the cost of the change; a change below an entry that
        stayed is left to `observe`.
        """
        table, seen = self.cache.table, self._free
        free = table.free
        kept = min(len(free), len(seen))
        while kept and free[kept - 1] != seen[kept - 1]:
            kept -= 1
        taken, returned = tuple(seen[kept:]), tuple(free[kept:])
        if taken or returned:
            seen[kept:] = returned
        return PoolGlimpse(taken, returned, table.pages - len(free), len(table.requests()))

    def glimpse_whole(self) -> WholeGlimpse:
        """Every live request, the counts and the free list, by what the table shows of them."""
        table = self.cache.table
        requests = {request: self._shown(request) for request in table.requests()}
        return WholeGlimpse(requests, list(table.counts), array("q", table.free))

    def observe(self) -> Snapshot:
        """Every live request with all its readable rows, read through the cache."""
        table = self.cache.table
        requests = {request: self._view(request) for request in table.requests()}
        return Snapshot(requests, tuple(table.counts), tuple(table.free))

    def _shown(self, request: int) -> Glimpse:
        """The glimpse of a live request with the pages that the table shows instead of those that it keeps."""
        seen = self.glimpse(request)
        assert seen is not None
        return seen._replace(pages=array("q", self.cache.table.block_table(request)))

    def _view(self, request: int) -> RequestView:
        seen = self._shown(request)
        lo, hi = (min(seen.length, page * self.cache.table.page_size) for page in seen.released)
        rows = self.cache.rows(request, hi, seen.length)
        if lo:
            rows = np.concatenate((self.cache.rows(request, 0, lo), rows), axis=2)
        return RequestView(seen.length, seen.released, tuple(seen.pages), _tokens(rows))


def _tokens(rows: npt.NDArray[Any]) -> Any:
    """The token of each row, None where key and value are not those of one.

    A tuple, or what equals a tuple of integers and costs less (verify/traces/tokens.py).
    """
    keys, values = rows[0, 0, :, 0], rows[0, 1, :, 0]
    whole = (keys > 0) & (values == -keys)
    if whole.all():
        return Tokens.of(keys - 1)
    return tuple(key - 1 if ok else None for key, ok in zip(keys.tolist(), whole.tolist(), strict=True))
