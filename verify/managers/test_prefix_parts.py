"""The parts of the prefix cache that ships, each by itself: what a group reads, which prefixes are one, what an index finds.

Source: docs/reference.md section 7; values are literal.
"""

import pytest

from impl.page_groups import Chunk, Full, PageGroup, Window
from impl.prefix_index import Prefix, PrefixIndex

READS: tuple[tuple[PageGroup, dict[int, int]], ...] = (
    (Full(), {0: 0, 1: 0, 9: 0}),
    (Window(4), {0: 0, 1: 0, 3: 0, 4: 1, 9: 6}),
    (Window(4, sinks=1), {0: 0, 4: 2, 5: 3, 9: 7}),
    (Window(1), {0: 0, 1: 1, 5: 5}),
    (Window(2, sinks=1), {2: 2, 3: 3}),
    (Chunk(3), {0: 0, 2: 0, 3: 3, 5: 3, 6: 6}),
    (Chunk(1), {0: 0, 5: 5}),
)


@pytest.mark.parametrize(("group", "first"), READS)
def test_a_step_of_a_group_reads_from_this_row_on(group: PageGroup, first: dict[int, int]) -> None:
    assert {position: group.first_read(position) for position in first} == first


def test_a_group_says_what_it_always_reads_and_whether_its_pages_serve() -> None:
    groups: tuple[PageGroup, ...] = (Full(), Window(5), Window(5, sinks=2), Window(1), Chunk(3), Chunk(1))
    assert [group.sinks for group in groups] == [0, 0, 2, 0, 0, 0]
    assert [group.publishes for group in groups] == [True, True, True, False, True, True]
    always = [[group.always_reads(row) for row in (0, 1, 2)] for group in groups]
    never = [False] * 3
    assert always == [[True] * 3, never, [True, True, False], never, never, never]


def test_a_prefix_is_every_token_of_it() -> None:
    short, long = Prefix(None, (1, 2)), Prefix(Prefix(None, (3, 4)), (1, 2))
    assert short != long
    assert long != short
    assert (long == (3, 4, 1, 2)) is False
    assert long == Prefix(Prefix(None, (3, 4)), (1, 2))
    assert long.every_token() == (3, 4, 1, 2)


def test_prefixes_that_end_alike_have_hashes_of_their_own() -> None:
    heads = (None, *(Prefix(None, (token, token)) for token in range(9)))
    assert len({hash(Prefix(head, (1, 2))) for head in heads}) == 10


def test_a_longer_prefix_of_the_same_hash_is_told_apart_by_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("impl.prefix_index.chained_hash", lambda parent, tokens: 7)
    index = PrefixIndex(1)
    head = Prefix(None, (9, 9))
    index.publish(0, 5, Prefix(head, (1, 2)))
    assert index.first(0, Prefix(None, (1, 2))) is None
    assert index.first(0, Prefix(Prefix(head, (1, 2)), (1, 2))) is None
    assert index.first(0, Prefix(Prefix(None, (9, 9)), (1, 2))) == 5


def test_a_published_page_keeps_its_prefix() -> None:
    index = PrefixIndex(2)
    one, two = Prefix(None, (1,)), Prefix(None, (2,))
    index.publish(1, 5, one)
    index.publish(0, 5, two)
    assert list(index) == [(5, 1, one)]
    assert [index.first(1, one), index.first(0, one), index.first(0, two)] == [5, None, None]


def test_the_prefix_of_a_published_page_is_the_very_object_until_the_last_page_of_it_is_forgotten() -> None:
    index = PrefixIndex(2)
    one = Prefix(None, (1,))
    index.publish(0, 5, one)
    index.publish(0, 6, Prefix(None, (1,)))
    index.publish(1, 7, Prefix(None, (1,)))
    for page in (5, 6):
        assert index.extended(None, (1,)) is one
        index.forget(page)
    assert index.extended(None, (1,)) is one
    assert list(index) == [(7, 1, one)]
    index.forget(7)
    assert index.extended(None, (1,)) is not one  # nothing is kept of what no page holds
    assert list(index) == []


def test_to_forget_a_page_that_is_not_published_changes_nothing() -> None:
    index = PrefixIndex(1)
    one = Prefix(None, (1,))
    index.publish(0, 5, one)
    index.forget(6)
    assert list(index) == [(5, 0, one)]
    index.forget(5)
    index.forget(5)
    assert 5 not in index
