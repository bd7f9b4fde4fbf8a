"""The window rule is right: by brute force over what each step reads, and by the figures of the reference."""

from collections.abc import Callable
from itertools import pairwise, product

import pytest

from spec.operations import Accepted, Append, New, Read, Trim
from spec.page_table import initial, released, sink_pages
from spec.window import bound_after_append, bound_after_trim, context, keep_from, pages_before_append, rows_read
from tests.test_oracle import grown, outcome_of, run, tokens

PAGE_SIZES = (1, 2, 3, 4, 5, 8)
WINDOWS = [(window, sinks) for window in range(1, 9) for sinks in range(window)]


@pytest.mark.parametrize(("window", "sinks"), [(None, 0), (None, 2), *WINDOWS])
def test_a_step_reads_its_sinks_and_the_latest_rows_of_its_context(window: int | None, sinks: int) -> None:
    for at in range(1, 40):
        expected = list(range(at - 1))
        while window is not None and len(expected) + 1 > window:
            del expected[sinks]
        ranges = rows_read(at, window, sinks)
        assert [row for lo, hi in ranges for row in range(lo, hi)] == expected
        assert context(at, window) == len(expected) + 1
        assert all(lo < hi for lo, hi in ranges) and all(hi < lo for (_, hi), (lo, _) in pairwise(ranges))


@pytest.mark.parametrize(("window", "sinks"), [(None, 0), (None, 2), *WINDOWS])
def test_page_counts_are_exact_and_the_bounds_are_reached(window: int | None, sinks: int) -> None:
    for page_size in PAGE_SIZES:
        state = run(initial(60, page_size), New(0, sinks))
        after_append, after_trim = [], []
        for at in range(1, 60):
            assert state.used == pages_before_append(at, window, page_size, sinks)
            for lo, hi in rows_read(at, window, sinks):
                assert outcome_of(state, Read(0, lo, hi)) == Accepted(tokens(lo, hi))
            state = run(state, Append(0, (at - 1,)))
            after_append.append(state.used)
            state = run(state, Trim(0, keep_from(at, window, sinks)))
            after_trim.append(state.used)
        if window is not None:
            assert max(after_append) == bound_after_append(window, page_size, sinks)
            assert max(after_trim) == bound_after_trim(window, page_size, sinks)


@pytest.mark.parametrize(("window", "sinks"), WINDOWS)
def test_trimming_releases_exactly_the_full_pages_that_no_later_step_reads(window: int, sinks: int) -> None:
    for page_size, at in product(PAGE_SIZES, range(1, 30)):
        later = [rows_read(later, window, sinks) for later in range(at + 1, at + 2 * window)]
        read = {row // page_size for ranges in later for lo, hi in ranges for row in range(lo, hi)}
        needed = read | set(range(sink_pages(sinks, page_size)))
        state = run(grown(at, page_size, at, sinks), Trim(0, keep_from(at, window, sinks)))
        assert set(range(*released(state.requests[0], page_size))) == set(range(at // page_size)) - needed


def test_a_window_of_one_reads_nothing_and_holds_only_the_page_it_is_filling() -> None:
    assert [rows_read(at, 1) for at in range(1, 6)] == [()] * 5
    assert [keep_from(at, 1) for at in range(1, 6)] == [1, 2, 3, 4, 5]
    assert [pages_before_append(at, 1, 2) for at in range(1, 6)] == [0, 1, 0, 1, 0]
    assert (bound_after_append(1, 1), bound_after_trim(1, 1), bound_after_trim(1, 4)) == (1, 0, 1)


def test_contexts_are_exactly_one_to_the_window() -> None:
    for window in range(1, 9):
        assert {context(at, window) for at in range(1, 40)} == set(range(1, window + 1))


@pytest.mark.parametrize(
    ("window", "seen", "peak"), [(None, [1, 2, 4, 8], 8), (8, [1, 2, 2, 2], 3), (4, [1, 1, 1, 1], 2)]
)
def test_the_recorded_run_of_32_tokens_has_its_counts_and_peak(window: int | None, seen: list[int], peak: int) -> None:
    found = [pages_before_append(at, window, 4) for at in range(1, 34)]
    assert ([found[at] for at in (1, 8, 16, 32)], max(found)) == (seen, peak)


def test_the_bounds_without_sinks_are_those_of_the_reference() -> None:
    for window, page_size in product(range(1, 40), range(1, 12)):
        assert bound_after_append(window, page_size) == -(-(window - 1) // page_size) + 1
        assert bound_after_trim(window, page_size) == -(-(window - 2) // page_size) + 1


def test_the_window_rule_holds_for_integers_of_any_size() -> None:
    far = 10**40
    assert (keep_from(8, 6), keep_from(far, 6, 2), context(far, None)) == (3, far - 3, far)
    assert rows_read(far, 6, 2) == ((0, 2), (far - 4, far - 1))
    assert (pages_before_append(far, 6, 1), pages_before_append(far + 1, None, far)) == (5, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: context(0, 4), "steps count from 1"),
        (lambda: rows_read(-3, None), "steps count from 1"),
        (lambda: keep_from(1, 0), "a window holds at least"),
        (lambda: bound_after_trim(-1, 4), "a window holds at least"),
        (lambda: rows_read(1, 3, 3), "sinks must leave room"),
        (lambda: keep_from(1, None, -1), "sinks are a number of rows"),
        (lambda: pages_before_append(1, 3, 0), "a page holds at least"),
        (lambda: bound_after_append(3, -2), "a page holds at least"),
    ],
)
def test_arguments_outside_the_window_rule_are_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
