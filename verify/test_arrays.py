"""Arrays that the cache takes: other types, too few axes, views that are not contiguous, pools larger than the searches."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from impl.kv_cache import KVCache
from verify.test_storage import rows


@pytest.mark.parametrize("wrong", [np.zeros((2, 2, 4), np.int16), np.zeros((2, 2, 4), np.uint8)], ids=str)
def test_a_single_row_of_another_dtype_is_refused_and_nothing_changes(wrong: npt.NDArray[Any]) -> None:
    cache = KVCache(4, 2, 2, 4)
    cache.new(0)
    with pytest.raises(ValueError, match="a row is"):
        cache.append_row(0, wrong)
    assert (cache.table.length(0), cache.table.used) == (0, 0)


@pytest.mark.parametrize("shape", [(2, 2), (2, 2, 1, 4, 1)])
def test_an_array_of_too_few_or_too_many_axes_is_refused(shape: tuple[int, ...]) -> None:
    cache = KVCache(4, 2, 2, 4)
    cache.new(0)
    with pytest.raises(ValueError, match="rows are"):
        cache.append(0, np.zeros(shape, np.int8))


def test_an_equal_dtype_is_taken_whichever_object_it_is() -> None:
    cache = KVCache(2, 2, 1, 2, np.int32)
    row = np.full((1, 2, 2), 7, np.dtype(np.int32).newbyteorder().newbyteorder())
    assert row.dtype is not cache.pool.dtype
    cache.new(0)
    cache.append_row(0, row)
    cache.append(0, row[:, :, None])
    assert np.array_equal(cache.rows(0, 0, 2), np.full((1, 2, 2, 2), 7))


def test_rows_that_are_no_plain_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="plain numbers"):
        KVCache(2, 2, dtype=object)


@pytest.mark.parametrize("page_size", [1, 2])
def test_a_large_pool_holds_rows_of_views_that_are_not_contiguous(page_size: int) -> None:
    """All of 12,000 pages of 3 layers: more chunks than 16 bits count; the rows come as every other one of a larger array."""
    count = 12_000 * page_size
    whole = np.arange(3 * 2 * count * 2 * 2, dtype=np.int32).reshape(3, 2, count * 2, 2)
    data = np.asfortranarray(whole)[:, :, ::2]
    cache = KVCache(12_000, page_size, 3, 2, np.int32)
    cache.new(0)
    cache.append(0, data)
    assert np.array_equal(cache.rows(0, 0, count), data)
    assert np.array_equal(cache.clone().rows(0, 3, count), data[:, :, 3:])


def test_a_copy_takes_every_slot_layer_and_element_whatever_they_hold() -> None:
    cache = KVCache(3, 4, 5, 130)
    cache.pool.kv[:] = (np.arange(cache.pool.kv.size) % 251 - 125).reshape(cache.pool.kv.shape)
    cache.new(0)
    cache.append(0, rows(5, 2, 130))
    before = cache.pool.kv.copy()
    cache.fork(0, 1)
    cache.append_row(1, rows(5, 1, 130, 50)[:, :, 0])
    assert np.array_equal(cache.pool.kv[:, 0], before[:, 0])
    assert np.array_equal(cache.pool.kv[:, 1, :, [0, 1, 3]], before[:, 0, :, [0, 1, 3]])
    assert np.array_equal(cache.pool.kv[:, 1, :, 2], rows(5, 1, 130, 50)[:, :, 0])
