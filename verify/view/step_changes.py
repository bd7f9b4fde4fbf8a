"""What an operation did to a target, in short sentences: requests first, then pages."""

from collections.abc import Iterator, Mapping, Sequence

from verify.target import RequestView
from verify.view.sight import NOBODY, Sight, span
from verify.view.steps import Owner

Owners = Mapping[int, tuple[Owner, ...]]
"""The table entries that name each page."""

MOST_SENTENCES = 24
MOST_NUMBERS = 12
"""Sentences about one operation, and numbers in one of them, before the rest is only counted."""


def changes(before: Sight, now: Sight) -> tuple[str, ...]:
    """Each request and each page that is not as it was."""
    return bounded([*request_changes(before, now), *page_changes(before, now)])


def bounded(said: Sequence[str]) -> tuple[str, ...]:
    """The sentences, those beyond so many only counted."""
    if len(said) <= MOST_SENTENCES:
        return tuple(said)
    left = len(said) - MOST_SENTENCES + 1
    return (*said[: MOST_SENTENCES - 1], f"and {left} more changes")


def request_changes(before: Sight, now: Sight) -> Iterator[str]:
    """One sentence a request."""
    old, new = before.snapshot.requests, now.snapshot.requests
    for request in sorted({*old, *new}):
        if request not in old:
            yield f"request {request} begins: {rows_text(new[request].length)}, {pages_text(new[request].pages)}"
        elif request not in new:
            yield f"request {request} ends; it held {pages_text(old[request].pages)}"
        elif old[request] != new[request]:
            yield f"request {request}: {', '.join(view_changes(old[request], new[request]))}"


def view_changes(old: RequestView, new: RequestView) -> Iterator[str]:
    """What differs between two views of one request."""
    if old.length != new.length:
        yield f"{old.length} -> {rows_text(new.length)}"
    if old.pages != new.pages:
        yield f"{pages_text(old.pages)} -> {numbers(new.pages)}"
    if old.released != new.released:
        yield f"released logical pages {span(old.released)} -> {span(new.released)}"
    if old.rows != new.rows and old.length == new.length and old.released == new.released:
        yield "other rows than before"
    if old.kept != new.kept:
        yield f"keeps its first {new.kept} pages"


def page_changes(before: Sight, now: Sight) -> Iterator[str]:
    """One sentence a page."""
    free, was_free = set(now.snapshot.free or ()), set(before.snapshot.free or ())
    counts, old_counts = now.snapshot.counts or (), before.snapshot.counts or ()
    for page, slots in sorted(now.slots.items()):
        parts = owner_changes(page, old_counts, counts, before.tables, now.tables)
        if (page in free) != (page in was_free):
            parts.append("joins the free list" if page in free else "leaves the free list")
        parts.extend(slot_changes(before.slots.get(page, ()), slots))
        if parts:
            yield f"page {page}: {', '.join(parts)}"


def owner_changes(
    page: int, old_counts: Sequence[int], counts: Sequence[int], old_tables: Owners, tables: Owners
) -> list[str]:
    """What became of a page's count, or else of its owners."""
    if 0 <= page < min(len(counts), len(old_counts)) and counts[page] != old_counts[page]:
        return [f"count {old_counts[page]} -> {counts[page]}"]
    if tables.get(page, NOBODY) != old_tables.get(page, NOBODY):
        return ["other owners, the same count" if counts else "other owners"]
    return []


def slot_changes(old: Sequence[tuple[str, int | None]], new: Sequence[tuple[str, int | None]]) -> Iterator[str]:
    """What became of the slots of a page, by their new state."""
    if len(old) != len(new):
        return
    moved = [slot for slot in range(len(new)) if new[slot] != old[slot]]
    for state, verb in (("live", "now live"), ("stale", "now stale"), ("never", "as if never written")):
        slots = [slot for slot in moved if new[slot][0] == state and (state == "live" or old[slot][0] != state)]
        if slots:
            yield f"slot{'s' if len(slots) > 1 else ''} {numbers(slots)} {verb}"


def rows_text(count: int) -> str:
    """How many rows."""
    return f"{count} row" if count == 1 else f"{count} rows"


def pages_text(pages: Sequence[int]) -> str:
    """Which pages."""
    return f"page{'' if len(pages) == 1 else 's'} {numbers(pages)}" if pages else "no page"


def numbers(values: Sequence[int]) -> str:
    """The numbers, or how many there are when they are many."""
    if not values:
        return "none"
    if len(values) <= MOST_NUMBERS:
        return " ".join(map(str, values))
    return f"{' '.join(map(str, values[: MOST_NUMBERS - 2]))} ... {values[-1]} ({len(values)} in all)"
