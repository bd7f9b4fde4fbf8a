"""The check of managers says exactly these rules, in these words, of these pools; and a row has exactly this value.

As tests/test_manager_checks.py, with all that is broken told at once, so that nothing is said in place of anything else.
"""

from collections.abc import Mapping

import pytest

from spec.groups import Group
from spec.manager import State, Traits
from spec.operations import Admit, Commit, Release
from tests.test_manager_checks import (
    FULL,
    GOOD,
    IDLE,
    IDLE_STATE,
    KNOWN,
    ONE,
    STATE,
    TWO,
    V,
    rules,
    state_after,
    with_view,
)
from verify.managers.bounds import committing
from verify.managers.refinement import check_state
from verify.managers.target import ManagerSnapshot, ManagerView, Rows
from verify.managers.values import value, values
from verify.refinement import Difference


def found(state: State, snapshot: ManagerSnapshot, known: Mapping[int, int]) -> tuple[set[str], dict[int, int]]:
    """The rules that the snapshot breaks, and the bijection."""
    differences: list[Difference] = []
    mapped = check_state(state, snapshot, differences, known)
    return {difference.rule for difference in differences}, mapped


def said(snapshot: ManagerSnapshot, state: State = STATE) -> list[Difference]:
    """Every difference, in words."""
    differences: list[Difference] = []
    check_state(state, snapshot, differences, KNOWN)
    return differences


def test_the_value_of_a_row_is_the_crc_of_its_prefix_and_its_number() -> None:
    digits = b"123456789"
    assert value(digits) == 0xCBF43926 * 256 + 9
    assert values(digits)[-1] == 0xCBF43926 * 256 + 9
    long = (7,) * 300
    assert [values(long)[row] % 256 for row in (0, 253, 254, 255, 299)] == [1, 254, 255, 0, 44]
    assert [value(long[: row + 1]) for row in range(300)] == [*values(long)]


def test_counts_are_told_against_table_entries_and_free_pages_against_both() -> None:
    counts = (2, 1, 1, 1, 1, 1, 1, 1, 1, 0)
    assert said(GOOD._replace(counts=counts, free=(9,))) == [
        Difference("PT-OWN", "page 8 has 0 table entries", "count 1"),
        Difference("PT-PAGES", "8 pages in use", "9"),
    ]
    assert said(GOOD._replace(counts=(*(GOOD.counts or ()), 0))) == [
        Difference("PT-OWN", "10 pages have a count", "11 counts"),
        Difference("PT-LEAK", "a page of count 0 is on the free list", "pages [10] are not"),
    ]
    assert said(GOOD._replace(available=3)) == [Difference("PT-PAGES", "2 pages available", "3")]
    assert said(GOOD._replace(counts=(0, *(GOOD.counts or ())[1:]), free=(0, 8, 9))) == [
        Difference("PT-OWN", "page 0 has 2 table entries", "count 0"),
        Difference("PT-FREE", "page 0 is free only when nobody holds it", "count 0, 2 table entries"),
        Difference("PT-PAGES", "8 pages in use", "7"),
    ]


def test_a_lost_page_says_nothing_about_the_order_of_the_others() -> None:
    lost = IDLE._replace(free=(9, 8, 7, 6, 2, 5, 3, 1, 0), published=None)
    assert rules(lost, IDLE_STATE) == {"PT-LEAK", "PT-PAGES"}
    assert rules(lost._replace(free=(1, 0)), IDLE_STATE) == {"PT-LEAK", "PT-PAGES"}


def test_the_order_of_reuse_is_told_in_pages() -> None:
    order = (9, 8, 7, 6, 2, 5, 3, 0, 1, 4)
    due = "blank pages are reused first, then the idle pages [3, 1, 0, 4]"
    assert said(IDLE._replace(free=order), IDLE_STATE) == [
        Difference("PRE-EVICT", due, f"pages are reused in the order {list(order)}")
    ]


def test_a_page_that_is_published_and_must_not_be_has_no_place_in_the_order() -> None:
    two = (2, 0, values((1, 2, 3, 4, 5))[4])
    shown = IDLE._replace(free=(9, 8, 7, 6, 5, 3, 1, 2, 0, 4), published=(*(IDLE.published or ()), two))
    assert said(shown, IDLE_STATE) == [
        Difference(
            "PRE-PUBLISH",
            "page 2 is not published",
            f"it is, under group 0, a prefix of value {values((1, 2, 3, 4, 5))[4]}",
        )
    ]


