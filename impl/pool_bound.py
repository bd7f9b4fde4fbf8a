"""How many pages a schedule can need at most, known from the trace alone."""

from bisect import bisect_right
from collections.abc import Sequence

from impl.schedule import ScheduleOptions, microseconds
from impl.traces import TraceRequest


def most_pages(requests: Sequence[TraceRequest], options: ScheduleOptions) -> int:
    """A number of pages, at least 1, with which the schedule refuses and evicts nothing.

    With enough pages nobody waits, so when each request is live follows from the trace: from its arrival to its end and, if
    it is held, until `hold` later ones have ended. Sharing saves pages and never costs any, so the pool never needs more
    pages than the longest tables of the requests that are live together; with a window, one of these may at the moment
    have a whole prompt, not yet trimmed.
    """
    lives = []
    for index, request in enumerate(requests):
        stop, aborts = options.stop(request, index)
        arrival = microseconds(request.arrival_ms)
        end = arrival + stop * microseconds(options.ms_per_token)
        lives.append((arrival, end, longest_table(request.prompt + stop, options), bool(request.blocks) and not aborts))
    ends = sorted(end for _, end, _, held in lives if held)
    # At equal times pages are taken before any are given back: whatever the order in the schedule, it needs no more.
    changes = []
    for arrival, end, pages, held in lives:
        displaced = bisect_right(ends, end) - 1 + options.hold
        changes.append((arrival, 0, pages))
        if not held:
            changes.append((end, 1, -pages))
        elif displaced < len(ends):
            changes.append((ends[displaced], 1, -pages))
    now = most = 0
    for _, _, pages in sorted(changes):
        now += pages
        most = max(most, now)
    if options.window is not None:
        most += max((pages_for(request.prompt, options.page_size) for request in requests), default=0)
    return max(1, most)


def longest_table(rows: int, options: ScheduleOptions) -> int:
    """Pages that a request of this many rows holds at most; with a window, after its prompt was trimmed (WIN-5)."""
    pages = pages_for(rows, options.page_size)
    return pages if options.window is None else min(pages, pages_for(options.window - 1, options.page_size) + 1)


def pages_for(rows: int, page_size: int) -> int:
    """Pages in which this many rows lie."""
    return -(-rows // page_size)
