"""The refinement check at the cost of what an operation touches, for replays of millions of operations.

It keeps what the whole check derives anew each time: the bijection cell -> page, the owners of each page, which pages are
free, and of each request what known_request.py has, the rows as they must read included. After an operation it compares the
touched requests, all their pages and readable rows included, and the free list by its changes. Once something differs, the
refinement check itself says which rules are broken. What an operation did anywhere else is for `check_whole`, now and then.
"""

from array import array
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar, TypeVarTuple

import numpy as np

from spec.operations import Fork, Operation, Outcome, Refused
from spec.page_table import Request, State
from verify.refinement import Difference, check_in_place, check_state, outcome_differences, unseen
from verify.target import Raised
from verify.traces.incremental_target import Glimpse, IncrementalTarget, PoolGlimpse, Rows
from verify.traces.intact import intact, rows_intact, same_rows
from verify.traces.known_request import KnownRequest
from verify.traces.pages import Pages
from verify.traces.tokens import Tokens


class IncrementalCheck:
    """Follows a target and the oracle from the initial state on, one operation at a time.

    After a difference the two no longer describe the same state; a caller stops there.
    """

    def __init__(self, target: IncrementalTarget, state: State) -> None:
        self.rows_compared = 0
        self._target = target
        self._known: dict[int, KnownRequest] = {}
        self._page_of: dict[int, int] = {}
        self._owners = [0] * state.pages
        self._owner_changes = 0
        self._listed = [1] * state.pages
        self._found: list[Difference] = []
        # Pages that the present operation touched: those of fresh cells, of cells that died, and of cells let go.
        self._born: list[int] = []
        self._died: list[int] = []
        self._let_go: list[int] = []

    def check(self, operation: Operation, before: State, after: State, expected: Outcome) -> list[Difference]:
        """Apply the operation and hold what it touched against the oracle's step; every rule that breaks."""
        answer: Outcome | Raised
        try:
            answer = _ask(self._target.apply, operation)
        except _UnseenError as error:
            answer = error.raised
        differences = [] if answer == expected else outcome_differences(expected, answer)
        self._found = found = []
        unchanged = isinstance(expected, Refused)
        try:
            pool = _ask(self._target.glimpse_pool)
            self._compare(operation, before, after, pool)
            if unchanged and (pool.taken or pool.returned):
                self._add("PT-REFUSE", "the free list stays as it is", f"lost {pool.taken}, gained {pool.returned}")
        except _UnseenError as error:
            found.append(unseen(error.raised))
        if not found:
            return differences
        if unchanged:
            said = "; ".join(f"{difference.target} for {difference.oracle}" for difference in found)
            return [*differences, Difference("PT-REFUSE", "nothing changes", said)]
        return differences + self._named(found, after)

    def check_whole(self, state: State) -> list[Difference]:
        """The refinement check of the whole state, and that every cell is still on the page where it was first seen.

        Made by arrays; only a state that does not pass is observed row by row, for the names of what is wrong.
        """
        if self._is_intact(state):
            return []
        differences: list[Difference] = []
        try:
            mapped = check_state(state, _ask(self._target.observe), differences)
        except _UnseenError as error:
            return [unseen(error.raised)]
        if not differences and mapped != self._page_of:
            check_in_place(self._page_of, mapped, differences)
        return [Difference(d.rule, shortened(d.oracle), shortened(d.target)) for d in differences]

    def _is_intact(self, state: State) -> bool:
        """Whether the refinement check of the whole state would find nothing; False also where that cannot be told."""
        target = self._target
        try:
            return intact(state, target.glimpse_whole(), self._known) and rows_intact(
                state, target.rows, target.rows_of
            )
        except MemoryError:
            raise
        except Exception:
            # What the target showed is not what the protocol says; `observe` is asked next and is the one to name it.
            return False

    def _named(self, found: list[Difference], state: State) -> list[Difference]:
        """The broken rules by the whole check, in the words of `found` where it has the rule; else what was found."""
        whole = self.check_whole(state)
        rules = {difference.rule for difference in whole}
        here = [difference for difference in found if difference.rule in rules]
        rules -= {difference.rule for difference in here}
        return here + [difference for difference in whole if difference.rule in rules] or found

    def _add(self, rule: str, oracle: str, target: str) -> None:
        self._found.append(Difference(rule, oracle, target))

    def _compare(self, operation: Operation, before: State, after: State, pool: PoolGlimpse) -> None:
        self._born, self._died, self._let_go = [], [], []
        # The fork first: it gives the pages of its source their new owners.
        if isinstance(operation, Fork):
            self._compare_request(operation.to, before, after)
        self._compare_request(operation.request, before, after)
        if self._let_go:
            pages = Pages().then(array("q", self._let_go))
            self._compare_counts(pages, pages.of(self._owners))
        if pool.taken or pool.returned or self._born or self._died:
            self._compare_free(pool)
        if pool.used != after.used:
            self._add("PT-PAGES", f"{after.used} pages in use", f"{pool.used}")
        if pool.live != len(after.requests):
            self._add("PT-LIVE", f"{len(after.requests)} live requests", f"{pool.live}")

    def _compare_request(self, name: int, before: State, after: State) -> None:
        """Its length, its released pages, its held pages and their counts, its rows."""
        truth, seen = after.requests.get(name), _ask(self._target.glimpse, name)
        if truth is None and name in self._known:
            self._follow(self._known.pop(name), (), before, after, array("q"))
        if truth is None or seen is None:
            if truth is not None or seen is not None:
                self._add("PT-LIVE", f"request {name} is {_live(truth)}", _live(seen))
            return
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = KnownRequest()
        if truth.cells is not known.cells:
            self._follow(known, truth.cells, before, after, seen.pages)
        if seen.length != len(truth.rows):
            self._add("PT-LEN", f"request {name} has {len(truth.rows)} rows", f"{seen.length}")
        known.become(truth, after.page_size, self._encode)
        if seen.released != known.released:
            self._add("PT-HOLE", f"request {name} released pages {known.released}", f"{seen.released}")
        if len(seen.pages) != len(truth.cells):
            self._add("PT-PAGES", f"request {name} holds {len(truth.cells)} pages", f"{len(seen.pages)}")
        elif seen.pages != known.pages.ids:
            places = shortened(f"{known.pages.ids.tolist()}")
            self._add("PT-INPLACE", f"request {name} is on pages {places}", shortened(f"{seen.pages.tolist()}"))
        if known.owners_as_of != self._owner_changes:
            known.owners, known.owners_as_of = known.pages.of(self._owners), self._owner_changes
        self._compare_counts(known.pages, known.owners)
        for lo, hi in known.readable:
            rows, wanted = _ask(self._target.rows, name, lo, hi), known.rows.between(lo, hi)
            self.rows_compared += hi - lo
            if not same_rows(rows, wanted):
                self._found.append(_row_difference(name, lo, truth, wanted, rows))

    def _follow(
        self, known: KnownRequest, cells: tuple[int, ...], before: State, after: State, pages: "array[int]"
    ) -> None:
        """Brings cells, pages and owners up to the oracle's; a fresh cell's page is the one that the target chose."""
        had, same = set[int](), len(known.cells)
        if cells[:same] != known.cells:
            had, same = set(known.cells), 0
            self._let_go_of(had.difference(cells), before, after)
        placed = array("q")
        for place, cell in enumerate(cells[same:], start=same):
            if cell not in self._page_of:
                if place >= len(pages) or not self._settle(cell, pages[place]):
                    continue
            elif cell not in had:
                self._own(self._page_of[cell], after.shared[cell])
            placed.append(self._page_of[cell])
        known.put(cells, same, placed)

    def _let_go_of(self, cells: set[int], before: State, after: State) -> None:
        """A request no longer holds these cells: those that it shared have an owner fewer, the others died."""
        for cell in cells:
            page = self._page_of[cell]
            self._let_go.append(page)
            if cell in before.shared:
                self._own(page, after.shared.get(cell, 1))
            else:
                self._owners[page] = 0
                self._died.append(page)
                del self._page_of[cell]

    def _encode(self, tokens: Tokens) -> Rows:
        return _ask(self._target.rows_of, tokens)

    def _own(self, page: int, owners: int) -> None:
        """The page, shared before or now, has this many owners."""
        self._owners[page] = owners
        self._owner_changes += 1

    def _settle(self, cell: int, page: int) -> bool:
        """Whether the fresh cell is on this page, which it is unless a living cell is."""
        if not 0 <= page < len(self._owners) or self._owners[page]:
            self._add("PT-SHARE", "fresh rows are on a page of their own", f"page {page} is shared or outside the pool")
            return False
        self._page_of[cell] = page
        self._owners[page] = 1
        self._born.append(page)
        return True

    def _compare_counts(self, pages: Pages, wanted: list[Sequence[int]]) -> None:
        """The pages have as many owners as the oracle says (PT-OWN)."""
        counts = self._counts_of(pages)
        if counts != wanted:
            listed = zip(pages.order(), chain.from_iterable(wanted), chain.from_iterable(counts), strict=True)
            wrong = next(triple for triple in listed if triple[1] != triple[2])
            self._add("PT-OWN", f"page {wrong[0]} has {wrong[1]} owners", f"count {wrong[2]}")

    def _counts_of(self, pages: Pages) -> list[Sequence[int]]:
        counts = _ask(self._target.counts)
        if len(counts) != len(self._owners):
            raise _UnseenError(Raised("", f"{len(counts)} counts for {len(self._owners)} pages"))
        return pages.of(counts)

    def _compare_free(self, pool: PoolGlimpse) -> None:
        """Pages that left or joined the free list, or had to, are there exactly when free (PT-FREE, PT-LEAK)."""
        change = dict.fromkeys((*self._born, *self._died, *pool.taken, *pool.returned), 0)
        for page in pool.taken:
            change[page] -= 1
        for page in pool.returned:
            change[page] += 1
        concerned = {page for page, times in change.items() if times}.union(self._born, self._died)
        pages = Pages().then(array("q", sorted(page for page in concerned if 0 <= page < len(self._owners))))
        if len(pages.ids) < len(concerned):
            self._add("PT-FREE", "pages of the pool are on the free list", f"{sorted(concerned.difference(pages.ids))}")
        for page, count in zip(pages.order(), chain.from_iterable(self._counts_of(pages)), strict=True):
            self._listed[page] += change[page]
            owned, listed = self._owners[page], self._listed[page]
            if listed > 1 or (listed and (owned or count)):
                held = f"{listed} times on the free list, count {count}, {owned} owners"
                self._add("PT-FREE", f"page {page} is free once and only when nobody holds it", held)
            if not listed and not count:
                self._add("PT-LEAK", "a page of count 0 is on the free list", f"page {page} is not")


