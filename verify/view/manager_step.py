"""What can be seen of the oracle and a manager after an operation, with what the operation changed, as a step to draw."""

from itertools import zip_longest

from spec.manager import Request, State, owners
from verify.managers.refinement import judged, rows_gone
from verify.managers.target import ManagerView
from verify.managers.values import values
from verify.show import BrokenRule
from verify.view.manager_changes import manager_changes
from verify.view.manager_sight import ManagerSight, Prefixes, prefix_words
from verify.view.sight import NOBODY, positions
from verify.view.step_view import (
    MOST_IN_A_PAGE,
    MOST_LOGICAL_PAGES,
    MOST_POOL_PAGES,
    chosen,
    count_of,
    free_pages,
    named,
    page_slots,
    rank,
)
from verify.view.steps import LogicalPage, Pair, PoolPage, RequestStep, Row, Step

RELEASED, RESERVED = ".", "reserved"
"""How a row that has no token to show is written: as in verify.view.steps.Row, and one that waits for its Commit."""


def manager_step(
    number: int,
    call: str,
    outcome: Pair,
    state: State,
    before: ManagerSight,
    now: ManagerSight,
    prefixes: Prefixes,
    broken: tuple[BrokenRule, ...],
) -> Step:
    """The step that led from one sight to the next; of a fresh manager both are the same."""
    requests, pages = named(broken)
    free = now.snapshot.free
    return Step(
        number,
        call,
        outcome,
        manager_changes(before, now),
        tuple(
            request_step(request, group, state, before, now, prefixes, request in requests)
            for request in sorted({*state.requests, *now.snapshot.requests})
            for group in range(len(now.parts))
        ),
        pool_pages(before, now, pages),
        free_pages(positions(before.snapshot.free), now.snapshot.free, pages),
        None if free is None else len(free),
        Pair(str(state.used), str(state.traits.pages - now.snapshot.available)),
        broken,
    )


def request_step(
    request: int,
    group: int,
    state: State,
    before: ManagerSight,
    now: ManagerSight,
    prefixes: Prefixes,
    is_named: bool,
) -> RequestStep:
    """One group of one request that either side has."""
    truth, view = state.requests.get(request), now.snapshot.requests.get(request)
    old = before.snapshot.requests.get(request)
    length = Pair(length_due(state, truth) if truth else "-", str(view.length) if view else "-")
    due = truth.tables[group] if truth else ()
    table, was = table_of(view, group), table_of(old, group)
    holes = Pair(hole_words(due) if truth else "-", hole_words(table) if view else "-")
    held = Pair(
        str(sum(cell is not None for cell in due)) if truth else "-",
        str(sum(page is not None for page in table)) if view else "-",
    )
    pages = [
        logical_page(logical, group, state, truth, view, old, now, prefixes)
        for logical in range(max(len(due), len(table)))
    ]
    drawn = chosen(pages, [rank(page.changed, page.wrong) for page in pages], MOST_LOGICAL_PAGES)
    return RequestStep(
        request,
        state.traits.groups[group].sinks,
        length,
        holes,
        held,
        tuple(drawn),
        (old is None) != (view is None) or was != table or any(page.changed for page in pages),
        is_named or not (length.same and holes.same and held.same) or any(page.wrong for page in pages),
        now.parts[group],
    )


def length_due(state: State, truth: Request) -> str:
    """The rows that a manager has of the request: without those that went one by one, where they go so."""
    traits = state.traits
    gone = map(rows_gone, traits.groups, truth.low) if traits.granule == "row" else (0,)
    return str(len(truth.tokens) - max(gone))


def table_of(view: ManagerView | None, group: int) -> tuple[int | None, ...]:
    """The block table of a group; empty when there is none."""
    return view.tables[group] if view is not None and group < len(view.tables) else ()


def hole_words(table: tuple[int | None, ...]) -> str:
    """The released logical pages in a word."""
    gone = [logical for logical, back in enumerate(table) if back is None]
    if not gone:
        return "none"
    return f"{gone[0]}" if len(gone) == 1 else f"{gone[0]}-{gone[-1]}"


