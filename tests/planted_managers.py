"""Shipped prefix caches with planted faults: what the check of managers must find, by its rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from impl.page_table import NO_PAGE
from impl.prefix_cache import CachedRequest, Hit, PrefixCache
from impl.prefix_index import Prefix
from impl.shared_pages import SharedPages
from spec.manager import Traits
from spec.operations import Append, Commit, ManagerOperation, Outcome, Refused, Release
from verify.managers.target import ManagerSnapshot, ManagerView, Rows
from verify.targets.prefix import BYTES as WIDTH
from verify.targets.prefix import LAYERS, PrefixManager, page_groups


class Pages(SharedPages):
    """The pages of the shipped cache, for faults to override."""

    __slots__ = ()


class Cache(PrefixCache):
    """The shipped cache, for faults to override."""

    __slots__ = ()


class Planted(PrefixManager):
    """The shipped prefix cache over pages and a cache of these kinds."""

    pages: type[Pages] = Pages
    kind: type[Cache] = Cache

    def __init__(self, traits: Traits) -> None:
        super().__init__(traits)
        self.cache = self.kind(traits.pages, traits.page_size, page_groups(traits), LAYERS, WIDTH)
        self.cache.shared = self.pages(traits.pages, len(traits.groups))

    def clone(self) -> Self:
        """An independent copy with the same fault."""
        other = super().clone()
        other.cache.__class__ = self.kind
        other.cache.shared.__class__ = self.pages
        return other


class IgnoresIdleHits(Planted):
    """Counts the idle pages that an admission is served as available to its other rows."""

    class pages(Pages):  # noqa: N801
        __slots__ = ()

        def count_idle(self, pages: object) -> int:
            return 0


class HeadFirst(Planted):
    """Lets the head of a request go before its tail."""

    class pages(Pages):  # noqa: N801
        __slots__ = ()

        def let_go(self, pages: Sequence[int]) -> None:
            super().let_go(pages[::-1])


class IdleFirst(Planted):
    """Reuses idle pages while there are blank ones."""

    class pages(Pages):  # noqa: N801
        __slots__ = ()

        def _take(self) -> int:
            if self.idle:
                kept, self.blank = self.blank, self.blank[:0]
                page = super()._take()
                self.blank = kept
                return page
            return super()._take()


class NewestFirst(Planted):
    """Reuses the idle page that was let go last."""

    class pages(Pages):  # noqa: N801
        __slots__ = ()

        def _take(self) -> int:
            if not self.blank:
                self.idle.move_to_end(next(reversed(self.idle)), last=False)
            return super()._take()


class StaysPublished(Planted):
    """Leaves a reused page published under its old prefix."""

    class pages(Pages):  # noqa: N801
        __slots__ = ()

        def _take(self) -> int:
            if self.blank:
                return super()._take()
            page, _ = self.idle.popitem(last=False)
            self.counts[page] = 1
            return page


class WritesPublished(Planted):
    """Writes into a published page that one request holds."""

    class pages(Pages):  # noqa: N801
        __slots__ = ()

        def must_not_be_written(self, page: int) -> bool:
            return self.counts[page] > 1


class WritesShared(Planted):
    """Writes into a page that has another owner."""

    class pages(Pages):  # noqa: N801
        __slots__ = ()

        def must_not_be_written(self, page: int) -> bool:
            return page in self.index


class LosesAnOwner(Planted):
    """Counts a hit of a live page for no owner."""

    class pages(Pages):  # noqa: N801
        __slots__ = ()

        def hold(self, pages: Any) -> None:
            super().hold(page for page in pages if page == NO_PAGE or not self.counts[page])


class ServesEverything(Planted):
    """Serves an admission all its tokens when they are published, and leaves none to compute."""

    class kind(Cache):  # noqa: N801
        __slots__ = ()

        def _longest_hit(self, tokens: Sequence[int]) -> Hit:
            return super()._longest_hit([*tokens, tokens[-1]])


class AsksOneGroup(Planted):
    """Serves what the first group finds, whatever the others lack."""

    class kind(Cache):  # noqa: N801
        __slots__ = ()

        def _longest_hit(self, tokens: Sequence[int]) -> Hit:
            whole, sinks = self.groups, self._sink_pages
            hit = super()._longest_hit(tokens)
            self.groups, self._sink_pages = whole[:1], sinks[:1]
            alone = super()._longest_hit(tokens)
            self.groups, self._sink_pages = whole, sinks
            if len(alone.prefixes) <= len(hit.prefixes):
                return hit
            held = [self._held_from(group, len(alone.prefixes) * self.page_size) for group in range(len(whole))]
            tables = [alone.tables[0][:] for _ in whole]
            for table, first in zip(tables[1:], held[1:], strict=True):
                table[:first] = [NO_PAGE] * len(table[:first])
            return Hit(alone.prefixes, tables, held)


class KeysOfThePage(Planted):
    """Publishes and looks up a page under its own tokens instead of the whole prefix."""

    class kind(Cache):  # noqa: N801
        __slots__ = ()

        def _publish(self, entry: CachedRequest, rows: int) -> None:
            size, index = self.page_size, self.shared.index
            for logical in range(len(entry.prefixes), rows // size):
                entry.prefixes.append(Prefix(None, tuple(entry.tokens[logical * size : (logical + 1) * size])))
                for group, table in enumerate(entry.tables):
                    index.publish(group, table[logical], entry.prefixes[-1])


class KeepsOneCopy(Planted):
    """Publishes a page only when no other is published under its prefix."""

    class kind(Cache):  # noqa: N801
        __slots__ = ()

        def _publish(self, entry: CachedRequest, rows: int) -> None:
            index = self.shared.index
            before = {page: (group, prefix) for page, group, prefix in index}
            keys = list(before.values())
            super()._publish(entry, rows)
            for page, group, prefix in list(index):
                if page not in before and (group, prefix) in keys:
                    index.forget(page)


class PublishesTooEarly(Planted):
    """Publishes the pages of an append when they are reserved, before they are written."""

    def apply(self, operation: ManagerOperation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(operation, Append) and not isinstance(outcome, Refused):
            entry = self.cache.requests[operation.request]
            self.cache._publish(entry, len(entry.tokens))
        return outcome


class TrimsTooFar(Planted):
    """Lets a window's page go one row too early."""

    class kind(Cache):  # noqa: N801
        __slots__ = ()

        def _held_from(self, group: int, position: int) -> int:
            return super()._held_from(group, position + 1)


