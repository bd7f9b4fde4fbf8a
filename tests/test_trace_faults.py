"""Planted faults for what the check of traces keeps from one operation to the next, and for its check of the whole state.

Expected rows are encoded once and ahead, a request that the oracle left alone is not looked up again, the counts of many pages
come in slices, and a whole state is compared by arrays: each fault here would pass if one of these hid what it is about.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from impl.kv_cache import KVCache
from impl.page_table import PageTable
from impl.traces import TraceRequest
from spec.operations import Append, Fork, New, Operation, Outcome, Release, Truncate
from tests.test_trace_replay import SHARING, WINDOWED, Factory, last_slot, replayed, with_cache, with_table
from verify.target import Snapshot
from verify.targets.shipped_incremental import ShippedIncremental
from verify.traces.incremental_target import WholeGlimpse
from verify.traces.witness import broken

Row = npt.NDArray[Any]

ALONE = (TraceRequest(0, 520, 4),)
"""33 pages of 16 rows; operations 3 .. 6 append rows 520 .. 523 and take no page."""


class RewritesItsFirstRow(KVCache):
    def append_row(self, request: int, row: Row) -> None:
        super().append_row(request, row)
        if self.table.length(request) == 523:
            self.pool.slots[self.table.block_table(request)[0], 0] = row


class WritesTheNextToken(KVCache):
    """What the row after this one must read as is known to the check by then."""

    def append_row(self, request: int, row: Row) -> None:
        super().append_row(request, row + np.array([1, -1], row.dtype)[:, None])


class MiscountsAPage(KVCache):
    def append_row(self, request: int, row: Row) -> None:
        super().append_row(request, row)
        pages = self.table.block_table(request)
        if self.table.length(request) % 16 == 11:
            self.table.counts[pages[len(pages) // 2]] += 1


class LosesACount(KVCache):
    def append_row(self, request: int, row: Row) -> None:
        super().append_row(request, row)
        if self.table.length(request) == 523:
            self.table.counts.pop()


class IdleTrim(KVCache):
    """Spoils a trimmed request by a trim that has no page to release: the oracle's stays the very same object."""

    def trim(self, request: int, keep_from: int) -> None:
        dropped = self.table.dropped(request)
        super().trim(request, keep_from)
        if dropped and self.table.dropped(request) == dropped:
            self.spoil(request)

    def spoil(self, request: int) -> None:
        raise NotImplementedError


class TrimSpoilsARow(IdleTrim):
    def spoil(self, request: int) -> None:
        self.pool.slots[last_slot(self.table, request)] += 1


class TrimShortens(IdleTrim):
    def spoil(self, request: int) -> None:
        self.table.tables[request].length -= 1


class TrimForgetsThatItTrimmed(IdleTrim):
    def spoil(self, request: int) -> None:
        self.table.tables[request].dropped -= 1


@pytest.mark.parametrize(
    ("factory", "requests", "options", "number", "kind", "rules"),
    [
        (with_cache(RewritesItsFirstRow), ALONE, {}, 5, "append", {"PT-ROWS"}),
        (with_cache(RewritesItsFirstRow), SHARING, {}, 8, "append", {"PT-ROWS"}),
        (with_cache(WritesTheNextToken), ALONE, {}, 3, "append", {"PT-ROWS"}),
        (with_cache(MiscountsAPage), ALONE, {}, 5, "append", {"PT-OWN"}),
        (with_cache(MiscountsAPage), WINDOWED, {}, 9, "append", {"PT-OWN"}),
        (with_cache(LosesACount), ALONE, {"pages": 40}, 5, "append", {"PT-FREE", "PT-OWN"}),
        (with_cache(TrimSpoilsARow), WINDOWED, {"window": 9}, 8, "trim", {"PT-ROWS"}),
        (with_cache(TrimShortens), WINDOWED, {"window": 9}, 8, "trim", {"PT-LEN", "PT-ROWS"}),
        (with_cache(TrimForgetsThatItTrimmed), WINDOWED, {"window": 9}, 8, "trim", {"PT-HOLE", "PT-ROWS"}),
    ],
)
def test_what_is_kept_between_operations_hides_no_fault(
    factory: Factory,
    requests: tuple[TraceRequest, ...],
    options: dict[str, Any],
    number: int,
    kind: str,
    rules: set[str],
) -> None:
    result = replayed(requests, factory, **options)
    assert {difference.rule for difference in result.differences} == rules
    assert result.note.startswith(f"broken by operation {number}, {kind}(")
    assert result.witness is not None


