"""The oracle of a manager: admission, prefix sharing, windows and exhaustion over one pool of pages.

A cell is the identity of one page's worth of storage in one group, as in spec/page_table.py. A held cell is named by a
table entry; a published cell that nobody holds is idle, and the page of any other is blank: N = held + idle + blank, and
idle and blank pages are available. Which page backs a cell is the target's free choice but for the order of reuse
(PRE-EVICT): blank ones, then idle cells from the front of `idle`, which are forgotten. States are immutable.

An operation that lets go of cells does so in the order in which it comes to it; each time, groups go in order and a
group from its last logical page to its first. Source: docs/reference.md section 7.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from spec.groups import Group, gone_below, keep_from, publishes
from spec.manager_tables import (
    Table,
    cut,
    from_the_tail,
    held,
    longest_hit,
    pages_started,
    readable_at,
    trimmed,
    unfilled,
)
from spec.operations import Accepted, Admit, Append, Commit, Fork, ManagerOperation, Outcome, Release, Truncate
from spec.outcomes import ACCEPTED, BAD_ARGUMENT, DUPLICATE_REQUEST, OUT_OF_PAGES, ROWS_RELEASED, UNKNOWN_REQUEST
from spec.prefix_index import EMPTY, Index, Key, forget, publish


@dataclass(frozen=True, slots=True)
class Traits:
    """What a manager is like: everything that its definition depends on.

    `pages` pages of `page_size` rows in one pool, and `groups`, each with a block table of its own in every request.
    `prefix`: pages are published and admissions look them up; `leaves`: the tokens that an admission computes at least.
    `commits`: Admit and Append reserve only, and Commit writes. `tail` "copied": a fork inside a page copies it at once,
    and so does a cut inside a page with another owner; "shared": whoever writes there copies it. `trims` "before":
    Append trims what there is before it grows; "after": every write ends with a trim, which comes before the pages are
    taken where a manager `recycles`. `granule` "row": trimmed rows are gone at once; "page": with their page. `forks`
    "sinks": beside a window, Fork is offered among the sinks only.
    ValueError for a value outside these, and for `recycles` with `commits` or trims "before".
    """

    pages: int
    page_size: int
    groups: tuple[Group, ...]
    prefix: bool = False
    leaves: int = 1
    commits: bool = False
    tail: Literal["shared", "copied"] = "shared"
    trims: Literal["before", "after"] = "after"
    recycles: bool = False
    granule: Literal["page", "row"] = "page"
    forks: Literal["anywhere", "sinks"] = "anywhere"

    def __post_init__(self) -> None:
        sensible = (
            (self.pages >= 0 and self.page_size >= 1 and len(self.groups) >= 1 and self.leaves >= 1)
            and (self.tail in ("shared", "copied") and self.trims in ("before", "after"))
            and (self.granule in ("page", "row") and self.forks in ("anywhere", "sinks"))
            and not (self.recycles and (self.commits or self.trims == "before"))
        )
        if not sensible:
            raise ValueError(f"not the traits of a manager: {self!r}")


@dataclass(frozen=True, slots=True)
class Request:
    """One live request: n = len(tokens) rows, of which the first w = `written` are written, w = n unless commits.

    A table a group, of ceil(n/P) entries, and the end of its gone rows (see spec/manager_tables.py).
    """

    tokens: tuple[int, ...]
    written: int
    tables: tuple[Table, ...]
    low: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class State:
    """Pool, index and live requests; `used` and `shared` follow from the requests and are kept to spare the recount.

    `idle` has the idle cells in the order of reuse; all are published. `used` counts the held cells. `shared` gives the
    owners of each cell that has more than one; any other held cell has one. `next_cell` and the identities above it are
    fresh. Nobody mutates the mappings.
    """

    traits: Traits
    requests: Mapping[int, Request]
    index: Index
    idle: tuple[int, ...]
    used: int
    shared: Mapping[int, int]
    next_cell: int


Transition = tuple[State, Outcome]


def initial(traits: Traits) -> State:
    """The pool with no request and nothing published: every page is blank."""
    return of_tables(traits, {}, EMPTY, ())


def of_tables(traits: Traits, requests: Mapping[int, Request], index: Index, idle: tuple[int, ...]) -> State:
    """The state of these, with `used`, `shared` and `next_cell` recounted.

    The rest is the caller's word: well formed requests, and an index that names held and idle cells alone.
    """
    owned = Counter(cell for request in requests.values() for table in request.tables for cell in held(table))
    shared = {cell: count for cell, count in owned.items() if count > 1}
    return State(traits, dict(requests), index, idle, len(owned), shared, max((*owned, *idle), default=-1) + 1)


def available(state: State) -> int:
    """Pages that can be taken: idle and blank ones (PT-LEAK)."""
    return state.traits.pages - state.used


def owners(state: State, cell: int) -> int:
    """The table entries that name `cell`, which is held (PT-OWN)."""
    return state.shared.get(cell, 1)


def step(state: State, op: ManagerOperation) -> Transition:
    """The state after `op`, and its outcome (PT-TOTAL).

    Total: each operation is accepted or refused by name, for live and unknown requests and for any integers. Reasons
    are looked for in the order of Reason. A refusal returns the same State object (PT-REFUSE), but for an Append that
    trims before and runs out of pages: what it trimmed stays trimmed. TypeError when `op` is no manager's operation.
    """
    meaning = _MEANING.get(type(op))
    if meaning is None:
        raise TypeError(f"not an operation of a manager: {op!r}")
    return meaning(state, op)


def admit(state: State, op: Admit) -> Transition:
    """Adds a request with these tokens; Accepted.served tells the rows taken from published pages (PRE-HIT).

    DuplicateRequest, BadArgument, OutOfPages. What is served is pinned before a page is taken: an idle cell that serves
    is not available to the rows that it does not serve (OutOfPages).
    """
    if op.request in state.requests:
        return state, DUPLICATE_REQUEST
    if not op.tokens:
        return state, BAD_ARGUMENT
    traits = state.traits
    served, tables = 0, unfilled(traits.groups)
    if traits.prefix:
        served, tables = longest_hit(traits.groups, traits.page_size, traits.leaves, state.index, op.tokens)
    by_row = traits.granule == "row"
    low = tuple(gone_below(group, traits.page_size, by_row, keep_from(group, served)) for group in traits.groups)
    request = Request(op.tokens[:served], served, tables, low)
    pinned = _with(_owned_once_more(state, tables), op.request, request)
    grown = _grown(pinned, op.request, op.tokens[served:])
    return (state, OUT_OF_PAGES) if grown is None else (grown, Accepted(served=served))


def append(state: State, op: Append) -> Transition:
    """Adds all the rows or none (PT-LEN, PT-ROWS); UnknownRequest, BadArgument, OutOfPages.

    A partly kept last page that has another owner or is published is copied first, whole: the request holds a fresh cell
    in its place, and the old one loses this owner (PT-SHARE). Any other is written in place (PT-INPLACE).
    """
    request = state.requests.get(op.request)
    if request is None:
        return state, UNKNOWN_REQUEST
    if not op.tokens:
        return state, BAD_ARGUMENT
    if state.traits.trims == "before":
        state = _trimmed(state, op.request, request.written)
    grown = _grown(state, op.request, op.tokens)
    return (state, OUT_OF_PAGES) if grown is None else (grown, ACCEPTED)


def commit(state: State, op: Commit) -> Transition:
    """Writes the rows that were reserved, publishes the full pages, then trims (PRE-PUBLISH, WIN-3); UnknownRequest."""
    request = state.requests.get(op.request)
    if request is None:
        return state, UNKNOWN_REQUEST
    if request.written == len(request.tokens):
        return state, ACCEPTED
    return _written(state, op.request), ACCEPTED


def fork(state: State, op: Fork) -> Transition:
    """Adds a request with the first `at` rows, all written, sharing the pages below ceil(at/P) (PT-SHARE).

    UnknownRequest, DuplicateRequest, BadArgument, RowsReleased, and OutOfPages where a page that `at` lies in is copied.
    """
    source = state.requests.get(op.request)
    if source is None:
        return state, UNKNOWN_REQUEST
    if op.to in state.requests:
        return state, DUPLICATE_REQUEST
    if not 0 <= op.at <= source.written:
        return state, BAD_ARGUMENT
    child = _prefix(state.traits, source, op.at)
    if child is None:
        return state, ROWS_RELEASED
    forked = _tail_copied(_with(_owned_once_more(state, child.tables), op.to, child), op.to)
    return (state, OUT_OF_PAGES) if forked is None else (forked, ACCEPTED)


def truncate(state: State, op: Truncate) -> Transition:
    """Keeps the first `length` rows and the pages below ceil(length/P) (PT-LEN, PT-PAGES).

    UnknownRequest, BadArgument, RowsReleased, and OutOfPages where the page that `length` lies in is copied; the pages
    beyond it are let go first and may serve that copy.
    """
    request = state.requests.get(op.request)
    if request is None:
        return state, UNKNOWN_REQUEST
    if not 0 <= op.length <= len(request.tokens):
        return state, BAD_ARGUMENT
    prefix = _prefix(state.traits, request, op.length)
    if prefix is None:
        return state, ROWS_RELEASED
    tables = zip(request.tables, prefix.tables, strict=True)
    gone = [cell for table, kept in tables for cell in from_the_tail(table[len(kept) :])]
    shorter = _tail_copied(_with(_let_go(state, gone), op.request, prefix), op.request)
    return (state, OUT_OF_PAGES) if shorter is None else (shorter, ACCEPTED)


def release(state: State, op: Release) -> Transition:
    """Ends the request; its id is unknown from now on and may be used again (PT-LIVE); UnknownRequest."""
    request = state.requests.get(op.request)
    if request is None:
        return state, UNKNOWN_REQUEST
    left = _let_go(state, [cell for table in request.tables for cell in from_the_tail(table)])
    requests = {**left.requests}
    del requests[op.request]
    return State(left.traits, requests, left.index, left.idle, left.used, left.shared, left.next_cell), ACCEPTED


_MEANING: Mapping[type[ManagerOperation], Callable[[State, Any], Transition]] = {
    Admit: admit,
    Append: append,
    Commit: commit,
    Fork: fork,
    Truncate: truncate,
    Release: release,
}


def _grown(state: State, name: int, tokens: tuple[int, ...]) -> State | None:
    """The state in which the request has these tokens too, written unless it waits for Commit; None: out of pages."""
    traits, request = state.traits, state.requests[name]
    length = len(request.tokens) + len(tokens)
    if traits.recycles:
        state = _trimmed(state, name, length)
        request = state.requests[name]
    copies: list[int] = []
    if len(request.tokens) % traits.page_size:
        copies = [last for last in _last_cells(request) if last in state.shared or last in state.index.keys]
    started = [
        pages_started(group, traits.page_size, table, low, length)
        for group, table, low in zip(traits.groups, request.tables, request.low, strict=True)
    ]
    new = sum(map(sum, started))
    if len(copies) + new > available(state):
        return None
    # A page that a copy leaves idle stays idle: what is available without it is enough for the new pages.
    state = _copied(state, name, copies)
    fresh = count(state.next_cell)
    tables = tuple(
        (*table, *(next(fresh) if is_held else None for is_held in pages))
        for table, pages in zip(state.requests[name].tables, started, strict=True)
    )
    grown = Request(request.tokens + tokens, request.written, tables, request.low)
    state = _with(_taken(state, new), name, grown)
    return state if traits.commits else _written(state, name)


def _written(state: State, name: int) -> State:
    """The state in which every row of the request is written: full pages are published, then a trim follows."""
    traits, request = state.traits, state.requests[name]
    length, page_size = len(request.tokens), traits.page_size
    index = state.index
    full = range(request.written // page_size, length // page_size)
    if traits.prefix and full:
        entries: list[tuple[int, Key]] = []
        for page in full:
            prefix = request.tokens[: (page + 1) * page_size]
            for number, (group, table) in enumerate(zip(traits.groups, request.tables, strict=True)):
                cell = table[page]
                if cell is not None and publishes(group):
                    entries.append((cell, (number, prefix)))
        index = publish(index, entries)
    requests = {**state.requests, name: Request(request.tokens, length, request.tables, request.low)}
    state = State(traits, requests, index, state.idle, state.used, state.shared, state.next_cell)
    return _trimmed(state, name, length) if traits.trims == "after" else state


def _trimmed(state: State, name: int, length: int) -> State:
    """The state in which the request keeps in each group what a request of `length` rows keeps."""
    traits, request = state.traits, state.requests[name]
    by_row = traits.granule == "row"
    # What is gone never comes back: after a cut, keep_from may lie below what an earlier trim let go.
    lows = tuple(
        max(low, gone_below(group, traits.page_size, by_row, keep_from(group, length)))
        for group, low in zip(traits.groups, request.low, strict=True)
    )
    if lows == request.low:
        return state
    columns = zip(traits.groups, request.tables, lows, strict=True)
    trims = [trimmed(group, traits.page_size, table, low) for group, table, low in columns]
    state = _let_go(state, [cell for _, cells in trims for cell in cells])
    return _with(state, name, Request(request.tokens, request.written, tuple(table for table, _ in trims), lows))


def _prefix(traits: Traits, request: Request, length: int) -> Request | None:
    """The first `length` rows of the request, which is what Fork starts and Truncate leaves; None: RowsReleased."""
    page_size, by_row = traits.page_size, traits.granule == "row"
    cuts = []
    for group, table, low in zip(traits.groups, request.tables, request.low, strict=True):
        if not readable_at(group, page_size, by_row, low, length):
            return None
        cuts.append(cut(group, page_size, by_row, table, low, length))
    tables, lows = tuple(table for table, _ in cuts), tuple(low for _, low in cuts)
    return Request(request.tokens[:length], min(request.written, length), tables, lows)


def _tail_copied(state: State, name: int) -> State | None:
    """The state in which no other owns the page that the request ends in, where `tail` wants that; None: out of pages."""
    request = state.requests[name]
    if state.traits.tail == "shared" or len(request.tokens) % state.traits.page_size == 0:
        return state
    copies = [last for last in _last_cells(request) if last in state.shared]
    return None if len(copies) > available(state) else _copied(state, name, copies)


def _copied(state: State, name: int, copies: Sequence[int]) -> State:
    """The state in which the request holds fresh cells in place of these of its last ones."""
    if not copies:
        return state
    request, fresh = state.requests[name], count(state.next_cell)
    tables = tuple((*table[:-1], next(fresh)) if table[-1] in copies else table for table in request.tables)
    state = _let_go(_taken(state, len(copies)), copies)
    return _with(state, name, Request(request.tokens, request.written, tables, request.low))


def _last_cells(request: Request) -> tuple[int, ...]:
    """The cell of the last logical page in each group that holds it; the request is not empty."""
    return tuple(table[-1] for table in request.tables if table[-1] is not None)


def _owned_once_more(state: State, tables: Sequence[Table]) -> State:
    """The state in which each cell of the tables, held or idle, has one more owner; an idle one is idle no more."""
    cells = [cell for table in tables for cell in held(table)]
    if not cells:
        return state
    idle = set(state.idle).intersection(cells)
    shared = {**state.shared, **{cell: owners(state, cell) + 1 for cell in cells if cell not in idle}}
    left = tuple(cell for cell in state.idle if cell not in idle) if idle else state.idle
    return _replaced(state, state.index, left, state.used + len(idle), shared, state.next_cell)


def _taken(state: State, count: int) -> State:
    """The state with `count` available pages more in use, backing the fresh cells from next_cell on (PRE-EVICT)."""
    if count == 0:
        return state
    reused = max(0, count - (state.traits.pages - state.used - len(state.idle)))
    index = forget(state.index, state.idle[:reused]) if reused else state.index
    return _replaced(state, index, state.idle[reused:], state.used + count, state.shared, state.next_cell + count)


def _let_go(state: State, cells: Sequence[int]) -> State:
    """The state in which each of the cells has one owner less; the last owner leaves a published one idle, in order."""
    if not cells:
        return state
    shared = {**state.shared}
    last_owned = []
    for cell in cells:
        left = shared.pop(cell, 1) - 1
        if left == 0:
            last_owned.append(cell)
        elif left > 1:
            shared[cell] = left
    idle = (*state.idle, *(cell for cell in last_owned if cell in state.index.keys))
    return _replaced(state, state.index, idle, state.used - len(last_owned), shared, state.next_cell)


def _with(state: State, name: int, request: Request) -> State:
    requests = {**state.requests, name: request}
    return State(state.traits, requests, state.index, state.idle, state.used, state.shared, state.next_cell)


def _replaced(
    state: State, index: Index, idle: tuple[int, ...], used: int, shared: Mapping[int, int], next_cell: int
) -> State:
    return State(state.traits, state.requests, index, idle, used, shared, next_cell)
