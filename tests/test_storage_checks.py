"""The checks of what searches leave out see a cache whose rows, readers, sizes or memory are wrong."""

from typing import Any

import numpy as np
import numpy.typing as npt

from impl.kv_cache import KVCache
from impl.page_table import PageTable
from impl.pool import Pool
from verify.storage_checks import storage_differences


class Shared(KVCache):
    """Gives its own memory out where rows lie in one page."""

    __slots__ = ()

    def rows(self, request: int, lo: int, hi: int) -> npt.NDArray[Any]:
        pages, offset = self.table.locate(request, lo, hi)
        if len(pages) == 1:
            return self.pool.kv[:, pages[0], :, offset : offset + hi - lo]
        return super().rows(request, lo, hi)


class Careless(KVCache):
    """Takes rows of any number as its own, and a pool of its own instead of one that it is given."""

    __slots__ = ()

    def append(self, request: int, rows: npt.NDArray[Any]) -> None:
        super().append(request, rows.astype(self.pool.dtype))

    @classmethod
    def over(cls, pool: Pool) -> KVCache:
        return cls(pool.pages, pool.page_size, pool.layers, pool.width, pool.dtype)


class Late(PageTable):
    """Says that a request has a row more, and finds its slots a row late."""

    __slots__ = ()

    def length(self, request: int) -> int:
        return super().length(request) + 1

    def slots(self, request: int, lo: int, hi: int) -> npt.NDArray[np.int64]:
        return super().slots(request, lo, hi) + 1


def rules(cache: type[KVCache] = KVCache, table: type[PageTable] = PageTable) -> set[str]:
    differences, steps = storage_differences(cache, table)
    assert steps > 50
    return {difference.rule for difference in differences}


def test_what_ships_passes_and_each_fault_is_seen() -> None:
    assert rules() == set()
    assert rules(Shared) == {"PT-ROWS"}
    assert rules(Careless) == {"PT-REFUSE", "PT-ROWS"}
    assert rules(table=Late) == {"PT-LEN", "PT-ROWS"}
