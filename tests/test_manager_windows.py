"""The oracle of managers lets old rows go as docs/reference.md section 7 says: windows, sinks, chunks, granules, trims.

Cells are numbered as they are taken, as in tests/test_manager_oracle.py.
"""

from dataclasses import replace

import pytest

from spec.groups import Group
from spec.manager import State, Traits, available, initial, owners, step
from spec.manager_tables import longest_hit, read_next
from spec.operations import Accepted, Admit, Append, Commit, Fork, Reason, Release, Truncate
from spec.prefix_index import lookup
from tests.test_manager_oracle import (
    FULL,
    GONE,
    OUT,
    A,
    B,
    D,
    outcome_of,
    published,
    refusals,
    rows,
    run,
    sharing,
    tables,
    tokens,
    window,
)

CHUNK_3, CHUNK_4 = Group("chunk", 3), Group("chunk", 4)


def windowed(pages: int, page_size: int, *groups: Group) -> Traits:
    """Traits of a manager that shares no prefixes and trims after each write."""
    return Traits(pages, page_size, groups)


def grown(traits: Traits, length: int) -> State:
    """Request A with rows 0 .. length-1, appended one by one."""
    return run(traits, Admit(A, (0,)), *(Append(A, (token,)) for token in range(1, length)))


def held_pages(state: State) -> list[int]:
    """The logical pages that A holds in group 0."""
    return [page for page, cell in enumerate(tables(state, A)[0]) if cell is not None]


@pytest.mark.parametrize(("keeps", "longest_refused", "kept"), [(0, 9, None), (1, 8, None), (2, 7, 5), (3, 6, 4)])
def test_a_rollback_wants_the_rows_that_the_next_step_reads(keeps: int, longest_refused: int, kept: int | None) -> None:
    """Case S9: ten rows under W = 4, cut to eight; only a margin of two rows allows it."""
    state = run(windowed(20, 1, window(4, keeps=keeps)), Admit(A, tokens(0, 10)))
    assert rows(state, A) == [*range(7 - keeps, 10)]
    assert refusals(state, *(Truncate(A, length) for length in range(1, longest_refused + 1))) == GONE * longest_refused
    assert outcome_of(state, Truncate(A, longest_refused + 1)) == Accepted()
    if kept is not None:
        assert rows(run(state, Truncate(A, 8)), A) == [*range(kept, 8)]
    # With no row left the next step reads none, and nothing is gone any more.
    empty = run(state, Truncate(A, 0))
    assert empty.requests[A].low == (0,) and available(empty) == 20 and rows(run(empty, Append(A, (7,))), A) == [0]


def test_pages_go_when_they_lie_wholly_outside_the_window() -> None:
    """Case S10."""
    traits = windowed(9, 8, window(4))
    assert [held_pages(grown(traits, n))[0] for n in (8, 12, 13, 16, 20)] == [0, 1, 1, 1, 2]
    for length in (8, 12, 13, 16, 20):
        assert rows(grown(traits, length), A)[-3:] == [*range(length - 3, length)]


@pytest.mark.parametrize(("keeps", "first_kept"), [(0, [0, 0, 1, 2]), (1, [0, 0, 0, 1])])
def test_the_first_row_kept_follows_the_window(keeps: int, first_kept: list[int]) -> None:
    """Case S12, and a manager that keeps one row more."""
    traits = windowed(20, 1, window(8, keeps=keeps))
    assert [held_pages(grown(traits, n))[0] for n in (6, 7, 8, 9)] == first_kept


