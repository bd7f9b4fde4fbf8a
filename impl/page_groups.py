"""What the layers of a group read: every past row, a sliding window with sinks, or the rows of a chunk.

The layers of a group share a block table, so a page may go when no step of the group reads it any more. A step at position m
computes row m; rows 0 .. m-1 are there. Source: docs/reference.md section 1 for the window.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Full:
    """Every step reads every past row."""

    @property
    def sinks(self) -> int:
        """Rows at the front that never go."""
        return 0

    @property
    def publishes(self) -> bool:
        """Whether its pages are published."""
        return True

    def first_read(self, position: int) -> int:
        """First row behind the sinks that the step at this position reads; the position itself when it reads none."""
        return 0

    def always_reads(self, row: int) -> bool:
        """Whether every step beyond this row reads it."""
        return True


@dataclass(frozen=True, slots=True)
class Window:
    """A step attends `size` tokens: the first `sinks` ones, its own and those right before it.

    Raises ValueError unless 0 <= sinks < size.
    """

    size: int
    sinks: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.sinks < self.size:
            raise ValueError(f"a window of {self.size} rows cannot keep {self.sinks} sinks")

    @property
    def publishes(self) -> bool:
        """Whether its pages are published; those of a window of 1 row are read by no step."""
        return self.size > 1

    def first_read(self, position: int) -> int:
        """First row behind the sinks that the step at this position reads; the position itself when it reads none."""
        return 0 if position < self.size else position + 1 - (self.size - self.sinks)

    def always_reads(self, row: int) -> bool:
        """Whether every step beyond this row reads it."""
        return row < self.sinks


@dataclass(frozen=True, slots=True)
class Chunk:
    """A step reads the rows before it in its own chunk of `size` rows. Raises ValueError when size < 1."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"a chunk has at least 1 row, not {self.size}")

    @property
    def sinks(self) -> int:
        """Rows at the front that never go."""
        return 0

    @property
    def publishes(self) -> bool:
        """Whether its pages are published."""
        return True

    def first_read(self, position: int) -> int:
        """First row that the step at this position reads; the position itself when it reads none."""
        return position // self.size * self.size

    def always_reads(self, row: int) -> bool:
        """Whether every step beyond this row reads it."""
        return False


PageGroup = Full | Window | Chunk
