"""The pages of a request, looked up in a list that has one entry a page."""

from array import array
from collections.abc import Callable, Sequence
from operator import itemgetter

LONG = 8
"""A run of so many pages costs less as one slice than page by page."""


class Pages:
    """Page ids in an order, none below 0; nobody changes `ids`.

    A free list hands out runs of pages whose ids rise or fall by one each, and what a list has for a long run is one slice of
    it: a thousand pages take a few slices and one look-up of the pages between.
    """

    __slots__ = ("_long", "_pick", "_runs", "_short", "ids")

    def __init__(self) -> None:
        self.ids = array("q")
        self._runs: list[range] = []
        self._long: list[slice] = []
        self._short: list[int] = []
        self._pick = _picking(self._short)

    def then(self, more: "array[int]") -> "Pages":
        """These pages and behind them those."""
        if not more:
            return self
        pages = Pages()
        pages.ids = self.ids + more
        pages._runs = _joined(self._runs, more)
        pages._long = [_slice(run) for run in pages._runs if len(run) >= LONG]
        pages._short = [page for run in pages._runs if len(run) < LONG for page in run]
        pages._pick = _picking(pages._short)
        return pages

    def of(self, entries: list[int]) -> list[Sequence[int]]:
        """The entries of these pages in pieces, the long runs first. IndexError when a page of a short run has none."""
        return [*[entries[run] for run in self._long], self._pick(entries)]

    def order(self) -> list[int]:
        """The ids in the order in which `of` has their entries."""
        return [page for run in self._runs if len(run) >= LONG for page in run] + self._short


def _joined(runs: list[range], more: "array[int]") -> list[range]:
    """The runs and the pages of `more` behind them as runs; the last one goes on where it can."""
    joined = runs[:]
    first, by, pages = more[0], 0, more[1:]
    last = first
    if joined:
        run = joined.pop()
        first, last, by, pages = run[0], run[-1], run.step if len(run) > 1 else 0, more
    for page in pages:
        step = page - last
        if not by and step in (1, -1):
            by = step
        elif not by or step != by:
            joined.append(range(first, last + (by or 1), by or 1))
            first, by = page, 0
        last = page
    joined.append(range(first, last + (by or 1), by or 1))
    return joined


def _slice(run: range) -> slice:
    """The run as a slice; one that falls to page 0 has no stop that is a number."""
    return slice(run.start, run.stop if run.stop >= 0 else None, run.step)


def _picking(pages: list[int]) -> Callable[[list[int]], tuple[int, ...]]:
    """What gets the entries of these pages."""
    if len(pages) > 1:
        return itemgetter(*pages)
    return lambda entries: tuple([entries[page] for page in pages])
