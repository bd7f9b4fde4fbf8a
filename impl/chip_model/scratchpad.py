"""The scratchpad: rows behind one read port and one write port. Source: docs/chip.md sections 1 and 6."""

from impl.chip import ChipUnknown
from impl.chip_model.rows import Row
from spec.isa import SPAD_ROWS


class Scratchpad:
    """Rows; those that nobody wrote have no value."""

    __slots__ = ("_read", "_write", "output", "rows")

    def __init__(self) -> None:
        self.rows: list[Row | None] = [None] * SPAD_ROWS
        self.output: Row = ()
        """The row whose read was launched in the cycle before."""
        self._read: int | None = None
        self._write: tuple[int, Row] | None = None

    def launch(self, row: int) -> None:
        """Use the read port in this cycle."""
        self._read = row

    def write(self, row: int, value: Row) -> None:
        """Use the write port in this cycle."""
        self._write = row, value

    def clock(self) -> None:
        """Pass the edge: the row that is read is the one before the write. Raises ChipUnknown for a row never written."""
        if self._read is not None:
            value = self.rows[self._read]
            if value is None:
                raise ChipUnknown(f"the program reads scratchpad row {self._read}, which nobody wrote")
            self.output = value
            self._read = None
        if self._write is not None:
            row, written = self._write
            self.rows[row] = written
            self._write = None
