"""What can be seen of oracle and target after an operation, with what the operation changed.

It lays both sides next to each other for a reader and decides nothing: which rules are broken is the refinement check's word.
"""

import re
from collections.abc import Container, Sequence
from functools import lru_cache
from typing import TypeVar

from spec.page_table import Request, State, owners, released
from verify.refinement import readable_rows
from verify.show import BrokenRule
from verify.view.sight import NOBODY, Piece, Pieces, Sight, SlotState, pieces, positions, span
from verify.view.step_changes import changes
from verify.view.steps import FreePage, LogicalPage, Pair, PoolPage, RequestStep, Row, Slot, Step

MOST_POOL_PAGES = 256
MOST_LOGICAL_PAGES = 64
MOST_IN_A_PAGE = 64
"""What is drawn of a pool and of its free list, of a block table, and of the rows and slots of a page."""

NAMED_REQUEST = re.compile(r"\brequest (\d+)")
NAMED_PAGES = re.compile(r"\bpages? (?:\[([\d, ]+)\]|(\d+)(?: and (\d+))?(?![\d.]))")
"""How the refinement check names requests and physical pages in its sentences."""

Item = TypeVar("Item")


def step_view(
    number: int, call: str, outcome: Pair, state: State, before: Sight, now: Sight, broken: tuple[BrokenRule, ...]
) -> Step:
    """The step that led from one sight to the next; of a fresh pool both are the same."""
    requests, pages = named(broken)
    free = now.snapshot.free
    return Step(
        number,
        call,
        outcome,
        changes(before, now),
        tuple(
            request_step(request, state, before, now, request in requests)
            for request in sorted({*state.requests, *now.snapshot.requests})
        ),
        pool_pages(before, now, pages),
        free_pages(positions(before.snapshot.free), now.snapshot.free, pages),
        None if free is None else len(free),
        Pair(str(state.used), str(len(now.tables) if free is None else state.pages - len(free))),
        broken,
    )


def unseen_step(number: int, call: str, outcome: Pair, used: int, why: str, broken: tuple[BrokenRule, ...]) -> Step:
    """The step after which the target cannot be looked at; `used` are the pages that the oracle uses."""
    return Step(number, call, outcome, (), (), (), (), 0, Pair(str(used), "-"), broken, why)


def named(broken: Sequence[BrokenRule]) -> tuple[frozenset[int], frozenset[int]]:
    """The requests and the physical pages that the differences name."""
    text = " \n ".join(f"{item.oracle} \n {item.target}" for item in broken)
    requests = frozenset(int(found) for found in NAMED_REQUEST.findall(text))
    pages = {
        int(number) for found in NAMED_PAGES.findall(text) for part in found for number in re.findall(r"\d+", part)
    }
    return requests, frozenset(pages)


def request_step(request: int, state: State, before: Sight, now: Sight, is_named: bool) -> RequestStep:
    """One request that either side has."""
    size = state.page_size
    truth, view = state.requests.get(request), now.snapshot.requests.get(request)
    length = Pair(str(len(truth.rows)) if truth else "-", str(view.length) if view else "-")
    holes = Pair(span(released(truth, size)) if truth else "-", span(view.released) if view else "-")
    held = Pair(str(len(truth.cells)) if truth else "-", str(len(view.pages)) if view else "-")
    table = logical_pages(request, truth, state, before, now)
    drawn = chosen(table, [rank(page.changed, page.wrong) for page in table], MOST_LOGICAL_PAGES)
    return RequestStep(
        request,
        truth.sinks if truth else 0,
        length,
        holes,
        held,
        tuple(drawn),
        now.pieces.get(request) != before.pieces.get(request) or view != before.snapshot.requests.get(request),
        is_named or not (length.same and holes.same and held.same) or any(page.wrong for page in table),
    )


def logical_pages(request: int, truth: Request | None, state: State, before: Sight, now: Sight) -> list[LogicalPage]:
    """The logical pages that either side holds, and those that both have released."""
    size = state.page_size
    due: Pieces = {}
    gone = range(0)
    if truth is not None:
        hole = released(truth, size)
        due, gone = pieces(truth.cells, readable_rows(truth, size), hole, size), range(*hole)
    seen, was = now.pieces.get(request, {}), before.pieces.get(request, {})
    view = now.snapshot.requests.get(request)
    let_go = range(*view.released) if view is not None else range(0)
    table = []
    for logical in sorted({*due, *seen, *gone}):
        oracle, target, old = due.get(logical), seen.get(logical), was.get(logical)
        sharing = owners(state, oracle.back) if oracle is not None and oracle.back is not None else 0
        back = target.back if target is not None else None
        sharers = len(now.tables.get(back, NOBODY)) if back is not None else 0
        if target is not None and oracle is not None and target == old and target.rows == oracle.rows:
            rows = quiet_rows(logical * size, target.rows)
        else:
            rows = page_rows(logical * size, (oracle, target), old, (logical in gone, logical in let_go))
        table.append(
            LogicalPage(
                logical,
                back,
                sharers,
                sharing,
                oracle is None and target is None,
                rows,
                target != old,
                sharing != sharers or any(row.oracle != row.target for row in rows),
            )
        )
    return table


