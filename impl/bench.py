"""How fast the cache is: each figure measured over repeats, beside the target it should reach.

Machines are shared and noise only ever slows a repeat down, so a rate or a time is judged by its best repeat, and a ratio
of two times, which noise moves both ways, by its median. Nothing here is a test: a missed target is a figure, no failure.
"""

import os
import random
import resource
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from impl.kv_cache import KVCache
from impl.page_table import PageTable
from impl.window import keep_from

PAGE_SIZE = 16
WIDTH = 128  # int8 elements of a key or a value: a row of one layer is 2 x 128 bytes
POOL_ROWS = 8_192
GATHER_ROWS = 4_096
BULK_ROWS = 1_000
BATCH_ROWS = 1_000  # appended one by one in a repeat: a short one finds a quiet moment of the machine
WINDOW = 4_096
WINDOW_TOKENS = 1_000_000
ASCENDING, SHUFFLED = "ascending pages", "shuffled pages"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity and its lowest, median and highest repeat; `judged` is the one held against the target.

    The target is a floor, or a ceiling when `ceiling` is set; None for a figure that is only shown.
    """

    name: str
    unit: str
    low: float
    median: float
    high: float
    judged: float
    target: float | None = None
    ceiling: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without one."""
        if self.target is None:
            return None
        return self.judged <= self.target if self.ceiling else self.judged >= self.target


def measurements() -> dict[str, Callable[[str, int], Figure]]:
    """What there is to measure, by name; each measurement takes its name and the number of repeats."""
    return {
        "yardstick: an empty call": _empty_call,
        f"yardstick: copy {BULK_ROWS:,} rows": _plain_copy,
        "append, ids only": _append_ids,
        "append one row": _append_row,
        f"append {BULK_ROWS:,} rows, {ASCENDING}": lambda name, repeats: _append_bulk(name, repeats, ASCENDING),
        f"append {BULK_ROWS:,} rows, {SHUFFLED}": lambda name, repeats: _append_bulk(name, repeats, SHUFFLED),
        f"gather, P 16, {ASCENDING}": lambda name, repeats: _gather(name, repeats, 16, ASCENDING, 0.8),
        f"gather, P 16, {SHUFFLED}": lambda name, repeats: _gather(name, repeats, 16, SHUFFLED, 0.8),
        f"gather, P 1, {ASCENDING}": lambda name, repeats: _gather(name, repeats, 1, ASCENDING, 0.45),
        f"gather, P 1, {SHUFFLED}": lambda name, repeats: _gather(name, repeats, 1, SHUFFLED, 0.45),
        "append at 1,000,000 rows / at 1,000": _append_flatness,
        "clone, 4 pages, 3 requests": _clone,
        "gather 3 rows in 2 pages": _small_gather,
    }


@dataclass(frozen=True, slots=True)
class WindowRun:
    """A request of `tokens` tokens under a window, in a pool of exactly the pages that the bound allows."""

    tokens: int
    window: int
    pages: int
    peak_pages: int
    resident_growth: int  # bytes by which the process grew between the first tenth of the run and its end
    first_tenth: float  # seconds a step
    last_tenth: float


