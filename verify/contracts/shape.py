"""The shape of one request in a page table, in pages and remainders: what a solver is given instead of a length to divide."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """A request holds `held` pages and has let go of `dropped` ones behind its `sink_pages`.

    Its last page has `room` for more rows, the last page of sinks `spare` rows that are none.
    """

    page_size: int
    held: int
    dropped: int
    room: int
    sink_pages: int
    spare: int

    @property
    def length(self) -> int:
        """Rows of the request."""
        return (self.dropped + self.held) * self.page_size - self.room

    @property
    def sinks(self) -> int:
        """Rows that trim never releases."""
        return self.sink_pages * self.page_size - self.spare

    def sound(self) -> bool:
        """The invariants; one formula, so that the solver meets it once."""
        size = self.page_size
        return (
            (size >= 1)
            & (self.held >= 0)
            & (self.dropped >= 0)
            & (self.room >= 0)
            & (self.room < size)
            & (self.spare >= 0)
            & (self.spare < size)
            & (self.length >= 0)
            & (self.sinks >= 0)
            & ((self.dropped == 0) | ((self.sink_pages + self.dropped) * size <= self.length))
        )