@pytest.mark.parametrize(("keeps", "peak", "refused_at"), [(0, 3, 4), (1, 4, 12)])
def test_a_prompt_in_chunks_needs_exactly_its_peak(keeps: int, peak: int, refused_at: int) -> None:
    """Case S19: pages of 3, W = 4, chunks of 4, reserved and then written."""
    traits = replace(windowed(peak, 3, window(4, keeps=keeps)), commits=True)
    state, used = run(traits, Admit(A, tokens(0, 4))), []
    for _ in range(20):
        used.append(state.used)
        state = run(state, Commit(A), Append(A, (1, 2, 3, 4)))
    assert max(used) == peak and available(run(state, Commit(A), Release(A))) == peak
    state = run(replace(traits, pages=peak - 1), Admit(A, tokens(0, 4)), Commit(A))
    while len(state.requests[A].tokens) < refused_at:
        state = run(state, Append(A, (1, 2, 3, 4)), Commit(A))
    assert refusals(state, Append(A, (1, 2, 3, 4))) == OUT


def test_rows_go_one_by_one_or_with_their_page() -> None:
    by_page = windowed(9, 4, window(3))
    by_row = replace(by_page, granule="row")
    assert [rows(grown(by_page, n), A)[0] for n in (2, 3, 5, 6, 9, 10)] == [0, 0, 0, 4, 4, 8]
    assert [rows(grown(by_row, n), A)[0] for n in (2, 3, 5, 6, 9, 10)] == [0, 1, 3, 4, 7, 8]
    assert [held_pages(grown(traits, 9)) for traits in (by_page, by_row)] == [[1, 2]] * 2
    assert outcome_of(grown(by_page, 7), Truncate(A, 6)) == Accepted()
    assert refusals(grown(by_row, 7), Truncate(A, 6), Fork(A, B, 6)) == GONE * 2
    # All three rows are gone, and their page is held still: its last row is yet to come.
    alone = grown(replace(by_row, groups=(window(1),)), 3)
    assert rows(alone, A) == [] and tables(alone, A) == ((0,),) and available(alone) == 8


def test_pages_with_a_sink_stay() -> None:
    by_page = windowed(9, 4, window(4, sinks=1))
    by_row = replace(by_page, granule="row")
    assert [rows(grown(by_page, n), A) for n in (6, 11)] == [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 8, 9, 10]]
    assert [rows(grown(by_row, n), A) for n in (6, 11)] == [[0, 4, 5], [0, 9, 10]]
    assert [held_pages(grown(traits, 11)) for traits in (by_page, by_row)] == [[0, 2]] * 2
    for traits, may in ((by_page, (0, 1, 2, 3, 4, 10, 11)), (by_row, (0, 1, 11))):
        state = grown(traits, 11)
        allowed = [at for at in range(12) if isinstance(outcome_of(state, Fork(A, B, at)), Accepted)]
        assert tuple(allowed) == may
        child = run(state, Fork(A, B, 1))
        assert tables(child, B) == ((0,),) and child.requests[B].low == (0,) and rows(child, B) == [0]
    assert outcome_of(grown(by_page, 11), Fork(A, B, 9)) == outcome_of(grown(by_page, 11), Fork(A, B, 5))
    # Cut inside the page of the sink, behind the sink, nothing is gone any more.
    for cut in (Fork(A, B, 4), Truncate(A, 4), Fork(A, B, 3), Truncate(A, 3)):
        state = run(grown(by_page, 11), cut)
        name = B if isinstance(cut, Fork) else A
        assert (
            state.requests[name].low == (0,) and rows(state, name) == [0, 1, 2, 3][: len(state.requests[name].tokens)]
        )


def test_a_child_has_the_gone_rows_of_its_source() -> None:
    state = run(windowed(9, 2, window(3)), Admit(A, tokens(0, 7)), Fork(A, B, 6))
    assert tables(state, A) == ((None, None, 2, 3),) and tables(state, B) == ((None, None, 2),)
    assert state.requests[B].low == (4,) and rows(state, B) == [4, 5] and state.shared == {2: 2}
    assert rows(run(state, Append(B, (9,)), Release(A)), B) == [4, 5, 6]


