"""The prefix cache that ships as storage: rows of any size, errors that change nothing, clones that stand alone."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from impl.page_groups import Chunk, Full, PageGroup, Window
from impl.page_table import BadArgument, DuplicateRequest, OutOfPages, PageTableError, RowsReleased, UnknownRequest
from impl.prefix_cache import PrefixCache
from impl.prefix_index import Prefix
from verify.managers.prefix_case import A, B, C, D, PrefixCase, spelled

GROUPS: tuple[tuple[PageGroup, ...], ...] = ((Full(),), (Full(), Window(6, sinks=2)), (Window(5), Chunk(4), Full()))


def some_rows(groups: int, layers: int, count: int, width: int, start: int) -> npt.NDArray[np.float32]:
    """Rows of shape (groups, layers, 2, count, width), unlike one another."""
    shape = (groups, layers, 2, count, width)
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("page_size", [1, 2, 3, 16])
@pytest.mark.parametrize(("layers", "width"), [(1, 1), (3, 5), (2, 64)])
def test_rows_come_back_as_they_went_in(page_size: int, layers: int, width: int, groups: tuple[PageGroup, ...]) -> None:
    cache = PrefixCache(90, page_size, groups, layers, width, np.float32)
    cache.admit(A, range(7))
    expected = some_rows(len(groups), layers, 7, width, 0)
    cache.commit(A, expected)
    for start, count in ((1000, 1), (2000, 1), (3000, 5), (4000, 1)):
        cache.append(A, range(count))
        more = some_rows(len(groups), layers, count, width, start)
        cache.commit(A, more)
        expected = np.concatenate((expected, more), axis=3)
    for group, reads in enumerate(groups):
        for lo, hi in ((reads.first_read(15), 15), (14, 15), (15, 15), (0, reads.sinks), (0, 0)):
            assert np.array_equal(cache.rows(A, group, lo, hi), expected[group, :, :, lo:hi])


def test_a_cache_has_one_full_group_of_one_layer_and_one_byte_unless_told() -> None:
    cache = PrefixCache(2, 2)
    cache.admit(A, [1, 2, 3])
    rows = np.arange(6, dtype=np.int8).reshape(1, 1, 2, 3, 1)
    cache.commit(A, rows)
    assert cache.groups == (Full(),)
    assert np.array_equal(cache.rows(A, 0, 0, 3), rows[0])


def test_rows_read_are_a_fresh_array() -> None:
    case = PrefixCase(4, 2)
    case.admit(A, "123")
    case.cache.rows(A, 0, 0, 3)[:] = 0
    case.cache.rows(A, 0, 0, 1)[:] = 0
    assert case.rows(A, 0, 3) == [1, 12, 123]


def busy() -> PrefixCase:
    """A has 8 rows written and 1 reserved, B forked off after 7 and went on; the window let 2 pages go. 4 are available."""
    case = PrefixCase(14, 2, Full(), Window(4))
    case.admit(A, "12345678")
    case.cache.fork(A, B, 7)
    case.append(B, "9")
    case.cache.append(A, [9])
    return case


REFUSED: tuple[tuple[type[Exception], Callable[[PrefixCache], object]], ...] = (
    (UnknownRequest, lambda cache: cache.append(C, [])),
    (UnknownRequest, lambda cache: cache.commit(C, spelled([1], 2))),
    (UnknownRequest, lambda cache: cache.fork(C, A, 99)),
    (UnknownRequest, lambda cache: cache.truncate(C, -1)),
    (UnknownRequest, lambda cache: cache.release(C)),
    (UnknownRequest, lambda cache: cache.rows(C, 9, 1, 0)),
    (DuplicateRequest, lambda cache: cache.admit(A, [])),
    (DuplicateRequest, lambda cache: cache.fork(A, B, 99)),
    (BadArgument, lambda cache: cache.admit(C, [])),
    (BadArgument, lambda cache: cache.append(A, ())),
    (BadArgument, lambda cache: cache.fork(A, C, -1)),
    (BadArgument, lambda cache: cache.fork(A, C, 9)),  # reserved and not written
    (BadArgument, lambda cache: cache.truncate(A, -1)),
    (BadArgument, lambda cache: cache.truncate(A, 10)),
    (BadArgument, lambda cache: cache.rows(A, 2, 0, 1)),
    (BadArgument, lambda cache: cache.rows(A, -1, 0, 1)),
    (BadArgument, lambda cache: cache.rows(A, 0, 0, 9)),
    (BadArgument, lambda cache: cache.rows(A, 0, 2, 1)),
    (BadArgument, lambda cache: cache.rows(A, 0, -1, 1)),
    (RowsReleased, lambda cache: cache.fork(A, C, 6)),
    (RowsReleased, lambda cache: cache.truncate(A, 3)),
    (RowsReleased, lambda cache: cache.rows(A, 1, 3, 5)),
    (OutOfPages, lambda cache: cache.admit(C, [9, 9, 9, 9, 9])),
    (OutOfPages, lambda cache: cache.admit(C, [1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1, 1])),
    (OutOfPages, lambda cache: cache.append(B, [1, 1, 1, 1, 1, 1])),
    (ValueError, lambda cache: cache.commit(A, spelled([1, 2], 2))),
    (ValueError, lambda cache: cache.commit(A, spelled([1], 1))),
    (ValueError, lambda cache: cache.commit(A, spelled([1], 2).astype(np.int32))),
    (ValueError, lambda cache: cache.commit(A, spelled([1], 2)[0])),
)


@pytest.mark.parametrize(("error", "call"), REFUSED)
def test_what_raises_has_changed_nothing(error: type[Exception], call: Callable[[PrefixCache], object]) -> None:
    case = busy()
    before = case.state
    with pytest.raises(error):
        call(case.cache)
    assert case.state == before


def test_every_refusal_is_an_error_of_the_page_table() -> None:
    assert all(issubclass(error, PageTableError) for error, _ in REFUSED if error is not ValueError)


def test_a_clone_stands_alone() -> None:
    case = busy()
    before = case.state
    other = PrefixCase(14, 2, Full(), Window(4))
    other.cache = case.cache.clone()
    assert other.state == before
    other.cache.truncate(A, 8)
    other.append(A, "5")
    other.append(B, "1")
    other.release(B)
    other.admit(C, "77")
    other.release(A, C)
    other.reserve(D, "99999999999999")
    assert case.state == before
    cloned = other.state
    case.commit(A)
    case.release(A, B)
    case.admit(C, "123456781")
    assert other.state == cloned


@pytest.mark.parametrize(
    "sizes",
    [(0, 2), (2, 0), (2, 2, (Full(),), 0), (2, 2, (Full(),), 1, 0), (2, 2, ()), (2, 2, (Full(),), 1, 1, object)],
)
def test_a_cache_without_room_or_groups_is_not_made(sizes: tuple[int, int]) -> None:
    with pytest.raises(ValueError):
        PrefixCache(*sizes)


@pytest.mark.parametrize(("size", "sinks"), [(0, 0), (2, 2), (3, -1)])
def test_a_window_without_room_is_not_made(size: int, sinks: int) -> None:
    with pytest.raises(ValueError, match="cannot keep"):
        Window(size, sinks)


def test_a_chunk_without_rows_is_not_made() -> None:
    with pytest.raises(ValueError, match="at least 1 row"):
        Chunk(0)


def test_a_prefix_is_its_tokens_and_can_be_very_long() -> None:
    def chain(last: int) -> Prefix:
        prefix = Prefix(None, (0, 1))
        for page in range(30_000):
            prefix = Prefix(prefix, (page, last))
        return prefix

    assert chain(1) == chain(1)
    assert chain(1) != chain(2)
    assert chain(1) != (29_999, 1)
    assert chain(1).every_token()[:4] == (0, 1, 0, 1)
