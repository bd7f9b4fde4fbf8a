"""Caches with planted faults: what the searches must find, and what the harness must survive."""

import os
import time

from impl.kv_cache import KVCache
from spec.operations import Append, Fork, Operation, Outcome, Read, Refused, Release, Trim, Truncate
from verify.target import Snapshot
from verify.targets.shipped import ShippedCache


class Leaking(ShippedCache):
    """Loses one page of every release that frees any."""

    def apply(self, operation: Operation) -> Outcome:
        free = self.cache.table.free
        before = len(free)
        outcome = super().apply(operation)
        if isinstance(operation, Release) and len(free) > before:
            free.pop()
        return outcome


class Uncounted(ShippedCache):
    """Forgets to count the new owner of a forked request's first page."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(operation, Fork) and not isinstance(outcome, Refused):
            for page in self.cache.table.block_table(operation.to)[:1]:
                self.cache.table.counts[page] -= 1
        return outcome


class Uncopied(ShippedCache):
    """Writes into a partly filled page that others share instead of copying it first."""

    def apply(self, operation: Operation) -> Outcome:
        table = self.cache.table
        entry = table.tables.get(operation.request)
        if not isinstance(operation, Append) or entry is None or entry.length % table.page_size == 0:
            return super().apply(operation)
        last = entry.pages[-1]
        owners, table.counts[last] = table.counts[last], 1
        outcome = super().apply(operation)
        table.counts[last] = owners
        return outcome


class Overwriting(ShippedCache):
    """Writes the last row of every append over the row before it as well."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(operation, Append) and not isinstance(outcome, Refused) and self.cache.table.page_size > 1:
            page = self.cache.table.block_table(operation.request)[-1]
            self.cache.pool.kv[:, page, :, 0] = self.cache.pool.kv[:, page, :, -1]
        return outcome


class Moving(ShippedCache):
    """Has the first page of a request in another place after every append."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(operation, Append) and not isinstance(outcome, Refused):
            move_first_page(self.cache, operation.request)
        return outcome


class DependsOnIds(ShippedCache):
    """Frees a shared page when it is the last of the pool; only raw ids, or a full pool, can show it."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        last = self.cache.table.pages - 1
        if isinstance(operation, Trim) and self.cache.table.counts[last] == 1 and last not in self.cache.table.free:
            self.cache.table.free.append(last)
        return outcome


class StaleSlots(ShippedCache):
    """A copy of a page whose next slot was written before keeps that slot only: a fault that needs a stale page."""

    def apply(self, operation: Operation) -> Outcome:
        kv, table = self.cache.pool.kv, self.cache.table
        written = {page: kv[:, page].copy() for page in table.free}
        outcome = super().apply(operation)
        if isinstance(operation, Append) and not isinstance(outcome, Refused) and len(operation.tokens) == 1:
            page = table.block_table(operation.request)[-1]
            old = written.get(page)
            if old is not None and table.length(operation.request) % table.page_size != 1 and old[0, 0, 0, 0]:
                kv[:, page, :, 0] = old[:, :, 0]
        return outcome


class Raising(ShippedCache):
    """Raises where it should refuse."""

    def apply(self, operation: Operation) -> Outcome:
        if isinstance(operation, Truncate) and operation.length < 0:
            raise IndexError("list index out of range")
        return super().apply(operation)


class Corrupt(ShippedCache):
    """Shows something that is no snapshot of the pool: a page that does not exist."""

    def observe(self) -> Snapshot:
        shown = super().observe()
        return Snapshot(shown.requests, shown.counts, (*(shown.free or ()), 10**9))


class Hanging(ShippedCache):
    """Never comes back from a trim."""

    def apply(self, operation: Operation) -> Outcome:
        while isinstance(operation, Trim):
            pass
        return super().apply(operation)


class Sleeping(ShippedCache):
    """Waits without using the processor."""

    def apply(self, operation: Operation) -> Outcome:
        if isinstance(operation, Trim):
            time.sleep(3600)
        return super().apply(operation)


class Greedy(ShippedCache):
    """Allocates without end on a read."""

    def apply(self, operation: Operation) -> Outcome:
        taken = []
        while isinstance(operation, Read):
            taken.append(bytearray(1 << 24))
        return super().apply(operation)


class Quitting(ShippedCache):
    """Ends the process on a fork."""

    def apply(self, operation: Operation) -> Outcome:
        if isinstance(operation, Fork):
            os._exit(0)
        return super().apply(operation)


def move_first_page(cache: KVCache, request: int) -> None:
    """Put the request's first page, which is its alone, into a free one."""
    table = cache.table
    entry = table.tables[request]
    if table.free and entry.pages and table.counts[entry.pages[0]] == 1:
        old, new = entry.pages[0], table.free.pop()
        cache.pool.kv[:, new] = cache.pool.kv[:, old]
        table.counts[old], table.counts[new] = 0, 1
        table.free.append(old)
        entry.pages[0] = new
        entry.last = entry.pages[-1]
