"""A trace served from the prefix cache that ships, on a pool of a given size.

The order is that of impl/schedule.py: the prompt at the arrival, then a row every so often; without pages a request that starts
waits, and one that grows has the newest running one preempted, which later computes its rows anew. What is published stays for
later requests until its page is needed, the longest idle first, so here nothing is held by number. As in
impl/studies/trace_pages.py rows that start no page are appended together with the next one that does.
"""

import gc
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from impl.page_table import OutOfPages
from impl.pool_bound import pages_for
from impl.prefix_cache import PrefixCache
from impl.schedule import ARRIVAL, NEXT_ROW, microseconds
from impl.studies.trace_pages import HeldPages, by_arrival, held_pages
from impl.traces import BLOCK_ROWS, TraceRequest


@dataclass(frozen=True, slots=True)
class Served:
    """What became of a trace on a pool of `pages` pages of one block of the trace.

    `asked` are the prompt rows of all requests when they first started and `served` those of them that were there already.
    `held` are pages with an owner, `named` the entries of the block tables that name them: as many pages as the requests would
    hold without sharing. `waited` could not start on arrival, `preempted` counts how often one was put back, `rejected` fit into
    no pool of this size.
    """

    pages: int
    asked: int
    served: int
    waited: int
    preempted: int
    rejected: int
    most_running: int
    held: HeldPages
    named: HeldPages

    @property
    def hit_rate(self) -> float:
        """Percent of the prompt rows that were served."""
        return 100 * self.served / self.asked if self.asked else 0.0

    @property
    def saved(self) -> float:
        """Percent of the pages that sharing saves, on average over the time."""
        named = self.named.page_us
        return 100 * (named - self.held.page_us) / named if named else 0.0


def serve(requests: Sequence[TraceRequest], pages: int, ms_per_token: float) -> Served:
    """Serve the trace to its end. Requests without a prompt, which a prefix cache cannot start, are left out."""
    server = _Server([request for request in requests if request.prompt], pages, microseconds(ms_per_token))
    with _no_search_for_cycles():
        server.run()
    held = held_pages(server.times_us, server.held, max(server.held, default=0))
    named = held_pages(server.times_us, server.named, max(server.named, default=0))
    counts = (server.waited, server.preempted, server.rejected, server.most_running)
    return Served(pages, server.asked, server.served, *counts, held, named)


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """The garbage collector stays away: prefixes refer to shorter ones alone, and walking them takes a fourth of the run."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(slots=True, eq=False)
class _Life:
    """One request on its way: `name` is its id in the cache while it runs, a new one each time, and -1 while it does not.

    `own_token` stands in every row that no other request has. Of its output rows `done` are appended, and row r (1-based) is due
    at `base_us` + r tokens.
    """

    request: TraceRequest
    own_token: int
    started: bool = False
    name: int = -1
    base_us: int = 0
    done: int = 0


class _Server:
    def __init__(self, requests: Sequence[TraceRequest], pages: int, token_us: int) -> None:
        self.cache = PrefixCache(pages, BLOCK_ROWS)
        self.asked = self.served = self.waited = self.preempted = self.rejected = self.most_running = 0
        self.times_us: list[int] = []
        self.held: list[int] = []
        self.named: list[int] = []
        self._pages = pages
        self._token_us = token_us
        self._now = 0
        self._names = 0
        self._named = 0
        self._running: dict[int, _Life] = {}
        self._waiting: deque[_Life] = deque()
        # Whether pages may have come back since the head of the queue was refused.
        self._room = False
        self._events = [
            (microseconds(request.arrival_ms), ARRIVAL, index, _Life(request, -1 - index))
            for index, request in enumerate(by_arrival(requests))
        ]
        heapify(self._events)
        longest = max((request.prompt + request.output for request in requests), default=0)
        # Rows are written as on a host, but nobody looks at them.
        self._rows = np.zeros((1, 1, 2, longest, 1), np.int8)

    def run(self) -> None:
        """Serve until no request is left."""
        while self._events:
            self._now, kind, key, life = heappop(self._events)
            if kind == ARRIVAL:
                if self._waiting or not self._start(life):
                    self.waited += 1
                    self._waiting.append(life)
            elif life.name == key:
                self._turn(life)
            while self._room and self._waiting and self._start(self._waiting[0]):
                self._waiting.popleft()
            self.times_us.append(self._now)
            self.held.append(self._pages - self.cache.shared.available)
            self.named.append(self._named)

    def _start(self, life: _Life) -> bool:
        """Whether the request need not wait: it runs now, has ended or is rejected."""
        tokens = prompt_tokens(life.request, life.own_token) + [life.own_token] * life.done
        try:
            served = self.cache.admit(self._names, tokens)
        except OutOfPages:
            self._room = not self._running
            self.rejected += self._room
            return self._room
        life.name = self._names
        self._names += 1
        self._commit(life, len(tokens) - served)
        self._named += pages_for(len(tokens), BLOCK_ROWS)
        if not life.started:
            self.asked += life.request.prompt
            self.served += served
        life.started = True
        life.base_us = self._now - life.done * self._token_us
        self._running[life.name] = life
        self.most_running = max(self.most_running, len(self._running))
        self._go_on(life)
        return True

    def _turn(self, life: _Life) -> None:
        """Append the rows that are due, whatever it takes, unless the request itself is the newest."""
        while not self._append(life, (self._now - life.base_us) // self._token_us):
            alone = len(self._running) == 1
            _, newest = self._running.popitem()
            # The rows that were due before need no page; it may have started at this very moment.
            self._append(newest, max(newest.done, (self._now - newest.base_us - 1) // self._token_us))
            self._release(newest)
            if alone:
                self.rejected += 1
            else:
                self.preempted += 1
                self._waiting.appendleft(newest)
                # It would start again in the very pages that it gave up, only to be the newest once more.
                self._room = False
            if newest is life:
                return
        self._go_on(life)

    def _go_on(self, life: _Life) -> None:
        """The next row that starts a page or is the last comes later, or the request ends."""
        if life.done == life.request.output:
            del self._running[life.name]
            self._release(life)
            return
        room = -(life.request.prompt + life.done) % BLOCK_ROWS
        due = min(life.done + room + 1, life.request.output)
        heappush(self._events, (life.base_us + due * self._token_us, NEXT_ROW, life.name, life))

    def _append(self, life: _Life, done: int) -> bool:
        """Whether the output rows up to `done` are appended."""
        rows = done - life.done
        if not rows:
            return True
        try:
            self.cache.append(life.name, [life.own_token] * rows)
        except OutOfPages:
            return False
        self._commit(life, rows)
        length = life.request.prompt + done
        self._named += pages_for(length, BLOCK_ROWS) - pages_for(length - rows, BLOCK_ROWS)
        life.done = done
        return True

    def _commit(self, life: _Life, rows: int) -> None:
        self.cache.commit(life.name, self._rows[:, :, :, :rows])

    def _release(self, life: _Life) -> None:
        self._named -= pages_for(life.request.prompt + life.done, BLOCK_ROWS)
        self.cache.release(life.name)
        life.name = -1
        self._room = True


def prompt_tokens(request: TraceRequest, own_token: int) -> list[int]:
    """Tokens of the prompt: a block's are its id and zeros, and those of no block are the request's own."""
    known = min(request.prompt, BLOCK_ROWS * len(request.blocks))
    tokens = [0] * known
    tokens[::BLOCK_ROWS] = request.blocks[: pages_for(known, BLOCK_ROWS)]
    return tokens + [own_token] * (request.prompt - known)
