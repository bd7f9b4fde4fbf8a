"""What a window leaves of a request: the rows and pages at every step, and block table and pool after the last."""

from dataclasses import asdict, dataclass

from impl.event_trace import Event, windowed_run
from impl.studies.study import Arrow, Box, Cell, Column, Findings, Picture, Progress, StudyTable, Words

QUESTION = "Which rows does a windowed request read, which pages does it hold, and which page is used again?"
READ, NEW, HELD, GONE = "read by the step", "new row", "held, no longer read", "released"
LIVE, STALE, BLANK = "row of the request", "released, not yet written over", "never written"
ENTRY, HOLE = "page held", "page released (a hole at the front)"
POOL_AT = 9.5
"""Where the pool begins, in boxes to the right of the block table."""


@dataclass(frozen=True, slots=True)
class WindowInputs:
    """One request in an empty pool."""

    pool_pages: int = 8
    page_size: int = 4
    window: int = 6
    steps: int = 14


def window_findings(inputs: WindowInputs, progress: Progress) -> Findings:
    """The run of the real cache, step by step. Raises OutOfPages."""
    events = windowed_run(inputs.pool_pages, inputs.page_size, inputs.window, inputs.steps)
    progress("window", 1, 1)
    columns = (
        Column("step"),
        Column("first row read"),
        Column("rows read", "rows"),
        Column("table after"),
        Column("dropped", "pages"),
        Column("free", "pages"),
        Column("reserved", "rows"),
    )
    rows: list[tuple[Cell, ...]] = []
    for event in events:
        read, table = event["rows_read"], event["table"]
        reserved = len(table) * inputs.page_size
        first = read[0] if read else None
        rows.append((event["step"], first, len(read), str(table), event["dropped"], len(event["free"]), reserved))
    title = f"Window {inputs.window}, {inputs.pool_pages} pages of {inputs.page_size} rows"
    table_of_steps = StudyTable("steps", title, columns, tuple(rows))
    pictures = _block_table_and_pool(inputs, events), _rows_and_pages(inputs, events)
    return Findings("window", QUESTION, asdict(inputs), (table_of_steps,), pictures)


def contents(events: list[Event], page_size: int) -> dict[int, list[int]]:
    """The rows last written to each page that was ever held, by page id, front to back."""
    written: dict[int, list[int]] = {}
    for event in events:
        for index, page in enumerate(event["table"], event["dropped"]):
            fresh = list(range(index * page_size, min((index + 1) * page_size, event["step"])))
            # Beyond them the page still has what it held before.
            written[page] = fresh + written.get(page, [])[len(fresh) :]
    return written


def _block_table_and_pool(inputs: WindowInputs, events: list[Event]) -> Picture:
    """The block table on the left, the pool on the right, an arrow from every entry to its page."""
    size, last = inputs.page_size, events[-1]
    table, dropped = last["table"], last["dropped"]
    written = contents(events, size)
    boxes, words, arrows = [], [], []
    for logical in range(dropped + len(table)):
        rows = f"rows {logical * size} .. {logical * size + size - 1}"
        words.append(Words(-0.3, logical * 1.5 + 0.5, f"{rows}", "right"))
        if logical < dropped:
            boxes.append(Box(0, logical * 1.5, 4, 1, "-", HOLE))
        else:
            page = table[logical - dropped]
            boxes.append(Box(0, logical * 1.5, 4, 1, f"page {page}", ENTRY))
            arrows.append(Arrow(4.1, logical * 1.5 + 0.5, POOL_AT - 2.1, page * 1.5 + 0.5))
    for page in range(inputs.pool_pages):
        words.append(Words(POOL_AT - 0.3, page * 1.5 + 0.5, f"page {page}", "right"))
        for offset in range(size):
            held = written.get(page, [])
            row = held[offset] if offset < len(held) else None
            live = page in table and row is not None and row // size == table.index(page) + dropped
            fill = BLANK if row is None else LIVE if live else STALE
            boxes.append(Box(POOL_AT + offset * 1.6, page * 1.5, 1.6, 1, "" if row is None else str(row), fill))
    words += [Words(0, -0.8, "block table"), Words(POOL_AT, -0.8, "pool: the row in each slot")]
    title = f"Block table and pool after step {inputs.steps}, window {inputs.window}, pages of {size} rows"
    fills = (ENTRY, HOLE, LIVE, STALE, BLANK)
    return Picture("block-table", title, tuple(boxes), tuple(words), tuple(arrows), fills)


def _rows_and_pages(inputs: WindowInputs, events: list[Event]) -> Picture:
    """A line a step: what became of every row, a gap after each page."""
    size = inputs.page_size
    boxes, words = [], []
    for event in events:
        at = event["step"] - 1
        words.append(Words(-0.4, at + 0.5, str(event["step"]), "right"))
        before = events[at - 1]["dropped"] if at else 0
        for row in range(event["step"]):
            fill = NEW if row == at else READ if row in event["rows_read"] else HELD
            if row < before * size:
                fill = GONE
            boxes.append(Box(row + row // size * 0.4, at, 1, 0.9, str(row), fill))
    for page in range(-(-inputs.steps // size)):
        words.append(Words((page + 0.5) * size + page * 0.4, -0.5, f"logical page {page}", "center"))
    title = f"The window over rows and pages: window {inputs.window}, pages of {size} rows"
    fills = (READ, NEW, HELD, GONE)
    return Picture("rows", title, tuple(boxes), tuple(words), (), fills, "row of the request [rows]", "step [tokens]")