def shortened(text: str) -> str:
    """The text, its middle left out when it is long: a request of a trace has more rows than anyone reads."""
    return text if len(text) <= 200 else f"{text[:120]} ... {text[-60:]}"


def _live(request: Request | Glimpse | None) -> str:
    return "not live" if request is None else "live"


def _row_difference(name: int, lo: int, truth: Request, wanted: Rows, rows: Rows) -> Difference:
    """The first row that reads wrong."""
    if rows.shape != wanted.shape:
        return Difference("PT-ROWS", f"request {name} reads an array {wanted.shape}", f"{rows.shape}")
    first = int(np.nonzero((rows != wanted).any(axis=(0, 1, 3)))[0][0])
    (token,) = truth.rows[lo + first : lo + first + 1]
    said = f"row {lo + first} of request {name} is token {token}: {wanted[:, :, first].tolist()}"
    return Difference("PT-ROWS", said, f"{rows[:, :, first].tolist()}")


class _UnseenError(Exception):
    """The target raised where it had to answer."""

    def __init__(self, raised: Raised) -> None:
        super().__init__(raised.message)
        self.raised = raised


_Args = TypeVarTuple("_Args")
_R = TypeVar("_R")


def _ask(call: Callable[[*_Args], _R], *args: *_Args) -> _R:
    """What the target answers; _UnseenError when it raises, except for want of memory, which is the process's."""
    try:
        return call(*args)
    except MemoryError:
        raise
    except Exception as error:
        raise _UnseenError(Raised(type(error).__name__, str(error))) from error
