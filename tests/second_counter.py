"""Counts the states and transitions of a search scope from the written definitions alone.

A search that skips an operation, or merges two states that differ, still ends at a fixpoint, with another count.
This module is the second opinion. It shares no code, no data structure and no canonical form with spec/, impl/ or
verify/, and it checks no rule; it is written to be compared with the text of the definitions, not to be fast.
"""

from collections.abc import Iterator
from itertools import chain, groupby, permutations, product

Request = tuple[int, int, int, tuple[int, ...]]  # length, sinks, pages dropped, pages held in logical order
Table = tuple[Request | None, ...]  # by request id
Free = tuple[int, ...]  # page ids, the last is handed out next
Written = tuple[int, ...]  # by page id, one bit for every slot that was ever written
State = tuple[Table, Free, Written]
Operation = tuple[str, int, int, int]  # name, request, the id that a fork creates, the number that it carries


def count(
    pages: int,
    page_size: int,
    requests: int,
    length: int,
    raw_ids: bool = False,
    oracle_only: bool = False,
    max_sinks: int | None = None,
) -> tuple[int, int]:
    """States that are reachable, and operations offered in them, refused ones included.

    `max_sinks` is the largest number of sinks in the alphabet, page_size + 1 when None. Under `oracle_only` no slot
    counts as written, so that neither the history of slots nor the order of the free list tells two states apart.
    Whether a written slot is live or stale follows from the tables and is no part of a state.
    """
    sinks = page_size + 1 if max_sinks is None else max_sinks
    state: State = ((None,) * requests, tuple(reversed(range(pages))), (0,) * pages)
    queue = [state if raw_ids else canonical(state)]
    seen, transitions = set(queue), 0
    for state in queue:
        for operation in offered(state[0], page_size, length, sinks, raw_ids):
            transitions += 1
            after = step(state, page_size, operation)
            if after is None:
                continue
            if oracle_only:
                after = (*after[:2], state[2])
            if not raw_ids:
                after = canonical(after)
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return len(seen), transitions


def offered(table: Table, page_size: int, length: int, sinks: int, raw_ids: bool) -> Iterator[Operation]:
    """The alphabet in this state: the live ids and one unknown one, or with raw ids every unknown one."""
    unknown = [i for i, request in enumerate((*table, None)) if request is None]
    in_play = [i for i in range(len(table) + 1) if raw_ids or i not in unknown[1:]]
    for i in in_play:
        n = 0 if i in unknown else lengths(table)[i]
        if i < len(table):
            yield from (("new", i, i, s) for s in range(sinks + 1))
        yield from (("append", i, i, k) for k in range(2 * page_size + 2) if n + k <= length)
        yield from (("fork", i, j, at) for j in in_play if j < len(table) for at in range(-1, n + 2))
        yield from (("trim", i, i, keep_from) for keep_from in range(-1, n + 2))
        yield from (("truncate", i, i, m) for m in range(-1, n + 2))
        yield ("release", i, i, 0)


def lengths(table: Table) -> list[int]:
    """Rows of every id, 0 for an unknown one."""
    return [request[0] if request else 0 for request in table]


def step(state: State, page_size: int, operation: Operation) -> State | None:
    """The state after an accepted operation; None when it is refused."""
    (table, free, written), (name, i, j, x) = state, operation
    request = (*table, None)[i]
    if name == "new":
        return None if request else (put(table, i, (0, x, 0, ())), free, written)
    if request is None or (name == "fork" and table[j]):
        return None
    n, sinks, dropped, held = request
    sink_pages = -(-sinks // page_size)
    if name == "release":
        return give_back((put(table, i, None), free, written), held)
    if name == "append":
        return append(state, page_size, i, x) if x >= 1 else None
    if not 0 <= x <= n:
        return None
    if name == "trim":
        out = max(0, x // page_size - sink_pages - dropped)
        kept = (n, sinks, dropped + out, held[:sink_pages] + held[sink_pages + out :])
        return give_back((put(table, i, kept), free, written), held[sink_pages : sink_pages + out])
    if sink_pages * page_size < x < (sink_pages + dropped) * page_size:
        return None
    if x <= sink_pages * page_size:
        dropped = 0
    stop = -(-x // page_size) - dropped
    cut = (x, sinks, dropped, held[:stop])
    if name == "fork":
        return put(table, j, cut), free, written
    return give_back((put(table, i, cut), free, written), held[stop:][::-1])


def append(state: State, page_size: int, i: int, k: int) -> State | None:
    """The state after `k` more rows; a last page with other owners is first copied, slots never written included."""
    table, free, written = state
    n, sinks, dropped, held = table[i] or (0, 0, 0, ())
    copies = n % page_size != 0 and owners(table, held[-1]) > 1
    stop = -(-(n + k) // page_size)
    left = len(free) - (stop - -(-n // page_size) + copies)
    if left < 0:
        return None
    marks, grown = list(written), held[: len(held) - copies] + free[left:][::-1]
    if copies:
        marks[free[-1]] = marks[held[-1]]
    for row in range(n, n + k):
        marks[grown[row // page_size - stop]] |= 1 << row % page_size
    return put(table, i, (n + k, sinks, dropped, grown)), free[:left], tuple(marks)


def give_back(state: State, pages: tuple[int, ...]) -> State:
    """The state with those of `pages` that no request holds any more on the free list, in the order given."""
    table, free, written = state
    return table, free + tuple(page for page in pages if owners(table, page) == 0), written


def owners(table: Table, page: int) -> int:
    """How many requests hold the page."""
    return sum(page in request[3] for request in table if request)


def put(table: Table, i: int, request: Request | None) -> Table:
    """The table with another entry at id `i`."""
    return (*table[:i], request, *table[i + 1 :])


def canonical(state: State) -> State:
    """The least of the states that differ from this one in request ids and page ids alone."""
    table, free, written = state
    live = sorted(request for request in table if request)
    alike = [permutations(group) for _, group in groupby(live, key=lambda request: request[:3])]
    return min(
        renamed((*chain.from_iterable(order), *[None] * (len(table) - len(live))), free, written)
        for order in product(*alike)
    )


def renamed(table: Table, free: Free, written: Written) -> State:
    """The state with its pages named 0, 1, 2, ... as they come up in the table and then on the free list."""
    order = dict.fromkeys(chain(*(request[3] for request in table if request), free))
    name = {page: new for new, page in enumerate(order)}
    tables = tuple(request and (*request[:3], tuple(name[page] for page in request[3])) for request in table)
    return tables, tuple(name[page] for page in free), tuple(written[page] for page in order)