def test_what_is_published_is_told_in_words() -> None:
    first, second, third, fourth = GOOD.published or ()
    other = (4, 1, 77)
    assert said(GOOD._replace(published=(first, second, third, other))) == [
        Difference(
            "PRE-KEY",
            f"page 4 is published under group 1, a prefix of value {fourth[2]}",
            "under group 1, a prefix of value 77",
        )
    ]
    assert said(GOOD._replace(published=(first, second, third))) == [
        Difference("PRE-PUBLISH", "page 4 is published", "it is not")
    ]
    assert said(GOOD._replace(published=(first, second, third, fourth, fourth))) == [
        Difference("PRE-KEY", "page 4 is published under one prefix", "under 2")
    ]


TWINS = state_after(
    Admit(0, (1,)), Admit(1, (1,)), Commit(0), Commit(1), Release(0), Release(1), traits=committing(4, 1, FULL)
)
"""Two idle cells, 0 before 1, under one key."""
TWINS_SHOWN = ManagerSnapshot({}, (0,) * 4, (0, 1, 3, 2), 4, ((2, 0, value((1,))), (3, 0, value((1,)))))
"""On pages 3 and 2."""


def test_two_unseen_pages_under_one_key_are_told_apart_by_their_order_alone() -> None:
    assert found(TWINS, TWINS_SHOWN, {}) == (set(), {0: 3, 1: 2})
    assert found(TWINS, TWINS_SHOWN._replace(free=None), {}) == (set(), {})
    assert found(TWINS, TWINS_SHOWN._replace(published=None), {}) == (set(), {0: 3, 1: 2})
    assert found(TWINS, TWINS_SHOWN._replace(published=None, free=None), {}) == (set(), {})


def test_what_is_known_of_an_idle_page_is_not_told_anew_from_the_order() -> None:
    blind = TWINS_SHOWN._replace(published=None)
    assert found(TWINS, blind, {0: 3})[0] == set()
    assert found(TWINS, blind, {0: 2})[0] == {"PRE-EVICT"}
    assert found(TWINS, blind, {0: 2})[1] == {0: 2}
    differences: list[Difference] = []
    check_state(TWINS, blind, differences, {0: 2})
    due = "blank pages are reused first, then the idle pages [2, ?]"
    assert differences == [Difference("PRE-EVICT", due, "pages are reused in the order [0, 1, 3, 2]")]


def test_no_page_is_told_from_an_order_that_lost_some_or_names_one_that_is_held() -> None:
    blind = TWINS_SHOWN._replace(published=None, free=(3,))
    assert found(TWINS, blind, {}) == ({"PT-LEAK", "PT-PAGES"}, {})
    state = state_after(Admit(0, (1,)), Admit(1, (1,)), Commit(0), Commit(1), Release(0), traits=committing(4, 1, FULL))
    views = {1: ManagerView(1, ((2,),), ((value((1,)),),))}
    assert found(state, ManagerSnapshot(views, (0, 0, 1, 0), (0, 1, 2), 3, None), {}) == (
        {"PT-FREE", "PT-LEAK"},
        {1: 2},
    )


@pytest.mark.parametrize("missing", [0, 1])
def test_of_two_pages_under_one_key_one_must_not_be_missing(missing: int) -> None:
    left = (TWINS_SHOWN.published or ())[missing : missing + 1]
    due = f"an idle page is published under group 0, a prefix of value {value((1,))}"
    for snapshot in (
        TWINS_SHOWN._replace(published=left, free=None),
        TWINS_SHOWN._replace(published=left, free=None, counts=None),
    ):
        differences: list[Difference] = []
        check_state(TWINS, snapshot, differences, {})
        assert differences == [Difference("PRE-PUBLISH", due, "none is")]


