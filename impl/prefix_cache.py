"""The paged KV cache that a serving system uses: requests are served the prefixes that others have computed before.

An admission or an append reserves pages, a commit writes the reserved rows, publishes the pages that they fill and lets go of
those that no further step reads. One pool of pages serves several groups of layers, each with block tables of its own.
Errors and their order are those of impl/page_table.py; every operation looks for them first and changes the cache after.
"""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from impl.page_groups import Full, PageGroup
from impl.page_table import NO_PAGE, BadArgument, DuplicateRequest, OutOfPages, RowsReleased, UnknownRequest
from impl.pool import Pool
from impl.prefix_index import Prefix
from impl.shared_pages import SharedPages

# Tokens that an admission computes even when all of them are published: the output of the last one is asked for.
LEAST_COMPUTED = 1


class CachedRequest:
    """One request: its tokens, of which `written` have their rows, and a block table a group.

    A table has an entry for each logical page, NO_PAGE for one that was let go. Those are the logical pages from the last one
    with a sink to below `held_from[group]`. `prefixes` are the prefixes of its full written pages.
    """

    __slots__ = ("held_from", "prefixes", "tables", "tokens", "written")

    def __init__(
        self, tokens: list[int], written: int, tables: list[list[int]], held_from: list[int], prefixes: list[Prefix]
    ) -> None:
        self.tokens = tokens
        self.written = written
        self.tables = tables
        self.held_from = held_from
        self.prefixes = prefixes


class Hit(NamedTuple):
    """What an admission is served: the prefix of each page; a group, the table that names the pages and where they begin."""

    prefixes: list[Prefix]
    tables: list[list[int]]
    held_from: list[int]


