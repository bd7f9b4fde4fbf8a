"""What the check keeps of a request, against the plain way to the same: looked up, encoded and compared anew."""

from array import array
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spec.operations import Append, Fork, New, Operation, Release, Trim, Truncate
from spec.page_table import State, initial, step
from verify.refinement import Difference, check_in_place, check_state
from verify.target import RequestView, Snapshot
from verify.targets.shipped_incremental import ShippedIncremental
from verify.traces.expected_rows import ExpectedRows
from verify.traces.incremental import IncrementalCheck
from verify.traces.incremental_target import Glimpse, WholeGlimpse
from verify.traces.intact import intact
from verify.traces.known_request import KnownRequest
from verify.traces.pages import Pages
from verify.traces.tokens import Tokens, with_runs
from verify.traces.witness import broken

RUN = st.builds(
    lambda first, length, by: list(range(first, first + by * length, by)),
    st.integers(40, 80),
    st.integers(1, 40),
    st.sampled_from([1, -1]),
)
IDS = st.lists(RUN | st.lists(st.integers(0, 120), max_size=3), max_size=4).map(lambda runs: list(chain(*runs)))


@given(IDS, IDS)
def test_pages_look_up_what_a_plain_loop_does(first: list[int], more: list[int]) -> None:
    entries = list(range(1000, 1121))
    pages = Pages().then(array("q", first)).then(array("q", more))
    assert pages.ids.tolist() == first + more
    assert sorted(pages.order()) == sorted(first + more)
    assert list(chain.from_iterable(pages.of(entries))) == [entries[page] for page in pages.order()]


def test_many_pages_are_a_few_slices_down_to_page_0() -> None:
    pages = Pages().then(array("q", [*range(30, -1, -1), 50, 54])).then(array("q", [*range(40, 50), 53]))
    assert list(map(len, pages.of(list(range(60))))) == [31, 10, 3]


TOKENS = st.lists(st.integers(0, 5), max_size=6).map(tuple)


@given(TOKENS, TOKENS, st.integers(0, 3))
def test_tokens_begin_with_what_a_tuple_does(tokens: tuple[int, ...], prefix: tuple[int, ...], count: int) -> None:
    assert Tokens.of(tokens).begins_with(Tokens.of(prefix)) == (tokens[: len(prefix)] == prefix)
    further = tuple(range(tokens[-1] + 1, tokens[-1] + 1 + count)) if tokens else ()
    assert Tokens.of(tokens).continued(count) == tokens + further


@given(st.lists(TOKENS.filter(bool), max_size=5))
def test_expected_rows_are_those_of_the_tokens_that_came_last(steps: list[tuple[int, ...]]) -> None:
    target, expected = ShippedIncremental(1, 1), ExpectedRows()
    for tokens in steps:
        expected.follow(Tokens.of(tokens), target.rows_of)
        assert np.array_equal(expected.between(0, len(tokens)), target.rows_of(Tokens.of(tokens)))


NAMES = st.integers(0, 2)
OPERATIONS: st.SearchStrategy[list[Operation]] = st.lists(
    st.builds(New, NAMES)
    | st.builds(Append, NAMES, st.lists(st.integers(0, 9), min_size=1, max_size=5).map(tuple))
    | st.builds(lambda name, first, count: Append(name, tuple(range(first, first + count))), NAMES, NAMES, NAMES)
    | st.builds(Fork, NAMES, NAMES, st.integers(0, 6))
    | st.builds(Trim, NAMES, st.integers(0, 6))
    | st.builds(Truncate, NAMES, st.integers(0, 6))
    | st.builds(Release, NAMES),
    max_size=25,
)


@given(OPERATIONS, st.integers(1, 9), st.integers(1, 3))
def test_the_shipped_cache_passes_whatever_is_asked_of_it(
    operations: list[Operation], pages: int, page_size: int
) -> None:
    assert broken(operations, pages, page_size, ShippedIncremental) == frozenset()


def after(operations: list[Operation]) -> tuple[State, WholeGlimpse, dict[int, KnownRequest]]:
    """The oracle's state, the shipped cache's and what is known of it, 9 pages of 2 rows."""
    state, target = initial(9, 2), ShippedIncremental(9, 2)
    check = IncrementalCheck(target, state)
    for operation in operations:
        before = state
        state, expected = step(before, with_runs(operation))
        assert not check.check(operation, before, state, expected)
    return state, target.glimpse_whole(), check._known