class LeaksOnRelease(Planted):
    """Loses the last page of a request that is released, unless it is published."""

    def apply(self, operation: ManagerOperation) -> Outcome:
        before = len(self.cache.shared.blank)
        outcome = super().apply(operation)
        if isinstance(operation, Release) and len(self.cache.shared.blank) > before:
            self.cache.shared.blank.pop()
        return outcome


class ChangesOnRefusal(Planted):
    """Forgets the oldest idle page when an append is refused."""

    def apply(self, operation: ManagerOperation) -> Outcome:
        outcome = super().apply(operation)
        shared = self.cache.shared
        if isinstance(operation, Append) and isinstance(outcome, Refused) and shared.idle:
            page, _ = shared.idle.popitem(last=False)
            shared.index.forget(page)
            shared.blank.append(page)
        return outcome


class WritesTwice(Planted):
    """A commit writes its first new row again over the row before it."""

    class kind(Cache):  # noqa: N801
        __slots__ = ()

        def _write(self, entry: CachedRequest, rows: npt.NDArray[np.int8]) -> None:
            super()._write(entry, rows)
            if entry.written % self.page_size:
                for table in entry.tables:
                    page, slot = table[entry.written // self.page_size], entry.written % self.page_size
                    self.pool.kv[:, page, :, slot - 1] = self.pool.kv[:, page, :, slot]


class RaisesOnNoTokens(Planted):
    """Raises a ValueError for an append of nothing."""

    def apply(self, operation: ManagerOperation) -> Outcome:
        if isinstance(operation, Append) and not operation.tokens:
            raise ValueError("nothing to append")
        return super().apply(operation)


class CommitsLess(Planted):
    """Drops the last reserved row of a commit from the request."""

    def apply(self, operation: ManagerOperation) -> Outcome:
        outcome = super().apply(operation)
        entry = self.cache.requests.get(operation.request)
        if isinstance(operation, Commit) and entry and len(entry.tokens) % self.cache.page_size > 1:
            entry.tokens.pop()
            entry.written = len(entry.tokens)
        return outcome


class HidesRequest(Planted):
    """Does not show a request that was released while others live, and shows one of no rows instead."""

    released: int | None = None

    def apply(self, operation: ManagerOperation) -> Outcome:
        outcome = super().apply(operation)
        if isinstance(operation, Release) and not isinstance(outcome, Refused):
            self.released = operation.request
        return outcome

    def observe(self) -> ManagerSnapshot:
        shown = super().observe()
        if self.released is None or self.released in shown.requests:
            return shown
        nothing: Rows = ()
        views = {**shown.requests, self.released: ManagerView(0, ((),) * len(self.traits.groups), (nothing,))}
        return ManagerSnapshot(views, shown.counts, shown.free, shown.available, shown.published)


@dataclass(frozen=True, slots=True)
class Fault:
    """A planted fault, and a rule that names it."""

    target: type[Planted]
    rule: str


FAULTS = (
    Fault(IgnoresIdleHits, "OutOfPages"),
    Fault(HeadFirst, "PRE-EVICT"),
    Fault(IdleFirst, "PRE-EVICT"),
    Fault(NewestFirst, "PRE-EVICT"),
    Fault(StaysPublished, "PRE-PUBLISH"),
    Fault(WritesPublished, "PRE-EVICT"),
    Fault(WritesShared, "PT-SHARE"),
    Fault(LosesAnOwner, "PT-OWN"),
    Fault(ServesEverything, "PRE-HIT"),
    Fault(AsksOneGroup, "PRE-HIT"),
    Fault(KeysOfThePage, "PRE-KEY"),
    Fault(KeepsOneCopy, "PRE-PUBLISH"),
    Fault(PublishesTooEarly, "PRE-PUBLISH"),
    Fault(TrimsTooFar, "PT-HOLE"),
    Fault(LeaksOnRelease, "PT-LEAK"),
    Fault(ChangesOnRefusal, "PT-REFUSE"),
    Fault(WritesTwice, "PT-ROWS"),
    Fault(RaisesOnNoTokens, "PT-TOTAL"),
    Fault(CommitsLess, "PT-LEN"),
    Fault(HidesRequest, "PT-LIVE"),
)
