"""Contracts of division by an unknown page size: what the other contracts take for granted when they count in pages.

A solver cannot divide by an unknown page size, but it can follow a division whose quotient and remainder it is given. So
rows stand in the contracts as pages and an offset, or as pages and the rows missing from them. Nothing is left out:
`every_number_of_rows_has_both_forms`.
"""

from spec.page_table import pages_for


def at(page_size: int, page: int, offset: int) -> bool:
    """Row page * P + offset lies in that page, at that offset."""
    row = page * page_size + offset
    return (row // page_size == page) & (row % page_size == offset)


def a_row_lies_where_it_was_put(page_size: int, page: int, offset: int) -> bool:
    """Quotient and remainder of page * P + offset are page and offset.

    pre: page_size >= 1 and 0 <= offset < page_size
    post: _
    """
    return at(page_size, page, offset)


def every_number_of_rows_has_both_forms(rows: int, page_size: int) -> tuple[int, int]:
    """Any number of rows is whole pages and an offset, and is whole pages but for some missing rows.

    pre: page_size >= 1
    post: 0 <= _[0] < page_size and 0 <= _[1] < page_size
    """
    return rows - rows // page_size * page_size, pages_for(rows, page_size) * page_size - rows
