"""The reads of an op in their order, docs/chip.md section 6, CX."""

from collections.abc import Mapping
from typing import NamedTuple

from spec.isa import Op
from verify.benches.op_rows import group_size


class Tag(NamedTuple):
    """What a launched read is: its kind, and for a B row its place in the op and in its result row."""

    kind: str
    j: int = 0
    lane: int = 0
    group: int = 0
    ends_row: bool = False
    last: bool = False


def reads_of(op: Op, first: int, count: int, a: int, residuals: Mapping[int, int]) -> list[tuple[int, Tag]]:
    """Rows in the order of docs/chip.md section 6: A row, then for each result row its residual row and its B rows."""
    size = group_size(op)
    reads = [] if op == Op.AV else [(a, Tag("a"))]
    for j in range(count):
        group, lane = divmod(j, size)
        if lane == 0 and group in residuals:
            reads.append((residuals[group], Tag("x", group=group)))
        last = j == count - 1
        reads.append((first + j, Tag("b", j, lane, group, last or lane == size - 1, last)))
    return reads
