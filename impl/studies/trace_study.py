"""The studies on a production request trace: what paging, windows and prefix sharing do to its memory."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from impl.schedule import microseconds
from impl.studies.study import Cell, Column, Findings, Progress, StudyTable
from impl.studies.trace_paging import held_at_once, waste_by_page_size, windows_against_full
from impl.studies.trace_sharing import pools_of, sharing_by_pool
from impl.traces import BLOCK_ROWS, TraceError, TraceRequest, read_trace

QUESTION = (
    "How much memory do the requests of a production trace hold, and what do pages, windows and shared prefixes save?"
)

ORDER = (
    "A request arrives, has its prompt at once and then a row every {ms:g} ms, and its last row ends it. With enough pages "
    "nobody waits.",
    "Unused is what is reserved and not written, over the time: each page and each row counts as long as it is held.",
    "Most pages are those held at any moment, a prompt that is not trimmed yet among them; most after trim leaves that out.",
)
SHARING = (
    "Prefixes are shared on the prefix cache, in pages of the trace's blocks of {rows} rows; a published page stays until it is "
    "needed. Pages saved are those that running requests would hold besides if each had its own, on average over the time."
)
NO_BLOCKS = "The trace has no block ids: nothing is known of shared prefixes."


@dataclass(frozen=True, slots=True)
class TraceInputs:
    """A trace and what to try on it.

    `page_size` is that of the windows, `pool_pages` the pools of the prefix cache in pages of one block (none: chosen by the
    trace), `slots` how many of the longest request the pool holds in which paged and contiguous requests are counted, and
    `requests` how many are read (None: all). ValueError for numbers out of range.
    """

    trace: Path
    page_sizes: tuple[int, ...] = (1, 4, 16, 64, 256)
    page_size: int = 16
    windows: tuple[int, ...] = (4096, 1024)
    pool_pages: tuple[int, ...] = ()
    slots: int = 16
    ms_per_token: float = 50.0
    requests: int | None = None

    def __post_init__(self) -> None:
        numbers = (*self.page_sizes, self.page_size, *self.windows, *self.pool_pages, self.slots, self.requests or 1)
        if min(numbers) < 1:
            raise ValueError(
                f"sizes of pages, windows and pools and numbers of requests are at least 1, not {min(numbers)}"
            )
        if not self.page_sizes:
            raise ValueError("at least one size of pages is needed")
        if not 0.001 <= self.ms_per_token <= 1e9:
            raise ValueError(f"milliseconds per token lie in 0.001 .. 1e9, not {self.ms_per_token}")


def trace_study(inputs: TraceInputs, progress: Progress) -> Findings:
    """Everything about one trace. TraceError when the file is none or has no rows, OSError."""
    requests = read_trace(inputs.trace, inputs.requests)
    if not any(request.prompt + request.output for request in requests):
        raise TraceError(f"{inputs.trace}: no request has any rows")
    with_blocks = any(request.blocks and request.prompt for request in requests)
    pools = (inputs.pool_pages or pools_of(requests, inputs.ms_per_token)) if with_blocks else ()
    work, finished = 2 * len(inputs.page_sizes) + len(inputs.windows) + 1 + len(pools), 0

    def done(what: str) -> None:
        nonlocal finished
        finished += 1
        progress(what, finished, work)

    ms = inputs.ms_per_token
    parts = [
        windows_against_full(requests, inputs.page_size, inputs.windows, ms, done),
        waste_by_page_size(requests, inputs.page_sizes, ms, done),
        held_at_once(requests, inputs.page_sizes, inputs.slots, done),
    ]
    notes = [line.format(ms=ms) for line in ORDER]
    if with_blocks:
        parts.append(sharing_by_pool(requests, pools, ms, done))
        notes.append(SHARING.format(rows=BLOCK_ROWS))
    else:
        notes.append(NO_BLOCKS)
    tables = (_of_requests(requests), *(table for table, _ in parts))
    charts = tuple(chart for _, of_part in parts for chart in of_part)
    shown = asdict(inputs) | {"trace": inputs.trace.name, "pool_pages": pools}
    return Findings("traces", QUESTION, shown, tables, charts, tuple(notes))


def _of_requests(requests: Sequence[TraceRequest]) -> StudyTable:
    """What is in the trace."""
    arrivals = [microseconds(request.arrival_ms) for request in requests]
    seconds = (max(arrivals) - min(arrivals)) / 1e6
    rows: list[tuple[Cell, ...]] = []
    for name, lengths in (
        ("prompt", [request.prompt for request in requests]),
        ("output", [request.output for request in requests]),
        ("both", [request.prompt + request.output for request in requests]),
    ):
        middle = sorted(lengths)[len(lengths) // 2]
        rows.append((name, sum(lengths), sum(lengths) / len(lengths), middle, max(lengths)))
    columns = (
        Column("rows of"),
        Column("all"),
        Column("a request on average", "rows", 1),
        Column("median", "rows"),
        Column("longest", "rows"),
    )
    return StudyTable(
        "requests", f"{len(requests):,} requests that arrive within {seconds:,.1f} s", columns, tuple(rows)
    )
