"""The block tables of one request: what a trim, a cut, a growth and a hit make of them, group by group.

A table has an entry for each logical page 0 .. ceil(n/P)-1: a cell, or None for a released page. `low` is the end of the
rows that are gone, which begin at the group's lower edge; 0 when there are none. In either granule exactly the pages
sp <= p < floor(low/P) are None, sp = ceil(S/P) (PT-HOLE). `by_row` tells the granule. Source: docs/reference.md section 7.
"""

from collections.abc import Sequence

from spec.groups import Group, first_read, gone_below, keep_from, lower_edge, publishes, released_pages, rows_read
from spec.page_table import pages_for
from spec.prefix_index import Index, lookup

Table = tuple[int | None, ...]


def held(table: Table) -> tuple[int, ...]:
    """The cells of the table, in logical order, each named once."""
    return tuple(cell for cell in table if cell is not None)


def from_the_tail(entries: Table) -> tuple[int, ...]:
    """The cells among the entries in the order in which they are let go: the last logical page first (PRE-EVICT)."""
    return tuple(cell for cell in reversed(entries) if cell is not None)


def unfilled(groups: Sequence[Group]) -> tuple[Table, ...]:
    """The tables of a request without rows."""
    return tuple(() for _ in groups)


def readable(group: Group, page_size: int, by_row: bool, low: int, written: int) -> tuple[tuple[int, int], ...]:
    """The maximal ranges (lo, hi) of rows that are written and not gone; none empty, ascending (PT-ROWS)."""
    first = lower_edge(group, page_size, by_row) if low else 0
    return tuple((lo, hi) for lo, hi in ((0, first), (low, written)) if lo < hi)


def read_next(group: Group, page_size: int, by_row: bool, low: int, written: int) -> tuple[tuple[int, int], ...]:
    """The ranges (lo, hi) of rows that the step at `written` reads and that are not gone; none empty, ascending."""
    kept = readable(group, page_size, by_row, low, written)
    cuts = [(max(lo, first), min(hi, stop)) for lo, hi in kept for first, stop in rows_read(group, written)]
    return tuple((lo, hi) for lo, hi in cuts if lo < hi)


def trimmed(group: Group, page_size: int, table: Table, low: int) -> tuple[Table, tuple[int, ...]]:
    """(table, cells let go, the last first) once the rows below `low`, which may lie beyond the table, are gone."""
    first, stop = released_pages(group, page_size, low)
    going = table[first:stop]
    cells = from_the_tail(going)
    return (table[:first] + (None,) * len(going) + table[stop:] if cells else table), cells


def pages_started(group: Group, page_size: int, table: Table, low: int, length: int) -> tuple[bool, ...]:
    """For each logical page that a growth to `length` rows adds to the table: whether it is held, not released at once.

    Only a trim that came before the growth can have released one.
    """
    first, stop = released_pages(group, page_size, low) if low else (0, 0)
    return tuple(not first <= page < stop for page in range(len(table), pages_for(length, page_size)))


def readable_at(group: Group, page_size: int, by_row: bool, low: int, position: int) -> bool:
    """Whether the rows below `position` may be kept as a request that goes on there (RowsReleased when not).

    Not where the step at `position` reads a row that is gone, and not inside the gone rows; first_read is at most
    `position`, so beyond the lower edge one comparison tells both. At or below it nothing that is left is gone.
    """
    return position <= lower_edge(group, page_size, by_row) or low <= first_read(group, position)


def cut(group: Group, page_size: int, by_row: bool, table: Table, low: int, length: int) -> tuple[Table, int]:
    """(table, low) of the first `length` rows, where they are readable_at that length."""
    below = length <= lower_edge(group, page_size, by_row)
    return table[: pages_for(length, page_size)], 0 if below else low


def longest_hit(
    groups: Sequence[Group], page_size: int, leaves: int, index: Index, tokens: tuple[int, ...]
) -> tuple[int, tuple[Table, ...]]:
    """(h, the tables of the h served rows) of an admission of `tokens`, before it takes a page (PRE-HIT, PRE-KEY).

    h is the largest multiple of P, at most len(tokens) - leaves, at which each group finds under this prefix every page
    that it keeps at h: those with rows that the step at position h reads, those with rows that it keeps back, and no
    other; 0 when a group publishes nothing.
    """
    most = (len(tokens) - leaves) // page_size
    if most > 0 and all(publishes(group) for group in groups):
        prefixes = [tokens[: (page + 1) * page_size] for page in range(most)]
        found = [[lookup(index, number, prefix) for prefix in prefixes] for number in range(len(groups))]
        for pages in range(most, 0, -1):
            tables = tuple(
                _table_at(group, page_size, cells, pages) for group, cells in zip(groups, found, strict=True)
            )
            if None not in tables:
                return pages * page_size, tuple(table for table in tables if table is not None)
    return 0, unfilled(groups)


def _table_at(group: Group, page_size: int, found: Sequence[int | None], pages: int) -> Table | None:
    """The table with which the group is served the first `pages` pages; None when it misses one that it keeps."""
    kept_from = keep_from(group, pages * page_size)
    first, stop = released_pages(group, page_size, gone_below(group, page_size, False, kept_from))
    head, tail = found[:first], found[stop:pages]
    if None in head or None in tail:
        return None
    return (*head, *(None for _ in range(stop - first)), *tail)