def test_an_unseen_page_is_told_beside_one_that_is_held_under_the_same_key() -> None:
    traits = Traits(8, 1, (Group("window", 2),), prefix=True, leaves=2)
    state = state_after(Admit(0, (1,)), Admit(1, (1, 2)), traits=traits)  # the copy under 1 was let go at once
    told = values((1, 2))
    views = {0: ManagerView(1, ((5,),), ((told[0],),)), 1: ManagerView(2, ((None, 2),), ((None, told[1]),))}
    published = ((1, 0, told[0]), (2, 0, told[1]), (5, 0, told[0]))
    shown = ManagerSnapshot(views, (0, 0, 1, 0, 0, 1, 0, 0), (0, 3, 4, 6, 7, 1), 6, published)
    for snapshot in (shown, shown._replace(free=None), shown._replace(published=None)):
        assert found(state, snapshot, {}) == (set(), {0: 5, 1: 1, 2: 2})
    early = shown._replace(free=(0, 3, 4, 6, 1, 7))
    assert found(state, early, {})[0] == {"PRE-EVICT"}


def test_a_page_that_moves_says_nothing_of_what_is_published_under_it() -> None:
    moved = with_view(1, ONE._replace(tables=((0, 8, 2), (None, 4, 5))))
    shown = moved._replace(counts=(2, 0, 1, 1, 1, 1, 1, 1, 1, 0), free=(1, 9))
    assert said(shown) == [Difference("PT-INPLACE", "the rows stay in page 1", "now page 8")]


def test_without_a_bijection_nothing_is_said_of_moves_or_of_what_is_published() -> None:
    apart = with_view(1, ONE._replace(tables=((8, 1, 2), (None, 4, 5))))
    assert said(apart._replace(counts=(1, 1, 1, 1, 1, 1, 1, 1, 1, 0), free=(9,), available=1)) == [
        Difference(
            "PT-SHARE", "request 2 shares a page with 1 other table entries", "pages 8 and 0 hold the shared rows"
        ),
        Difference("PT-PAGES", "2 pages available", "1"),
    ]
    together = with_view(2, TWO._replace(tables=((0, 6), (3, 6))))
    assert said(together._replace(counts=(2, 1, 1, 2, 1, 1, 2, 0, 0, 0), free=None)) == [
        Difference("PT-SHARE", "request 2 has a page of its own", "page 6 is shared"),
        Difference("PT-OWN", "page 3 has 1 table entries", "count 2"),
    ]


@pytest.mark.parametrize("page", [-1, 10])
def test_a_page_outside_the_pool_is_named_by_no_table(page: int) -> None:
    outside = with_view(2, TWO._replace(tables=((0, 6), (3, page))))
    assert said(outside)[0] == Difference("PT-SHARE", "pages 0..9", f"request 2 names page {page}")


@pytest.mark.parametrize(
    ("rows", "row", "found"),
    [
        ((*V[:4], 99), 4, "it reads 99"),
        ((*V[:2], 99, 98, V[4]), 2, "it reads 99"),
        ((*V[:3], None, V[4]), 3, "nothing"),
        (V[:3], 3, "no such row"),
    ],
)
def test_the_first_row_that_reads_wrong_is_told(rows: Rows, row: int, found: str) -> None:
    due = f"request 1, group 0: row {row} is that of tokens {[1, 2, 3, 4, 5][: row + 1]} ({V[row]})"
    assert said(with_view(1, ONE._replace(rows=(rows, ONE.rows[1])))) == [Difference("PT-ROWS", due, found)]


def test_by_row_the_length_leaves_out_the_most_that_any_group_lost_and_nothing_before_that() -> None:
    traits = Traits(8, 4, (Group("window", 3), Group("window", 5)), granule="row")
    for tokens, lows, length in (((1, 2), (0, 0), 2), ((1, 2, 3, 4), (2, 0), 2), ((1, 2, 3, 4, 5, 6), (4, 2), 2)):
        state = state_after(Admit(0, tokens), traits=traits)
        assert state.requests[0].low == lows
        told = values(tokens)
        tables = state.requests[0].tables
        shown = ManagerSnapshot({0: ManagerView(length, tables, (told, told))}, None, None, 8 - state.used, None)
        assert found(state, shown, {})[0] == set()
        longer = shown._replace(requests={0: ManagerView(length + 1, tables, (told, told))})
        assert found(state, longer, {})[0] == {"PT-LEN"}
