"""Groups: the layers of a model that read the same past rows, so that one block table serves them all.

Positions and rows count from 0. A step at position m finds rows 0 .. m-1 and computes row m; it is step m + 1 of
spec/window.py. Rows are kept or given back for all layers of a group together. Source: docs/reference.md section 7.
"""

from dataclasses import dataclass
from typing import Literal

from spec.page_table import sink_pages

Kind = Literal["full", "window", "chunk"]


@dataclass(frozen=True, slots=True)
class Group:
    """One group; `size` is W of a window, the new token included, and C of a chunk, in tokens; 0 when full.

    `sinks` rows stay for ever, and `keeps` rows more than the next step reads are kept back; both of windows alone.
    ValueError unless 0 <= sinks < size and keeps >= 0 in a window, size >= 1 in a chunk, and all that is not a kind's
    own is 0.
    """

    kind: Kind
    size: int = 0
    sinks: int = 0
    keeps: int = 0

    def __post_init__(self) -> None:
        sensible = {
            "full": self.size == self.sinks == self.keeps == 0,
            "window": 0 <= self.sinks < self.size and self.keeps >= 0,
            "chunk": self.size >= 1 and self.sinks == self.keeps == 0,
        }
        if not sensible.get(self.kind, False):
            raise ValueError(f"not a group: {self!r}")


def first_read(group: Group, position: int) -> int:
    """Lower end of the rows first_read .. position-1 that the step at `position` reads besides the sinks.

    0 in a full group; as a window's keep_from after step `position`; the last multiple of C in a chunk. At most
    `position`, which means that no such row is read.
    """
    if group.kind == "full":
        return 0
    if group.kind == "chunk":
        return position - position % group.size
    return max(0, position + 1 - group.size + group.sinks)


def keep_from(group: Group, length: int) -> int:
    """The row below which a request of `length` rows keeps nothing but sinks: first_read, less the rows kept back."""
    return max(0, first_read(group, length) - group.keeps)


def rows_read(group: Group, position: int) -> tuple[tuple[int, int], ...]:
    """The ranges (lo, hi), hi excluded, of rows that the step at `position` reads; ascending, none empty or adjacent."""
    first = first_read(group, position)
    # An upper range that begins among the sinks, or right after them, makes one range with them.
    ranges = ((0, position),) if first <= group.sinks else ((0, group.sinks), (first, position))
    return tuple((lo, hi) for lo, hi in ranges if lo < hi)


def publishes(group: Group) -> bool:
    """Whether pages of the group can serve an admission: not when W = 1, whose steps read no past row (PRE-HIT)."""
    return group.kind != "window" or group.size > 1


def lower_edge(group: Group, page_size: int, by_row: bool) -> int:
    """The first row that a trim may let go: S when rows go one by one, else the end of the last page with a sink."""
    return group.sinks if by_row else sink_pages(group.sinks, page_size) * page_size


def gone_below(group: Group, page_size: int, by_row: bool, kept_from: int) -> int:
    """End of the rows that a trim to `kept_from` lets go, which begin at lower_edge; 0 when there are none.

    By row that is `kept_from`, else the last page edge at or below it.
    """
    end = kept_from if by_row else kept_from - kept_from % page_size
    return end if end > lower_edge(group, page_size, by_row) else 0


def released_pages(group: Group, page_size: int, low: int) -> tuple[int, int]:
    """The logical pages (first, stop), stop excluded, that lie wholly in the gone rows below `low`; (0, 0) when none."""
    first, stop = sink_pages(group.sinks, page_size), low // page_size
    return (first, stop) if first < stop else (0, 0)
