"""The order of operations in which a serving system runs a trace on one page table, whichever table that is.

A request arrives, starts with its whole prompt in one append, then appends one row every `ms_per_token`; its last row ends
it. With a window it trims after each append. A prompt whose first blocks are those of a request that is live, or ended and
still held, starts as a fork of that one. Ended requests with blocks stay held, the newest `hold` of them; without blocks
nobody could share them.

When the table is out of pages, the oldest held request goes first, then the next. If that is not enough, a request that
wants to start waits, and all that arrive later wait behind it. A request that wants its next row preempts the newest
running one, itself if it is that: it is released, goes to the head of the queue, and later appends its prompt and the rows
it had anew (vLLM's preemption by recomputation). A request that is refused when nothing else is live never fits and is
rejected. The oldest running request always advances, so every schedule ends.

Times are integers of microseconds: milliseconds as floats would order equal times by rounding. At equal times next rows
come before arrivals; next rows are in order of starting, arrivals in order of the trace.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from impl.prefix_holders import PrefixHolders
from impl.traces import BLOCK_ROWS, TraceRequest
from impl.window import keep_from
from spec.operations import Append, Fork, New, Operation, Outcome, Reason, Refused, Release, Trim

Drive = Callable[[Operation], Outcome]
"""Applies one operation to the table and returns its answer."""

NEXT_ROW, ARRIVAL = 0, 1
"""Kinds of events, in their order at equal times."""


class UnexpectedRefusalError(Exception):
    """The table refused an operation that is legal and needs no page, or for another reason than OutOfPages."""


@dataclass(frozen=True, slots=True)
class ScheduleOptions:
    """How a trace is run.

    `abort_every` N ends every N-th request of the trace when half its output rows are appended, and does not hold it; 0
    ends none early. ValueError for numbers out of range.
    """

    page_size: int = 16
    window: int | None = None
    ms_per_token: float = 50.0
    hold: int = 64
    abort_every: int = 0

    def __post_init__(self) -> None:
        if self.page_size < 1:
            raise ValueError(f"a page holds at least one row, not {self.page_size}")
        if self.window is not None and self.window < 1:
            raise ValueError(f"a window holds at least the new token, not {self.window}")
        if not 0 <= self.ms_per_token <= 1e9:
            raise ValueError(f"milliseconds per token lie in 0 .. 1e9, not {self.ms_per_token}")
        if self.hold < 0 or self.abort_every < 0:
            raise ValueError(f"hold {self.hold} and abort_every {self.abort_every} are numbers of requests")

    def stop(self, request: TraceRequest, index: int) -> tuple[int, bool]:
        """Output rows after which the request at `index` of the trace ends, and whether that is an abort."""
        if self.abort_every and (index + 1) % self.abort_every == 0:
            return request.output // 2, True
        return request.output, False


@dataclass(slots=True)
class Figures:
    """What a schedule has done so far.

    `done` requests have ended, of which `aborted` early and `rejected` because they never fit. `rows` were appended,
    recomputed ones included; `forks` requests started from a shared prefix, of `forked_rows` together. `refused` counts
    operations refused with OutOfPages, `waited` requests that could not start on arrival, `preempted` how often a running
    one was put back, and `evicted` held requests that went because pages were needed.
    """

    operations: int = 0
    done: int = 0
    aborted: int = 0
    rejected: int = 0
    rows: int = 0
    forks: int = 0
    forked_rows: int = 0
    refused: int = 0
    waited: int = 0
    preempted: int = 0
    evicted: int = 0


@dataclass(slots=True, eq=False)
class _Life:
    """One request of the trace on its way.

    `name` is its id in the table while it is live, another one each time it starts, and -1 while it is not. It ends after
    `stop` output rows; `done` of them are appended, or were when it was preempted. Its row i, unless it came with the
    fork, is token `first_token` + i. `keep_from` is where it last trimmed.
    """

    request: TraceRequest
    stop: int
    aborts: bool
    name: int = -1
    first_token: int = 0
    length: int = 0
    done: int = 0
    keep_from: int = 0


class Schedule:
    """One run of a trace. `figures` and `now_us` can be read at any time, from within the driven table too."""

    def __init__(self, requests: Sequence[TraceRequest], options: ScheduleOptions) -> None:
        self.figures = Figures()
        self.now_us = 0
        self._options = options
        self._token_us = microseconds(options.ms_per_token)
        self._events: list[tuple[int, int, int, _Life]] = []
        for index, request in enumerate(requests):
            life = _Life(request, *options.stop(request, index))
            self._events.append((microseconds(request.arrival_ms), ARRIVAL, index, life))
        heapify(self._events)
        self._waiting: deque[_Life] = deque()
        # By name: the running in order of starting, the held in order of ending.
        self._running: dict[int, _Life] = {}
        self._held: dict[int, _Life] = {}
        self._holders = PrefixHolders()
        self._names = 0
        self._tokens = 0
        # Whether pages may have come back since the head of the queue was refused.
        self._room = False

    def run(self, drive: Drive) -> Figures:
        """Runs the trace to its end, once, and returns the figures; the newest held requests are still live then.

        UnexpectedRefusalError, and whatever `drive` raises; the figures then say how far it came.
        """
        self._drive = drive
        while self._events:
            self.now_us, kind, key, life = heappop(self._events)
            if kind == ARRIVAL:
                self._arrive(life)
            elif life.name == key:
                self._append_next_row(life)
            while self._room and self._waiting and self._start(self._waiting[0]):
                self._waiting.popleft()
        return self.figures

    def _arrive(self, life: _Life) -> None:
        if self._waiting or not self._start(life):
            self.figures.waited += 1
            self._waiting.append(life)

    def _start(self, life: _Life) -> bool:
        """Whether the request need not wait: it runs now, has ended or is rejected."""
        life.name, life.first_token, life.length, life.keep_from = self._names, self._tokens, 0, 0
        self._names += 1
        self._tokens += life.request.prompt + life.request.output
        shared = self._share_prefix(life)
        if not shared:
            self._order(New(life.name))
        if not all(self._grow(life, length) for length in self._starting_lengths(life)):
            if life.length == shared:
                self._tokens = life.first_token
            self._release(life)
            self._room = not self._running
            if not self._running:
                self._reject()
            return not self._running
        self.figures.forks += shared > 0
        self.figures.forked_rows += shared
        self._running[life.name] = life
        if life.keep_from < self._options.page_size:
            self._holders.add(life.name, life.request.blocks)
        self._go_on(life)
        return True

    def _share_prefix(self, life: _Life) -> int:
        """Rows with which the request starts as a fork; 0 when nobody holds any, and then it has not started."""
        name, blocks = self._holders.longest(life.request.blocks)
        if not blocks:
            return 0
        source = self._running.get(name) or self._held[name]
        rows = min(BLOCK_ROWS * blocks, life.request.prompt, source.request.prompt)
        if not rows or not self._accepted(Fork(name, life.name, rows)):
            return 0
        life.length = rows
        return rows

    def _starting_lengths(self, life: _Life) -> Iterable[int]:
        """Lengths to which the request grows, one append each, before it appends its next row.

        A preempted one recomputes its rows together with the prompt. With a window it appends them one by one, as the
        first time: in one append they could need more pages than it ever held.
        """
        prompt = life.request.prompt
        if self._options.window is None:
            return (prompt + life.done,)
        return range(prompt, prompt + life.done + 1)

    def _append_next_row(self, life: _Life) -> None:
        while not self._grow(life, life.length + 1):
            alone = len(self._running) == 1
            _, newest = self._running.popitem()
            self._release(newest)
            if alone:
                self._reject()
            else:
                self.figures.preempted += 1
                self._waiting.appendleft(newest)
                # It would start again in the very pages that it gave up, only to be the newest once more.
                self._room = False
            if newest is life:
                return
        life.done += 1
        self._go_on(life)

    def _go_on(self, life: _Life) -> None:
        """The next row comes later, or the request ends."""
        if life.done < life.stop:
            heappush(self._events, (self.now_us + self._token_us, NEXT_ROW, life.name, life))
            return
        del self._running[life.name]
        self.figures.done += 1
        self.figures.aborted += life.aborts
        if life.aborts or not life.request.blocks or not self._options.hold:
            self._release(life)
            return
        self._held[life.name] = life
        self._room = True
        if len(self._held) > self._options.hold:
            self._release_oldest_held()

    def _grow(self, life: _Life, length: int) -> bool:
        """Whether the rows up to `length` are appended, for which held requests may have had to go."""
        rows = length - life.length
        if not rows:
            return True
        append = Append(life.name, tuple(range(life.first_token + life.length, life.first_token + length)))
        while not self._accepted(append):
            if not self._held:
                return False
            self._release_oldest_held()
            self.figures.evicted += 1
        self.figures.rows += rows
        life.length = length
        if self._options.window is not None:
            self._trim(life, self._options.window)
        return True

    def _trim(self, life: _Life, window: int) -> None:
        page_size, trimmed = self._options.page_size, life.keep_from
        life.keep_from = keep_from(life.length, window)
        self._order(Trim(life.name, life.keep_from))
        if trimmed // page_size < life.keep_from // page_size:
            self._room = True
        if trimmed < page_size <= life.keep_from:
            # Its first page is gone, and every prefix with it.
            self._holders.discard(life.name, life.request.blocks)

    def _release_oldest_held(self) -> None:
        self._release(self._held.pop(next(iter(self._held))))

    def _release(self, life: _Life) -> None:
        self._holders.discard(life.name, life.request.blocks)
        self._order(Release(life.name))
        life.name = -1
        self._room = True

    def _reject(self) -> None:
        self.figures.rejected += 1
        self.figures.done += 1

    def _order(self, operation: Operation) -> None:
        if not self._accepted(operation):
            raise UnexpectedRefusalError(f"{operation} needs no page and was refused for want of pages")

    def _accepted(self, operation: Operation) -> bool:
        """Whether the table accepts the operation; False when it is out of pages."""
        self.figures.operations += 1
        outcome = self._drive(operation)
        if not isinstance(outcome, Refused):
            return True
        if outcome.reason is not Reason.OUT_OF_PAGES:
            raise UnexpectedRefusalError(f"{operation} was refused with {outcome.reason.value}")
        self.figures.refused += 1
        return False


def microseconds(milliseconds: float) -> int:
    """The nearest integer of microseconds."""
    return round(milliseconds * 1000)
