"""Faults that people hit in production KV caches, each a small case with its right values, on oracle and cache in lockstep.

Names: request A is 0, B is 1; N pool pages, P page size, W window counting the query itself.
"""

from dataclasses import dataclass, field

import numpy as np

from impl.kv_cache import KVCache
from impl.window import keep_from
from spec.operations import Accepted, Append, Fork, New, Operation, Read, Reason, Refused, Release, Trim, Truncate
from spec.page_table import initial
from verify.lockstep import Lockstep
from verify.target import RequestView, Snapshot
from verify.targets.shipped import ShippedCache

A, B = 0, 1


@dataclass(slots=True)
class Case:
    """A pool under a field case; every operation is also held against the oracle."""

    pages: int
    page_size: int
    run: Lockstep = field(init=False)
    token: int = 0

    def __post_init__(self) -> None:
        self.run = Lockstep(ShippedCache(self.pages, self.page_size), initial(self.pages, self.page_size))

    def do(self, *operations: Operation) -> None:
        """Operations that must be accepted."""
        for operation in operations:
            assert not self.run.apply(operation), operation
            assert isinstance(self.run.outcome, Accepted), operation

    def refuse(self, operation: Operation, reason: Reason) -> None:
        """An operation that must be refused, with nothing changed."""
        before = self.shown
        assert not self.run.apply(operation)
        assert self.run.outcome == Refused(reason)
        assert self.shown == before

    def new(self, request: int, k: int) -> None:
        """New, then k rows."""
        self.do(New(request), self.rows(request, k))

    def rows(self, request: int, k: int) -> Append:
        """An append of k rows with fresh tokens 1, 2, 3, ..."""
        first = self.token + 1
        self.token += k
        return Append(request, tuple(range(first, first + k)))

    def trim(self, request: int, window: int) -> None:
        """What the host trims under the window at the request's present length."""
        self.do(Trim(request, keep_from(self.view(request).length, window)))

    @property
    def shown(self) -> Snapshot:
        """What the cache shows."""
        return self.run.target.observe()

    @property
    def free(self) -> int:
        """Free pages."""
        return len(self.shown.free or ())

    def view(self, request: int) -> RequestView:
        """One request."""
        return self.shown.requests[request]

    def count(self, request: int, index: int) -> int:
        """The reference count of the request's held page of that index."""
        shown = self.shown
        assert shown.counts is not None
        return shown.counts[shown.requests[request].pages[index]]

    def reads(self, request: int, lo: int, hi: int) -> tuple[int | None, ...]:
        """The tokens of rows lo .. hi-1."""
        self.do(Read(request, lo, hi))
        outcome = self.run.outcome
        assert isinstance(outcome, Accepted)
        assert outcome.rows is not None
        return outcome.rows


def test_s1_a_trim_of_a_shared_page_only_drops_a_reference() -> None:
    case = Case(6, 2)
    case.new(A, 4)
    case.do(Fork(A, B, 4), case.rows(A, 2))
    case.trim(A, 4)
    assert case.count(B, 0) == 1
    assert case.free == 3
    assert case.reads(B, 0, 4) == (1, 2, 3, 4)
    case.do(Release(A))
    assert (case.count(B, 0), case.count(B, 1)) == (1, 1)
    case.do(Release(B))
    assert case.free == 6


def test_s1b_a_fork_of_a_trimmed_request_trims_on_its_own() -> None:
    case = Case(8, 2)
    case.new(A, 6)
    case.trim(A, 4)
    assert case.view(A).released == (0, 1)
    case.do(Fork(A, B, 6), case.rows(B, 2))
    case.trim(B, 4)
    assert case.view(B).released == (0, 2)
    assert (case.count(A, 0), case.count(A, 1)) == (1, 2)
    assert case.free == 5
    case.do(Release(A))
    assert case.count(B, 0) == 1
    assert case.free == 6
    assert case.reads(B, 4, 8) == (5, 6, 7, 8)


def test_s8_a_cut_outside_the_request_is_refused() -> None:
    case = Case(4, 2)
    case.new(A, 3)
    case.refuse(Truncate(A, -2), Reason.BAD_ARGUMENT)
    case.refuse(Truncate(A, 4), Reason.BAD_ARGUMENT)
    case.do(Truncate(A, 0))
    assert case.view(A).length == 0
    assert case.free == 4


def test_s10_a_window_smaller_than_a_page_drops_whole_pages_only() -> None:
    case = Case(4, 8)
    case.do(New(A))
    dropped = []
    for length in (8, 12, 13, 16, 20):
        case.do(case.rows(A, length - case.view(A).length))
        case.trim(A, 4)
        first, stop = case.view(A).released
        dropped.append(stop - first)
        assert case.reads(A, length - 3, length) == tuple(range(length - 2, length + 1))
    assert dropped == [0, 1, 1, 1, 2]


def test_s12_the_first_kept_row_follows_the_window_at_page_size_one() -> None:
    case = Case(12, 1)
    case.new(A, 6)
    kept = []
    for _ in range(3):
        case.do(case.rows(A, 1))
        case.trim(A, 8)
        kept.append(case.view(A).released[1])
    assert kept == [0, 1, 2]
    assert case.view(A).length == 9


def test_s16_copy_on_write_keeps_both_writers_rows() -> None:
    case = Case(8, 4)
    case.new(A, 6)
    case.do(Fork(A, B, 6))
    assert (case.count(A, 0), case.count(A, 1)) == (2, 2)
    case.do(Append(A, (101,)), Append(B, (102,)))
    assert case.reads(A, 4, 7) == (5, 6, 101)
    assert case.reads(B, 4, 7) == (5, 6, 102)
    assert case.view(A).pages[0] == case.view(B).pages[0]
    assert case.free == 5


def test_s16d_a_cut_back_into_a_shared_page_needs_the_copy_again() -> None:
    case = Case(8, 4)
    case.new(A, 8)
    case.do(Fork(A, B, 8), Truncate(B, 6), Append(B, (102,)))
    assert case.reads(A, 4, 8) == (5, 6, 7, 8)
    assert case.reads(B, 4, 7) == (5, 6, 102)
    assert case.free == 5


def test_s17_a_copy_takes_every_layer_keys_and_values() -> None:
    cache = KVCache(8, 4, layers=2, width=3)
    rows = np.arange(2 * 2 * 6 * 3, dtype=np.int8).reshape(2, 2, 6, 3)
    one = np.full((2, 2, 1, 3), 99, dtype=np.int8)
    cache.new(A)
    cache.append(A, rows)
    cache.fork(A, B)
    cache.append(A, one)
    cache.append(B, -one)
    assert np.array_equal(cache.rows(A, 0, 7), np.concatenate([rows, one], axis=2))
    assert np.array_equal(cache.rows(B, 0, 7), np.concatenate([rows, -one], axis=2))


def test_s20_a_refused_append_of_several_rows_changes_nothing() -> None:
    case = Case(3, 2)
    case.new(A, 4)
    case.refuse(case.rows(A, 4), Reason.OUT_OF_PAGES)
    assert case.view(A).length == 4
    assert len(case.view(A).pages) == 2
    assert case.free == 1


def test_s28_an_append_across_two_boundaries_takes_its_pages() -> None:
    case = Case(4, 2)
    case.new(A, 1)
    case.do(case.rows(A, 4))
    assert len(case.view(A).pages) == 3
    assert case.free == 1
