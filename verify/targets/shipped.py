"""The adapter of the cache that ships: impl's KVCache, page table and numpy pool together."""

from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from impl.kv_cache import KVCache
from impl.page_table import BlockTable, PageTableError
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
from verify.target import Capabilities, Layout, RequestView, Snapshot

LAYERS = 2  # what `written` joins
# A row's value in layer l, K (0) or V (1): token * 4 + 2 * l + kv. Searches number tokens from 1, so a slot
# that holds zero was never written.
PLACE = np.arange(2 * LAYERS, dtype=np.int32).reshape(LAYERS, 2, 1, 1)
CAPABILITIES = Capabilities("the shipped KV cache")


@lru_cache(maxsize=4096)
def encoded(tokens: tuple[int, ...]) -> npt.NDArray[np.int32]:
    """The rows of these tokens: (layers, 2, rows, 1)."""
    return np.asarray(tokens, dtype=np.int32).reshape(1, 1, -1, 1) * (2 * LAYERS) + PLACE


def decoded(rows: npt.NDArray[np.int32]) -> tuple[int | None, ...]:
    """The token of each row, None where layers, K and V do not agree on one."""
    return tokens_of(rows.tobytes(), rows.shape[2])


@lru_cache(maxsize=65536)
def tokens_of(raw: bytes, count: int) -> tuple[int | None, ...]:
    """The tokens that these bytes of `count` rows stand for."""
    planes = np.frombuffer(raw, np.int32).reshape(LAYERS, 2, count, 1) - PLACE
    first, *others = planes.reshape(2 * LAYERS, count).tolist()
    columns = zip(first, *others, strict=True)
    whole = 2 * LAYERS
    return tuple([row[0] // whole if row[0] % whole == 0 and len(set(row)) == 1 else None for row in columns])


class ShippedCache:
    """KVCache behind the target protocol."""

    capabilities = CAPABILITIES

    def __init__(self, pages: int, page_size: int) -> None:
        self.cache = KVCache(pages, page_size, layers=LAYERS, width=1, dtype=np.int32)

    @classmethod
    def planted(cls, pages: int, page_size: int, layout: Layout) -> Self:
        """A cache that stands in the layout's state; slot j of page p holds token 1 + p * page_size + j."""
        target = cls(pages, page_size)
        cache, table = target.cache, target.cache.table
        every = encoded(tuple(range(1, pages * page_size + 1)))
        cache.pool.kv[:] = every.reshape(LAYERS, 2, pages, page_size, 1).transpose(0, 2, 1, 3, 4)
        table.free[:] = array("q", layout.free)
        for request, planted in layout.requests:
            sink_pages = -(-planted.sinks // page_size)
            held = array("q", planted.pages)
            length = len(planted.tokens)
            table.tables[request] = BlockTable(planted.sinks, sink_pages, length, planted.dropped, held)
            for page in planted.pages:
                table.counts[page] += 1
        return target

    def apply(self, operation: Operation) -> Outcome:
        """Call the cache; a named error is a refusal."""
        try:
            return CALLS[type(operation)](self.cache, operation)
        except PageTableError as error:
            return REFUSED[type(error).__name__]

    def observe(self) -> Snapshot:
        """Every live request with all its readable rows, read through the cache."""
        table = self.cache.table
        requests = {request: self.view(request, entry) for request, entry in table.tables.items()}
        return Snapshot(requests, tuple(table.counts), tuple(table.free))

    def view(self, request: int, entry: BlockTable) -> RequestView:
        """One live request."""
        length = entry.length
        if not entry.dropped:
            rows = decoded(self.cache.rows(request, 0, length)) if length else ()
            return RequestView(length, (0, 0), tuple(entry.pages), rows, entry.sink_pages)
        size = self.cache.table.page_size
        first, stop = entry.sink_pages, entry.sink_pages + entry.dropped
        head = decoded(self.cache.rows(request, 0, min(length, first * size)))
        tail = decoded(self.cache.rows(request, min(length, stop * size), length))
        return RequestView(length, (first, stop), tuple(entry.pages), head + tail, first)

    def image(self) -> object:
        """Tables, counts, free list and every byte of the pool."""
        table = self.cache.table
        tables = [
            (request, entry.length, entry.sinks, entry.sink_pages, entry.dropped, entry.last, entry.pages.tobytes())
            for request, entry in table.tables.items()
        ]
        return tables, table.counts[:], table.free.tobytes(), self.cache.pool.kv.tobytes()

    def written(self) -> tuple[bytes, ...]:
        """A key or value was written when it is not zero."""
        flags = self.cache.pool.kv.astype(np.bool_).tobytes()
        layer, page = len(flags) // LAYERS, 2 * self.cache.table.page_size
        return tuple([flags[at : at + page] + flags[layer + at : layer + at + page] for at in range(0, layer, page)])

    def clone(self) -> Self:
        """An independent copy."""
        other = type(self).__new__(type(self))
        other.cache = self.cache.clone()
        return other

    def foresee(self, operations: Sequence[Operation], apart: bool) -> None:
        """Nothing to prepare: a call costs no journey."""


def append(cache: KVCache, operation: Append) -> Outcome:
    rows = encoded(operation.tokens)
    if len(operation.tokens) == 1:
        cache.append_row(operation.request, rows[:, :, 0])
    else:
        cache.append(operation.request, rows)
    return ACCEPTED


def fork(cache: KVCache, operation: Fork) -> Outcome:
    cache.fork(operation.request, operation.to, operation.at)
    return ACCEPTED


def trim(cache: KVCache, operation: Trim) -> Outcome:
    cache.trim(operation.request, operation.keep_from)
    return ACCEPTED


def truncate(cache: KVCache, operation: Truncate) -> Outcome:
    cache.truncate(operation.request, operation.length)
    return ACCEPTED


def new(cache: KVCache, operation: New) -> Outcome:
    cache.new(operation.request, operation.sinks)
    return ACCEPTED


def release(cache: KVCache, operation: Release) -> Outcome:
    cache.release(operation.request)
    return ACCEPTED


def read(cache: KVCache, operation: Read) -> Outcome:
    return Accepted(decoded(cache.rows(operation.request, operation.lo, operation.hi)))


CALLS: dict[type[Operation], Callable[[KVCache, Any], Outcome]] = {
    New: new,
    Append: append,
    Fork: fork,
    Trim: trim,
    Truncate: truncate,
    Release: release,
    Read: read,
}
