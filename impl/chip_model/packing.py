"""The result row being packed, and the out register. Source: docs/chip.md section 6, S3 and the out register."""

import struct
from typing import NamedTuple

from impl.chip_model.rows import Row

WORD_LANES = 4


class Out(NamedTuple):
    """A valid out register: a result row, where it goes, and whether it is the op's last."""

    row: int
    value: Row
    last: bool


class Packing:
    """The row being packed; lanes that nothing goes into are 0. `out` is None while the out register is not valid.

    `waiting` is the packed row while the out register still holds the one before it.
    """

    __slots__ = ("_lanes", "out", "packed", "waiting")

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self.packed = [0] * lanes
        self.out: Out | None = None
        self.waiting: Out | None = None

    def put(self, lane: int, value: int) -> None:
        """Pass the edge with the value of a lane."""
        self.packed[lane] = value

    def put_word(self, place: int, value: int) -> None:
        """Pass the edge with a 32-bit value."""
        self.packed[WORD_LANES * place : WORD_LANES * (place + 1)] = struct.unpack("4b", struct.pack("<i", value))

    def finish(self, row: int, last: bool) -> None:
        """Pass the edge with the last value of a result row: it goes into the out register, or waits for it.

        A row that is written out of that register in the same cycle has left it: `written` comes before.
        """
        packed = Out(row, tuple(self.packed), last)
        self.packed = [0] * self._lanes
        if self.out is None:
            self.out = packed
        else:
            self.waiting = packed

    def flush(self) -> None:
        """Forget the row being packed and those behind it."""
        self.packed = [0] * self._lanes
        self.out = self.waiting = None

    def written(self) -> None:
        """Pass the edge of the cycle in which the out register is written."""
        self.out, self.waiting = self.waiting, None
