"""The page table alone as a target, page ids without storage, and rows of which only the number is known.

CrossHair cannot see into numpy, and what a row holds is all the same to page ids: so rows can be unboundedly many.
"""

from collections.abc import Iterator, Sequence
from typing import Self, cast

from impl import page_table
from spec.operations import Append, Fork, New, Operation, Outcome, Release, Trim, Truncate
from spec.outcomes import ACCEPTED, REFUSED
from verify.target import Capabilities, RequestView, Snapshot


def decided(truth: bool) -> bool:
    """The same as True or False: Python takes no symbol for the truth of an object."""
    if truth:  # noqa: SIM103
        return True
    return False


class RowCount:
    """A sequence of rows whose number alone is known; it stands for the tokens in the oracle's requests and operations."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return decided(self.count > 0)

    def __getitem__(self, part: slice) -> "RowCount":
        """Rows start .. stop-1, both within the sequence."""
        return RowCount((self.count if part.stop is None else part.stop) - (part.start or 0))

    def __add__(self, other: "RowCount") -> "RowCount":
        return RowCount(self.count + other.count)

    def __radd__(self, other: tuple[()]) -> "RowCount":
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowCount | tuple) and self.count == len(other)

    def __hash__(self) -> int:
        return hash(self.count)

    def __iter__(self) -> Iterator[int]:
        return iter(())


def some_rows(count: int) -> tuple[int, ...]:
    """So many rows, none or more, in place of their tokens."""
    return cast("tuple[int, ...]", RowCount(count))


class IdTarget:
    """impl's PageTable behind the target protocol; `copied` is what its last append told the storage to copy."""

    capabilities = Capabilities("the page table alone")

    def __init__(self, table: page_table.PageTable) -> None:
        self.table = table
        self.copied: tuple[int, int] | None = None

    def apply(self, operation: Operation) -> Outcome:
        """Call the table; a named error is a refusal."""
        try:
            self.call(operation)
        except page_table.PageTableError as error:
            return REFUSED[type(error).__name__]
        return ACCEPTED

    def call(self, operation: Operation) -> None:
        """Call the table's method of the operation."""
        table = self.table
        if isinstance(operation, Append):
            self.copied = table.append(operation.request, len(operation.tokens))
        elif isinstance(operation, Fork):
            table.fork(operation.request, operation.to, operation.at)
        elif isinstance(operation, Trim):
            table.trim(operation.request, operation.keep_from)
        elif isinstance(operation, Truncate):
            table.truncate(operation.request, operation.length)
        elif isinstance(operation, Release):
            table.release(operation.request)
        elif isinstance(operation, New):
            table.new(operation.request, operation.sinks)
        else:
            raise TypeError(f"page ids cannot {operation!r}")

    def observe(self) -> Snapshot:
        """Every live request."""
        table = self.table
        requests = {request: self.view(entry) for request, entry in table.tables.items()}
        return Snapshot(requests, tuple(table.counts), tuple(table.free))

    def view(self, entry: page_table.BlockTable) -> RequestView:
        """One live request; it reads as many rows as its pages leave."""
        first, stop = entry.sink_pages, entry.sink_pages + entry.dropped
        released = (first, stop) if entry.dropped else (0, 0)
        rows = some_rows(entry.length - entry.dropped * self.table.page_size)
        return RequestView(entry.length, released, tuple(entry.pages), rows, first)

    def image(self) -> object:
        """Tables, counts and free list."""
        table = self.table
        tables = [
            (request, entry.length, entry.sinks, entry.sink_pages, entry.dropped, tuple(entry.pages))
            for request, entry in table.tables.items()
        ]
        return tables, table.counts[:], table.free[:]

    def written(self) -> None:
        """There are no slots."""

    def foresee(self, operations: Sequence[Operation], apart: bool) -> None:
        """Nothing travels."""

    def clone(self) -> Self:
        """An independent copy."""
        return type(self)(self.table.clone())
