"""How many requests of a trace a pool holds at once: in pages, and when each reserves as many rows as the longest has."""

from collections.abc import Sequence
from dataclasses import dataclass

from impl.page_table import OutOfPages, PageTable
from impl.pool_bound import pages_for
from impl.traces import TraceRequest


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests that are held together when no further one fits, and the rows that they have."""

    requests: int
    rows: int


def paged_batches(requests: Sequence[TraceRequest], pages: int, page_size: int) -> list[Batch]:
    """The trace in batches: requests with all their rows, in order, until one does not fit, which begins the next batch.

    Each batch begins in an empty pool. What is left at the end is no batch, since more would have fitted. Raises OutOfPages
    when a request does not fit at all.
    """
    table = PageTable(pages, page_size)
    batches: list[Batch] = []
    for name, request in enumerate(requests):
        table.new(name)
        try:
            _append(table, name, request)
        except OutOfPages:
            table.release(name)
            held = table.requests()
            batches.append(Batch(len(held), sum(table.length(other) for other in held)))
            for other in held:
                table.release(other)
            table.new(name)
            _append(table, name, request)
    return batches


def batches_by_formula(requests: Sequence[TraceRequest], pages: int, page_size: int) -> list[Batch]:
    """The same batches without a page table: as many as have ceil(rows / page_size) pages each."""
    batches: list[Batch] = []
    held = rows = used = 0
    for request in requests:
        length = request.prompt + request.output
        wanted = pages_for(length, page_size)
        if wanted > pages:
            raise OutOfPages(f"a request of {length} rows needs {wanted} pages of {pages}")
        if used + wanted > pages:
            batches.append(Batch(held, rows))
            held = rows = used = 0
        held, rows, used = held + 1, rows + length, used + wanted
    return batches


def contiguous_batches(requests: Sequence[TraceRequest], slots: int) -> list[Batch]:
    """The trace in batches of `slots` requests, each in a reservation that the longest one fills."""
    lengths = [request.prompt + request.output for request in requests]
    starts = range(0, len(lengths) - slots + 1, slots)
    return [Batch(slots, sum(lengths[start : start + slots])) for start in starts]


def _append(table: PageTable, name: int, request: TraceRequest) -> None:
    rows = request.prompt + request.output
    if rows:
        table.append(name, rows)