def logical_page(
    logical: int,
    group: int,
    state: State,
    truth: Request | None,
    view: ManagerView | None,
    old: ManagerView | None,
    now: ManagerSight,
    prefixes: Prefixes,
) -> LogicalPage:
    """One logical page that either side has, released or not."""
    size = state.traits.page_size
    due = truth.tables[group] if truth else ()
    cell = due[logical] if logical < len(due) else None
    table, was = table_of(view, group), table_of(old, group)
    page = table[logical] if logical < len(table) else None
    old_page = was[logical] if logical < len(was) else None
    sharing = owners(state, cell) if cell is not None else 0
    sharers = len(now.tables.get(page, NOBODY)) if page is not None else 0
    target = target_rows(view, group, logical, page, size, truth, prefixes)
    oracle = oracle_rows(state, truth, group, logical, target) if truth is not None and cell is not None else ()
    before = target_rows(old, group, logical, old_page, size, truth, prefixes)
    rows = [
        Row(logical * size + index, mine, theirs, page is not None and theirs != then)
        for index, (mine, theirs, then) in enumerate(zip_longest(oracle, target, before[: len(target)], fillvalue=""))
    ]
    return LogicalPage(
        logical,
        page,
        sharers,
        sharing,
        cell is None and page is None,
        tuple(chosen(rows, [rank(row.changed, row.oracle != row.target) for row in rows], MOST_IN_A_PAGE)),
        page != old_page or any(row.changed for row in rows),
        sharing != sharers or any(row.oracle != row.target for row in rows),
    )


def oracle_rows(state: State, truth: Request, group: int, logical: int, target: tuple[str, ...]) -> tuple[str, ...]:
    """The rows of a logical page that the oracle holds; of a row that nothing reads any more, what the manager shows."""
    traits, size = state.traits, state.traits.page_size
    ranges = judged(traits.groups[group], size, traits.granule == "row", truth.written, truth.low[group])
    due = {row for lo, hi in ranges for row in range(lo, hi)}
    found = []
    for slot, row in enumerate(range(logical * size, min((logical + 1) * size, len(truth.tokens)))):
        if row in due:
            found.append(str(truth.tokens[row]))
        elif row < truth.written:
            found.append(target[slot] if slot < len(target) else RELEASED)
        else:
            found.append(RESERVED)
    return tuple(found)


def target_rows(
    view: ManagerView | None,
    group: int,
    logical: int,
    page: int | None,
    size: int,
    truth: Request | None,
    prefixes: Prefixes,
) -> tuple[str, ...]:
    """The rows of a logical page that the manager holds: a token where the value is right, else the prefix that it is of."""
    if view is None or page is None:
        return ()
    due = values(truth.tokens) if truth is not None else ()
    written = truth.written if truth is not None else 0
    read = view.rows[group][logical * size : (logical + 1) * size] if group < len(view.rows) else ()
    found = []
    for row, told in enumerate(read, start=logical * size):
        if told is None:
            found.append(RESERVED if written <= row < len(due) else RELEASED)
        else:
            found.append(value_words(told, row, due, prefixes))
    return tuple(found)


def value_words(told: int, row: int, due: tuple[int, ...], prefixes: Prefixes) -> str:
    """The token of a value that is right, or of which the oracle says nothing; else the whole prefix that it is of."""
    prefix = prefixes.get(told)
    if prefix is None:
        return "?"
    right = told == due[row] if row < len(due) else len(prefix) == row + 1
    return str(prefix[-1]) if right else prefix_words(prefixes, told)


def pool_pages(before: ManagerSight, now: ManagerSight, named_pages: frozenset[int]) -> tuple[PoolPage, ...]:
    """The physical pages, those included that a table names and the pool does not have."""
    places, places_before = positions(now.snapshot.free), positions(before.snapshot.free)
    told = now.snapshot.free is not None
    found = []
    for page in sorted(now.slots):
        moved = (
            before.slots.get(page) != now.slots[page]
            or count_of(before.snapshot.counts, page) != count_of(now.snapshot.counts, page)
            or before.tables.get(page) != now.tables.get(page)
            or before.notes.get(page) != now.notes.get(page)
            or (page in places_before) != (page in places)
        )
        found.append(
            PoolPage(
                page,
                count_of(now.snapshot.counts, page),
                places.get(page, ()) if told else None,
                now.tables.get(page, NOBODY),
                page_slots(before.slots.get(page, ()), now.slots[page]),
                moved,
                page in named_pages,
                now.notes.get(page, ""),
            )
        )
    return tuple(chosen(found, [rank(page.changed, page.wrong) for page in found], MOST_POOL_PAGES))