BUSY: list[Operation] = [
    New(0),
    Append(0, tuple(range(7))),
    Fork(0, 1, 4),
    New(2),
    Append(2, (20, 21, 22, 23)),
    Trim(2, 2),
    Append(1, (30,)),
]
"""Request 0 holds pages 0 .. 3, request 1 shares two of them and has one, 2 has dropped one of two; two more are free."""


def one_of(view: Glimpse, data: st.DataObject) -> Glimpse:
    """The view with one thing changed, or none."""
    pages = view.pages[:]
    at, page = data.draw(st.integers(0, len(pages) - 1)), data.draw(st.integers(-1, 9))
    match data.draw(st.sampled_from(["length", "released", "page", "swap", "fewer", "more"])):
        case "length":
            return view._replace(length=view.length + data.draw(st.integers(-1, 1)))
        case "released":
            return view._replace(released=(0, data.draw(st.integers(0, 2))))
        case "page":
            pages[at] = page
        case "swap":
            pages[0], pages[at] = pages[at], pages[0]
        case "fewer":
            del pages[at]
        case "more":
            pages.append(page)
    return view._replace(pages=pages)


def changed(seen: WholeGlimpse, data: st.DataObject) -> WholeGlimpse:
    """The state with one or two things changed, or none."""
    requests, counts, free = dict(seen.requests), seen.counts[:], seen.free[:]
    for _ in range(data.draw(st.integers(1, 2))):
        match data.draw(st.sampled_from(["request", "name", "gone", "count", "counts", "free", "fewer", "more"])):
            case "request" if requests:
                name = data.draw(st.sampled_from(sorted(requests)))
                requests[name] = one_of(requests[name], data) if requests[name].pages else requests[name]
            case "name":
                requests[3] = Glimpse(0, (0, 0), array("q"))
            case "gone":
                requests.pop(data.draw(NAMES), None)
            case "count":
                counts[data.draw(st.integers(0, 7))] += data.draw(st.integers(-1, 1))
            case "counts":
                counts = counts[: data.draw(st.integers(8, 9))]
            case "free" if free:
                free[data.draw(st.integers(0, len(free) - 1))] = data.draw(st.integers(-1, 9))
            case "fewer" if free:
                free.pop()
            case "more":
                free.append(data.draw(st.integers(-1, 9)))
    return WholeGlimpse(requests, counts, free)


@given(st.data())
def test_a_state_is_intact_exactly_when_the_refinement_check_finds_nothing(data: st.DataObject) -> None:
    state, seen, known = after(BUSY)
    assert intact(state, seen, known)
    other = changed(seen, data)
    truths = {name: state.requests[name].rows if name in state.requests else () for name in other.requests}
    truths[2] = state.requests[2].rows[2:]
    views = {
        name: RequestView(view.length, view.released, tuple(view.pages), truths[name])
        for name, view in other.requests.items()
    }
    differences: list[Difference] = []
    mapped = check_state(state, Snapshot(views, tuple(other.counts), tuple(other.free)), differences)
    cells = {cell: page for held in known.values() for cell, page in zip(held.cells, held.pages.ids, strict=True)}
    check_in_place(cells, mapped, differences)
    assert intact(state, other, known) == (not differences)


def test_known_pages_do_not_vouch_for_the_sharing_of_cells() -> None:
    """Page 0 backs a cell of request 0 and the one of request 2, page 8 what 0 and 1 share; no number of pages differs."""
    state, seen, known = after(BUSY)
    requests = dict(seen.requests)
    (freed,) = requests[2].pages
    places = {0: [0, 1, 2, 3], 1: [8, *requests[1].pages[1:]], 2: [0]}
    for name, pages in places.items():
        requests[name] = requests[name]._replace(pages=array("q", pages))
        known[name].put(state.requests[name].cells, 0, array("q", pages))
    counts = [sum(page in view.pages for view in requests.values()) for page in range(9)]
    free = array("q", [page for page in seen.free if page != 8] + [freed])
    assert not intact(state, WholeGlimpse(requests, counts, free), known)