class WritesOnlyOnce(KVCache):
    """Rows of a request whose name or place was in use before are not written."""

    def append_row(self, request: int, row: Row) -> None:
        self.append(request, row[:, :, None])

    def append(self, request: int, rows: Row) -> None:
        before = self.pool.kv.copy()
        super().append(request, rows)
        written = before != 0
        self.pool.kv[written] = before[written]


class GoesOn(KVCache):
    """The next token instead of the one that is appended."""

    def append_row(self, request: int, row: Row) -> None:
        page, offset = last_slot(self.table, request)
        super().append_row(request, self.pool.slots[page, offset] + np.array([1, -1], row.dtype)[:, None])


CUT = [New(0), Append(0, (1, 2, 3, 4, 5)), Truncate(0, 3), Append(0, (9,))]
NAMED_AGAIN = [New(0), Append(0, (1, 2, 3)), Release(0), New(0), Append(0, (7, 8, 9))]
ELSEWHERE = [New(0), Append(0, (1, 2, 3)), Append(0, (4,)), Append(0, (10,)), Append(0, (11,))]
FORKED = [New(0), Append(0, (1, 2, 3, 4)), Fork(0, 1, 3), Append(1, (20,)), Append(0, (5,))]


@pytest.mark.parametrize(
    ("operations", "fault"),
    [(CUT, WritesOnlyOnce), (NAMED_AGAIN, WritesOnlyOnce), (ELSEWHERE, GoesOn), (FORKED, GoesOn)],
)
def test_expected_rows_follow_the_oracle_wherever_it_goes(operations: list[Operation], fault: type[KVCache]) -> None:
    """The last row that is wrong is not the one that went on from the rows before it."""
    assert broken(operations, 4, 4, ShippedIncremental) == frozenset()
    assert broken(operations, 4, 4, with_cache(fault)) == {"PT-ROWS"}


Damage = Callable[[KVCache, int], None]


def moves_a_page(cache: KVCache, name: int) -> None:
    """To a free page, rows and count with it."""
    table = cache.table
    entry, free = table.tables[name], table.free
    page, entry.pages[0] = entry.pages[0], free[0]
    cache.pool.copy_page(page, free[0])
    table.counts[page], table.counts[free[0]] = 0, 1
    free[0] = page


def swaps_two_pages(cache: KVCache, name: int) -> None:
    pages, pool = cache.table.tables[name].pages, cache.pool
    pages[0], pages[1] = pages[1], pages[0]
    pool.kv[:, pages[:2]] = pool.kv[:, [pages[1], pages[0]]]


def holds_a_page_twice(cache: KVCache, name: int) -> None:
    """Its second page is its first once more, which is counted; the other is lost."""
    table = cache.table
    pages = table.tables[name].pages
    table.counts[pages[0]] += 1
    table.counts[pages[1]] = 0
    pages[1] = pages[0]


def miscounts(cache: KVCache, name: int) -> None:
    cache.table.counts[cache.table.tables[name].pages[0]] += 1


def counts_a_free_page(cache: KVCache, name: int) -> None:
    cache.table.counts[cache.table.free[0]] = 1


def shortens(cache: KVCache, name: int) -> None:
    cache.table.tables[name].length -= 1


