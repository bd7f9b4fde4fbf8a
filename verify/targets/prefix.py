"""The adapter of the prefix cache that ships: a manager in process, with real keys and values in every layer."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from impl.page_groups import Chunk, Full, PageGroup, Window
from impl.page_table import NO_PAGE, PageTableError
from impl.prefix_cache import CachedRequest, PrefixCache
from spec.manager import Traits
from spec.operations import (
    Accepted,
    Admit,
    Append,
    Commit,
    Fork,
    ManagerOperation,
    Outcome,
    Release,
    Truncate,
)
from spec.outcomes import ACCEPTED, REFUSED
from verify.managers.target import ManagerSnapshot, ManagerView, Offer, Rows
from verify.managers.values import value, values

LAYERS = 2  # of each group
BYTES = 5  # a value has 40 bits
OFFER = Offer("the shipped prefix cache")
# What the cache promises, in our words: taken from the cache, a broken promise would be no difference.
TRAITS = {
    "prefix": True,
    "leaves": 1,
    "commits": True,
    "tail": "shared",
    "trims": "after",
    "recycles": False,
    "granule": "page",
    "forks": "anywhere",
}


@lru_cache(maxsize=64)
def place(group: int) -> npt.NDArray[np.uint8]:
    """What the bytes of a value are xored with in each layer, K and V of the group: (layers, 2, 1, 1).

    No two are equal, so that a row that was never written, or one of another place, is no value.
    """
    first = 1 + group * LAYERS * 2
    return np.arange(first, first + LAYERS * 2, dtype=np.uint8).reshape(LAYERS, 2, 1, 1)


@lru_cache(maxsize=4096)
def encoded(found: tuple[int, ...], groups: int) -> npt.NDArray[np.int8]:
    """The rows of these values: (groups, layers, 2, rows, BYTES)."""
    digits = np.asarray(found, dtype="<u8").view(np.uint8).reshape(-1, 8)[:, :BYTES]
    return np.stack([digits ^ place(group) for group in range(groups)]).view(np.int8)


@lru_cache(maxsize=65536)
def decoded(raw: bytes, count: int, group: int) -> Rows:
    """The values that the bytes of `count` rows of this group stand for, None where layers, K and V do not agree on one."""
    planes = np.frombuffer(raw, np.uint8).reshape(LAYERS, 2, count, BYTES) ^ place(group)
    agree = (planes == planes[0, 0]).all(axis=(0, 1, 3))
    return tuple(
        int.from_bytes(digits.tobytes(), "little") if same else None
        for digits, same in zip(planes[0, 0], agree, strict=True)
    )


def held_runs(table: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and behind the last of each run of logical pages that the table holds."""
    start = None
    for logical, page in enumerate((*table, NO_PAGE)):
        if page != NO_PAGE and start is None:
            start = logical
        if page == NO_PAGE and start is not None:
            yield start, logical
            start = None


def page_groups(traits: Traits) -> tuple[PageGroup, ...]:
    """The groups in the words of the cache. Raises ValueError for one that it does not have."""
    made: list[PageGroup] = []
    for group in traits.groups:
        if group.keeps:
            raise ValueError(f"the cache keeps no row behind a window, not {group.keeps}")
        match group.kind:
            case "full":
                made.append(Full())
            case "window":
                made.append(Window(group.size, group.sinks))
            case "chunk":
                made.append(Chunk(group.size))
    return tuple(made)


class PrefixManager:
    """PrefixCache behind the manager protocol. Raises ValueError for traits that are not those of the cache."""

    offer = OFFER

    def __init__(self, traits: Traits) -> None:
        for name, has in TRAITS.items():
            if getattr(traits, name) != has:
                raise ValueError(f"{name} of the cache is {has!r}, not {getattr(traits, name)!r}")
        self.traits = traits
        self.cache = PrefixCache(traits.pages, traits.page_size, page_groups(traits), LAYERS, BYTES)

    def apply(self, operation: ManagerOperation) -> Outcome:
        """Call the cache; a named error is a refusal."""
        try:
            return CALLS[type(operation)](self.cache, operation)
        except PageTableError as error:
            return REFUSED[type(error).__name__]

    def observe(self) -> ManagerSnapshot:
        """Every live request with all its readable rows, read through the cache."""
        cache, shared = self.cache, self.cache.shared
        requests = {request: self.view(request, entry) for request, entry in cache.requests.items()}
        free = (*reversed(shared.blank), *shared.idle)
        published = sorted((page, group, value(prefix.every_token())) for page, group, prefix in shared.index)
        return ManagerSnapshot(requests, tuple(shared.counts), free, shared.available, tuple(published))

    def view(self, request: int, entry: CachedRequest) -> ManagerView:
        """One live request."""
        tables = tuple(tuple([None if page == NO_PAGE else page for page in table]) for table in entry.tables)
        rows = tuple(self.rows(request, entry, group) for group in range(len(entry.tables)))
        return ManagerView(len(entry.tokens), tables, rows)

    def rows(self, request: int, entry: CachedRequest, group: int) -> Rows:
        """The rows of the request in one group."""
        size = self.cache.page_size
        found: list[int | None] = [None] * len(entry.tokens)
        for first, stop in held_runs(entry.tables[group]):
            lo, hi = first * size, min(stop * size, entry.written)
            if lo < hi:
                raw = self.cache.rows(request, group, lo, hi).tobytes()
                found[lo:hi] = decoded(raw, hi - lo, group)
        return tuple(found)

    def image(self) -> object:
        """Requests, counts, available pages, the index and every byte of the pool."""
        cache, shared = self.cache, self.cache.shared
        requests = [
            (request, entry.tokens[:], entry.written, [table[:] for table in entry.tables], entry.held_from[:])
            for request, entry in cache.requests.items()
        ]
        pool = cache.pool.kv.tobytes()
        return requests, shared.counts[:], shared.blank[:], list(shared.idle), list(shared.index), pool

    def clone(self) -> Self:
        """An independent copy."""
        other = type(self).__new__(type(self))
        other.traits = self.traits
        other.cache = self.cache.clone()
        return other

    def foresee(self, operations: Sequence[ManagerOperation], apart: bool) -> None:
        """Nothing to prepare: a call costs no journey."""


def admit(cache: PrefixCache, operation: Admit) -> Outcome:
    return Accepted(served=cache.admit(operation.request, operation.tokens))


def append(cache: PrefixCache, operation: Append) -> Outcome:
    cache.append(operation.request, operation.tokens)
    return ACCEPTED


def commit(cache: PrefixCache, operation: Commit) -> Outcome:
    entry = cache.requests.get(operation.request)
    found = values(entry.tokens)[entry.written :] if entry else ()
    cache.commit(operation.request, encoded(found, len(cache.groups)))
    return ACCEPTED


def fork(cache: PrefixCache, operation: Fork) -> Outcome:
    cache.fork(operation.request, operation.to, operation.at)
    return ACCEPTED


def truncate(cache: PrefixCache, operation: Truncate) -> Outcome:
    cache.truncate(operation.request, operation.length)
    return ACCEPTED


def release(cache: PrefixCache, operation: Release) -> Outcome:
    cache.release(operation.request)
    return ACCEPTED


CALLS: dict[type[ManagerOperation], Callable[[PrefixCache, Any], Outcome]] = {
    Admit: admit,
    Append: append,
    Commit: commit,
    Fork: fork,
    Truncate: truncate,
    Release: release,
}
