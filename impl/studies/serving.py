"""How many requests a chip serves at once, by context and window: arithmetic beside a page table that is really filled."""

from dataclasses import asdict, dataclass

from impl.command import CommandError
from impl.exit_codes import ExitCode
from impl.page_table import OutOfPages, PageTable
from impl.studies.study import Cell, Chart, Column, Findings, Progress, Series, StudyTable

QUESTION = "How many requests does a chip's memory hold at once, and what does a window change?"
GIB = 2**30
MOST_PAGES = 5_000_000
"""Pages of a table that is really made: beyond that its lists alone take gigabytes."""


@dataclass(frozen=True, slots=True)
class ServingInputs:
    """A memory of `chip_bytes`, of which the weights take some; each token of a request takes `token_bytes` of the others."""

    chip_bytes: int = 80_000_000_000
    weight_bytes: int = 7_000_000_000
    token_bytes: int = 262_144
    contexts: tuple[int, ...] = (2_048, 8_192, 32_768, 131_072)
    windows: tuple[int, ...] = (4_096,)
    page_size: int = 16


def bytes_a_token(layers: int, heads: int, head_width: int, element_bytes: int) -> int:
    """Bytes of the keys and values of a token: of a model's layers, each with `heads` heads that keep keys and values."""
    return 2 * layers * heads * head_width * element_bytes


def requests_held(pool_pages: int, page_size: int, context: int, window: int | None) -> int:
    """Requests of `context` rows, of which a window keeps the last, that a page table takes until one does not fit."""
    table = PageTable(pool_pages, page_size)
    held = 0
    while _grows(table, held, context, window):
        held += 1
    return held


def serving_findings(inputs: ServingInputs, progress: Progress) -> Findings:
    """Every context without a window, then with each. CommandError when the sizes leave no pool, or too large a one."""
    cache_bytes = inputs.chip_bytes - inputs.weight_bytes
    pool_pages = cache_bytes // (inputs.token_bytes * inputs.page_size)
    if not 1 <= pool_pages <= MOST_PAGES:
        message = f"a pool of {pool_pages:,} pages of {inputs.page_size} rows is not in 1 .. {MOST_PAGES:,} pages"
        raise CommandError(message, ExitCode.USAGE)
    cases = [(context, window) for context in inputs.contexts for window in (None, *inputs.windows)]
    rows: list[tuple[Cell, ...]] = []
    for done, (context, window) in enumerate(cases, 1):
        kept = context if window is None else min(context, window)
        batch = cache_bytes // (kept * inputs.token_bytes)
        held = requests_held(pool_pages, inputs.page_size, context, window)
        rows.append((context, window, kept * inputs.token_bytes / GIB, batch, held))
        progress("serving", done, len(cases))
    columns = (
        Column("context", "rows"),
        Column("window", "rows"),
        Column("keys and values a request", "GiB", 2),
        Column("batch by arithmetic", "requests"),
        Column("batch in the page table", "requests"),
    )
    pool = f"{pool_pages:,} pages of {inputs.page_size} rows"
    title = f"{cache_bytes:,} bytes beside the weights, {inputs.token_bytes:,} a token: {pool}"
    note = "the page table's batch is that of requests that were appended to, and trimmed, until one was refused"
    table = StudyTable("batches", title, columns, tuple(rows))
    return Findings("serving", QUESTION, asdict(inputs), (table,), _charts(inputs, rows), (note,))


def _grows(table: PageTable, request: int, context: int, window: int | None) -> bool:
    """Whether the request could be appended to up to its context, trimmed after each append; it is released if not."""
    table.new(request)
    size = table.page_size
    if window is not None and context > window + size:
        # Once the window slides, the pages held repeat after every page: fewer rows, as far into a page, end alike.
        context = window + size + (context - window) % size
    rows = 0
    try:
        while rows < context:
            chunk = context if window is None else min(size, context - rows)
            table.append(request, chunk)
            rows += chunk
            table.trim(request, 0 if window is None else max(0, rows - window))
    except OutOfPages:
        table.release(request)
        return False
    return True


def _charts(inputs: ServingInputs, rows: list[tuple[Cell, ...]]) -> tuple[Chart, ...]:
    names = tuple(f"{context:,}" for context in inputs.contexts)
    places = tuple(map(float, range(len(names))))
    memory, batches = [], []
    for window in (None, *inputs.windows):
        label = "no window" if window is None else f"window {window:,}"
        of_window = [row for row in rows if row[1] == window]
        memory.append(Series(label, places, tuple(float(row[2] or 0) for row in of_window)))
        batches.append(Series(label, places, tuple(float(row[4] or 0) for row in of_window)))
    return (
        Chart(
            "batch",
            "Requests that are served at once",
            "context [rows]",
            "batch [requests]",
            tuple(batches),
            "bars",
            names,
        ),
        Chart("memory", "Keys and values of a request", "context [rows]", "memory [GiB]", tuple(memory), "bars", names),
    )
