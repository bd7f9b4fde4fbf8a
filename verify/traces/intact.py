"""Whether a whole state is as the oracle has it, by arrays: only yes or no, refinement.py names what is wrong."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from spec.page_table import Request, State, readable, released
from verify.traces.expected_rows import Encode
from verify.traces.incremental_target import Glimpse, Rows, WholeGlimpse
from verify.traces.known_request import KnownRequest
from verify.traces.tokens import Tokens

Ids = npt.NDArray[np.int64]


def intact(state: State, seen: WholeGlimpse, known: Mapping[int, KnownRequest]) -> bool:
    """Whether check_state finds nothing in the state, its rows excepted, and every live request is on its known pages.

    Which page backs which cell, the table entries and the free pages are derived anew from both sides.
    """
    if not seen.requests.keys() == state.requests.keys() == known.keys():
        return False
    for name, truth in state.requests.items():
        view, held = seen.requests[name], known[name]
        if truth.cells is not held.cells or not _is_shown(truth, view, state.page_size) or view.pages != held.pages.ids:
            return False
    # The arrays stand beside the oracle's very tuples; to read the integers out of those would take ten times as long.
    cells = _ids(b"".join([held.cell_ids.tobytes() for held in map(known.__getitem__, state.requests)]))
    pages = _ids(b"".join([view.pages.tobytes() for view in map(seen.requests.__getitem__, state.requests)]))
    free = _ids(seen.free.tobytes())
    if not (_in_pool(pages, state.pages) and _in_pool(free, state.pages) and _one_to_one(cells, pages)):
        return False
    entries, listed = np.bincount(pages, minlength=state.pages), np.bincount(free, minlength=state.pages)
    if seen.counts != entries.tolist() or state.pages - len(free) != state.used:
        return False
    return bool((listed == (entries == 0)).all())


def rows_intact(state: State, rows: Callable[[int, int, int], Rows], encode: Encode) -> bool:
    """Whether every readable row of every request reads as the oracle's, which are encoded anew."""
    for name, truth in state.requests.items():
        for lo, hi in readable(truth, state.page_size):
            if not same_rows(rows(name, lo, hi), encode(Tokens.of(truth.rows[lo:hi]))):
                return False
    return True


def same_rows(rows: Rows, wanted: Rows) -> bool:
    """Whether the arrays have one shape and equal elements."""
    # Half the calls of `.all()`, which count when there are few rows.
    return rows.shape == wanted.shape and not np.count_nonzero(rows != wanted)


def _is_shown(truth: Request, view: Glimpse, page_size: int) -> bool:
    """Length, released pages and number of held pages are the oracle's."""
    expected = len(truth.rows), released(truth, page_size), len(truth.cells)
    return (view.length, view.released, len(view.pages)) == expected


def _ids(memory: bytes) -> Ids:
    return np.frombuffer(memory, np.int64)


def _in_pool(pages: Ids, count: int) -> bool:
    return not len(pages) or bool(pages.min() >= 0 and pages.max() < count)


def _one_to_one(cells: Ids, pages: Ids) -> bool:
    """Whether equal cells are on equal pages, and different ones on different pages."""
    if len(cells) != len(pages):
        return False
    if not len(cells):
        return True
    # No entry is read that was not just written, so that nothing needs to be initialised.
    first = cells.min()
    page_of, cell_of = np.empty(cells.max() - first + 1, np.int64), np.empty(pages.max() + 1, np.int64)
    page_of[cells - first] = pages
    cell_of[pages] = cells
    return bool((page_of[cells - first] == pages).all() and (cell_of[pages] == cells).all())