class PrefixCache:
    """Keys and values of requests that share published prefixes, in one pool of `pages` pages of `page_size` rows.

    Rows go in and come out as arrays whose last axes are (layer, K or V, row, element); `layers` are those of one group. Whatever
    raises has changed nothing. Raises ValueError for a size below 1, and when there is no group.
    """

    __slots__ = ("_sink_pages", "groups", "page_size", "pool", "requests", "shared")

    def __init__(
        self,
        pages: int,
        page_size: int,
        groups: Sequence[PageGroup] = (Full(),),
        layers: int = 1,
        width: int = 1,
        dtype: npt.DTypeLike = np.int8,
    ) -> None:
        if not groups:
            raise ValueError("a cache needs at least 1 group of layers")
        self.pool = Pool(layers, pages, page_size, width, dtype)
        self.page_size = page_size
        self.groups = tuple(groups)
        self.shared = SharedPages(pages, len(self.groups))
        self.requests: dict[int, CachedRequest] = {}
        self._sink_pages = [self._pages_for(group.sinks) for group in self.groups]

    def admit(self, request: int, tokens: Sequence[int]) -> int:
        """Start a request with these tokens; the number of rows that it is served, the others are reserved.

        Raises DuplicateRequest, BadArgument when there are no tokens, and OutOfPages.
        """
        if request in self.requests:
            raise DuplicateRequest(f"request {request} is live already")
        if not tokens:
            raise BadArgument("a request starts with at least 1 token")
        hit = self._longest_hit(tokens)
        served = len(hit.prefixes)
        missing = self._pages_for(len(tokens)) - served
        needed = missing * len(self.groups)
        # A served page that is idle is held from now on, and no page for the other rows.
        available = self.shared.available - sum(self.shared.count_idle(table) for table in hit.tables)
        if needed > available:
            raise OutOfPages(f"pages needed to admit {len(tokens)} tokens: {needed}, available: {available}")
        # Held before others are taken: an idle one would otherwise be handed out as one of those.
        tables, taken = self._held(hit.tables), self.shared.take(needed)
        self._grow(tables, taken, missing)
        rows = served * self.page_size
        self.requests[request] = CachedRequest(list(tokens), rows, tables, hit.held_from, hit.prefixes)
        return rows

    def append(self, request: int, tokens: Sequence[int]) -> None:
        """Reserve a row for each of these tokens, all or none.

        A group's last page is copied first when new rows would go into it and it is not the request's alone.
        Raises UnknownRequest, BadArgument when there are no tokens, and OutOfPages.
        """
        entry = self._of(request)
        if not tokens:
            raise BadArgument("cannot append 0 tokens")
        length = len(entry.tokens)
        partly_kept = length % self.page_size > 0
        copied = [table for table in entry.tables if partly_kept and self.shared.must_not_be_written(table[-1])]
        missing = self._pages_for(length + len(tokens)) - self._pages_for(length)
        needed = missing * len(self.groups) + len(copied)
        if needed > self.shared.available:
            raise OutOfPages(
                f"pages needed to append {len(tokens)} tokens: {needed}, available: {self.shared.available}"
            )
        for table in copied:
            self._copy_last_page(table)
        self._grow(entry.tables, self.shared.take(missing * len(self.groups)), missing)
        entry.tokens.extend(tokens)

    def commit(self, request: int, rows: npt.NDArray[Any]) -> None:
        """Write the k reserved rows, an array (groups, layers, 2, k, width), publish the full pages and let old ones go.

        Raises UnknownRequest, and ValueError for an array of another shape or dtype.
        """
        entry = self._of(request)
        pool = self.pool
        shape = (len(self.groups), pool.layers, 2, len(entry.tokens) - entry.written, pool.width)
        if rows.shape != shape or rows.dtype != pool.dtype:
            raise ValueError(f"rows are {shape} of {pool.dtype}, not {rows.shape} of {rows.dtype}")
        self._write(entry, rows)
        entry.written = len(entry.tokens)
        self._publish(entry, entry.written)
        self._trim(entry)

    def fork(self, source: int, request: int, at: int) -> None:
        """Start `request` with the first `at` written rows of `source`, sharing every page that holds them.

        Raises UnknownRequest, DuplicateRequest, BadArgument when `at` is not in 0 .. the rows written, and RowsReleased when
        a row that its next step reads is gone, or `at` falls among the rows that are.
        """
        entry = self._of(source)
        if request in self.requests:
            raise DuplicateRequest(f"request {request} is live already")
        if not 0 <= at <= entry.written:
            raise BadArgument(f"position {at} is not in 0 .. {entry.written}")
        held_from = self._cut(entry, at)
        tables = self._held([table[: self._pages_for(at)] for table in entry.tables])
        prefixes = entry.prefixes[: at // self.page_size]
        self.requests[request] = CachedRequest(entry.tokens[:at], at, tables, held_from, prefixes)

    def truncate(self, request: int, length: int) -> None:
        """Cut the request back to its first `length` rows, reserved ones included.

        Raises UnknownRequest, BadArgument when the length is not in 0 .. the present one, and RowsReleased as for a fork.
        """
        entry = self._of(request)
        if not 0 <= length <= len(entry.tokens):
            raise BadArgument(f"length {length} is not in 0 .. {len(entry.tokens)}")
        entry.held_from = self._cut(entry, length)
        kept = self._pages_for(length)
        for table in entry.tables:
            self.shared.let_go(table[kept:])
            del table[kept:]
        del entry.tokens[length:]
        entry.written = min(entry.written, length)
        del entry.prefixes[entry.written // self.page_size :]

    def release(self, request: int) -> None:
        """End the request and let its pages go. Raises UnknownRequest."""
        entry = self._of(request)
        for table in entry.tables:
            self.shared.let_go(table)
        del self.requests[request]

    def rows(self, request: int, group: int, lo: int, hi: int) -> npt.NDArray[Any]:
        """Rows lo .. hi-1 of the layers of a group as a fresh array (layers, 2, hi - lo, width).

        Raises UnknownRequest, BadArgument when there is no such group or not 0 <= lo <= hi <= the rows written, and
        RowsReleased when a row is gone.
        """
        entry = self._of(request)
        if not 0 <= group < len(self.groups):
            raise BadArgument(f"group {group} is not in 0 .. {len(self.groups) - 1}")
        if not 0 <= lo <= hi <= entry.written:
            raise BadArgument(f"rows {lo} .. {hi} are not in 0 .. {entry.written}")
        gone, held = self._gone(entry, group)
        if max(lo, gone) < min(hi, held):
            raise RowsReleased(f"rows {gone} .. {held - 1} are released")
        first = lo // self.page_size
        # An empty range names a page too, which may be none: nothing of it is read.
        pages = array("q", entry.tables[group][first : self._pages_for(hi)])
        return self.pool.gather(pages, lo - first * self.page_size, hi - lo)

    def clone(self) -> "PrefixCache":
        """An independent copy, rows included."""
        other = PrefixCache.__new__(PrefixCache)
        other.pool = self.pool.clone()
        other.page_size = self.page_size
        other.groups = self.groups
        other.shared = self.shared.clone()
        other.requests = {}
        for request, entry in self.requests.items():
            tables = [table[:] for table in entry.tables]
            copied = CachedRequest(entry.tokens[:], entry.written, tables, entry.held_from[:], entry.prefixes[:])
            other.requests[request] = copied
        other._sink_pages = self._sink_pages
        return other

    def _of(self, request: int) -> CachedRequest:
        """The live request, or UnknownRequest."""
        try:
            return self.requests[request]
        except KeyError:
            raise UnknownRequest(f"no live request {request}") from None

    def _pages_for(self, rows: int) -> int:
        """Pages that `rows` rows fill when the first of them starts one."""
        return -(-rows // self.page_size)

    def _held_from(self, group: int, position: int) -> int:
        """First logical page behind those of the sinks that holds a row from the first read of a step at this position on."""
        return max(self._sink_pages[group], self.groups[group].first_read(position) // self.page_size)

    def _gone(self, entry: CachedRequest, group: int) -> tuple[int, int]:
        """First row that is gone in the group and the first one held behind it; equal when none are."""
        return self._sink_pages[group] * self.page_size, entry.held_from[group] * self.page_size

    def _longest_hit(self, tokens: Sequence[int]) -> Hit:
        """The longest prefix in whole pages of which every group finds the pages that its next step reads."""
        size = self.page_size
        most = (len(tokens) - LEAST_COMPUTED) // size
        if not all(group.publishes for group in self.groups):
            most = 0
        every_group = range(len(self.groups))
        served = 0
        prefixes: list[Prefix] = []
        found = [[NO_PAGE] * most for _ in every_group]
        run_from = [0 for _ in every_group]  # the first logical page from which on every page was found
        for logical in range(most):
            parent = prefixes[-1] if prefixes else None
            prefixes.append(self.shared.index.extended(parent, tuple(tokens[logical * size : (logical + 1) * size])))
            for group in every_group:
                page = self.shared.index.first(group, prefixes[-1])
                if page is None:
                    run_from[group] = logical + 1
                else:
                    found[group][logical] = page
            if any(run_from[g] > logical and self.groups[g].always_reads(logical * size) for g in every_group):
                break
            if all(run_from[g] <= self._held_from(g, (logical + 1) * size) for g in every_group):
                served = logical + 1
        held_from = [self._held_from(group, served * size) for group in every_group]
        tables = [pages[:served] for pages in found]
        for group, table in enumerate(tables):
            between = slice(self._sink_pages[group], held_from[group])
            table[between] = [NO_PAGE] * len(table[between])
        return Hit(prefixes[:served], tables, held_from)

    def _cut(self, entry: CachedRequest, length: int) -> list[int]:
        """`held_from` of the request cut to its first `length` rows, or RowsReleased."""
        for group, reads in enumerate(self.groups):
            gone, held = self._gone(entry, group)
            if gone < length < held or max(gone, reads.first_read(length)) < min(length, held):
                raise RowsReleased(f"rows {gone} .. {held - 1} of group {group} are released")
        return [
            entry.held_from[group] if length > sinks * self.page_size else sinks
            for group, sinks in enumerate(self._sink_pages)
        ]

    def _held(self, tables: list[list[int]]) -> list[list[int]]:
        """The tables, their pages counted for one more owner."""
        for table in tables:
            self.shared.hold(table)
        return tables

    def _grow(self, tables: list[list[int]], taken: list[int], each: int) -> None:
        """Give the pages taken to the tables, `each` to each."""
        for group, table in enumerate(tables):
            table.extend(taken[group * each : (group + 1) * each])

    def _copy_last_page(self, table: list[int]) -> None:
        """Give the table a page of its own in place of its last one."""
        (own,) = self.shared.take(1)
        self.pool.copy_page(table[-1], own)
        self.shared.let_go(table[-1:])
        table[-1] = own

    def _write(self, entry: CachedRequest, rows: npt.NDArray[Any]) -> None:
        """Write rows into the slots behind the written ones, in every group."""
        first = entry.written // self.page_size
        for group, table in enumerate(entry.tables):
            self.pool.write(array("q", table[first:]), entry.written - first * self.page_size, rows[group])

    def _publish(self, entry: CachedRequest, rows: int) -> None:
        """Publish the pages that the first `rows` rows fill and that the request has neither published nor been served."""
        size, index = self.page_size, self.shared.index
        for logical in range(len(entry.prefixes), rows // size):
            parent = entry.prefixes[-1] if entry.prefixes else None
            entry.prefixes.append(index.extended(parent, tuple(entry.tokens[logical * size : (logical + 1) * size])))
            for group, table in enumerate(entry.tables):
                if self.groups[group].publishes:
                    index.publish(group, table[logical], entry.prefixes[-1])

    def _trim(self, entry: CachedRequest) -> None:
        """Let go of the pages that no further step reads."""
        for group, table in enumerate(entry.tables):
            held_from = self._held_from(group, entry.written)
            gone = slice(entry.held_from[group], held_from)
            self.shared.let_go(table[gone])
            table[gone] = [NO_PAGE] * len(table[gone])
            entry.held_from[group] = held_from
