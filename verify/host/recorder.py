"""What is seen of a host from outside: the contexts that it hands its decoder, and its state."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from impl.decoder import Context, Decoder, Rows, Step
from impl.host import Host
from impl.row_store import PagedStore
from verify.host.oracle import Definition, HostState
from verify.target import RequestView, Snapshot

Reach = Mapping[int, frozenset[int]]
"""For each request the rows whose bytes may still matter; the others may hold anything."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One decode: the token, copies of the rows handed over with it, and what came back."""

    token: int
    keys: Rows
    values: Rows
    step: Step


class RecordingDecoder:
    """A decoder that keeps what it is handed and gives what the decoder inside gives."""

    def __init__(self, inner: Decoder) -> None:
        self.inner = inner
        self.width, self.vocabulary = inner.width, inner.vocabulary
        self.calls: list[Call] = []

    def step(self, token: int, context: Context) -> Step:
        """Feed the token; see Decoder.step."""
        keys, values = np.array(context.keys), np.array(context.values)
        step = self.inner.step(token, context)
        self.calls.append(Call(token, keys, values, step))
        return step

    def taken(self) -> list[Call]:
        """The calls since the last time."""
        calls, self.calls = self.calls, []
        return calls


class TokenNames:
    """Which token a row is, by its bytes: of its key, of its value, or of both."""

    def __init__(self, definition: Definition) -> None:
        self.keys: dict[bytes, int] = {}
        self.values: dict[bytes, int] = {}
        self.rows: dict[bytes, int] = {}
        for token, (key, value) in enumerate(zip(definition.keys, definition.values, strict=True)):
            self.keys.setdefault(key.tobytes(), token)
            self.values.setdefault(value.tobytes(), token)
            self.rows.setdefault(key.tobytes() + value.tobytes(), token)

    def of_rows(self, keys: Rows, values: Rows) -> tuple[int | None, ...]:
        """The token of each row, None for one that is no token's."""
        return tuple(self.rows.get(k.tobytes() + v.tobytes()) for k, v in zip(keys, values, strict=True))

    def said(self, call: Call) -> str:
        """The rows handed over, in words: a question mark for a key or a value that is no token's."""
        return f"keys of {_named(self.keys, call.keys)}, values of {_named(self.values, call.values)}"


def _named(names: Mapping[bytes, int], rows: Iterable[Rows]) -> str:
    return "[" + ", ".join(str(names.get(np.ascontiguousarray(row).tobytes(), "?")) for row in rows) + "]"


Known = Mapping[int, tuple[int, tuple[int, ...]]]
"""Rows and tokens of each live request, as a host tells them."""


class StoreFigures(NamedTuple):
    """What a paged host and its store say of themselves: pages in use, the peak, and per request held and released."""

    used: int
    peak: int
    requests: Mapping[int, tuple[int, tuple[int, int]]]


class Seen(NamedTuple):
    """Both hosts between two operations: what they know, the paged one first, and the pages."""

    known: tuple[Known, Known]
    snapshot: Snapshot
    store: StoreFigures


def look(paged: Host, plain: Host, truth: HostState, names: TokenNames, reach: Reach | None) -> Seen:
    """All that is seen of the hosts; see paged_snapshot for `truth` and `reach`."""
    paged_known, plain_known = ({r: (host.rows(r), host.tokens(r)) for r in host.requests()} for host in (paged, plain))
    store = paged.store
    figures = {request: (store.held(request), store.released(request)) for request in paged_known}
    snapshot = paged_snapshot(paged, truth, names, reach)
    return Seen((paged_known, plain_known), snapshot, StoreFigures(store.used, paged.peak_pages, figures))


def paged_snapshot(host: Host, truth: HostState, names: TokenNames, reach: Reach | None) -> Snapshot:
    """The pages of a host as the refinement check takes them, each row the token that it is by its bytes.

    With a `reach`, a row outside it is shown as the truth has it, whatever its bytes.
    """
    cache = paged_store_of(host).cache
    table = cache.table
    requests: dict[int, RequestView] = {}
    for request, entry in table.tables.items():
        length, size = entry.length, table.page_size
        first = entry.sink_pages
        released = (first, first + entry.dropped) if entry.dropped else (0, 0)
        ranges = ((0, min(length, released[0] * size)), (min(length, released[1] * size), length))
        rows: list[int | None] = []
        for lo, hi in ranges:
            if lo < hi:
                keys, values = cache.rows(request, lo, hi)[0]
                rows += names.of_rows(keys, values)
        if reach is not None and request in reach:
            known = truth.cache.requests[request].rows
            indices = [index for lo, hi in ranges for index in range(lo, hi)]
            rows = [
                row if index in reach[request] or index >= len(known) else known[index]
                for index, row in zip(indices, rows, strict=True)
            ]
        requests[request] = RequestView(length, released, tuple(entry.pages), tuple(rows), first)
    return Snapshot(requests, tuple(table.counts), tuple(table.free))


def host_image(host: Host) -> object:
    """Tokens and rows of every request, the peak, and all of the store: every byte of the pool, or every row."""
    requests = [(request, host.tokens(request), host.rows(request)) for request in host.requests()]
    store = host.store
    if not isinstance(store, PagedStore):
        held = [store.gather(request, ((0, rows),) if rows else ()) for request, _, rows in requests]
        return requests, [(keys.tobytes(), values.tobytes()) for keys, values in held]
    table = store.cache.table
    tables = [
        (request, entry.length, entry.sinks, entry.sink_pages, entry.dropped, tuple(entry.pages))
        for request, entry in table.tables.items()
    ]
    return requests, host.peak_pages, tables, table.counts[:], table.free[:], store.cache.pool.kv.tobytes()


def paged_store_of(host: Host) -> PagedStore:
    """The store of a paged host."""
    assert isinstance(host.store, PagedStore)
    return host.store
