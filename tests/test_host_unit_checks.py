"""The checks of admission, stores and pads are shown one fault each, and must reject it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from impl.admission import peak_pages
from impl.decoder import Context, Rows
from impl.host import Host
from impl.row_store import PagedStore, PlainStore
from tests.breakable_decoders import rules
from tests.planted_hosts import with_host
from verify.host import admission_checks, store_checks
from verify.host.admission_checks import Growth, check_long_growths, check_peak_defaults, check_peaks, few_growths
from verify.host.store_checks import check_pads, check_pages, check_plain_pages, check_refused_pools, check_stores
from verify.host.suite import host_differences, unit_stage


def test_the_unit_stage_passes() -> None:
    assert unit_stage(None).verdict == "pass"


def test_a_peak_that_is_one_page_off_breaks_admit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission_checks, "peak_pages", lambda *case, **more: peak_pages(*case, **more) + 1)
    for check in (check_peak_defaults, check_long_growths, lambda: check_peaks(few_growths())):
        assert rules([check()]) == {"HOST-ADMIT"}


def test_a_peak_without_its_margin_breaks_admit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission_checks, "peak_pages", lambda *case: peak_pages(*Growth(*case)._replace(margin=0)))
    assert rules([check_peaks(few_growths())]) == {"HOST-ADMIT"}


class KeepsTheCallersArray(PlainStore):
    def append(self, request: int, rows: Rows) -> None:
        self._rows[request].extend(rows.swapaxes(0, 1))


class LendsItsRows(PagedStore):
    def gather(self, request: int, ranges: tuple[tuple[int, int], ...]) -> Context:
        if ranges != ((0, 4),):
            return super().gather(request, ranges)
        lent = self.cache.pool.kv[0, self.cache.table.tables[request].pages[0]]
        return Context(lent[0], lent[1])


class KeepsASink(PagedStore):
    def new(self, request: int, sinks: int = 1) -> None:
        super().new(request, sinks)


class AppendsNothing(PagedStore):
    def append(self, request: int, rows: Rows) -> None:
        if rows.shape[1]:
            super().append(request, rows)


class TakesSeveralRowsForOne(PagedStore):
    def append(self, request: int, rows: Rows) -> None:
        super().append(request, rows[:, :1] if rows.shape[2] == 1 else rows)


class NeverForgets(PlainStore):
    def release(self, request: int) -> None:
        pass


class CountsPages(PlainStore):
    def held(self, request: int) -> int:
        return len(self._rows[request])


class TakesAnyPool(PagedStore):
    def __init__(self, cache: Any) -> None:
        self.cache = cache


@pytest.mark.parametrize(
    ("name", "store", "check", "rule"),
    [
        ("PlainStore", KeepsTheCallersArray, check_stores, "PT-ROWS"),
        ("PlainStore", NeverForgets, check_stores, "PT-ROWS"),
        ("PagedStore", LendsItsRows, check_stores, "PT-ROWS"),
        ("PagedStore", TakesSeveralRowsForOne, check_stores, "PT-ROWS"),
        ("PagedStore", KeepsASink, check_pages, "PT-HOLE"),
        ("PagedStore", AppendsNothing, check_pages, "BadArgument"),
        ("PlainStore", CountsPages, check_plain_pages, "HOST-PLAIN"),
        ("PagedStore", TakesAnyPool, check_refused_pools, "PT-TOTAL"),
    ],
)
def test_a_faulty_store_is_rejected(
    monkeypatch: pytest.MonkeyPatch, name: str, store: type, check: Callable[[], Any], rule: str
) -> None:
    assert rules([check()]) == set()
    monkeypatch.setattr(store_checks, name, store)
    assert rules([check()]) == {rule}


class PadsWithAnything(Host):
    def __init__(self, decoder: Any, store: Any, pad_token: int = 1) -> None:
        super().__init__(decoder, store, int(np.clip(pad_token, 0, 15)))


def test_a_pad_that_is_no_token_breaks_pad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_checks, "Host", PadsWithAnything)
    assert rules([check_pads()]) == {"HOST-PAD"}


class TellsNothing(Host):
    def step(self, request: int) -> Any:
        super().step(request)


class KeepsAMargin(Host):
    def admit(self, *options: Any, **more: Any) -> None:
        super().admit(*options, **{"margin": 1, **more})


@pytest.mark.parametrize(("host", "rule"), [(TellsNothing, "HOST-TOKENS"), (KeepsAMargin, "WIN-4")])
def test_a_host_that_tells_nothing_or_has_other_defaults_is_rejected(host: type[Host], rule: str) -> None:
    assert rule in rules([host_differences(with_host(host))])
