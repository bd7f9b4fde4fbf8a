"""The oracle: what each operation on a paged cache means, over cells instead of physical pages.

A cell is the identity of one page's worth of storage. Rows belong to requests, so bytes past a holder's length are
nobody's, and which physical page backs a cell is the target's free choice. States are immutable: `step` returns a new
one.

Notation: pages of P rows; per request n rows, sp leading pages that hold a sink, d released pages. The logical pages
[sp, sp+d) are released and the others below ceil(n/P) are held. Only full pages are released, so d > 0 implies
(sp+d)*P <= n. Source: docs/reference.md section 2.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spec.operations import (
    Accepted,
    Append,
    Fork,
    New,
    Operation,
    Outcome,
    Read,
    Refused,
    Release,
    Trim,
    Truncate,
)
from spec.outcomes import ACCEPTED, BAD_ARGUMENT, DUPLICATE_REQUEST, OUT_OF_PAGES, ROWS_RELEASED, UNKNOWN_REQUEST


@dataclass(frozen=True, slots=True)
class Request:
    """One live request: n = len(rows), d = dropped.

    `rows` has the token of every logical row, released rows included. `cells` are the held cells in logical order, each
    named once: the pages below sp that exist, then those from sp+d on; ceil(n/P) - d of them.
    """

    rows: tuple[int, ...]
    sinks: int
    dropped: int
    cells: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class State:
    """Pool and live requests; `used` and `shared` follow from the requests and are kept to spare a step the recount.

    `used` counts the distinct held cells. `shared` gives the owners of each cell that has more than one; every other
    held cell has exactly one. `next_cell` and the identities above it are fresh. Nobody mutates the mappings.
    """

    pages: int
    page_size: int
    requests: Mapping[int, Request]
    used: int
    shared: Mapping[int, int]
    next_cell: int


Transition = tuple[State, Outcome]


def initial(pages: int, page_size: int) -> State:
    """The pool with no request. ValueError unless pages >= 0 and page_size >= 1."""
    return of_tables(pages, page_size, {})


def of_tables(pages: int, page_size: int, requests: Mapping[int, Request]) -> State:
    """The state of these requests, with `used`, `shared` and `next_cell` recounted from their cells.

    The requests are the caller's word: each well formed (see Request), their distinct cells at most `pages`.
    ValueError unless pages >= 0 and page_size >= 1.
    """
    if pages < 0 or page_size < 1:
        raise ValueError(f"a pool needs pages >= 0 of page_size >= 1 rows, got pages={pages}, page_size={page_size}")
    owned = Counter(cell for request in requests.values() for cell in request.cells)
    shared = {cell: count for cell, count in owned.items() if count > 1}
    return State(pages, page_size, dict(requests), len(owned), shared, max(owned, default=-1) + 1)


def pages_for(rows: int, page_size: int) -> int:
    """ceil(rows / page_size): the pages that rows 0 .. rows-1 lie in."""
    return -(-rows // page_size)


def sink_pages(sinks: int, page_size: int) -> int:
    """sp: the leading logical pages that hold a sink and that no trim releases (WIN-6)."""
    return pages_for(sinks, page_size)


def owners(state: State, cell: int) -> int:
    """The requests that hold `cell`, a cell that at least one holds (PT-OWN)."""
    return state.shared.get(cell, 1)


def released(request: Request, page_size: int) -> tuple[int, int]:
    """The released logical pages (first, stop), stop excluded; (0, 0) when there are none (PT-HOLE)."""
    if request.dropped == 0:
        return 0, 0
    first = sink_pages(request.sinks, page_size)
    return first, first + request.dropped


def readable(request: Request, page_size: int) -> tuple[tuple[int, int], ...]:
    """The maximal ranges (lo, hi) of rows that Read accepts, none empty, ascending (PT-ROWS)."""
    first, stop = released(request, page_size)
    ranges = ((0, first * page_size), (stop * page_size, len(request.rows)))
    return tuple((lo, hi) for lo, hi in ranges if lo < hi)


def step(state: State, op: Operation) -> Transition:
    """The state after `op`, and its outcome (PT-TOTAL).

    Total on operations: each is accepted or refused by name, for live and unknown requests and for any integers. A
    refusal and a read return the same State object (PT-REFUSE). Reasons are looked for in the order of Reason.
    TypeError when `op` is not an operation.
    """
    meaning = _MEANING.get(type(op))
    if meaning is None:
        raise TypeError(f"not an operation: {op!r}")
    return meaning(state, op)


def new(state: State, op: New) -> Transition:
    """Adds an empty request, which holds no cell (PT-LIVE); DuplicateRequest, BadArgument."""
    if op.request in state.requests:
        return state, DUPLICATE_REQUEST
    if op.sinks < 0:
        return state, BAD_ARGUMENT
    request = Request(rows=(), sinks=op.sinks, dropped=0, cells=())
    return _with(state, op.request, request, state.used, state.shared, state.next_cell), ACCEPTED


def append(state: State, op: Append) -> Transition:
    """Adds all the rows or none (PT-LEN, PT-ROWS); UnknownRequest, BadArgument, OutOfPages.

    A partly filled last page that others share is copied first, whoever writes: the request holds a fresh cell in its
    place and the old cell loses this owner (PT-SHARE). A sole owner writes in place (PT-INPLACE).
    """
    request = state.requests.get(op.request)
    if request is None:
        return state, UNKNOWN_REQUEST
    if not op.tokens:
        return state, BAD_ARGUMENT
    page_size, length = state.page_size, len(request.rows)
    cells, shared = request.cells, state.shared
    # A partly filled last page is never released, so cells[-1] is the page of row n-1.
    copies = length % page_size != 0 and cells[-1] in shared
    needed = pages_for(length + len(op.tokens), page_size) - pages_for(length, page_size) + copies
    if needed > state.pages - state.used:
        return state, OUT_OF_PAGES
    if copies:
        shared = _without_owner(shared, cells[-1:])
        cells = cells[:-1]
    if needed:
        cells = cells + tuple(range(state.next_cell, state.next_cell + needed))
    # The copied cell has another owner, so it stays in use: `used` grows by everything taken.
    grown = Request(request.rows + op.tokens, request.sinks, request.dropped, cells)
    return _with(state, op.request, grown, state.used + needed, shared, state.next_cell + needed), ACCEPTED


def fork(state: State, op: Fork) -> Transition:
    """Adds a request with the source's sinks and first `at` rows, sharing its pages below ceil(at/P) (PT-SHARE).

    UnknownRequest, DuplicateRequest, BadArgument, RowsReleased. Takes no page, even when `at` lies inside one.
    """
    source = state.requests.get(op.request)
    if source is None:
        return state, UNKNOWN_REQUEST
    if op.to in state.requests:
        return state, DUPLICATE_REQUEST
    child = _prefix(source, op.at, state.page_size)
    if isinstance(child, Refused):
        return state, child
    shared = state.shared
    if child.cells:
        shared = {**shared, **{cell: shared.get(cell, 1) + 1 for cell in child.cells}}
    return _with(state, op.to, child, state.used, shared, state.next_cell), ACCEPTED


def trim(state: State, op: Trim) -> Transition:
    """Releases the pages p >= sp+d with (p+1)*P <= keep_from (PT-HOLE, WIN-6); UnknownRequest, BadArgument.

    keep_from is not state: rows below it in a page that stays held remain readable.
    """
    request = state.requests.get(op.request)
    if request is None:
        return state, UNKNOWN_REQUEST
    if not 0 <= op.keep_from <= len(request.rows):
        return state, BAD_ARGUMENT
    kept_sinks = sink_pages(request.sinks, state.page_size)
    count = op.keep_from // state.page_size - (kept_sinks + request.dropped)
    if count <= 0:
        return state, ACCEPTED
    cells = request.cells
    trimmed = Request(
        request.rows, request.sinks, request.dropped + count, cells[:kept_sinks] + cells[kept_sinks + count :]
    )
    return _letting_go(state, op.request, trimmed, cells[kept_sinks : kept_sinks + count]), ACCEPTED


def truncate(state: State, op: Truncate) -> Transition:
    """Keeps the first `length` rows and the pages below ceil(length/P) (PT-LEN, PT-PAGES).

    UnknownRequest, BadArgument, RowsReleased.
    """
    request = state.requests.get(op.request)
    if request is None:
        return state, UNKNOWN_REQUEST
    prefix = _prefix(request, op.length, state.page_size)
    if isinstance(prefix, Refused):
        return state, prefix
    return _letting_go(state, op.request, prefix, request.cells[len(prefix.cells) :]), ACCEPTED


def release(state: State, op: Release) -> Transition:
    """Ends the request; its id is unknown from now on and may be used again (PT-LIVE); UnknownRequest."""
    request = state.requests.get(op.request)
    if request is None:
        return state, UNKNOWN_REQUEST
    requests = {**state.requests}
    del requests[op.request]
    used, shared = _disowned(state, request.cells)
    return State(state.pages, state.page_size, requests, used, shared, state.next_cell), ACCEPTED


def read(state: State, op: Read) -> Transition:
    """Returns the tokens of rows lo .. hi-1 (PT-ROWS); UnknownRequest, BadArgument, RowsReleased.

    An empty range is legal wherever it lies: it names no released row.
    """
    request = state.requests.get(op.request)
    if request is None:
        return state, UNKNOWN_REQUEST
    if not 0 <= op.lo <= op.hi <= len(request.rows):
        return state, BAD_ARGUMENT
    first, stop = released(request, state.page_size)
    if max(op.lo, first * state.page_size) < min(op.hi, stop * state.page_size):
        return state, ROWS_RELEASED
    return state, Accepted(request.rows[op.lo : op.hi])


_MEANING: Mapping[type[Operation], Callable[[State, Any], Transition]] = {
    New: new,
    Append: append,
    Fork: fork,
    Trim: trim,
    Truncate: truncate,
    Release: release,
    Read: read,
}


def _prefix(request: Request, length: int, page_size: int) -> Request | Refused:
    """The request cut to `length` rows, which is what Fork starts and Truncate leaves; BadArgument, RowsReleased.

    The cut may fall on either edge of the released pages but not between them. At or below the lower edge nothing that
    is left was released, so d becomes 0.
    """
    if not 0 <= length <= len(request.rows):
        return BAD_ARGUMENT
    dropped = request.dropped
    if dropped:
        first = sink_pages(request.sinks, page_size)
        if first * page_size < length < (first + dropped) * page_size:
            return ROWS_RELEASED
        if length <= first * page_size:
            dropped = 0
    held = pages_for(length, page_size) - dropped
    return Request(request.rows[:length], request.sinks, dropped, request.cells[:held])


def _disowned(state: State, cells: tuple[int, ...]) -> tuple[int, Mapping[int, int]]:
    """(used, shared) once one request lets go of `cells`: a shared one loses an owner, any other is no longer held."""
    shared = state.shared
    if not shared:
        return state.used - len(cells), shared
    left_to_others = [cell for cell in cells if cell in shared]
    return state.used - len(cells) + len(left_to_others), _without_owner(shared, left_to_others)


def _without_owner(shared: Mapping[int, int], cells: Sequence[int]) -> Mapping[int, int]:
    """`shared` with one owner fewer for each of `cells`, all shared; a cell left with one owner is shared no more."""
    if not cells:
        return shared
    left = {**shared}
    for cell in cells:
        if left[cell] == 2:
            del left[cell]
        else:
            left[cell] -= 1
    return left


def _letting_go(state: State, name: int, request: Request, cells: tuple[int, ...]) -> State:
    """`state` where `name` is now `request`, which no longer holds `cells`."""
    used, shared = _disowned(state, cells)
    return _with(state, name, request, used, shared, state.next_cell)


def _with(state: State, name: int, request: Request, used: int, shared: Mapping[int, int], next_cell: int) -> State:
    return State(state.pages, state.page_size, {**state.requests, name: request}, used, shared, next_cell)
