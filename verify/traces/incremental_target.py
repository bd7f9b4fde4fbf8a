"""The protocol of a target that long replays can follow: it shows what an operation touched, at the cost of that."""

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from spec.operations import Operation, Outcome
from verify.target import Snapshot
from verify.traces.tokens import Tokens

Rows = npt.NDArray[Any]
"""Rows in the target's own format, an array of four axes whose third is the row."""


class Glimpse(NamedTuple):
    """A live request without its rows: length, released logical pages (first, stop), held pages in logical order.

    `pages` may be the target's own array, to be read before the next operation and not to be kept.
    """

    length: int
    released: tuple[int, int]
    pages: "array[int]"


class WholeGlimpse(NamedTuple):
    """Every live request without its rows, reference counts, one a page, and the free pages in the target's order."""

    requests: dict[int, Glimpse]
    counts: list[int]
    free: "array[int]"


class PoolGlimpse(NamedTuple):
    """The pool between two operations: entries that the free list lost and gained since the last look, a page in both having
    changed its place; pages not on the free list; live requests.
    """

    taken: tuple[int, ...]
    returned: tuple[int, ...]
    used: int
    live: int


class IncrementalTarget(Protocol):
    """An implementation that can show one request, the counts of a few pages and the latest changes of its free list.

    As with Target, it reports what is there and repairs nothing, and whatever it raises breaks PT-TOTAL. Pages stay where
    they are while a request holds them.
    """

    def apply(self, operation: Operation) -> Outcome:
        """Accepted or Refused."""
        ...

    def glimpse(self, request: int) -> Glimpse | None:
        """The request; None when it is not live."""
        ...

    def rows(self, request: int, lo: int, hi: int) -> Rows:
        """Rows lo .. hi-1 as they read back."""
        ...

    def rows_of(self, tokens: Tokens) -> Rows:
        """What `rows` returns for these tokens, at least one, no two tokens' rows alike. Tokens are asked for that no request
        has yet: the next ones, an eighth of a request's rows and a few.
        """
        ...

    def counts(self) -> list[int]:
        """Reference counts, one a page; it may be the target's own list, to be read before the next operation."""
        ...

    def glimpse_pool(self) -> PoolGlimpse:
        """The pool, and what changed in the free list since the last call."""
        ...

    def glimpse_whole(self) -> WholeGlimpse:
        """The whole state but the rows."""
        ...

    def observe(self) -> Snapshot:
        """The whole visible state."""
        ...


IncrementalFactory = Callable[[int, int], IncrementalTarget]
"""Makes a fresh target of (pages, page_size)."""
