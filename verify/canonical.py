"""State keys of the exhaustive search: equal exactly when two joint states of oracle and target differ by a renaming.

The key holds, per request, length, sinks, dropped pages and the held physical pages; per physical page which slots are
live, stale or never written, in table order and then in free-list order, because a later operation's effect may depend
on what a reused page still holds. Values are left out: the code is data-independent in them.
"""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import chain, permutations, product
from operator import itemgetter

from spec.page_table import State, sink_pages
from verify.target import Snapshot

Code = tuple[int, bytes]
"""A page's slots: how many are live, and which were ever written."""

Tables = tuple[tuple[int, ...], ...]
"""Block tables, each the pages that it names."""

Signature = tuple[int, int, int, tuple[Code, ...], tuple[int, ...]]
"""What a renaming cannot change of one request: length, sinks, dropped, its pages' codes and counts."""


def page_codes(state: State, snapshot: Snapshot, written: tuple[bytes, ...] | None) -> list[Code]:
    """The code of each physical page."""
    size = state.page_size
    live = [0] * state.pages
    for request, view in snapshot.requests.items():
        truth = state.requests[request]
        kept, length = sink_pages(truth.sinks, size), len(truth.rows)
        for index, page in enumerate(view.pages):
            rows = length - (index if index < kept else index + truth.dropped) * size
            if rows > live[page]:
                live[page] = rows if rows < size else size
    return list(zip(live, written or (b"",) * state.pages, strict=True))


def canonical_key(state: State, snapshot: Snapshot, written: tuple[bytes, ...] | None) -> Hashable:
    """The key under renaming of request and page ids: the least over the request orders that signatures leave open."""
    codes = page_codes(state, snapshot, written)
    counts = entries(state, snapshot) if snapshot.counts is None else snapshot.counts
    signed: list[tuple[Signature, tuple[int, ...]]] = []
    for request, view in snapshot.requests.items():
        truth = state.requests[request]
        pages = view.pages
        held = tuple([codes[page] for page in pages])
        owners = tuple([counts[page] for page in pages])
        signed.append(((len(truth.rows), truth.sinks, truth.dropped, held, owners), pages))
    if len(signed) > 1:
        signed.sort(key=itemgetter(0))
    signatures = tuple([signature for signature, _ in signed])
    if snapshot.free is None:  # in an order that nobody knows
        free = tuple(sorted([code for page, code in enumerate(codes) if not counts[page]]))
    else:
        free = tuple([codes[page] for page in snapshot.free])
    return signatures, min(map(renamed, orders(signed))), free


def entries(state: State, snapshot: Snapshot) -> tuple[int, ...]:
    """The number of table entries that name each page."""
    named = [0] * state.pages
    for view in snapshot.requests.values():
        for page in view.pages:
            named[page] += 1
    return tuple(named)


def orders(signed: Sequence[tuple[Signature, tuple[int, ...]]]) -> list[Tables]:
    """The tables in every order that keeps the signatures sorted."""
    if len(signed) < 2 or len({signature for signature, _ in signed}) == len(signed):
        return [tuple([pages for _, pages in signed])]
    groups: dict[Signature, list[tuple[int, ...]]] = {}
    for signature, pages in signed:
        groups.setdefault(signature, []).append(pages)
    choices = product(*(permutations(tables) for tables in groups.values()))
    return [tuple(chain.from_iterable(choice)) for choice in choices]


@lru_cache(maxsize=65536)
def renamed(tables: Tables) -> Tables:
    """The tables with pages numbered in order of first appearance."""
    names: dict[int, int] = {}
    return tuple([tuple([names.setdefault(page, len(names)) for page in table]) for table in tables])


def raw_key(state: State, snapshot: Snapshot, written: tuple[bytes, ...] | None) -> Hashable:
    """The key with page and request ids as they stand, for targets whose behaviour might depend on them."""
    codes = page_codes(state, snapshot, written)
    requests = tuple(
        (request, len(truth.rows), truth.sinks, truth.dropped, snapshot.requests[request].pages)
        for request, truth in sorted(state.requests.items())
    )
    return requests, snapshot.free, tuple(codes)
