"""Rows, sets of rows, and how a row lies in memory. Source: docs/chip.md section 1."""

import struct

Row = tuple[int, ...]
"""L signed lanes."""

RowSet = int
"""Rows as bits: row r is bit r."""

NO_ROWS: RowSet = 0


def span(first: int, count: int) -> RowSet:
    """Rows first .. first + count - 1; first is at least 0."""
    return ((1 << count) - 1) << first


def row_of(words: list[int], lanes: int) -> Row:
    """The row that these L/4 words hold, lane 4w in the low byte of word w."""
    return struct.unpack(f"<{lanes}b", struct.pack(f"<{lanes // 4}I", *words))


def words_of(row: Row) -> tuple[int, ...]:
    """The L/4 words that hold the row."""
    return struct.unpack(f"<{len(row) // 4}I", struct.pack(f"<{len(row)}b", *row))
