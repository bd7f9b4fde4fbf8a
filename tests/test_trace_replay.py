"""The replay of traces: its figures by hand, and the planted faults that it must find, each at the operation that broke."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.kv_cache import KVCache
from impl.page_table import Copy, OutOfPages, PageTable
from impl.schedule import ScheduleOptions
from impl.traces import TraceRequest
from spec.operations import Append, Fork, Operation, Outcome, Reason, Refused
from verify.targets.shipped_incremental import ShippedIncremental
from verify.traces.replay import ReplayOptions, TraceResult, replay_trace
from verify.traces.tokens import Tokens
from verify.traces.witness import broken

Factory = Callable[[int, int], ShippedIncremental]

SHARING = (
    TraceRequest(0, 520, 3, (1, 2)),
    TraceRequest(60, 530, 2, (1, 3)),
    TraceRequest(400, 520, 2, (1, 2)),
)
"""Pages of 16 rows. Request 0 has 33 pages, the last one half full. Request 1 shares 32 of them while 0 decodes, and adds 2.
Request 2 comes when both are held and shares all 33 of request 0; its first row copies the last page.
"""

WINDOWED = (TraceRequest(0, 40, 30), TraceRequest(10, 5, 20))
TIGHT = (TraceRequest(0, 40, 30), TraceRequest(10, 40, 20), TraceRequest(20, 20, 3))


def replayed(
    requests: tuple[TraceRequest, ...] = SHARING,
    factory: Factory = ShippedIncremental,
    pages: int | None = None,
    whole_every: int = 1000,
    **schedule: Any,
) -> TraceResult:
    return replay_trace(
        requests, ReplayOptions(ScheduleOptions(**schedule), pages=pages, whole_every=whole_every), factory
    )


def test_the_figures_of_a_replay_are_those_of_the_trace() -> None:
    result = replayed()
    assert (result.verdict, result.note, result.differences, result.witness) == ("pass", "", (), None)
    assert result.figures.rows == 523 + 20 + 2
    assert (result.figures.forks, result.figures.forked_rows) == (2, 512 + 520)
    assert result.pages_now == result.pages_peak == 33 + 2 + 1, "everything is held; one page was copied"
    assert (result.shared_now, result.shared_peak) == (32, 33)
    assert result.checks == 2 + 3 + 2 + 2 + 1 + 2 + 3, "the last three end what is held"
    assert result.whole_checks == 2
    assert result.rows_compared > 3 * 520


@pytest.mark.parametrize("whole_every", [1, 7, 1000])
@pytest.mark.parametrize("abort_every", [0, 2])
@pytest.mark.parametrize(("requests", "pages", "window"), [(SHARING, 40, None), (WINDOWED, 7, 9), (TIGHT, 6, None)])
def test_the_shipped_cache_passes(
    requests: tuple[TraceRequest, ...], pages: int, window: int | None, abort_every: int, whole_every: int
) -> None:
    result = replayed(requests, pages=pages, whole_every=whole_every, window=window, abort_every=abort_every)
    assert result.verdict == "pass"
    assert result.pages_peak <= pages
    assert result.whole_checks == result.checks // whole_every + 2


def test_replays_of_one_trace_are_alike() -> None:
    first, second = (replace(replayed(TIGHT, pages=6), seconds=0) for _ in range(2))
    assert first == second
    assert first.figures.refused > 0


def test_a_pool_without_a_size_is_large_enough_and_says_so() -> None:
    result = replayed(TIGHT)
    assert (result.limited, result.figures.refused) == (False, 0)
    assert result.pages_peak <= result.pool_pages <= 2 * result.pages_peak


def test_both_formats_are_replayed_from_a_path(tmp_path: Path) -> None:
    azure, mooncake = tmp_path / "azure", tmp_path / "mooncake"
    azure.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,374,44\n")
    mooncake.write_text('{"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [0, 1]}\n' * 2)
    assert replay_trace(azure, ReplayOptions(), ShippedIncremental).figures.rows == 374 + 44
    shared = replay_trace(mooncake, ReplayOptions(requests=2), ShippedIncremental)
    assert shared.figures.rows == 700 + 5 + 5
    assert replay_trace(mooncake, ReplayOptions(requests=1), ShippedIncremental).requests == 1


def test_a_trace_without_requests_is_no_pass() -> None:
    result = replayed(())
    assert (result.verdict, result.note, result.checks) == ("unknown", "no request, nothing checked", 0)


def test_an_interrupt_ends_with_what_was_checked_so_far() -> None:
    class Interrupted(ShippedIncremental):
        def apply(self, operation: Operation) -> Outcome:
            if isinstance(operation, Fork):
                raise KeyboardInterrupt
            return super().apply(operation)

    result = replayed(factory=Interrupted)
    assert (result.verdict, result.interrupted, result.checks) == ("unknown", True, 3)
    assert result.note == "interrupted after 3 operations"


def test_progress_is_told_at_the_start_and_at_the_end() -> None:
    told: list[tuple[int, int, int]] = []
    result = replay_trace(SHARING, ReplayOptions(), ShippedIncremental, lambda *now: told.append(now))
    assert told[0] == (0, 3, 0)
    assert told[-1] == (3, 3, result.checks)


@pytest.mark.parametrize(("pages", "whole_every"), [(0, 1), (5, 0)])
def test_sizes_out_of_range_are_refused(pages: int, whole_every: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        replayed(pages=pages, whole_every=whole_every)


class UncountedFork(PageTable):
    def fork(self, source: int, request: int, at: int | None = None) -> None:
        super().fork(source, request, at)
        self.counts[self.block_table(request)[0]] -= 1


class Leaking(PageTable):
    def _drop(self, page: int) -> None:
        self.counts[page] -= 1


class FreesWhileShared(PageTable):
    def _drop(self, page: int) -> None:
        self.counts[page] -= 1
        self.free.append(page)


class FreesTwice(PageTable):
    def _drop(self, page: int) -> None:
        super()._drop(page)
        if self.counts[page] == 0:
            self.free.append(page)


class NoCopy(PageTable):
    def append(self, request: int, k: int = 1) -> Copy | None:
        counts = self.counts
        self.counts = [min(count, 1) for count in counts]
        try:
            return super().append(request, k)
        finally:
            self.counts = [max(pair) for pair in zip(counts, self.counts, strict=True)]


class CopyKeepsReference(PageTable):
    def _copy_last_page(self, table: Any) -> Copy:
        copy = super()._copy_last_page(table)
        self.counts[copy.source] += 1
        return copy


class ForgetsTrim(PageTable):
    def trim(self, request: int, keep_from: int) -> None:
        self.length(request)


class TrimsTooMuch(PageTable):
    def trim(self, request: int, keep_from: int) -> None:
        super().trim(request, min(self.length(request), keep_from + self.page_size))


class ForgetsRelease(PageTable):
    def release(self, request: int) -> None:
        self.truncate(request, 0)


class TakesBeforeRefusing(PageTable):
    def append(self, request: int, k: int = 1) -> Copy | None:
        try:
            return super().append(request, k)
        except OutOfPages:
            self.free.pop()
            raise


class RefusesWithAnotherName(PageTable):
    def append(self, request: int, k: int = 1) -> Copy | None:
        try:
            return super().append(request, k)
        except OutOfPages:
            raise LookupError("full") from None


class RefusesEarly(PageTable):
    def append(self, request: int, k: int = 1) -> Copy | None:
        if len(self.free) == 1:
            raise OutOfPages("one page is kept")
        return super().append(request, k)


class ForgetsARow(PageTable):
    def append(self, request: int, k: int = 1) -> Copy | None:
        return super().append(request, k - (k == 40))


def last_slot(table: PageTable, request: int) -> tuple[int, int]:
    """Page and offset of the last row."""
    return table.block_table(request)[-1], (table.length(request) - 1) % table.page_size


class CopiesNothing(KVCache):
    def append_row(self, request: int, row: npt.NDArray[Any]) -> None:
        copy = self.table.append(request)
        assert copy is None or copy.source != copy.destination
        self.pool.slots[last_slot(self.table, request)] = row


class WritesNoValue(KVCache):
    def append_row(self, request: int, row: npt.NDArray[Any]) -> None:
        super().append_row(request, np.concatenate((row[:, :1], row[:, :1]), axis=1))


class WritesOneRowTooFar(KVCache):
    def append_row(self, request: int, row: npt.NDArray[Any]) -> None:
        super().append_row(request, row)
        page, offset = last_slot(self.table, request)
        self.pool.slots[page, (offset - 1) % self.pool.page_size] = row


class MovesAPage(KVCache):
    """Moves the first page of an appending request to a free one, rows and count with it."""

    def append_row(self, request: int, row: npt.NDArray[Any]) -> None:
        super().append_row(request, row)
        table = self.table
        entry = table.tables[request]
        pages, page = entry.pages, table.free[-1]
        self.pool.copy_page(pages[0], page)
        table.counts[page], table.counts[pages[0]] = table.counts[pages[0]], 0
        table.free[-1], pages[0] = pages[0], page
        entry.last = pages[-1]


def with_table(kind: type[PageTable]) -> Factory:
    def factory(pages: int, page_size: int) -> ShippedIncremental:
        target = ShippedIncremental(pages, page_size)
        target.cache.table = kind(pages, page_size)
        return target

    return factory


def with_cache(kind: type[KVCache]) -> Factory:
    def factory(pages: int, page_size: int) -> ShippedIncremental:
        target = ShippedIncremental(pages, page_size)
        target.cache = kind(pages, page_size, layers=1, width=1, dtype=np.int32)
        return target

    return factory


@pytest.mark.parametrize(
    ("factory", "requests", "options", "number", "kind", "rules"),
    [
        (with_table(UncountedFork), SHARING, {}, 4, "fork", {"PT-OWN"}),
        (with_table(FreesWhileShared), SHARING, {"hold": 0}, 9, "release", {"PT-FREE", "PT-PAGES"}),
        (with_table(Leaking), WINDOWED, {"window": 9}, 3, "trim", {"PT-LEAK", "PT-PAGES"}),
        (with_table(FreesTwice), WINDOWED, {"window": 9}, 3, "trim", {"PT-FREE", "PT-PAGES"}),
        (with_table(NoCopy), SHARING, {}, 11, "append", {"PT-SHARE", "PT-PAGES", "PT-ROWS"}),
        (with_table(CopyKeepsReference), SHARING, {}, 11, "append", {"PT-OWN"}),
        (with_cache(CopiesNothing), SHARING, {}, 11, "append", {"PT-ROWS"}),
        (with_table(ForgetsTrim), WINDOWED, {"window": 9}, 3, "trim", {"PT-HOLE", "PT-PAGES", "PT-ROWS"}),
        (with_table(TrimsTooMuch), WINDOWED, {"window": 9}, 36, "trim", {"PT-HOLE", "PT-PAGES", "PT-ROWS"}),
        (with_table(ForgetsRelease), SHARING, {"hold": 0}, 9, "release", {"PT-LIVE"}),
        (with_table(TakesBeforeRefusing), TIGHT, {"pages": 7}, 6, "append", {"PT-REFUSE"}),
        (with_table(RefusesWithAnotherName), TIGHT, {"pages": 7}, 6, "append", {"PT-TOTAL", "OutOfPages"}),
        (with_table(RefusesEarly), TIGHT, {"pages": 7}, 8, "append", {"OutOfPages", "PT-LEN", "PT-ROWS"}),
        (with_table(ForgetsARow), TIGHT, {}, 2, "append", {"PT-TOTAL", "PT-LEN", "PT-ROWS"}),
        (with_cache(WritesNoValue), SHARING, {}, 3, "append", {"PT-ROWS"}),
        (with_cache(WritesOneRowTooFar), SHARING, {}, 3, "append", {"PT-ROWS"}),
        (with_cache(MovesAPage), WINDOWED, {}, 5, "append", {"PT-INPLACE"}),
    ],
)
def test_a_fault_is_found_at_its_operation_and_again_from_its_witness(
    factory: Factory,
    requests: tuple[TraceRequest, ...],
    options: dict[str, Any],
    number: int,
    kind: str,
    rules: set[str],
) -> None:
    result = replayed(requests, factory, **options)
    assert {difference.rule for difference in result.differences} == rules
    assert result.verdict == "fail"
    assert result.note.startswith(f"broken by operation {number}, {kind}(")
    assert result.witness is not None
    assert set(result.witness.rules) == rules
    assert len(result.witness.operations) <= result.checks == number
    assert rules & broken(result.witness.operations, result.witness.pages, result.witness.page_size, factory)


class DamagesAnother(ShippedIncremental):
    """An append changes a row of the oldest other request."""

    def apply(self, operation: Operation) -> Outcome:
        outcome = super().apply(operation)
        table = self.cache.table
        others = [request for request in table.requests() if request != operation.request]
        if isinstance(operation, Append) and others:
            self.cache.pool.kv[:, table.block_table(others[0])[0]] += 1
        return outcome


class SpoilsTheBottom(ShippedIncremental):
    """The bottom of the free list is another free page: one is there twice, one not at all."""

    def apply(self, operation: Operation) -> Outcome:
        free = self.cache.table.free
        free[0] = free[1]
        return super().apply(operation)


@pytest.mark.parametrize(
    ("factory", "whole_every", "number", "rules"),
    [
        (DamagesAnother, 1, 4, {"PT-ROWS"}),
        (DamagesAnother, 1000, 5, {"PT-ROWS"}),
        (SpoilsTheBottom, 1, 1, {"PT-FREE", "PT-LEAK"}),
        (SpoilsTheBottom, 7, 7, {"PT-FREE", "PT-LEAK"}),
    ],
)
def test_a_fault_elsewhere_is_found_by_the_next_check_of_the_whole_state(
    factory: Factory, whole_every: int, number: int, rules: set[str]
) -> None:
    """Request 0 is touched again by operation 5, which reads all its rows; the free list far from its top never is."""
    result = replayed(WINDOWED, factory, pages=9, whole_every=whole_every)
    assert ({difference.rule for difference in result.differences}, result.checks) == (rules, number)


def test_a_long_difference_is_cut() -> None:
    result = replayed(SHARING, with_cache(CopiesNothing))
    assert all(len(difference.oracle) < 250 and len(difference.target) < 250 for difference in result.differences)


def test_the_witness_leaves_out_requests_that_had_no_part() -> None:
    """Request 1 neither lent its rows nor shares pages with the one that breaks."""
    requests = (TraceRequest(0, 520, 3, (1, 2)), TraceRequest(60, 40, 2), TraceRequest(400, 520, 2, (1, 2)))
    result = replayed(requests, with_cache(CopiesNothing))
    assert result.witness is not None
    assert {operation.request for operation in result.witness.operations} == {0, 2}
    assert result.witness.pages == 34


def test_more_shortage_than_the_oracle_knows_never_hangs_the_replay() -> None:
    """The oracle answers the schedule, so a target that refuses everything ends the replay at once."""

    class RefusesAll(ShippedIncremental):
        def apply(self, operation: Operation) -> Outcome:
            return Refused(Reason.OUT_OF_PAGES)

    result = replayed(factory=RefusesAll)
    assert (result.verdict, result.checks) == ("fail", 1)
    assert {difference.rule for difference in result.differences} == {"OutOfPages", "PT-LIVE"}


TOKENS = st.lists(st.integers(-3, 9), max_size=8).map(tuple)


@given(TOKENS, TOKENS, st.integers(-9, 9), st.integers(-9, 9))
def test_tokens_are_a_tuple_to_the_oracle(first: tuple[int, ...], second: tuple[int, ...], lo: int, hi: int) -> None:
    tokens = Tokens.of(first)
    assert tokens == first
    assert (len(tokens), tuple(tokens), hash(tokens)) == (len(first), first, hash(first))
    assert tokens + second == tokens + Tokens.of(second) == first + second
    assert first + Tokens.of(second) == first + second
    assert tokens[lo:hi] == first[lo:hi]
    assert np.asarray(tokens, np.int64).tolist() == list(first)
    assert (tokens == second) == (Tokens.of(second) == first) == (first == second)
