"""How fast the host decodes, and how much of a step is not the decoder's: page table, gather, and the host itself.

REQUESTS requests take turns on the integer decoder, over one pool. They are past the start: every window slides, so a step
gathers, appends one row, and now and then gives a page back.
"""

import statistics
from collections.abc import Callable
from time import perf_counter

from impl.bench import Figure
from impl.decoder import Context, Decoder, IntegerDecoder, Step
from impl.host import Host
from impl.kv_cache import KVCache
from impl.model_files import load
from impl.page_table import Copy, PageTable
from impl.row_store import PagedStore

REQUESTS = 64
MODEL = "random-1-32"
PAGE_SIZE = 16
WINDOWS = (32, 64, 128)
SETUP = (
    f"Host: {REQUESTS} requests in turns, model {MODEL}, pages of {PAGE_SIZE} rows; a third of the requests each has a "
    f"window of {WINDOWS[0]}, {WINDOWS[1]} and {WINDOWS[2]} rows, all of them full."
)


def measurements() -> dict[str, Callable[[str, int], Figure]]:
    """What there is to measure, by name; each measurement takes its name and the number of repeats."""
    return {
        "host: decode": _rate,
        "host: page table and gather": lambda name, repeats: _share(name, repeats, _store_seconds, 15.0),
        "host: all but the decoder": lambda name, repeats: _share(name, repeats, _other_seconds, None),
    }


class _TimedTable(PageTable):
    """Adds up the seconds of its appends. By name, not super(), whose look-up would count as well."""

    __slots__ = ("seconds",)

    def __init__(self, pages: int, page_size: int) -> None:
        super().__init__(pages, page_size)
        self.seconds = 0.0

    def append(self, request: int, k: int = 1) -> Copy | None:
        start = perf_counter()
        copy = PageTable.append(self, request, k)
        self.seconds += perf_counter() - start
        return copy


class _TimedStore(PagedStore):
    """Adds up the seconds that a step spends in page table and gather; writing the new row's bytes is neither."""

    __slots__ = ("_seconds", "_table")

    def __init__(self, cache: KVCache) -> None:
        super().__init__(cache)
        self._seconds = 0.0
        self._table = _TimedTable(cache.table.pages, cache.table.page_size)
        cache.table = self._table

    def gather(self, request: int, ranges: tuple[tuple[int, int], ...]) -> Context:
        start = perf_counter()
        context = PagedStore.gather(self, request, ranges)
        self._seconds += perf_counter() - start
        return context

    def trim(self, request: int, keep_from: int) -> None:
        start = perf_counter()
        PagedStore.trim(self, request, keep_from)
        self._seconds += perf_counter() - start

    def clear(self) -> None:
        """Start over at 0 seconds."""
        self._seconds = self._table.seconds = 0.0

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return self._seconds + self._table.seconds


class _TimedDecoder:
    """Adds up the seconds of the decoder's steps."""

    def __init__(self, decoder: Decoder) -> None:
        self.width = decoder.width
        self.vocabulary = decoder.vocabulary
        self.seconds = 0.0
        self._decoder = decoder

    def step(self, token: int, context: Context) -> Step:
        start = perf_counter()
        step = self._decoder.step(token, context)
        self.seconds += perf_counter() - start
        return step


def _rate(name: str, repeats: int) -> Figure:
    """Thousands of steps a second; a repeat is one step of every request."""
    decoder = IntegerDecoder(load(MODEL))
    host = _full(decoder, PagedStore(_cache(decoder)))
    rates = sorted(REQUESTS / _round(host) / 1e3 for _ in range(repeats))
    return Figure(name, "k steps/s", rates[0], statistics.median(rates), rates[-1], rates[-1])


def _share(
    name: str,
    repeats: int,
    part: Callable[[float, _TimedStore, _TimedDecoder], float],
    target: float | None,
) -> Figure:
    """Per cent of a step; `part` picks its seconds out of the step's. A repeat is the median over one step of every request.

    Of single steps, because few of them are broken by other processes, and nearly every round is.
    """
    decoder = _TimedDecoder(IntegerDecoder(load(MODEL)))
    store = _TimedStore(_cache(decoder))
    host = _full(decoder, store)

    def share(request: int) -> float:
        store.clear()
        decoder.seconds = 0.0
        start = perf_counter()
        host.step(request)
        elapsed = perf_counter() - start
        return 100 * part(elapsed, store, decoder) / elapsed

    shares = [statistics.median(map(share, range(REQUESTS))) for _ in range(repeats)]
    median = statistics.median(shares)
    return Figure(name, "% of a step", min(shares), median, max(shares), median, target, ceiling=True)


def _store_seconds(_elapsed: float, store: _TimedStore, _decoder: _TimedDecoder) -> float:
    return store.seconds


def _other_seconds(elapsed: float, _store: _TimedStore, decoder: _TimedDecoder) -> float:
    return elapsed - decoder.seconds


def _cache(decoder: Decoder) -> KVCache:
    """Room for every request, whatever its window."""
    return KVCache(REQUESTS * (-(-max(WINDOWS) // PAGE_SIZE) + 1), PAGE_SIZE, width=decoder.width)


def _full(decoder: Decoder, store: PagedStore) -> Host:
    """A host whose requests have all filled their windows."""
    host = Host(decoder, store)
    for request in range(REQUESTS):
        host.admit(request, [request % decoder.vocabulary], WINDOWS[request % len(WINDOWS)])
    for _ in range(max(WINDOWS)):
        _round(host)
    return host


def _round(host: Host) -> float:
    """Seconds that one step of every request takes."""
    start = perf_counter()
    for request in range(REQUESTS):
        host.step(request)
    return perf_counter() - start
