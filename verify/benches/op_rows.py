"""Rows of an op as docs/chip.md section 4 lists them: A row, B rows, residual rows, result rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from spec.isa import MOST_RESULT_ROWS, RESULT_STRIDE, Op
from verify.benches.chip_under_test import LANES

OPS = (Op.DOT, Op.DOTL, Op.SCORE, Op.AV)


def group_size(op: int) -> int:
    """B rows behind one result row; SCORE and AV have one group."""
    return {Op.DOT: LANES, Op.DOTL: LANES // 4}.get(Op(op), 1 << 30)


@dataclass(frozen=True, slots=True)
class OpRows:
    """Result rows, in order, and for a DOT which of them have a residual row."""

    results: tuple[int, ...]
    residuals: tuple[int, ...]

    @property
    def many(self) -> bool:
        """More than four result rows."""
        return len(self.results) > MOST_RESULT_ROWS

    @property
    def beyond(self) -> bool:
        """A result row above 1,023."""
        return any(row > 1023 for row in self.results)


def rows_of(op: int, count: int, dst: int, fl: int, rm: Sequence[int]) -> OpRows:
    """Result rows of the op, and the numbers i of those whose entry's Rm, rm[i], is not 0."""
    if op == Op.SCORE:
        return OpRows((), ())
    if op == Op.AV:
        return OpRows((dst,), ())
    rows = -(-count // group_size(op))
    step = RESULT_STRIDE if op == Op.DOT and fl & 2 else 1
    residuals = tuple(i for i in range(min(rows, MOST_RESULT_ROWS)) if op == Op.DOT and rm[i])
    return OpRows(tuple(dst + step * i for i in range(rows)), residuals)


def side_by_side(rows: Sequence[int], width: int = 10) -> int:
    """Rows in one number, row i in bits width*i + width - 1 : width*i."""
    return sum(row << (width * i) for i, row in enumerate(rows))
