"""The oracle of managers keeps its own laws after any operations: recounts, and second definitions of hits and of rows.

Each law is a function of one transition, over random runs of managers that differ in every trait.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from spec.groups import Group, released_pages
from spec.manager import Request, State, Traits, available, initial, of_tables, owners, step
from spec.manager_tables import held, readable
from spec.operations import (
    Accepted,
    Admit,
    Append,
    Commit,
    Fork,
    ManagerOperation,
    Outcome,
    Reason,
    Refused,
    Release,
    Truncate,
)

SEED = 11
RUNS, STEPS, IDS = 14, 60, range(4)
FULL, WINDOW, SINKS, ONE, CHUNK = (
    *(Group("full"), Group("window", 4), Group("window", 5, 2, 1), Group("window", 1)),
    Group("chunk", 3),
)
SHARING = Traits(9, 2, (FULL,), prefix=True)
MANAGERS = {
    "plain": Traits(5, 2, (FULL,)),
    "sharing": SHARING,
    "sharing, leaves": replace(SHARING, page_size=1, leaves=2),
    "sharing, copied tails": replace(SHARING, pages=7, tail="copied"),
    "commits": replace(SHARING, commits=True),
    "commits, copied tails": replace(SHARING, commits=True, tail="copied", groups=(FULL, SINKS), pages=14),
    "window before": replace(SHARING, groups=(WINDOW,), trims="before", pages=7),
    "window after": replace(SHARING, groups=(WINDOW,), pages=6),
    "window by row": replace(SHARING, groups=(WINDOW,), page_size=3, granule="row", pages=6),
    "window recycles": replace(SHARING, groups=(Group("window", 3),), recycles=True, pages=4),
    "sinks by row, recycles": replace(SHARING, groups=(SINKS,), granule="row", recycles=True, tail="copied"),
    "sinks, small pages": replace(SHARING, groups=(SINKS,), page_size=1, trims="before", pages=12),
    "hybrid before": replace(SHARING, groups=(FULL, WINDOW), trims="before", pages=14),
    "hybrid after": replace(SHARING, groups=(WINDOW, FULL, SINKS), pages=20),
    "chunks": replace(SHARING, groups=(CHUNK,), pages=6),
    "chunks and more": replace(SHARING, groups=(FULL, CHUNK, Group("chunk", 4)), trims="before", pages=18),
    "nothing past": replace(SHARING, groups=(FULL, ONE), pages=12),
    "window before, commits": replace(SHARING, groups=(WINDOW,), trims="before", commits=True),
}


@dataclass
class Contents:
    """What the rows of each cell hold, by a replay that knows only the tables: a row holds all tokens up to it."""

    rows: dict[int, dict[int, tuple[int, ...]]] = field(default_factory=dict)

    def write(self, request: Request, tables: tuple[tuple[int | None, ...], ...], first: int, page_size: int) -> None:
        for table in tables:
            for row in range(first, request.written):
                cell = table[row // page_size]
                if cell is not None:
                    self.rows.setdefault(cell, {})[row % page_size] = request.tokens[: row + 1]

    def copy(self, old: tuple[tuple[int | None, ...], ...], new: tuple[tuple[int | None, ...], ...]) -> None:
        """A cell that takes the place of another at the same logical page starts as its copy."""
        for before, after in zip(old, new, strict=True):
            for was, now in zip(before, after, strict=False):
                if now is not None and was is not None and now != was:
                    assert now not in self.rows
                    self.rows[now] = {**self.rows.get(was, {})}


@dataclass(frozen=True)
class Transition:
    before: State
    op: ManagerOperation
    after: State
    outcome: Outcome


def random_operation(rng: random.Random, state: State) -> ManagerOperation:
    """An operation, mostly on a live request and mostly legal; few tokens, so that prefixes meet."""
    name, other = rng.choice([*IDS, *4 * [*state.requests]]), rng.choice(IDS)
    known = state.requests[name].tokens if name in state.requests else ()
    row = rng.randint(-1, len(known) + 1)
    tokens = tuple(rng.choices((0, 0, 0, 1), k=rng.randint(0, 5)))
    kinds: tuple[ManagerOperation, ...] = (
        Admit(other, tokens + tokens[:2]),
        Admit(other, known + tokens),
        Append(name, tokens[:3]),
        Commit(name),
        Fork(name, other, rng.choice((row, len(known)))),
        Truncate(name, row),
        Release(name),
    )
    return rng.choices(kinds, weights=(3, 3, 8, 5, 3, 2, 3))[0]


def transitions(traits: Traits) -> Iterator[Transition]:
    """The transitions of random runs, one run after another; the seed is shown when a test fails."""
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    for _ in range(RUNS):
        state = initial(traits)
        for _ in range(STEPS):
            op = random_operation(rng, state)
            after, outcome = step(state, op)
            yield Transition(state, op, after, outcome)
            state = after


def kept(group: Group, position: int, keeps: int) -> set[int]:
    """The rows that the step at `position` reads, and `keeps` more of a window; row by row."""
    places = group.size - group.sinks + keeps
    if group.kind == "window":
        return {row for row in range(position) if row < group.sinks or position - row < places}
    return {row for row in range(position) if group.kind == "full" or row // group.size == position // group.size}


def best_hit(state: State, tokens: tuple[int, ...]) -> tuple[int, list[list[int | None]]]:
    """The longest hit and its tables, trying every length from the top against every published cell."""
    traits, size = state.traits, state.traits.page_size
    silent = any(group.kind == "window" and group.size == 1 for group in traits.groups)
    for pages in range(len(tokens), 0, -1):
        h = pages * size
        if silent or not traits.prefix or h > len(tokens) - traits.leaves:
            continue
        tables: list[list[int | None]] = []
        for number, group in enumerate(traits.groups):
            needed = {row // size for row in kept(group, h, group.keeps)}
            first: dict[int, int] = {}
            for cell, (owner, prefix) in state.index.keys.items():
                if owner == number and prefix == tokens[: len(prefix)]:
                    first.setdefault(len(prefix) // size - 1, cell)
            if needed <= first.keys():
                tables.append([first[page] if page in needed else None for page in range(pages)])
        if len(tables) == len(traits.groups):
            return h, tables
    return 0, [[] for _ in traits.groups]


def assert_well_formed(state: State) -> None:
    """Every sentence of the docstrings of Request and State."""
    traits, index = state.traits, state.index
    recount = of_tables(traits, state.requests, index, state.idle)
    assert (state.used, state.shared) == (recount.used, recount.shared) and recount.next_cell <= state.next_cell
    every = [cell for request in state.requests.values() for table in request.tables for cell in held(table)]
    assert all(owners(state, cell) == every.count(cell) for cell in every)
    blank = traits.pages - len(set(every)) - len(state.idle)
    assert blank >= 0 and available(state) == len(state.idle) + blank
    assert len(set(state.idle)) == len(state.idle) and not set(state.idle) & set(every)
    assert set(state.idle) <= index.keys.keys() <= {*state.idle, *every}
    assert {(cell, key) for key, cells in index.cells.items() for cell in cells} == set(index.keys.items())
    for number, prefix in index.keys.values():
        assert prefix and len(prefix) % traits.page_size == 0 and traits.groups[number] != ONE
    for request in state.requests.values():
        n = len(request.tokens)
        assert request.written == n or (traits.commits and request.written < n)
        for group, table, low in zip(traits.groups, request.tables, request.low, strict=True):
            assert len(table) == -(-n // traits.page_size) and (low == 0 or group.sinks < low <= n)
            first, stop = released_pages(group, traits.page_size, low)
            assert [page for page, cell in enumerate(table) if cell is None] == [*range(first, stop)]


def assert_published(state: State) -> None:
    """The full written pages that are held are published, each under the tokens of its holder, and no other is."""
    traits, due = state.traits, set()
    for request in state.requests.values():
        for number, table in enumerate(request.tables):
            for page, cell in enumerate(table):
                end = (page + 1) * traits.page_size
                if cell is None or not traits.prefix or traits.groups[number] == ONE:
                    continue
                if end <= request.written:
                    due.add(cell)
                    assert state.index.keys[cell] == (number, request.tokens[:end])
                elif cell in state.index.keys:
                    key = state.index.keys[cell]
                    assert key[0] == number and len(key[1]) == end
                    assert key[1][: request.written] == request.tokens[: request.written]
    assert due <= state.index.keys.keys()


@pytest.mark.parametrize("traits", MANAGERS.values(), ids=MANAGERS)
def test_what_is_kept_is_what_a_recount_finds(traits: Traits) -> None:
    seen: set[object] = set()
    for change in transitions(traits):
        assert_well_formed(change.after)
        assert_published(change.after)
        seen.add((type(change.op), change.outcome.reason if isinstance(change.outcome, Refused) else None))
    assert {(kind, None) for kind in (Admit, Append, Commit, Fork, Truncate, Release)} <= seen
    assert {(Admit, Reason.OUT_OF_PAGES), (Append, Reason.OUT_OF_PAGES)} <= seen
    if any(group.kind != "full" for group in traits.groups):
        assert {(Fork, Reason.ROWS_RELEASED), (Truncate, Reason.ROWS_RELEASED)} <= seen


@pytest.mark.parametrize("traits", MANAGERS.values(), ids=MANAGERS)
def test_the_longest_hit_is_the_one_that_a_search_from_the_top_finds(traits: Traits) -> None:
    served = 0
    for change in transitions(traits):
        if not isinstance(change.op, Admit) or not isinstance(change.outcome, Accepted):
            continue
        h, tables = best_hit(change.before, change.op.tokens)
        assert change.outcome == Accepted(served=h), change.op
        served += h > 0
        if traits.trims == "before" or traits.commits:
            got = change.after.requests[change.op.request].tables
            assert [list(table[: h // traits.page_size]) for table in got] == tables
    assert (served > 0) == (traits.prefix and ONE not in traits.groups)


@pytest.mark.parametrize("traits", MANAGERS.values(), ids=MANAGERS)
def test_a_refusal_changes_nothing_but_the_trim_before(traits: Traits) -> None:
    for change in transitions(traits):
        if not isinstance(change.outcome, Refused) or change.after is change.before:
            continue
        assert isinstance(change.op, Append) and change.outcome.reason is Reason.OUT_OF_PAGES
        assert traits.trims == "before" and available(change.after) >= available(change.before)
        was, now = (state.requests[change.op.request] for state in (change.before, change.after))
        assert now == replace(was, tables=now.tables, low=now.low) and now.low != was.low


@pytest.mark.parametrize("traits", MANAGERS.values(), ids=MANAGERS)
def test_every_row_that_can_be_read_is_the_one_that_was_written(traits: Traits) -> None:
    """Whatever is shared, copied, served and reused: no write ever meets a row of another, and no hit is wrong."""
    contents = Contents()
    for change in transitions(traits):
        before, op, after = change.before, change.op, change.after
        if not before.requests and not before.index.keys:
            contents = Contents()
        if isinstance(change.outcome, Accepted) and op.request in after.requests:
            replay(contents, before, op, after)
        for request in after.requests.values():
            for number, table in enumerate(request.tables):
                group, by_row = traits.groups[number], traits.granule == "row"
                for lo, hi in readable(group, traits.page_size, by_row, request.low[number], request.written):
                    for row in range(lo, hi):
                        page, slot = divmod(row, traits.page_size)
                        cell = table[page]
                        assert cell is not None and contents.rows[cell][slot] == request.tokens[: row + 1], (op, row)


def replay(contents: Contents, before: State, op: ManagerOperation, after: State) -> None:
    """Does to the contents what the operation does, told from the tables before and after it."""
    size = after.traits.page_size
    if isinstance(op, Fork):
        contents.copy(before.requests[op.request].tables, after.requests[op.to].tables)
        return
    request = after.requests[op.request]
    if isinstance(op, Admit):
        contents.write(request, request.tables, best_hit(before, op.tokens)[0], size)
    else:
        was = before.requests[op.request]
        contents.copy(was.tables, request.tables)
        # Commit trims what it writes: the rows go where they were reserved.
        tables = was.tables if isinstance(op, Commit) else request.tables
        contents.write(request, tables, min(was.written, request.written), size)
    for cell, (_, prefix) in after.index.keys.items():
        # A page that was taken, published and let go at once was in no table that can be seen.
        if cell not in contents.rows:
            contents.rows[cell] = {slot: prefix[: len(prefix) - size + slot + 1] for slot in range(size)}
