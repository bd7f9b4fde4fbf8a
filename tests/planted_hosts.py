"""Hosts, stores and decoders with one planted fault each: what the host's checks must find, by the right rule."""

from contextlib import suppress
from typing import Any

import numpy as np

from impl.decoder import Context, IntegerDecoder, Rows, Step
from impl.host import Host, StepRecord
from impl.kv_cache import KVCache
from impl.page_table import OutOfPages, PageTableError, RowsReleased
from impl.row_store import PagedStore, PlainStore
from impl.window import context
from tests.planted import move_first_page
from verify.host.lockstep import Parts

Ranges = tuple[tuple[int, int], ...]


class GathersOneRowLate(PagedStore):
    def gather(self, request: int, ranges: Ranges) -> Context:
        keys, values = super().gather(request, ranges)
        return Context(keys[1:], values[1:])


class GathersOneRowTooMany(PagedStore):
    def gather(self, request: int, ranges: Ranges) -> Context:
        if len(ranges) == 1 and ranges[0][0] > self.released(request)[1]:
            ranges = ((ranges[0][0] - 1, ranges[0][1]),)
        return super().gather(request, ranges)


class GathersValuesAsKeys(PagedStore):
    def gather(self, request: int, ranges: Ranges) -> Context:
        values = super().gather(request, ranges).values
        return Context(values, values)


class GathersBackwards(PagedStore):
    def gather(self, request: int, ranges: Ranges) -> Context:
        keys, values = super().gather(request, ranges)
        return Context(keys[::-1], values[::-1])


class GathersSinksAlone(PagedStore):
    def gather(self, request: int, ranges: Ranges) -> Context:
        return super().gather(request, ranges[:1])


class PlainGathersBackwards(PlainStore):
    def gather(self, request: int, ranges: Ranges) -> Context:
        keys, values = super().gather(request, ranges)
        return Context(keys[::-1], values[::-1])


class WritesKeysAsValues(PagedStore):
    def append(self, request: int, rows: Rows) -> None:
        super().append(request, rows[[0, 0]])


class NeverTrims(PagedStore):
    def trim(self, request: int, keep_from: int) -> None:
        pass


class TrimsOneTokenLate(PagedStore):
    def trim(self, request: int, keep_from: int) -> None:
        super().trim(request, max(0, keep_from - 1))


class TrimsAPageTooMuch(PagedStore):
    def trim(self, request: int, keep_from: int) -> None:
        super().trim(request, min(self.cache.table.length(request), keep_from + self.page_size))


class ForgetsPages(PagedStore):
    def release(self, request: int) -> None:
        self.cache.table.tables[request].pages = self.cache.table.tables[request].pages[:0]
        super().release(request)


class TakesAPageBeforeRefusing(PagedStore):
    def append(self, request: int, rows: Rows) -> None:
        try:
            super().append(request, rows)
        except OutOfPages:
            self.cache.pool.kv[0, 0, 0, 0, 0] ^= 1
            raise


class MovesAPage(PagedStore):
    """After every append the request's first page is another one."""

    def append(self, request: int, rows: Rows) -> None:
        super().append(request, rows)
        move_first_page(self.cache, request)


class TellsAShorterHole(PagedStore):
    """Says that one row fewer is released than is."""

    def released(self, request: int) -> tuple[int, int]:
        first, stop = super().released(request)
        return first, max(first, stop - 1)


class ReadsAFreePage(PagedStore):
    """A key depends on a byte that no request owns; in a fresh pool, and until that page is used, it is zero."""

    def gather(self, request: int, ranges: Ranges) -> Context:
        keys, values = super().gather(request, ranges)
        free = self.cache.table.free
        if len(keys) and free and not any(self.cache.table.counts[page] for page in free):
            keys = keys.copy()
            keys[0, 0] ^= self.cache.pool.kv[0, free[0], 0, -1, 0]
        return Context(keys, values)


class StillReadsTheRowBeforeTheWindow(PagedStore):
    """The row before the window, while its page is held, changes a key as far as its bytes are no token's."""

    def gather(self, request: int, ranges: Ranges) -> Context:
        keys, values = super().gather(request, ranges)
        if ranges and ranges[0][0] > self.released(request)[1]:
            row = super().gather(request, ((ranges[0][0] - 1, ranges[0][0]),))
            if np.array_equal(row.keys, row.values):
                keys = keys ^ row.keys
        return Context(keys, values)


class MiscountsTheContext(Host):
    def step(self, request: int) -> StepRecord:
        record = super().step(request)
        return record._replace(context=record.context + 1)


class CountsTheContextThatIsDue(Host):
    """Tells the context of the window rule, whatever the decoder was handed."""

    def _append(self, request: int, session: Any, fed: Any) -> tuple[Step, int]:
        step, _ = super()._append(request, session, fed)
        return step, context(session.rows, session.window)


class MiscountsThePages(Host):
    def step(self, request: int) -> StepRecord:
        record = super().step(request)
        return record._replace(pages_appended=record.pages_appended + 1)


class ForgetsThePeak(Host):
    def step(self, request: int) -> StepRecord:
        record = super().step(request)
        self.peak_pages = 0
        return record


class ChangesTheOutput(Host):
    def step(self, request: int) -> StepRecord:
        record = super().step(request)
        session = self._sessions[request]
        if session.rows + 1 == len(session.tokens) and session.rows >= session.prompt:
            session.tokens[-1] = (session.tokens[-1] + 1) % 16
        return record


