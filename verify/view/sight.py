"""All that is seen of a target at one moment, sorted by who owns what: the ground on which a step is drawn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from verify.target import Snapshot
from verify.view.steps import Owner

NOBODY: tuple[Owner, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A held logical page: the cell or physical page behind it, None without one, and the tokens of its rows."""

    back: int | None
    rows: tuple[int | None, ...]


Pieces = Mapping[int, Piece]
"""Logical page -> what is held there."""

SlotState = tuple[str, int | None]
"""The state of a slot and its token, as in verify.view.steps.Slot."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A snapshot, its requests by logical page, the table entries of each named page, and each page's slots."""

    snapshot: Snapshot
    pieces: Mapping[int, Pieces]
    tables: Mapping[int, tuple[Owner, ...]]
    slots: Mapping[int, tuple[SlotState, ...]]
    written: tuple[bytes, ...] | None


def sight(
    snapshot: Snapshot, written: tuple[bytes, ...] | None, pages: int, page_size: int, before: Sight | None
) -> Sight:
    """What is seen now; `before` is what was seen an operation ago, None of a fresh target.

    Only requests that look different, and pages that they name or named or whose flags moved, are looked into again.
    """
    seen: dict[int, Pieces] = {}
    touched: set[int] = set()
    for request, view in snapshot.requests.items():
        if before is not None and before.snapshot.requests.get(request) == view:
            seen[request] = before.pieces[request]
        else:
            seen[request] = pieces(view.pages, view.rows, view.released, page_size)
            touched |= backs(seen[request])
    if before is not None:
        for request, held in before.pieces.items():
            if seen.get(request) is not held:
                touched |= backs(held)
    tables = table_entries(seen)
    if before is None or before.written is None or written is None:
        touched |= {*range(pages), *tables}
    else:
        touched |= {page for page, flags in enumerate(written) if flags != before.written[page]}
    slots = (
        {} if before is None else {page: old for page, old in before.slots.items() if page < pages or page in tables}
    )
    for page in sorted(touched & {*range(pages), *tables}):
        slots[page] = slots_of(page, page_size, seen, tables, written, before)
    return Sight(snapshot, seen, tables, slots, written)


def backs(held: Pieces) -> set[int]:
    """The pages behind these."""
    return {piece.back for piece in held.values() if piece.back is not None}


def table_entries(seen: Mapping[int, Pieces]) -> dict[int, tuple[Owner, ...]]:
    """The table entries that name each page."""
    owned: dict[int, tuple[Owner, ...]] = {}
    for request, held in seen.items():
        for logical, piece in held.items():
            if piece.back is not None:
                owned[piece.back] = (*owned.get(piece.back, NOBODY), Owner(request, logical))
    return owned


def pieces(
    held: Sequence[int], rows: Sequence[int | None], released: tuple[int, int], page_size: int
) -> dict[int, Piece]:
    """The held pages of one request by logical number, from its block table and its readable rows.

    All but the last of them are full, so the readable rows fall into pages although the released ones are not among them.
    """
    first, stop = released
    hole = max(0, stop - first)
    count = max(len(held), -(-len(rows) // page_size))
    return {
        index if index < first else index + hole: Piece(
            held[index] if index < len(held) else None,
            tuple(rows[index * page_size : (index + 1) * page_size]),
        )
        for index in range(count)
    }


def slots_of(
    page: int,
    page_size: int,
    seen: Mapping[int, Pieces],
    tables: Mapping[int, tuple[Owner, ...]],
    written: tuple[bytes, ...] | None,
    before: Sight | None,
) -> tuple[SlotState, ...]:
    """The slots of one page: rows of live requests first, then what was read there last.

    A page that has just been taken may have been filled by a copy, so what was read there before says nothing any more.
    """
    owners = tables.get(page, NOBODY)
    rows = [seen[owner.request][owner.logical].rows for owner in owners]
    flags = written[page] if written is not None and 0 <= page < len(written) else None
    old = before.slots.get(page) if before is not None else None
    taken = before is not None and bool(owners) and page not in before.tables
    live = max(map(len, rows), default=0)
    states: list[SlotState] = [("live", agreed(rows, slot)) for slot in range(live)]
    for slot in range(live, page_size):
        was = old[slot] if old is not None and slot < len(old) else ("unknown", None)
        ever = was[0] in ("live", "stale") if flags is None else any(flags[slot::page_size])
        if ever:
            states.append(("stale", None if taken else was[1]))
        else:
            states.append(("unknown" if flags is None else "never", None))
    return tuple(states)


def agreed(rows: Iterable[Sequence[int | None]], slot: int) -> int | None:
    """The token that every owner with a row in the slot reads there; None when they read different ones."""
    tokens = {row[slot] for row in rows if slot < len(row)}
    return tokens.pop() if len(tokens) == 1 else None


def positions(free: Sequence[int] | None) -> dict[int, tuple[int, ...]]:
    """Where each page is on the free list, in the target's own order."""
    found: dict[int, tuple[int, ...]] = {}
    for position, page in enumerate(free or ()):
        found[page] = (*found.get(page, ()), position)
    return found


def span(pages: tuple[int, int]) -> str:
    """The released logical pages in a word."""
    first, stop = pages
    if pages == (0, 0):
        return "none"
    return f"{first}" if stop == first + 1 else f"{first}-{stop - 1}"
