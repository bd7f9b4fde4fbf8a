"""The oracle of managers is right: literals worked out by hand from docs/reference.md section 7, trait by trait.

Cells are numbered as they are taken, page after page and group after group, so that tables can be written down.
"""

import pytest

from spec.groups import Group, keep_from, released_pages, rows_read
from spec.manager import Request, State, Traits, available, initial, of_tables, owners, step
from spec.manager_tables import readable
from spec.operations import (
    Accepted,
    Admit,
    Append,
    Commit,
    Fork,
    ManagerOperation,
    New,
    Outcome,
    Reason,
    Refused,
    Release,
    Truncate,
)
from spec.prefix_index import EMPTY, forget, lookup, publish

FULL = Group("full")
OK = Accepted()


def window(size: int, sinks: int = 0, keeps: int = 0) -> Group:
    return Group("window", size, sinks, keeps)


def sharing(pages: int, page_size: int, *groups: Group, leaves: int = 1) -> Traits:
    """Traits with a prefix index, trims before and one full group unless groups are given."""
    return Traits(pages, page_size, groups or (FULL,), prefix=True, leaves=leaves, trims="before")


def run(start: State | Traits, *ops: ManagerOperation) -> State:
    """The state after operations that must all be accepted."""
    state = initial(start) if isinstance(start, Traits) else start
    for op in ops:
        state, outcome = step(state, op)
        assert isinstance(outcome, Accepted), (op, outcome)
    return state


def outcome_of(state: State, op: ManagerOperation) -> Outcome:
    return step(state, op)[1]


def refusals(state: State, *ops: ManagerOperation) -> list[Reason]:
    """The reasons of operations that must all be refused and change nothing."""
    reasons = []
    for op in ops:
        after, outcome = step(state, op)
        assert isinstance(outcome, Refused) and after is state, (op, outcome)
        reasons.append(outcome.reason)
    return reasons


def tokens(first: int, stop: int) -> tuple[int, ...]:
    return tuple(range(first, stop))


def tables(state: State, request: int) -> tuple[tuple[int | None, ...], ...]:
    return state.requests[request].tables


def published(state: State) -> set[tuple[int, ...]]:
    """The prefixes under which group 0 has a page."""
    return {prefix for group, prefix in state.index.keys.values() if group == 0}


def rows(state: State, request: int) -> list[int]:
    """The rows of group 0 that can be read."""
    truth, traits = state.requests[request], state.traits
    found = readable(traits.groups[0], traits.page_size, traits.granule == "row", truth.low[0], truth.written)
    return [row for lo, hi in found for row in range(lo, hi)]


A, B, C, D = range(4)
OUT = [Reason.OUT_OF_PAGES]
GONE = [Reason.ROWS_RELEASED]


def test_a_group_reads_and_keeps_what_its_kind_says() -> None:
    assert [rows_read(FULL, at) for at in (0, 1, 9)] == [(), ((0, 1),), ((0, 9),)]
    assert [rows_read(window(4), at) for at in (0, 3, 4, 9)] == [(), ((0, 3),), ((1, 4),), ((6, 9),)]
    assert [rows_read(window(4, 1), at) for at in (3, 4, 5)] == [((0, 3),), ((0, 1), (2, 4)), ((0, 1), (3, 5))]
    assert [rows_read(window(1), at) for at in (0, 1, 5)] == [(), (), ()]
    assert [rows_read(window(2, 1), at) for at in (0, 1, 2)] == [(), ((0, 1),), ((0, 1),)]
    assert [rows_read(Group("chunk", 3), at) for at in (2, 3, 4, 5, 6)] == [((0, 2),), (), ((3, 4),), ((3, 5),), ()]
    assert [keep_from(FULL, 9), keep_from(window(4), 9), keep_from(window(4, 1), 9), keep_from(window(1), 9)] == [
        *(0, 6, 7, 9)
    ]
    assert [keep_from(window(4, keeps=1), length) for length in (3, 4, 9)] == [0, 0, 5]
    assert [keep_from(Group("chunk", 3), length) for length in (2, 3, 8)] == [0, 3, 6]
    one = Group("chunk", 1)
    assert (rows_read(one, 5), keep_from(one, 5)) == ((), 5)