class FeedsOneTokenOfAChunk(Host):
    def step(self, request: int) -> StepRecord:
        session = self._sessions.get(request)
        if session is None:
            return super().step(request)
        chunk, session.chunk = session.chunk, 1
        try:
            return super().step(request)
        finally:
            session.chunk = chunk


class DecodesTheLastTokenTwice(Host):
    def _context(self, request: int, session: Any, decoded: Rows) -> Context:
        self.handed = super()._context(request, session, decoded)
        return self.handed

    def step(self, request: int) -> StepRecord:
        record = super().step(request)
        self.decoder.step(record.fed[-1], self.handed)
        return record


class TellsAnotherToken(Host):
    def step(self, request: int) -> StepRecord:
        record = super().step(request)
        return record._replace(token=(record.token + 1) % 16)


class TellsNothing(Host):
    def step(self, request: int) -> StepRecord:
        super().step(request)
        return None  # type: ignore[return-value]


class ReportsTheStepBefore(Host):
    def step(self, request: int) -> StepRecord:
        record = super().step(request)
        return record._replace(step=record.step - 1)


class KeepsWhatARefusedStepFed(Host):
    def step(self, request: int) -> StepRecord:
        try:
            return super().step(request)
        except OutOfPages:
            self._sessions[request].tokens.append(0)
            raise


class DisturbsAnotherWhenRefused(Host):
    def step(self, request: int) -> StepRecord:
        try:
            return super().step(request)
        except OutOfPages:
            other = next(live for live in self._sessions if live != request)
            super().step(other)
            raise


class StartsWhatItDoesNotAdmit(Host):
    def admit(self, request: int, *options: Any, **more: Any) -> None:
        try:
            super().admit(request, *options, **more)
        except PageTableError as error:
            if type(error).__name__ == "NotAdmitted":
                self.store.new(request, 0)
            raise


class AdmitsAnything(Host):
    def _check_room(self, most_pages: int) -> None:
        pass


class AdmitsToAnEmptyPoolAlone(Host):
    def _check_room(self, most_pages: int) -> None:
        super()._check_room(most_pages)
        if self.store.pages is not None and self._sessions:
            super()._check_room(self.store.pages)


class CutsWhereRowsAreGone(Host):
    def _check_cut(self, request: int, session: Any, rows: int, token: int | None) -> None:
        with suppress(RowsReleased):
            super()._check_cut(request, session, rows, token)


class RefusesEveryCut(Host):
    def _check_cut(self, request: int, session: Any, rows: int, token: int | None) -> None:
        super()._check_cut(request, session, rows, token)
        if rows < session.rows:
            raise RowsReleased("no request is ever cut")


class KeepsTokensOfARollback(Host):
    def rollback(self, request: int, rows: int, token: int | None = None) -> None:
        tokens = self.tokens(request) if request in self.requests() else ()
        super().rollback(request, rows, token)
        self._sessions[request].tokens = [*tokens]


class TruncatesBeforeRefusing(Host):
    def rollback(self, request: int, rows: int, token: int | None = None) -> None:
        try:
            super().rollback(request, rows, token)
        except RowsReleased:
            self.store.truncate(request, self.rows(request) - 1)
            raise


class NeverPads(Host):
    def _pad(self, request: int, session: Any) -> None:
        pass


class PadsAWholePage(Host):
    def _pad(self, request: int, session: Any) -> None:
        for _ in range(self.store.page_size):
            rows = session.rows
            self._append(request, session, [self.pad_token])
            session.tokens[rows:rows] = [self.pad_token]
            self._trim(request, session)


class PadsWithTheNextToken(Host):
    def _pad(self, request: int, session: Any) -> None:
        self.pad_token = session.tokens[session.rows]
        super()._pad(request, session)


class DecodesAPadTooMany(Host):
    def _pad(self, request: int, session: Any) -> None:
        super()._pad(request, session)
        none = np.empty((0, self.decoder.width), np.int8)
        self.decoder.step(self.pad_token, Context(none, none))


class TellsOtherPads(Host):
    def _pad(self, request: int, session: Any) -> None:
        rows = session.rows
        super()._pad(request, session)
        session.tokens[rows : session.rows] = [self.pad_token - 1] * (session.rows - rows)


class HidesItsTokens(Host):
    def tokens(self, request: int) -> tuple[int, ...]:
        raise KeyError(request)


class HidesAPlainRequest(Host):
    """Over plain lists it does not tell the request that came first."""

    def requests(self) -> tuple[int, ...]:
        shown = super().requests()
        return shown[1:] if isinstance(self.store, PlainStore) else shown


class Raises(Host):
    def rollback(self, request: int, rows: int, token: int | None = None) -> None:
        if rows > self.rows(request):
            raise IndexError("list index out of range")
        super().rollback(request, rows, token)


class WrongLogits(IntegerDecoder):
    __slots__ = ()

    def step(self, token: int, context: Context) -> Step:
        step = super().step(token, context)
        return step._replace(logits=step.logits + np.int32(len(context.keys) == 3))


class AppendsInTwoParts(PagedStore):
    """Not all or none: what fits is kept."""

    def append(self, request: int, rows: Rows) -> None:
        for index in range(rows.shape[1]):
            super().append(request, rows[:, index : index + 1])


def with_store(kind: type[PagedStore]) -> Parts:
    """The shipped host over such pages."""
    return Parts(paged=lambda pages, size, width: kind(KVCache(pages, size, layers=1, width=width)))


def with_host(kind: type[Host]) -> Parts:
    """Such a host over the shipped stores."""
    return Parts(host=kind)
