"""MAC: the dot product of a B row with the A register, or a B row's share of AV. Source: docs/chip.md section 6, S1."""

from operator import mul

from impl.chip_model.rows import Row


class Mac:
    """The A register, the accumulator, and the lanes' sums."""

    __slots__ = ("_zeros", "a", "accumulator", "sums")

    a: Row
    accumulator: int
    sums: list[int]

    def __init__(self, lanes: int) -> None:
        self._zeros = [0] * lanes

    def clear(self) -> None:
        """Let AV's sums start from 0."""
        self.sums = self._zeros

    def dot(self, b: Row) -> None:
        """Pass the edge with this B row in S1 of a DOT, a DOTL or a SCORE."""
        self.accumulator = sum(map(mul, self.a, b))

    def add(self, e: int, b: Row) -> None:
        """Pass the edge with this B row, of weight e, in S1 of an AV."""
        self.sums = [total + e * value for total, value in zip(self.sums, b, strict=True)]