def test_a_shared_last_page_is_copied_behind_pages_that_are_gone() -> None:
    state = run(windowed(9, 2, window(3)), Admit(A, tokens(0, 7)), Fork(A, B, 7), Append(B, (9,)))
    assert tables(state, A) == ((None, None, 2, 3),) and tables(state, B) == ((None, None, None, 4),)
    assert owners(state, 2) == owners(state, 3) == 1 and available(state) == 6


def test_what_is_gone_stays_gone_and_begins_behind_the_sinks() -> None:
    state = run(replace(windowed(20, 1, window(3, keeps=2)), trims="before"), Admit(A, tokens(0, 8)), Append(A, (8,)))
    assert state.requests[A].low == (4,)
    # After seven rows a trim goes to row 3 only.
    state = run(state, Truncate(A, 7), Append(A, (9,)))
    assert state.requests[A].low == (4,) and tables(state, A) == ((None,) * 4 + (4, 5, 6, 9),)
    sinks = windowed(9, 2, window(5, sinks=3))
    assert [grown(sinks, n).requests[A].low for n in (3, 4, 5, 6, 7, 8)] == [(0,), (0,), (0,), (0,), (6,), (6,)]
    by_row = replace(sinks, granule="row")
    assert [grown(by_row, n).requests[A].low for n in (3, 4, 5, 6, 7)] == [(0,), (0,), (4,), (5,), (6,)]


def test_a_window_of_one_keeps_only_the_page_that_is_being_filled() -> None:
    traits = windowed(9, 2, window(1))
    assert [held_pages(grown(traits, n)) for n in (1, 2, 3, 4)] == [[0], [], [1], []]
    assert available(grown(windowed(9, 1, window(1)), 5)) == 9
    sinks = windowed(9, 1, window(2, sinks=1))
    assert [held_pages(grown(sinks, n)) for n in (1, 2, 5)] == [[0], [0], [0]]


def test_an_append_trims_before_it_grows_and_that_trim_stays_when_it_is_refused() -> None:
    state = run(replace(windowed(3, 2, window(2)), trims="before"), Admit(A, (1, 2, 3, 4)))
    assert tables(state, A) == ((0, 1),)
    assert tables(run(state, Append(A, (5, 6, 7))), A) == ((None, 1, 2, 3),)
    after, outcome = step(state, Append(A, (5, 6, 7, 8, 9)))
    assert getattr(outcome, "reason", None) is Reason.OUT_OF_PAGES
    assert tables(after, A) == ((None, 1),) and after.requests[A].tokens == (1, 2, 3, 4) and available(after) == 2
    assert refusals(after, Append(A, (5, 6, 7, 8, 9)), Append(A, ())) == [Reason.OUT_OF_PAGES, Reason.BAD_ARGUMENT]
    # The next step needs no more than the trim leaves.
    assert refusals(after, Truncate(A, 2)) == GONE and outcome_of(after, Truncate(A, 3)) == Accepted()


def test_a_trim_before_looks_at_the_rows_that_are_written() -> None:
    traits = replace(windowed(9, 1, window(2)), trims="before", commits=True)
    state = run(traits, Admit(A, (1, 2, 3)), Append(A, (4,)))
    assert tables(state, A) == ((0, 1, 2, 3),)
    state = run(state, Commit(A))
    assert tables(state, A) == ((0, 1, 2, 3),)
    assert tables(run(state, Append(A, (5,))), A) == ((None, None, None, 3, 4),)


def test_a_manager_that_recycles_takes_only_what_it_will_hold() -> None:
    plain = windowed(2, 2, window(2))
    recycling = replace(plain, recycles=True)
    assert refusals(initial(replace(plain, pages=1)), Admit(A, (1, 2, 3, 4))) == OUT
    assert refusals(run(plain, Admit(A, (1, 2, 3, 4))), Append(A, (5, 6, 7))) == OUT
    state = run(replace(recycling, pages=1), Admit(A, (1, 2, 3, 4)))
    assert tables(state, A) == ((None, 0),) and available(state) == 0
    state = run(state, Append(A, (5,)))
    assert tables(state, A) == ((None, None, 1),)
    assert tables(run(state, Append(A, (6, 7, 8, 9))), A) == ((None, None, None, None, 2),)
    # Page 2 goes before it is full: no copy of it is needed, although B holds it too.
    state = run(recycling, Admit(A, (1, 2, 3, 4, 5)), Fork(A, B, 5))
    assert tables(state, B) == ((None, None, 0),) and available(state) == 1
    assert tables(run(state, Append(B, (6, 7))), B) == ((None, None, None, 1),)