def test_rows_that_can_be_read_are_given_in_whole_ranges_none_of_them_empty() -> None:
    assert [readable(FULL, 2, False, 0, written) for written in (0, 3)] == [(), ((0, 3),)]
    assert readable(window(4), 2, False, 6, 9) == ((6, 9),)
    assert [readable(window(4, 1), 2, False, 6, written) for written in (9, 6)] == [((0, 2), (6, 9)), ((0, 2),)]
    assert [readable(window(4, 1), 2, True, 5, written) for written in (9, 5)] == [((0, 1), (5, 9)), ((0, 1),)]


def test_the_pages_that_a_trim_releases_lie_behind_the_sinks_and_below_what_is_kept() -> None:
    assert [released_pages(window(4), 2, low) for low in (0, 1, 2, 5)] == [(0, 0), (0, 0), (0, 1), (0, 2)]
    assert [released_pages(window(4, 1), 2, low) for low in (0, 2, 3, 4, 7)] == [*((0, 0),) * 3, (1, 2), (1, 3)]


@pytest.mark.parametrize(
    "group",
    [
        *(("full", 1), ("full", 0, 1), ("full", 0, 0, 1), ("window",), ("window", 3, 3), ("window", 3, -1)),
        *(("window", 3, 0, -1), ("chunk",), ("chunk", 3, 1), ("chunk", 3, 0, 1), ("ring", 3)),
    ],
)
def test_nonsense_is_no_group(group: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not a group"):
        Group(*group)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "trait",
    [
        *({"pages": -1}, {"page_size": 0}, {"groups": ()}, {"leaves": 0}, {"tail": "torn"}, {"trims": "never"}),
        *({"granule": "bit"}, {"forks": "no"}, {"recycles": True, "commits": True}),
        {"recycles": True, "trims": "before"},
    ],
)
def test_nonsense_is_no_manager(trait: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not the traits"):
        Traits(**{"pages": 1, "page_size": 1, "groups": (FULL,), **trait})  # type: ignore[arg-type]


def test_an_operation_of_a_page_table_is_none_of_a_manager() -> None:
    with pytest.raises(TypeError, match="New"):
        step(initial(sharing(1, 1)), New(A))  # type: ignore[arg-type]


def test_reasons_are_looked_for_in_their_order() -> None:
    state = run(Traits(2, 2, (window(2),)), Admit(A, (1, 2, 3)), Admit(B, (1,)))
    assert tables(state, A) == ((None, 1),) and available(state) == 0
    unknown = (Append(7, ()), Commit(7), Fork(7, A, -1), Truncate(7, -1), Release(-1))
    assert refusals(state, *unknown) == [Reason.UNKNOWN_REQUEST] * 5
    assert refusals(state, Admit(A, ()), Fork(A, A, -1), Fork(A, B, 9)) == [Reason.DUPLICATE_REQUEST] * 3
    wrong = (Admit(7, ()), Append(A, ()), Fork(A, 7, -1), Fork(A, 7, 4), Truncate(A, -1), Truncate(A, 4))
    assert refusals(state, *wrong) == [Reason.BAD_ARGUMENT] * 6
    assert refusals(state, Fork(A, 7, 1), Fork(A, 7, 2), Truncate(A, 1)) == GONE * 3
    assert refusals(state, Admit(7, (1,)), Append(A, (4, 5))) == OUT * 2


def test_a_pool_may_have_no_page() -> None:
    state = initial(Traits(0, 2, (FULL,)))
    assert available(state) == 0 and refusals(state, Admit(A, (1,))) == OUT


def test_a_request_starts_grows_and_ends() -> None:
    state = run(Traits(4, 2, (FULL,)), Admit(A, (5, 6, 7)))
    assert state.requests == {A: Request((5, 6, 7), 3, ((0, 1),), (0,))} and available(state) == 2
    state = run(state, Append(A, (8, 9)))
    assert tables(state, A) == ((0, 1, 2),) and refusals(state, Append(A, (1, 1, 1, 1))) == OUT
    ended = run(state, Release(A))
    assert ended.requests == {} and available(ended) == 4 and ended.idle == () and ended.index.keys == {}
    assert outcome_of(ended, Admit(A, (5, 6, 7))) == Accepted(served=0)


def test_what_an_admission_is_served_is_pinned_before_pages_are_taken() -> None:
    """Case S3: two idle pages serve, and are not there for the third."""
    state = run(sharing(4, 2), Admit(A, (1, 2, 3, 4)), Release(A), Admit(B, (9, 8, 7, 6)))
    assert state.idle == (1, 0) and available(state) == 2
    assert refusals(state, Admit(C, (1, 2, 3, 4, 5))) == OUT
    state = run(state, Release(B))
    assert state.idle == (1, 0, 3, 2)
    after, outcome = step(state, Admit(C, (1, 2, 3, 4, 5)))
    assert outcome == Accepted(served=4) and tables(after, C) == ((0, 1, 4),)
    # Without a blank page the tail of B, the longest idle of what is left, was reused and is forgotten.
    assert after.idle == (2,) and published(after) == {(1, 2), (1, 2, 3, 4), (9, 8)}


@pytest.mark.parametrize("other", [(5,), (5, 6)])
def test_a_served_page_is_never_taken_for_the_rows_behind_it(other: tuple[int, ...]) -> None:
    """Case S4, where the page that is left is blank, and where it is idle."""
    state = run(sharing(3, 2), Admit(A, (1, 2, 3, 4)), Admit(B, other), Release(A), Release(B))
    after, outcome = step(state, Admit(C, (1, 2, 3, 4, 7, 8)))
    assert outcome == Accepted(served=4) and tables(after, C) == ((0, 1, 3),) and available(after) == 0
    assert after.requests[C].tokens == (1, 2, 3, 4, 7, 8)


def test_a_reused_page_is_forgotten() -> None:
    """Case S5."""
    state = run(sharing(1, 2), Admit(A, (5, 6)), Release(A))
    assert state.idle == (0,) and lookup(state.index, 0, (5, 6)) == 0
    state = run(state, Admit(B, (7, 8)))
    assert state.idle == () and published(state) == {(7, 8)} and lookup(state.index, 0, (5, 6)) is None


def test_an_admission_leaves_the_declared_number_of_tokens() -> None:
    state = run(sharing(9, 2), Admit(A, tokens(0, 6)))
    served = [outcome_of(state, Admit(B, tokens(0, length))) for length in (1, 2, 3, 4, 5, 6, 7)]
    assert served == [Accepted(served=h) for h in (0, 0, 2, 2, 4, 4, 6)]
    state = run(sharing(9, 2, leaves=3), Admit(A, tokens(0, 6)))
    served = [outcome_of(state, Admit(B, tokens(0, length))) for length in (1, 4, 5, 6, 7, 8, 9)]
    assert served == [Accepted(served=h) for h in (0, 0, 2, 2, 4, 4, 6)]


def test_a_prefix_is_served_up_to_its_first_other_token() -> None:
    state = run(sharing(9, 2), Admit(A, (1, 2, 3, 4, 5, 6)))
    assert outcome_of(state, Admit(B, (1, 2, 3, 9, 5, 6, 7))) == Accepted(served=2)
    assert outcome_of(state, Admit(B, (9, 2, 3, 4, 5, 6, 7))) == Accepted(served=0)
    assert outcome_of(state, Admit(B, (3, 4, 5, 6))) == Accepted(served=0)


def test_copies_of_one_prefix_stay_side_by_side() -> None:
    state = run(sharing(3, 2), Admit(A, (1, 2, 3)), Admit(B, (1, 2)))
    assert state.index.cells == {(0, (1, 2)): (0, 2)}
    state = run(state, Release(A))
    assert state.idle == (0,) and lookup(state.index, 0, (1, 2)) == 0
    assert tables(run(state, Admit(C, (1, 2, 3))), C) == ((0, 3),)
    state = run(state, Admit(D, (9, 9, 9)))
    assert tables(state, D) == ((3, 4),) and state.index.cells == {(0, (1, 2)): (2,), (0, (9, 9)): (3,)}
    assert refusals(state, Admit(C, (1, 2, 3))) == OUT
    state = run(state, Release(D), Admit(C, (1, 2, 3)))
    assert tables(state, C) == ((2, 5),) and owners(state, 2) == 2


def test_blank_pages_are_reused_first_then_the_longest_idle_and_tails_before_heads() -> None:
    state = run(sharing(6, 2), Admit(A, (1, 2, 3, 4)), Admit(B, (5, 6, 7, 8)), Release(B), Release(A))
    assert state.idle == (3, 2, 1, 0)
    state = run(state, Admit(C, (9, 9)))
    assert state.idle == (3, 2, 1, 0)
    state = run(state, Admit(D, (8, 8, 8)))
    assert state.idle == (2, 1, 0) and published(state) == {(9, 9), (8, 8), (5, 6), (1, 2), (1, 2, 3, 4)}
    # A cell that served goes to the end once it is idle again.
    state = run(state, Release(D), Admit(A, (5, 6, 1)), Release(A))
    assert state.idle == (1, 0, 5, 2)


def test_groups_let_go_in_order_each_from_its_tail() -> None:
    state = run(sharing(9, 2, FULL, window(9)), Admit(A, (1, 2, 3, 4, 5)))
    assert tables(state, A) == ((0, 1, 2), (3, 4, 5))
    assert run(state, Release(A)).idle == (1, 0, 4, 3)
    assert run(state, Truncate(A, 0)).idle == (1, 0, 4, 3)
    assert run(state, Fork(A, B, 2), Release(A)).idle == (1, 4)


def test_a_published_page_is_copied_before_it_is_written() -> None:
    state = run(sharing(3, 2), Admit(A, (1, 2, 3, 4)), Truncate(A, 3))
    assert tables(state, A) == ((0, 1),) and published(state) == {(1, 2), (1, 2, 3, 4)} and available(state) == 1
    assert outcome_of(state, Admit(B, (1, 2, 3, 4, 5))) == Accepted(served=4)
    state = run(state, Append(A, (9,)))
    assert tables(state, A) == ((0, 2),) and state.idle == (1,) and available(state) == 1
    assert published(state) == {(1, 2), (1, 2, 3, 4), (1, 2, 3, 9)}
    full = run(sharing(2, 2), Admit(A, (1, 2, 3, 4)), Truncate(A, 3))
    assert refusals(full, Append(A, (4,))) == OUT
    assert outcome_of(run(full, Truncate(A, 2)), Append(A, (4,))) == OK


def test_a_fork_shares_every_page_and_whoever_writes_copies() -> None:
    state = run(Traits(4, 2, (FULL,)), Admit(A, (1, 2, 3)), Fork(A, B, 3), Fork(A, C, 1), Fork(A, D, 0))
    assert [tables(state, name) for name in (B, C, D)] == [((0, 1),), ((0,),), ((),)]
    assert [owners(state, cell) for cell in (0, 1)] == [3, 2] and available(state) == 2
    fewer, alone = run(state, Release(C)), run(state, Release(C), Release(B))
    assert [found.shared for found in (state, fewer, alone)] == [{0: 3, 1: 2}, {0: 2, 1: 2}, {}]
    for found in (state, fewer, alone):
        assert of_tables(found.traits, found.requests, found.index, ()) == found and available(found) == 2
    state = run(state, Append(A, (4,)), Append(B, (5,)))
    assert [tables(state, name) for name in (A, B)] == [((0, 2),), ((0, 1),)] and available(state) == 1
    state = run(state, Append(D, (7,)))
    assert tables(state, D) == ((3,),) and refusals(state, Append(C, (9,))) == OUT


def test_a_fork_inside_a_page_copies_it_at_once_where_the_tail_is_copied() -> None:
    state = run(Traits(3, 2, (FULL,), tail="copied"), Admit(A, (1, 2, 3)), Fork(A, B, 3))
    assert tables(state, B) == ((0, 2),) and available(state) == 0 and state.shared == {0: 2}
    assert refusals(state, Fork(A, C, 3), Fork(A, C, 1)) == OUT * 2
    assert tables(run(state, Fork(A, C, 2), Append(A, (4,)), Append(B, (5,))), C) == ((0,),)
    two = Traits(5, 2, (FULL, FULL), tail="copied")
    assert refusals(run(two, Admit(A, (1, 2, 3))), Fork(A, B, 3)) == OUT


def test_a_cut_inside_a_shared_page_copies_it_at_once_where_the_tail_is_copied() -> None:
    state = run(Traits(3, 2, (FULL,), tail="copied"), Admit(A, (1, 2, 3, 4)), Fork(A, B, 4))
    cut = run(state, Truncate(B, 3))
    assert tables(cut, B) == ((0, 2),) and owners(cut, 0) == 2 and owners(cut, 1) == 1
    assert tables(run(cut, Truncate(A, 3)), A) == ((0, 1),)
    assert refusals(run(state, Admit(C, (1,))), Truncate(B, 3)) == OUT
    assert refusals(run(state, Admit(C, (1,))), Truncate(B, 1)) == OUT
    # The page beyond the cut is let go first and serves the copy.
    state = run(Traits(3, 2, (FULL,), tail="copied"), Admit(A, (1, 2, 3, 4)), Fork(A, B, 2), Append(B, (5,)))
    assert available(state) == 0
    assert tables(run(state, Truncate(B, 1)), B) == ((3,),)
    # Being published is not having another owner: the next writer copies.
    alone = run(Traits(2, 2, (FULL,), prefix=True, tail="copied"), Admit(A, (1, 2)), Truncate(A, 1))
    assert tables(alone, A) == ((0,),) and tables(run(alone, Append(A, (2,))), A) == ((1,),)


def test_commits_write_and_publish_what_was_only_reserved() -> None:
    traits = Traits(9, 2, (FULL,), prefix=True, commits=True)
    state = run(traits, Admit(A, (1, 2, 3)))
    assert state.requests[A] == Request((1, 2, 3), 0, ((0, 1),), (0,)) and published(state) == set()
    assert outcome_of(state, Admit(B, (1, 2, 3))) == Accepted(served=0)
    assert refusals(state, Fork(A, B, 1)) == [Reason.BAD_ARGUMENT] and tables(run(state, Fork(A, B, 0)), B) == ((),)
    state = run(state, Commit(A))
    assert state.requests[A].written == 3 and published(state) == {(1, 2)} and step(state, Commit(A))[0] is state
    state = run(state, Append(A, (4,)), Admit(B, (1, 2, 5)))
    assert [state.requests[name].written for name in (A, B)] == [3, 2] and published(state) == {(1, 2)}
    assert tables(state, B) == ((0, 2),) and rows(state, B) == [0, 1]
    # Reserved rows lie in a page that a fork shares; the fork copies it when it writes.
    state = run(state, Fork(A, C, 3), Commit(A))
    assert published(state) == {(1, 2), (1, 2, 3, 4)} and tables(state, C) == ((0, 1),)
    # A cut keeps what is written of what is left, and reserves no row for good.
    assert (
        run(state, Truncate(B, 3)).requests[B].written
        == run(state, Append(B, (6,)), Truncate(B, 3)).requests[B].written
        == 2
    )
    state = run(state, Append(C, (9,)), Truncate(B, 1))
    assert (
        tables(state, C) == ((0, 3),) and state.requests[B].written == 1 and published(state) == {(1, 2), (1, 2, 3, 4)}
    )
    assert published(run(state, Commit(C))) == {(1, 2), (1, 2, 3, 4), (1, 2, 3, 9)}


def test_the_index_keeps_the_key_of_a_cell_and_the_order_of_copies() -> None:
    index = publish(publish(EMPTY, [(4, (0, (1, 2))), (7, (1, (1, 2)))]), [(5, (0, (1, 2))), (4, (0, (3, 4)))])
    assert index.keys == {4: (0, (1, 2)), 5: (0, (1, 2)), 7: (1, (1, 2))}
    assert index.cells == {(0, (1, 2)): (4, 5), (1, (1, 2)): (7,)}
    assert [lookup(index, group, (1, 2)) for group in (0, 1, 2)] == [4, 7, None] and lookup(index, 0, (3, 4)) is None
    left = forget(index, [4, 7])
    assert left.cells == {(0, (1, 2)): (5,)} and lookup(left, 0, (1, 2)) == 5 and 7 not in left.keys
