"""What paging and windows do to the memory of a trace: tables and charts of pages over time, rows wasted and requests held."""

from collections.abc import Callable, Sequence

import numpy as np

from impl.pool_bound import pages_for
from impl.schedule import ScheduleOptions
from impl.studies.study import Cell, Chart, Column, Series, StudyTable
from impl.studies.trace_batches import Batch, batches_by_formula, contiguous_batches, paged_batches
from impl.studies.trace_formulas import held_by_formula, row_us
from impl.studies.trace_pages import HeldPages, held_on_page_table
from impl.traces import TraceRequest

MOST_ENTRIES = 20_000_000
"""Entries of block tables, over the whole trace, up to which a page table is driven: some ten seconds."""

PARTS = 120
"""Parts of the time of which a chart shows the most held."""

Done = Callable[[str], None]
"""Told of every piece of work that is done."""

Part = tuple[StudyTable, tuple[Chart, ...]]


def waste_by_page_size(
    requests: Sequence[TraceRequest], page_sizes: Sequence[int], ms_per_token: float, done: Done
) -> Part:
    """Pages held and rows reserved for nothing, by the size of a page, each request with pages of its own."""
    used = row_us(requests, ms_per_token)
    rows: list[tuple[Cell, ...]] = []
    for page_size in page_sizes:
        held, counted_by = _held(requests, ScheduleOptions(page_size, None, ms_per_token))
        reserved = held.page_us * page_size
        unused = 100 * (reserved - used) / reserved if reserved else 0.0
        rows.append((page_size, held.peak, held.peak * page_size, held.mean(), unused, counted_by))
        done(f"pages of {page_size} rows")
    table = StudyTable(
        "pages",
        "Pages held, by the size of a page",
        (
            Column("page", "rows"),
            Column("most pages"),
            Column("most reserved", "rows"),
            Column("pages on average", "", 1),
            Column("reserved but unused", "%", 2),
            Column("counted by"),
        ),
        tuple(rows),
    )
    wasted = tuple(float(row[4] or 0) for row in rows)
    chart = Chart(
        "waste",
        "Rows reserved but unused, on average over the time",
        "page size (rows)",
        "of the reserved rows (%)",
        (Series("unused", tuple(map(float, range(len(rows)))), wasted),),
        kind="bars",
        categories=tuple(f"{page_size}" for page_size in page_sizes),
    )
    return table, (chart,)


def windows_against_full(
    requests: Sequence[TraceRequest], page_size: int, windows: Sequence[int], ms_per_token: float, done: Done
) -> Part:
    """Pages held over time without a window and with each; what a window saves."""
    names = ["none", *(f"{window:,}" for window in windows)]
    all_held: list[HeldPages] = []
    rows: list[tuple[Cell, ...]] = []
    for name, window in zip(names, [None, *windows], strict=True):
        held, counted_by = _held(requests, ScheduleOptions(page_size, window, ms_per_token))
        all_held.append(held)
        full = all_held[0]
        share = 100 * held.page_us / full.page_us if full.page_us else 100.0
        rows.append((name, held.peak, held.settled_peak, held.mean(), share, counted_by))
        done(f"window {name}")
    table = StudyTable(
        "windows",
        f"Pages of {page_size} rows held, by window",
        (
            Column("window", "rows"),
            Column("most pages"),
            Column("most after trim"),
            Column("pages on average", "", 1),
            Column("of those without a window", "%", 1),
            Column("counted by"),
        ),
        tuple(rows),
    )
    bars = Chart(
        "windows",
        f"Pages of {page_size} rows, by window",
        "window (rows)",
        "held (pages)",
        tuple(
            Series(label, tuple(map(float, range(len(rows)))), tuple(float(row[column] or 0) for row in rows))
            for label, column in (("most", 1), ("most after trim", 2), ("on average", 3))
        ),
        kind="bars",
        categories=tuple(names),
    )
    return table, (_over_time(all_held, names, page_size), bars)