def test_a_manager_that_recycles_never_publishes_what_it_never_held() -> None:
    state = run(Traits(1, 2, (window(2),), prefix=True, recycles=True), Admit(A, (1, 2, 3, 4)))
    assert published(state) == {(1, 2, 3, 4)}
    state = run(state, Append(A, (5,)))
    assert published(state) == set() and tables(state, A) == ((None, None, 1),)


def test_a_chunk_lets_go_at_its_end() -> None:
    traits = windowed(9, 2, CHUNK_3)
    assert [held_pages(grown(traits, n)) for n in (2, 3, 4, 5, 6, 7)] == [[0], [1], [1], [1, 2], [], [3]]
    state = grown(traits, 5)
    assert [type(outcome_of(state, Fork(A, B, at))) is Accepted for at in range(6)] == [*(1, 0, 0, 1, 1, 1)]
    by_row = grown(replace(traits, granule="row"), 4)
    assert rows(by_row, A) == [3] and rows(grown(traits, 4), A) == [2, 3]


def test_a_chunk_is_served_the_pages_of_its_chunk_alone() -> None:
    # At the end of a chunk the next step reads nothing: four rows are served although no page was ever published.
    state, outcome = step(initial(sharing(9, 2, CHUNK_4)), Admit(A, (1, 2, 3, 4, 5, 6)))
    assert outcome == Accepted(served=4) and tables(state, A) == ((None, None, 0),)
    assert tables(run(state, Admit(B, (1, 2, 3, 4, 5, 6, 9))), B) == ((None, None, 0, 1),)
    assert outcome_of(state, Admit(B, (1, 2, 3, 8, 5, 6, 9))) == Accepted(served=4)
    state = run(sharing(9, 2, CHUNK_3), Admit(A, (1, 2, 3, 4)))
    assert tables(run(state, Admit(B, (1, 2, 3, 4, 9))), B) == ((None, 1, 2),)
    assert outcome_of(state, Admit(B, (9, 2, 3, 4, 9))) == Accepted(served=0)


def test_a_window_is_served_its_sinks_and_its_last_rows() -> None:
    state = run(sharing(9, 2, window(4, sinks=1)), Admit(A, tokens(0, 8)))
    after = run(state, Admit(B, tokens(0, 9)))
    assert tables(after, B) == ((0, None, None, 3, 4),) and rows(after, B) == [0, 1, 6, 7, 8]
    state = run(sharing(9, 1, window(3, sinks=1)), Admit(A, tokens(0, 5)))
    assert tables(run(state, Admit(B, tokens(0, 6))), B) == ((0, None, None, None, 4, 5),)
    state = run(sharing(9, 1, window(2, sinks=1)), Admit(A, tokens(0, 5)))
    assert tables(run(state, Admit(B, tokens(0, 6))), B) == ((0, None, None, None, None, 5),)
    assert outcome_of(state, Admit(B, (1, 1, 2, 3))) == Accepted(served=0)