def window_run(tick: Callable[[float], None]) -> WindowRun:
    """Append and trim WINDOW_TOKENS tokens one by one; `tick` hears the fraction done after each tenth.

    The pool has ceil((WINDOW - 1) / P) + 1 pages (docs/reference.md section 1), so one page more in use would raise OutOfPages.
    """
    pages = -(-(WINDOW - 1) // PAGE_SIZE) + 1
    cache = KVCache(pages, PAGE_SIZE, width=WIDTH)
    cache.new(0)
    tenth = WINDOW_TOKENS // 10
    peak, seconds, resident = 0, [], []
    for part in range(10):
        start = perf_counter()
        for step in range(part * tenth + 1, (part + 1) * tenth + 1):
            cache.append_row(0, _ROW)
            peak = max(peak, cache.table.used)
            cache.trim(0, keep_from(step, WINDOW))
        seconds.append((perf_counter() - start) / tenth)
        resident.append(_resident_bytes())
        tick((part + 1) / 10)
    return WindowRun(WINDOW_TOKENS, WINDOW, pages, peak, resident[-1] - resident[0], seconds[0], seconds[-1])


def peak_resident_bytes() -> int:
    """The most memory this process has had resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


_ROW: npt.NDArray[np.int8] = np.ones((1, 2, WIDTH), np.int8)


def _rows(count: int) -> npt.NDArray[np.int8]:
    return np.random.default_rng(0).integers(-128, 128, (1, 2, count, WIDTH), np.int8)


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _cache(page_size: int, order: str) -> KVCache:
    """A cache of POOL_ROWS rows, all touched, whose free pages come in the given order."""
    cache = KVCache(POOL_ROWS // page_size, page_size, width=WIDTH)
    cache.pool.kv.fill(1)
    if order == SHUFFLED:
        random.Random(0).shuffle(cache.table.free)
    return cache


def _rate(name: str, seconds: Iterable[float], rows: int, target: float | None = None) -> Figure:
    """Millions of rows a second."""
    rates = sorted(rows / second / 1e6 for second in seconds)
    return Figure(name, "M rows/s", rates[0], statistics.median(rates), rates[-1], rates[-1], target)


def _ratio(name: str, unit: str, ratios: list[float], target: float, ceiling: bool = False) -> Figure:
    median = statistics.median(ratios)
    return Figure(name, unit, min(ratios), median, max(ratios), median, target, ceiling)


def _microseconds(name: str, seconds: list[float], target: float | None = None) -> Figure:
    times = [second * 1e6 for second in seconds]
    return Figure(name, "us", min(times), statistics.median(times), max(times), min(times), target, ceiling=True)


def _timed(call: Callable[[], object], times: int) -> float:
    """Seconds a call, over `times` calls."""
    start = perf_counter()
    for _ in range(times):
        call()
    return (perf_counter() - start) / times


def _empty_call(name: str, repeats: int) -> Figure:
    """What the interpreter needs for nothing: how fast the machine is at the moment."""

    def nothing() -> None:
        pass

    return _microseconds(name, [_timed(nothing, 1_000) for _ in range(repeats)])


def _plain_copy(name: str, repeats: int) -> Figure:
    """Rows copied from one array to another, both in the cache: no append of as many rows can be faster."""
    rows = _rows(BULK_ROWS)
    target = np.empty_like(rows)
    return _rate(name, [_timed(lambda: np.copyto(target, rows), 10) for _ in range(repeats)], BULK_ROWS)


def _append_ids(name: str, repeats: int) -> Figure:
    table = PageTable(POOL_ROWS // PAGE_SIZE, PAGE_SIZE)
    append, seconds = table.append, []
    for _ in range(repeats):
        table.new(0)
        start = perf_counter()
        for _ in range(BATCH_ROWS):
            append(0)
        seconds.append(perf_counter() - start)
        table.release(0)
    return _rate(name, seconds, BATCH_ROWS, 2.5)


def _append_row(name: str, repeats: int) -> Figure:
    cache = _cache(PAGE_SIZE, SHUFFLED)
    append, seconds = cache.append_row, []
    for _ in range(repeats):
        cache.new(0)
        start = perf_counter()
        for _ in range(BATCH_ROWS):
            append(0, _ROW)
        seconds.append(perf_counter() - start)
        cache.release(0)
    return _rate(name, seconds, BATCH_ROWS, 1.0)


def _append_bulk(name: str, repeats: int, order: str) -> Figure:
    """Prompts of BULK_ROWS rows, each appended whole to a new request that is then released, so its pages are reused.

    A page freed last is reused first, so ascending pages come back descending in every other prompt.
    """
    cache, rows, batch = _cache(PAGE_SIZE, order), _rows(BULK_ROWS), 4
    seconds = []
    for _ in range(repeats):
        total = 0.0
        for _ in range(batch):
            cache.new(0)
            start = perf_counter()
            cache.append(0, rows)
            total += perf_counter() - start
            cache.release(0)
        seconds.append(total / batch)
    return _rate(name, seconds, BULK_ROWS, 60.0)


def _gather(name: str, repeats: int, page_size: int, order: str, target: float) -> Figure:
    """Time of ndarray.copy() of GATHER_ROWS rows over that of gathering them, the best of 5 in turns each."""
    cache, rows = _cache(page_size, order), _rows(GATHER_ROWS)
    cache.new(0)
    cache.append(0, rows)
    ratios = []
    for _ in range(repeats):
        pairs = [(_timed(rows.copy, 4), _timed(lambda: cache.rows(0, 0, GATHER_ROWS), 4)) for _ in range(5)]
        copy, gathered = map(min, zip(*pairs, strict=True))
        ratios.append(copy / gathered)
    return _ratio(name, "x copy()", ratios, target)


def _append_flatness(name: str, repeats: int) -> Figure:
    """Time of single appends to a request of a million rows, over that of the same appends to one of a thousand."""
    table = PageTable(1_100_000 // PAGE_SIZE, PAGE_SIZE)
    for request, length in ((0, 1_000), (1, 1_000_000)):
        table.new(request)
        table.append(request, length)
    ratios = []
    for _ in range(repeats):
        short = _timed(lambda: table.append(0), BATCH_ROWS)
        ratios.append(_timed(lambda: table.append(1), BATCH_ROWS) / short)
        table.truncate(0, 1_000)
        table.truncate(1, 1_000_000)
    return _ratio(name, "x", ratios, 1.25, ceiling=True)


def _small_cache() -> KVCache:
    """4 pages of 2 rows; 3 requests, 2 of which share pages."""
    cache = KVCache(4, 2)
    cache.new(0)
    cache.append(0, np.ones((1, 2, 3, 1), np.int8))
    cache.fork(0, 1)
    cache.new(2)
    cache.append(2, np.ones((1, 2, 3, 1), np.int8))
    return cache


def _clone(name: str, repeats: int) -> Figure:
    cache = _small_cache()
    return _microseconds(name, [_timed(cache.clone, 100) for _ in range(repeats)], 6.0)


def _small_gather(name: str, repeats: int) -> Figure:
    cache = _small_cache()
    return _microseconds(name, [_timed(lambda: cache.rows(0, 0, 3), 100) for _ in range(repeats)], 3.0)