def held_at_once(requests: Sequence[TraceRequest], page_sizes: Sequence[int], slots: int, done: Done) -> Part:
    """Requests that a pool of `slots` of the longest request holds at once: contiguous, and in pages of each size."""
    longest = max(request.prompt + request.output for request in requests)
    pool_rows = slots * longest
    schemes = {f"contiguous, {longest:,} rows each": contiguous_batches(requests, slots)}
    for page_size in page_sizes:
        pages = pool_rows // page_size
        # A page that is larger than the longest request may leave the pool without room for one.
        if pages >= pages_for(longest, page_size):
            schemes[f"page {page_size}"] = _batches(requests, pages, page_size)
        done(f"requests at once in pages of {page_size} rows")
    rows = tuple(_of_batches(name, batches, pool_rows, slots) for name, batches in schemes.items())
    table = StudyTable(
        "held",
        f"Requests held at once in {pool_rows:,} rows: the trace in batches, each until no further request fits",
        (
            Column("scheme"),
            Column("batches"),
            Column("held on average", "", 1),
            Column("fewest"),
            Column("most"),
            Column("times contiguous", "", 1),
            Column("pool with rows in it", "%", 1),
        ),
        rows,
    )
    # A scheme in whose pool the whole trace fits has no batches to show.
    shown = [row for row in rows if row[1]]
    chart = Chart(
        "held",
        f"Requests held at once in {pool_rows:,} rows, on average over the batches",
        "how memory is reserved",
        "held at once (requests)",
        (Series("held", tuple(map(float, range(len(shown)))), tuple(float(row[2] or 0) for row in shown)),),
        kind="bars",
        categories=tuple(str(row[0]).replace(", ", "\n").replace("page ", "page\n") for row in shown),
    )
    return table, (chart,) if shown else ()


def _held(requests: Sequence[TraceRequest], options: ScheduleOptions) -> tuple[HeldPages, str]:
    """The pages held and what counted them: the page table, beside the formulas, or these alone."""
    formula = held_by_formula(requests, options)
    if _entries(requests, options.page_size) > MOST_ENTRIES:
        return formula, "formula"
    held = held_on_page_table(requests, options)
    same = held.same_as(formula)
    return held, "page table = formula" if same else f"page table; the formula differs, most {formula.peak:,}"


def _batches(requests: Sequence[TraceRequest], pages: int, page_size: int) -> list[Batch]:
    entries = _entries(requests, page_size)
    if entries <= pages:
        return []  # the whole trace fits, and a page table of that pool could be larger than the machine
    return (paged_batches if entries <= MOST_ENTRIES else batches_by_formula)(requests, pages, page_size)


def _entries(requests: Sequence[TraceRequest], page_size: int) -> int:
    return sum(pages_for(request.prompt + request.output, page_size) for request in requests)


def _of_batches(name: str, batches: Sequence[Batch], pool_rows: int, slots: int) -> tuple[Cell, ...]:
    if not batches:  # the whole trace fits
        return (name, 0, None, None, None, None, None)
    held = [batch.requests for batch in batches]
    mean = sum(held) / len(held)
    filled = 100 * sum(batch.rows for batch in batches) / (pool_rows * len(batches))
    return (name, len(batches), mean, min(held), max(held), mean / slots, filled)


def _over_time(all_held: Sequence[HeldPages], names: Sequence[str], page_size: int) -> Chart:
    """The most held, once trimmed, within each of PARTS parts of the time."""
    start, end = (int(pick(held.times_us[at] for held in all_held)) for pick, at in ((min, 0), (max, -1)))
    edges = np.linspace(start, max(end, start + PARTS), PARTS + 1).astype(np.int64)
    seconds = tuple((edges / 1e6).tolist())
    series = tuple(
        Series(
            f"window {name}" if name != "none" else "no window",
            seconds,
            (*map(float, held.most_within(edges)), float(held.pages[-1])),
            step=True,
        )
        for name, held in zip(names, all_held, strict=True)
    )
    length = (edges[1] - edges[0]) / 1e6
    title = f"Pages of {page_size} rows over time, the most in each {length:.3g} s"
    return Chart("pages-over-time", title, "time in the trace (s)", "held (pages)", series)