def test_a_window_is_served_the_rows_that_it_keeps_back() -> None:
    traits = sharing(9, 1, window(3, keeps=1))
    state = run(traits, Admit(A, tokens(0, 5)), Release(A))
    assert tables(run(state, Admit(B, tokens(0, 6))), B) == ((None, None, 2, 3, 4, 5),)
    # B is served rows 1 to 3, goes on, and the pages of rows 0 and 1 are reused.
    state = run(replace(traits, pages=5), Admit(A, tokens(0, 5)), Release(A), Admit(B, tokens(0, 5)))
    assert state.idle == (0,) and tables(state, B) == ((None, 1, 2, 3, 5),)
    state = run(state, Append(B, (5,)), Append(B, (6,)))
    assert state.idle == (2,) and tables(state, B) == ((None, None, None, 3, 5, 6, 7),)
    # The step at 4 reads rows 2 and 3, which are there, but row 1 would have to be kept too.
    hits = [longest_hit((window(3, keeps=keeps),), 1, 1, state.index, (0, 1, 2, 3, 9))[0] for keeps in (0, 1)]
    assert hits == [4, 0]
    assert longest_hit(traits.groups, 1, 1, state.index, (0, 1, 2, 3, 4, 9)) == (5, ((None, None, 2, 3, 5),))


def test_groups_are_served_the_longest_prefix_that_all_of_them_find() -> None:
    traits = Traits(9, 2, (FULL, window(3)), prefix=True)
    state = run(traits, Admit(A, tokens(1, 9)))
    assert tables(state, A) == ((0, 1, 2, 3), (None, None, None, 7)) and state.idle == (6, 5, 4)
    assert outcome_of(state, Admit(B, tokens(1, 8))) == Accepted(served=6) and available(state) == 4
    # One page is blank: D takes it and the longest idle, the window's rows 4 and 5.
    state = run(state, Admit(D, (9, 9)), Release(A))
    assert state.idle == (5, 4, 3, 2, 1, 0, 7)
    after, outcome = step(state, Admit(B, (*tokens(1, 7), 9)))
    assert outcome == Accepted(served=4)
    assert tables(after, B) == ((0, 1, 10, 11), (None, None, 12, 13)) and after.idle == (5,)
    assert after.requests[B].low == (0, 4) and lookup(after.index, 1, tokens(1, 5)) == 5


def test_a_group_that_reads_no_past_row_publishes_nothing_and_serves_nothing() -> None:
    state = run(sharing(12, 2, FULL, window(1)), Admit(A, (1, 2, 3, 4)))
    assert {group for group, _ in state.index.keys.values()} == {0}
    assert outcome_of(state, Admit(B, (1, 2, 3, 4, 5))) == Accepted(served=0)


def test_a_request_holds_exactly_the_pages_of_the_closed_form() -> None:
    for group in (FULL, window(4), window(4, sinks=1), window(3, keeps=2), window(1), CHUNK_3, CHUNK_4):
        for page_size in (1, 2, 3):
            state = initial(windowed(40, page_size, group))
            for length in range(1, 14):
                state = run(state, Append(A, (0,)) if length > 1 else Admit(A, (0,)))
                kept_from = group.size and max(0, length + 1 - group.size + group.sinks - group.keeps)
                if group.kind == "chunk":
                    kept_from = length - length % group.size
                released = max(0, kept_from // page_size - -(-group.sinks // page_size))
                assert -(-length // page_size) - released == len(held_pages(state)) == state.used


@pytest.mark.parametrize(
    ("group", "by_row", "low", "written", "ranges"),
    [
        (Group("full"), False, 0, 5, ((0, 5),)),
        (Group("window", 4, 1), True, 5, 8, ((0, 1), (6, 8))),
        (Group("window", 4, 1), False, 4, 8, ((0, 1), (6, 8))),
        (Group("window", 4), True, 7, 8, ((7, 8),)),
        (Group("window", 1), False, 0, 3, ()),
        (Group("chunk", 3), False, 0, 5, ((3, 5),)),
    ],
)
def test_the_rows_that_the_next_step_finds_are_read_and_not_gone(
    group: Group, by_row: bool, low: int, written: int, ranges: tuple[tuple[int, int], ...]
) -> None:
    assert read_next(group, 2, by_row, low, written) == ranges
