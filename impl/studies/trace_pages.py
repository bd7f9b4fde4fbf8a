"""Pages that the requests of a trace hold over time, each with pages of its own from a pool that is never short.

Requests run in the order of impl/schedule.py without a limit: the whole prompt at the arrival, then a row every so often, and the
last one ends the request; with a window it trims after each append. A row that neither starts a page nor lets one go leaves every
page where it is, so it is appended together with the next row that does: the page table goes through the same counts of pages
in a fraction of the operations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import mul

import numpy as np
import numpy.typing as npt

from impl.page_table import PageTable
from impl.pool_bound import most_pages
from impl.schedule import ARRIVAL, NEXT_ROW, ScheduleOptions, microseconds
from impl.traces import TraceRequest
from impl.window import keep_from

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HeldPages:
    """Pages held over time: `pages[i]` from `times_us[i]`, ascending, to the next change; 0 before the first.

    `peak` is the most held at any moment, also between the append of a row and the trim behind it.
    """

    times_us: Integers
    pages: Integers
    peak: int

    @property
    def settled_peak(self) -> int:
        """The most held once each append was trimmed."""
        return int(self.pages.max(initial=0))

    @property
    def page_us(self) -> int:
        """Pages held times the microseconds for which they were."""
        # Not in 64 bits, which a damaged timestamp could overflow.
        return sum(map(mul, self.pages[:-1].tolist(), np.diff(self.times_us).tolist()))

    def same_as(self, other: "HeldPages") -> bool:
        """Whether the two hold as many pages at every moment."""
        at_once = np.array_equal(self.times_us, other.times_us) and np.array_equal(self.pages, other.pages)
        return at_once and self.peak == other.peak

    def mean(self) -> float:
        """Pages held on average between the first change and the last."""
        spent = int(self.times_us[-1] - self.times_us[0]) if len(self.times_us) else 0
        return self.page_us / spent if spent else 0.0

    def most_within(self, edges_us: Integers) -> Integers:
        """The most held within each part of the time, from an edge to the next, the next one's own changes left out."""
        # Where each part starts: what is held there already, before its own changes.
        firsts = np.searchsorted(self.times_us, edges_us[:-1])
        held = np.concatenate([np.zeros(1, np.int64), self.pages])
        ends = np.searchsorted(self.times_us, edges_us[1:])
        return np.array([held[first : end + 1].max() for first, end in zip(firsts, ends, strict=True)], np.int64)


def held_pages(times_us: Sequence[int] | Integers, pages: Sequence[int] | Integers, peak: int) -> HeldPages:
    """Of what is held after each operation, in the order of operations, what holds from each time on; repeats are left out."""
    times, held = np.asarray(times_us, np.int64), np.asarray(pages, np.int64)
    last_of_time = np.append(times[1:] != times[:-1], True)[: len(times)]
    times, held = times[last_of_time], held[last_of_time]
    changed = np.diff(held, prepend=-1) != 0
    if len(changed):
        changed[[0, -1]] = True
    return HeldPages(times[changed], held[changed], peak)


@dataclass(frozen=True, slots=True)
class Turns:
    """Moments at which the page counts of requests can change, in order: `length` is what request `rank` has grown to.

    Requests are ranked by arrival. At its `last` turn a request ends.
    """

    times_us: Integers
    rank: Integers
    length: Integers
    last: npt.NDArray[np.bool_]

    def __iter__(self) -> Iterator[tuple[int, int, bool]]:
        return zip(self.rank.tolist(), self.length.tolist(), self.last.tolist(), strict=True)


def by_arrival(requests: Sequence[TraceRequest]) -> list[TraceRequest]:
    """The requests in the order in which they arrive, at equal times in that of the trace."""
    return sorted(requests, key=lambda request: microseconds(request.arrival_ms))


def in_turn(requests: Sequence[TraceRequest], lengths: Sequence[Integers], token_us: int) -> Turns:
    """The given lengths of each request, from its prompt to all its rows, in the order of time.

    At equal times next rows come before arrivals, and both in the order of arrival.
    """
    counts = [len(of_one) for of_one in lengths]
    rank = np.repeat(np.arange(len(requests)), counts)
    length = np.concatenate([np.empty(0, np.int64), *lengths])
    prompt = np.repeat(np.array([request.prompt for request in requests], np.int64), counts)
    output = np.repeat(np.array([request.output for request in requests], np.int64), counts)
    arrival = np.repeat(np.array([microseconds(r.arrival_ms) for r in requests], np.int64), counts)
    times = arrival + (length - prompt) * token_us
    order = np.lexsort((length, rank, np.where(length == prompt, ARRIVAL, NEXT_ROW), times))
    return Turns(times[order], rank[order], length[order], (length == prompt + output)[order])


def turning_lengths(request: TraceRequest, page_size: int, window: int | None) -> Integers:
    """Lengths at which a request starts, starts a page, lets one go or ends."""
    first, last = request.prompt, request.prompt + request.output
    turns = [np.array([first, last]), np.arange(first + 1 + (-first) % page_size, last, page_size)]
    if window is not None:
        # Row keep_from = length + 1 - window is the first of a page.
        at_least = max(first + 1, window - 1 + page_size)
        turns.append(np.arange(at_least + (window - 1 - at_least) % page_size, last, page_size))
    return np.unique(np.concatenate(turns)).astype(np.int64)


def held_on_page_table(requests: Sequence[TraceRequest], options: ScheduleOptions) -> HeldPages:
    """The pages held as the page table that ships counts them; `hold` and block ids say nothing here."""
    requests = [replace(request, blocks=()) for request in by_arrival(requests)]
    lengths = [turning_lengths(request, options.page_size, options.window) for request in requests]
    turns = in_turn(requests, lengths, microseconds(options.ms_per_token))
    table = PageTable(most_pages(requests, options), options.page_size)
    window, peak = options.window, 0
    held = []
    for request, length, last in turns:
        if request not in table.tables:
            table.new(request)
        if length > table.length(request):
            table.append(request, length - table.length(request))
        peak = max(peak, table.used)
        if last:
            table.release(request)
        elif window is not None and length:
            table.trim(request, keep_from(length, window))
        held.append(table.used)
    return held_pages(turns.times_us, held, peak)
