"""What sharing prefixes does for a trace, by the size of the pool: rows served instead of computed, pages saved."""

from collections.abc import Callable, Sequence

from impl.schedule import ScheduleOptions
from impl.studies.study import Cell, Chart, Column, Series, StudyTable
from impl.studies.trace_formulas import held_by_formula, servable_rows
from impl.studies.trace_serving import Served, serve
from impl.traces import BLOCK_ROWS, TraceRequest

POOLS = 6
"""Pool sizes tried: each twice the one before, the first at most what the requests hold when they share nothing."""


def pools_of(requests: Sequence[TraceRequest], ms_per_token: float) -> tuple[int, ...]:
    """Pool sizes in pages of one block, powers of two: in the first some requests wait, in the others none has to."""
    started = [request for request in requests if request.prompt]
    most = held_by_formula(started, ScheduleOptions(BLOCK_ROWS, None, ms_per_token)).peak
    first = most.bit_length() - 1
    return tuple(1 << power for power in range(first, first + POOLS))


def sharing_by_pool(
    requests: Sequence[TraceRequest], pools: Sequence[int], ms_per_token: float, done: Callable[[str], None]
) -> tuple[StudyTable, tuple[Chart, ...]]:
    """Hit rate and pages saved on the prefix cache that ships, for each size of the pool."""
    runs = []
    for pages in pools:
        runs.append(serve(requests, pages, ms_per_token))
        done(f"prefix cache of {pages:,} pages")
    asked = sum(request.prompt for request in requests)
    limit = 100 * servable_rows(requests) / asked if asked else 0.0
    table = StudyTable(
        "sharing",
        f"Prefix sharing by pool, pages of {BLOCK_ROWS} rows; a pool that never reuses a page serves {limit:.2f} %",
        (
            Column("pool", "pages"),
            Column("pool", "rows"),
            Column("prompt rows served", "%", 2),
            Column("rows served"),
            Column("pages without sharing", "", 1),
            Column("pages held", "", 1),
            Column("pages saved", "%", 2),
            Column("most running"),
            Column("waited"),
            Column("preempted"),
            Column("never fit"),
        ),
        tuple(map(_of_run, runs)),
    )
    rows = tuple(float(run.pages * BLOCK_ROWS) for run in runs)
    chart = Chart(
        "sharing",
        "What sharing prefixes serves and saves, by the size of the pool",
        "pool (rows)",
        "share (%)",
        (
            Series("prompt rows served", rows, tuple(run.hit_rate for run in runs)),
            Series("pages saved", rows, tuple(run.saved for run in runs)),
            Series("served if no page is reused", rows, (limit,) * len(rows)),
        ),
        log_x=True,
    )
    return table, (chart,)


def _of_run(run: Served) -> tuple[Cell, ...]:
    pages = (run.named.mean(), run.held.mean(), run.saved)
    ends = (run.most_running, run.waited, run.preempted, run.rejected)
    return (run.pages, run.pages * BLOCK_ROWS, run.hit_rate, run.served, *pages, *ends)
