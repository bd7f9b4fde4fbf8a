"""Rows, sets of rows, and how a row lies in memory. Source: docs/chip.md section 1."""

import struct

from spec.isa import LANES

Row = tuple[int, ...]
"""L signed lanes."""

RowSet = int
"""Rows as bits: row r is bit r."""

NO_ROWS: RowSet = 0


def span(first: int, count: int) -> RowSet:
    """Rows first .. first + count - 1; first is at least 0."""
    return ((1 << count) - 1) << first


_BYTES = {lanes: struct.Struct(f"<{lanes}b") for lanes in LANES}
_WORDS = {lanes: struct.Struct(f"<{lanes // 4}I") for lanes in LANES}
"""The two forms of a row of so many lanes."""


def row_of(words: list[int], lanes: int) -> Row:
    """The row that these L/4 words hold, lane 4w in the low byte of word w."""
    return _BYTES[lanes].unpack(_WORDS[lanes].pack(*words))


def words_of(row: Row) -> tuple[int, ...]:
    """The L/4 words that hold the row."""
    return _WORDS[len(row)].unpack(_BYTES[len(row)].pack(*row))
