"""The quick checks of the prefix cache and of its parts see a cache, an index or a prefix that is wrong."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from impl.page_groups import Chunk, Full, Window
from impl.prefix_cache import PrefixCache
from impl.prefix_index import Prefix, PrefixIndex
from verify.managers import literals
from verify.managers.cache_checks import CACHE_CHECKS, check_readers, check_refusals, check_sizes
from verify.managers.part_checks import PART_CHECKS, check_groups, check_index, check_prefixes
from verify.managers.shown import Fact, differences_in


class LastPage(Prefix):
    """Prefixes are equal when their last pages are."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prefix) and other.tokens == self.tokens

    __hash__ = Prefix.__hash__


class Keeping(PrefixIndex):
    """Keeps the prefix of a page that is forgotten, and finds the newest copy first."""

    __slots__ = ()

    def forget(self, page: int) -> None:
        group, prefix = self._published.pop(page)
        del self._entries[prefix].copies[group][page]

    def first(self, group: int, prefix: Prefix) -> int | None:
        entry = self._entries.get(prefix)
        return None if entry is None else next(reversed(entry.copies[group]), None)


class Careless(PrefixCache):
    """Takes rows of any number as its own, forgets a request that it cannot fork, and gives its own memory out."""

    __slots__ = ()

    def commit(self, request: int, rows: npt.NDArray[Any]) -> None:
        super().commit(request, rows.astype(self.pool.dtype))

    def fork(self, source: int, request: int, at: int) -> None:
        try:
            super().fork(source, request, at)
        except Exception:
            self.release(source)
            raise

    def rows(self, request: int, group: int, lo: int, hi: int) -> npt.NDArray[Any]:
        found = super().rows(request, group, lo, hi)
        page = self.requests[request].tables[group][lo // self.page_size] if lo < hi else 0
        own = self.pool.kv[:, page, :, lo % self.page_size :][:, :, : hi - lo]
        return own if own.shape == found.shape else found


class Plain(PrefixCache):
    """Is made without groups, and has two layers unless told."""

    __slots__ = ()

    def __init__(self, pages: int, page_size: int, groups: Any = (), layers: int = 2, *more: Any) -> None:
        super().__init__(pages, page_size, groups or (Full(),), layers, *more)


def rules(*checks: Callable[[], Iterator[Fact]]) -> set[str]:
    return {difference.rule for difference in differences_in(checks)[0]}


def test_what_ships_passes_and_each_fault_is_seen() -> None:
    assert rules(*PART_CHECKS, *CACHE_CHECKS) == set()
    assert rules(partial(check_prefixes, LastPage)) == {"PRE-KEY"}
    assert rules(partial(check_index, PrefixIndex, LastPage)) == {"PRE-KEY"}
    assert rules(partial(check_index, Keeping)) == {"PRE-PUBLISH", "PRE-EVICT"}
    assert rules(partial(check_refusals, Careless)) == {"PT-REFUSE"}
    assert rules(partial(check_readers, Careless)) == {"PT-ROWS"}
    assert rules(partial(check_sizes, Plain)) == {"PT-TOTAL"}


@pytest.mark.parametrize("kind", [Full, Window, Chunk])
def test_a_group_that_reads_a_row_too_few_is_seen(
    kind: type[Full | Window | Chunk], monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: Callable[[Any, int], int] = kind.first_read
    monkeypatch.setattr(kind, "first_read", lambda group, position: reads(group, position) + 1)
    assert rules(check_groups) == {"PT-HOLE"}


def test_an_exception_in_the_midst_of_a_check_is_a_difference_and_ends_it() -> None:
    def stumbles() -> Iterator[Fact]:
        yield "PT-ROWS", 1, 1
        yield "PT-ROWS", 1, np.int64(1)
        raise RuntimeError("no more")

    found, looked_at = differences_in([stumbles])
    assert [difference.rule for difference in found] == ["PT-ROWS", "PT-TOTAL"]
    assert looked_at == 3


def test_a_released_row_that_can_still_be_read_is_seen() -> None:
    bench = literals.Bench(4, 1, Full())
    bench.admit(0, "12", 0)
    bench.gone(0, 1)
    assert [difference.rule for difference in bench.differences] == ["PT-HOLE"]
