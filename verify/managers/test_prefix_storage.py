"""The prefix cache that ships as storage: rows of any size, errors by their names, clones that stand alone."""

import numpy as np
import numpy.typing as npt
import pytest

from impl import page_table
from impl.page_groups import Chunk, Full, PageGroup, Window
from impl.page_table import PageTableError
from impl.prefix_cache import PrefixCache
from impl.prefix_index import Prefix
from verify.managers.cache_checks import REFUSED, busy
from verify.managers.prefix_case import A, B, C, D, PrefixCase

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


def test_every_refusal_is_an_error_of_the_page_table() -> None:
    names = {error for error, _ in REFUSED} - {"ValueError"}
    assert all(issubclass(vars(page_table)[name], PageTableError) for name in names)


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
