"""RQ: from an accumulator to a lane of a DOT's result, in two cycles. Source: docs/chip.md section 2, and 6, S2 and S3."""

from impl.chip_model.command import Entry
from impl.chip_model.rows import Row


class Requantiser:
    """The residual register and the product register."""

    __slots__ = ("product", "residual")

    product: int

    def __init__(self, lanes: int) -> None:
        self.residual: Row = (0,) * lanes

    def multiply(self, accumulator: int, entry: Entry, lane: int) -> None:
        """Pass the edge with the accumulator in S2."""
        residual = entry.rm * self.residual[lane]
        self.product = (accumulator + residual) * entry.m + (1 << (entry.sh - 1))

    def shifted(self, entry: Entry) -> int:
        """The product register shifted and saturated, in S3."""
        return max(-128, min(127, self.product >> entry.sh))
