"""Three short runs of the real cache, written down event by event: a window, a fork, an exhausted pool.

Every row's key and value hold the row's own position, so the rows a run shows are the rows it really read. The results
are plain data (dicts, lists, numbers, names), ready for JSON. Source: docs/reference.md section 2.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from impl.kv_cache import KVCache
from impl.page_table import OutOfPages
from impl.window import gather_ranges, keep_from

Event = dict[str, Any]


def windowed_run(pages: int, page_size: int, window: int | None, steps: int) -> list[Event]:
    """One event a step: the rows read, then the block table, the dropped pages and the free pages after its trim.

    `free` is sorted, `next_page` the page that the next one to need a page would get. Raises OutOfPages.
    """
    cache = KVCache(pages, page_size, dtype=np.int64)
    cache.new(0)
    events = []
    for step in range(1, steps + 1):
        read = [row for lo, hi in gather_ranges(step, window) for row in _positions(cache, 0, lo, hi)]
        cache.append_row(0, _row(step - 1))
        cache.trim(0, keep_from(step, window))
        events.append(
            {
                "step": step,
                "rows_read": read,
                "table": list(cache.table.block_table(0)),
                "dropped": cache.table.dropped(0),
                "free": sorted(cache.table.free),
                "next_page": cache.table.free[-1] if cache.table.free else None,
            }
        )
    return events


def fork_run() -> list[Event]:
    """A is forked to B, which appends a row and ends: block tables, counts and A's rows each time (A is request 0, B 1)."""
    cache = KVCache(8, 4, dtype=np.int64)
    cache.new(0)
    for position in range(10):
        cache.append_row(0, _row(position))
    events = [_sharing(cache, "A holds 10 rows")]
    cache.fork(0, 1)
    events.append(_sharing(cache, "fork A to B"))
    cache.append_row(1, _row(10))
    events.append(_sharing(cache, "B appends a row"))
    cache.release(1)
    events.append(_sharing(cache, "release B"))
    return events


def exhausted_run() -> list[Event]:
    """Appends to a pool of 3 pages of 2 rows until one is refused: the outcome, the length and the free pages each time."""
    cache = KVCache(3, 2, dtype=np.int64)
    cache.new(0)
    events: list[Event] = []
    outcome = "accepted"
    while outcome == "accepted":
        try:
            cache.append_row(0, _row(len(events)))
        except OutOfPages as refusal:
            outcome = type(refusal).__name__
        events.append(
            {
                "append": len(events) + 1,
                "outcome": outcome,
                "length": cache.table.length(0),
                "table": list(cache.table.block_table(0)),
                "free": sorted(cache.table.free),
            }
        )
    return events


def _row(position: int) -> npt.NDArray[np.int64]:
    return np.full((1, 2, 1), position, np.int64)


def _positions(cache: KVCache, request: int, lo: int, hi: int) -> list[int]:
    """What rows lo .. hi-1 hold, keys and values alike."""
    keys, values = cache.rows(request, lo, hi)[0, :, :, 0].tolist()
    if keys != values:
        raise AssertionError(f"keys {keys} and values {values} of rows {lo} .. {hi - 1} differ")
    return list(keys)


def _sharing(cache: KVCache, event: str) -> Event:
    live = cache.table.requests()
    return {
        "event": event,
        "tables": {"AB"[request]: list(cache.table.block_table(request)) for request in live},
        "counts": {str(page): count for page, count in enumerate(cache.table.counts) if count},
        "rows_of_a": _positions(cache, 0, 0, cache.table.length(0)),
        "free": sorted(cache.table.free),
    }
