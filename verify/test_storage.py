"""The pool's rows against plain arrays: sizes the searches leave out, wrong shapes, and arrays that must be fresh."""

import numpy as np
import numpy.typing as npt
import pytest

from impl.kv_cache import KVCache
from impl.page_table import OutOfPages
from impl.pool import CACHE_LINE, Pool

Array = npt.NDArray[np.int8]


def rows(layers: int, count: int, width: int, start: int = 0) -> Array:
    """Rows of shape (layers, 2, count, width), unlike one another."""
    values = np.arange(start, start + layers * 2 * count * width) % 251 - 125
    return values.astype(np.int8).reshape(layers, 2, count, width)


@pytest.mark.parametrize("page_size", [1, 2, 3, 16])
@pytest.mark.parametrize(("layers", "width"), [(1, 1), (1, 128), (3, 5)])
def test_rows_come_back_as_they_went_in_over_pages_in_any_order(page_size: int, layers: int, width: int) -> None:
    cache = KVCache(64, page_size, layers, width)
    for request in range(4):
        cache.new(request)
        cache.append(request, rows(layers, 5, width, request))
    cache.release(2)
    cache.release(0)
    cache.new(9)
    expected = np.empty((layers, 2, 0, width), dtype=np.int8)
    for number, count in enumerate((1, 2 * page_size, 1, 7, page_size)):
        more = rows(layers, count, width, 31 * number)
        cache.append(9, more)
        expected = np.concatenate([expected, more], axis=2)
    last = rows(layers, 1, width, 77)
    cache.append_row(9, last[:, :, 0])
    expected = np.concatenate([expected, last], axis=2)
    length = expected.shape[2]
    for lo, hi in ((0, length), (0, 0), (1, length), (page_size, length - 1), (length - 1, length)):
        assert np.array_equal(cache.rows(9, lo, hi), expected[:, :, lo:hi])
    assert np.array_equal(cache.rows(1, 0, 5), rows(layers, 5, width, 1))


@pytest.mark.parametrize("page_size", [1, 4])
def test_gathered_rows_are_fresh(page_size: int) -> None:
    cache = KVCache(8, page_size, 1, 2)
    cache.new(0)
    cache.append(0, rows(1, 6, 2))
    for lo, hi in ((0, 6), (1, 2), (0, 1)):
        taken = cache.rows(0, lo, hi)
        taken[:] = 99
        assert np.array_equal(cache.rows(0, lo, hi), rows(1, 6, 2)[:, :, lo:hi])


def test_one_row_and_many_rows_are_placed_alike() -> None:
    one, many = KVCache(8, 3, 2, 2), KVCache(8, 3, 2, 2)
    data = rows(2, 8, 2)
    one.new(0)
    many.new(0)
    many.append(0, data)
    for at in range(8):
        one.append_row(0, data[:, :, at])
    assert one.table.block_table(0) == many.table.block_table(0)
    assert np.array_equal(one.pool.kv, many.pool.kv)


def test_a_copied_page_is_copied_whole() -> None:
    cache = KVCache(4, 4, 2, 3)
    cache.new(0)
    cache.append(0, rows(2, 3, 3))
    cache.fork(0, 1)
    cache.append_row(1, rows(2, 1, 3, 50)[:, :, 0])
    assert np.array_equal(cache.pool.kv[:, 0, :, :3], cache.pool.kv[:, 1, :, :3])
    assert np.array_equal(cache.rows(0, 0, 3), rows(2, 3, 3))


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((1, 2, 1, 4), dtype=np.int8),
        np.zeros((2, 2, 1, 3), dtype=np.int8),
        np.zeros((2, 1, 1, 4), dtype=np.int8),
        np.zeros((2, 2, 1, 4), dtype=np.int16),
        np.zeros((2, 2, 4), dtype=np.int8),
    ],
    ids=["layers", "width", "no values", "dtype", "no rows axis"],
)
def test_an_array_of_another_kind_is_refused_and_nothing_changes(wrong: Array) -> None:
    cache = KVCache(4, 2, 2, 4)
    cache.new(0)
    with pytest.raises(ValueError, match="rows are"):
        cache.append(0, wrong)
    assert cache.table.length(0) == 0
    assert cache.table.used == 0


def test_a_single_row_of_another_kind_is_refused_and_nothing_changes() -> None:
    cache = KVCache(4, 2, 2, 4)
    cache.new(0)
    with pytest.raises(ValueError, match="a row is"):
        cache.append_row(0, np.zeros((2, 2, 5), dtype=np.int8))
    assert cache.table.length(0) == 0


def test_a_refused_append_writes_nothing() -> None:
    cache = KVCache(2, 2, 1, 2)
    cache.new(0)
    cache.append(0, rows(1, 3, 2))
    before = cache.pool.kv.copy()
    with pytest.raises(OutOfPages):
        cache.append(0, rows(1, 2, 2, 60))
    assert np.array_equal(cache.pool.kv, before)


def test_a_clone_is_independent_both_ways() -> None:
    cache = KVCache(4, 2, 1, 2)
    cache.new(0)
    cache.append(0, rows(1, 3, 2))
    other = cache.clone()
    other.append(0, rows(1, 2, 2, 9))
    cache.append(0, rows(1, 1, 2, 70))
    cache.release(0)
    assert np.array_equal(other.rows(0, 0, 5), np.concatenate([rows(1, 3, 2), rows(1, 2, 2, 9)], axis=2))
    assert cache.table.used == 0


def test_a_pool_begins_at_a_cache_line() -> None:
    pools = [Pool(1, pages, page_size, 24) for pages in range(1, 9) for page_size in (1, 16)]
    assert [pool.kv.ctypes.data % CACHE_LINE for pool in pools] == [0] * len(pools)


@pytest.mark.parametrize("sizes", [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)])
def test_sizes_below_one_are_refused(sizes: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="at least"):
        KVCache(*sizes)


def test_memory_is_bounded_by_what_is_held() -> None:
    cache = KVCache(4, 4, 1, 1)
    cache.new(0)
    for step in range(1, 2001):
        cache.append_row(0, np.full((1, 2, 1), step % 100, dtype=np.int8))
        cache.trim(0, max(0, step + 1 - 8))
    assert len(cache.table.block_table(0)) <= 3
    assert cache.rows(0, 1993, 2000)[0, 0, :, 0].tolist() == [step % 100 for step in range(1994, 2001)]