def lengthens(cache: KVCache, name: int) -> None:
    """By a row that its last page has room for: the rows that it should have read as they should."""
    cache.table.tables[name].length += 1


def forgets_what_it_dropped(cache: KVCache, name: int) -> None:
    entry = cache.table.tables[name]
    entry.length -= 16 * entry.dropped
    entry.dropped = 0


def renames(cache: KVCache, name: int) -> None:
    tables = cache.table.tables
    tables[99] = tables.pop(name)


def writes_a_row(cache: KVCache, name: int) -> None:
    cache.pool.slots[cache.table.tables[name].pages[-1], 0] += 1


def damaging(damage: Damage, kind: type[ShippedIncremental] = ShippedIncremental) -> Factory:
    """A target that damages the oldest request once when the next one appends its prompt."""

    class Damaging(kind):  # type: ignore[misc, valid-type]
        def apply(self, operation: Operation) -> Outcome:
            outcome: Outcome = super().apply(operation)
            if isinstance(operation, Append) and operation.request == 1 and len(operation.tokens) == 5:
                damage(self.cache, 0)
            return outcome

    return Damaging


class ShowsNoWhole(ShippedIncremental):
    """The check of the whole state has to go by what is observed, and still goes."""

    def glimpse_whole(self) -> WholeGlimpse:
        raise LookupError("not today")


@pytest.mark.parametrize("kind", [ShippedIncremental, ShowsNoWhole])
@pytest.mark.parametrize(
    ("damage", "rules"),
    [
        (moves_a_page, {"PT-INPLACE"}),
        (swaps_two_pages, {"PT-INPLACE"}),
        (holds_a_page_twice, {"PT-LEAK", "PT-ROWS", "PT-SHARE"}),
        (miscounts, {"PT-OWN"}),
        (counts_a_free_page, {"PT-FREE", "PT-OWN"}),
        (shortens, {"PT-LEN", "PT-ROWS"}),
        (lengthens, {"PT-LEN", "PT-ROWS"}),
        (forgets_what_it_dropped, {"PT-HOLE", "PT-LEN"}),
        (renames, {"PT-LIVE"}),
        (writes_a_row, {"PT-ROWS"}),
    ],
)
def test_the_next_check_of_the_whole_state_finds_any_damage(
    damage: Damage, rules: set[str], kind: type[ShippedIncremental]
) -> None:
    """Operations 4 .. 6 start request 1; 0 is touched again by a later one."""
    window = 24 if damage is forgets_what_it_dropped else None
    factory = damaging(damage, kind)
    assert replayed(WINDOWED, pages=9, whole_every=1, window=window).verdict == "pass"
    now = replayed(WINDOWED, factory, pages=9, whole_every=1, window=window)
    later = replayed(WINDOWED, factory, pages=9, whole_every=1000, window=window)
    assert {difference.rule for difference in now.differences} == rules
    assert now.note.startswith(f"broken by operation {now.checks}, append(1, [70, ")
    assert later.verdict == "fail"
    assert later.checks > now.checks


def test_a_table_that_shows_other_pages_than_it_uses_is_found_by_the_check_of_the_whole_state() -> None:
    class Turned(PageTable):
        def block_table(self, request: int) -> tuple[int, ...]:
            return super().block_table(request)[::-1]

    result = replayed(WINDOWED, with_table(Turned), whole_every=4)
    assert ({difference.rule for difference in result.differences}, result.checks) == ({"PT-INPLACE"}, 4)


def test_a_whole_state_is_only_observed_row_by_row_when_something_is_wrong_with_it() -> None:
    class Unobserved(ShippedIncremental):
        def observe(self) -> Snapshot:
            raise LookupError("observed")

    assert replayed(factory=Unobserved, whole_every=1).verdict == "pass"
    wrong = replayed(WINDOWED, damaging(miscounts, Unobserved), pages=9, whole_every=1)
    assert [difference.target for difference in wrong.differences] == ["LookupError: observed"]
