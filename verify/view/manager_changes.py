"""What an operation did to a manager, in short sentences: requests first, then pages."""

from collections.abc import Iterator

from verify.managers.target import ManagerView
from verify.view.manager_sight import ManagerSight
from verify.view.step_changes import bounded, numbers, owner_changes, rows_text


def manager_changes(before: ManagerSight, now: ManagerSight) -> tuple[str, ...]:
    """Each request and each page that is not as it was."""
    return bounded([*request_changes(before, now), *page_changes(before, now)])


def request_changes(before: ManagerSight, now: ManagerSight) -> Iterator[str]:
    """One sentence a request and, of several, a group."""
    old, new = before.snapshot.requests, now.snapshot.requests
    for request in sorted({*old, *new}):
        if request not in old:
            yield f"request {request} begins: {rows_text(new[request].length)}"
        elif request not in new:
            yield f"request {request} ends"
        elif old[request].length != new[request].length:
            yield f"request {request}: {old[request].length} -> {rows_text(new[request].length)}"
        for part, was, table in tables_of(now.parts, old.get(request), new.get(request)):
            if was != table:
                name = f"request {request}{f', {part}' if part else ''}"
                yield f"{name}: table {table_words(was)} -> {table_words(table)}"


def tables_of(
    parts: tuple[str, ...], old: ManagerView | None, new: ManagerView | None
) -> Iterator[tuple[str, tuple[int | None, ...], tuple[int | None, ...]]]:
    """Each group's name with its table before and after."""
    for number, part in enumerate(parts):
        tables = [view.tables[number] if view is not None and number < len(view.tables) else () for view in (old, new)]
        yield part, tables[0], tables[1]


def table_words(table: tuple[int | None, ...]) -> str:
    """A block table in words, a dot for each released page."""
    if len(table) > 12:
        return f"of {len(table)} pages"
    return f"[{' '.join('.' if page is None else str(page) for page in table)}]"


def page_changes(before: ManagerSight, now: ManagerSight) -> Iterator[str]:
    """One sentence a page."""
    free, was_free = set(now.snapshot.free or ()), set(before.snapshot.free or ())
    counts, old_counts = now.snapshot.counts or (), before.snapshot.counts or ()
    for page, slots in sorted(now.slots.items()):
        parts = owner_changes(page, old_counts, counts, before.tables, now.tables)
        if (page in free) != (page in was_free):
            parts.append("becomes available" if page in free else "is taken")
        old = before.slots.get(page, ())
        fresh = [slot for slot, seen in enumerate(slots) if seen[0] == "live" and old[slot : slot + 1] != (seen,)]
        if fresh:
            parts.append(f"slot{'s' if len(fresh) > 1 else ''} {numbers(fresh)} now live")
        note, was = now.notes.get(page), before.notes.get(page)
        if note != was:
            parts.append(note or "is published no more")
        if parts:
            yield f"page {page}: {', '.join(parts)}"