@lru_cache(maxsize=4096)
def quiet_rows(first: int, tokens: tuple[int | None, ...]) -> tuple[Row, ...]:
    """The rows of a logical page in which nothing changed and nothing differs."""
    piece = Piece(None, tokens)
    return page_rows(first, (piece, piece), piece, (False, False))


def page_rows(
    first: int, sides: tuple[Piece | None, Piece | None], was: Piece | None, released: tuple[bool, bool]
) -> tuple[Row, ...]:
    """The rows of one logical page that starts at row `first`, none when neither side holds it."""
    count = max((len(side.rows) for side in sides if side is not None), default=0)
    rows = []
    for index in range(count):
        oracle, target = (token_text(side, index, gone) for side, gone in zip(sides, released, strict=True))
        rows.append(Row(first + index, oracle, target, target != token_text(was, index, False)))
    return tuple(chosen(rows, [rank(row.changed, row.oracle != row.target) for row in rows], MOST_IN_A_PAGE))


def token_text(piece: Piece | None, index: int, released: bool) -> str:
    """The row's token as verify.view.steps.Row writes it."""
    if piece is None:
        return "." if released else ""
    if index >= len(piece.rows):
        return ""
    token = piece.rows[index]
    return "?" if token is None else str(token)


def pool_pages(before: Sight, now: Sight, named_pages: frozenset[int]) -> tuple[PoolPage, ...]:
    """The physical pages, those included that a table names and the pool does not have."""
    places, places_before = positions(now.snapshot.free), positions(before.snapshot.free)
    told = now.snapshot.free is not None
    pages = sorted(now.slots)
    changed = [
        before.slots.get(page) != now.slots[page]
        or count_of(before.snapshot.counts, page) != count_of(now.snapshot.counts, page)
        or before.tables.get(page) != now.tables.get(page)
        or (page in places_before) != (page in places)
        for page in pages
    ]
    ranks = [rank(moved, page in named_pages) for page, moved in zip(pages, changed, strict=True)]
    return tuple(
        PoolPage(
            page,
            count_of(now.snapshot.counts, page),
            places.get(page, ()) if told else None,
            now.tables.get(page, NOBODY),
            page_slots(before.slots.get(page, ()), now.slots[page]),
            moved,
            page in named_pages,
        )
        for page, moved in chosen(list(zip(pages, changed, strict=True)), ranks, MOST_POOL_PAGES)
    )


@lru_cache(maxsize=4096)
def page_slots(old: tuple[SlotState, ...], states: tuple[SlotState, ...]) -> tuple[Slot, ...]:
    """The slots of a page; without old ones all of them are new."""
    slots = [
        Slot(index, state, token, index >= len(old) or old[index] != (state, token))
        for index, (state, token) in enumerate(states)
    ]
    return tuple(chosen(slots, [rank(slot.changed, False) for slot in slots], MOST_IN_A_PAGE))


def free_pages(was: Container[int], free: Sequence[int] | None, named_pages: frozenset[int]) -> tuple[FreePage, ...]:
    """The free pages in the target's own order; `was` are those that were free before."""
    entries = [FreePage(position, page, page not in was) for position, page in enumerate(free or ())]
    return tuple(
        chosen(entries, [rank(entry.changed, entry.page in named_pages) for entry in entries], MOST_POOL_PAGES)
    )


def count_of(counts: Sequence[int] | None, page: int) -> int | None:
    """The page's reference count; None when the target shows none."""
    return counts[page] if counts is not None and 0 <= page < len(counts) else None


def rank(changed: bool, wrong: bool) -> int:
    """How much something matters to a reader."""
    return 2 if wrong else int(changed)


def chosen(items: Sequence[Item], ranks: Sequence[int], most: int) -> list[Item]:
    """At most `most` of the items, in order: those of the highest ranks, and of rank 0 the first and the last."""
    if len(items) <= most:
        return list(items)
    ordered = sorted((index for index, mattering in enumerate(ranks) if mattering), key=lambda index: -ranks[index])
    wanted, others = ordered[:most], [index for index, mattering in enumerate(ranks) if not mattering]
    spare = most - len(wanted)
    head, tail = others[: spare - spare // 2], others[len(others) - spare // 2 :]
    return [items[index] for index in sorted({*wanted, *head, *tail})]
