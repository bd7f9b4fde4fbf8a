"""What the size of a page costs a request with a window: rows reserved, and the largest block table on the way."""

from dataclasses import asdict, dataclass

from impl.admission import peak_pages
from impl.decoder import IntegerDecoder
from impl.host import Host, StepRecord
from impl.kv_cache import KVCache
from impl.model_files import load
from impl.row_store import PagedStore
from impl.studies.study import Cell, Chart, Column, Findings, Progress, Series, StudyTable

QUESTION = "How many rows does a request with a window keep reserved, by the size of a page?"
MODEL = "structured-16"


@dataclass(frozen=True, slots=True)
class PagesInputs:
    """One request decodes `steps` tokens with the window, over pages of each size."""

    window: int = 8
    steps: int = 32
    page_sizes: tuple[int, ...] = (1, 2, 8, 16)


def decoded(window: int | None, steps: int, page_size: int) -> list[StepRecord]:
    """Every step of a request that a host decodes over just as many pages as it needs."""
    model = load(MODEL)
    cache = KVCache(peak_pages(steps, page_size, window), page_size, width=model.width)
    host = Host(IntegerDecoder(model), PagedStore(cache))
    host.admit(0, [0], window)
    return [host.step(0) for _ in range(steps)]


def pages_findings(inputs: PagesInputs, progress: Progress) -> Findings:
    """Each page size, and the rows reserved at every step."""
    runs = []
    for done, page_size in enumerate(inputs.page_sizes, 1):
        runs.append(decoded(inputs.window, inputs.steps, page_size))
        progress("pages", done, len(inputs.page_sizes))
    needed = min(inputs.steps, inputs.window - 1)
    rows: list[tuple[Cell, ...]] = []
    for page_size, records in zip(inputs.page_sizes, runs, strict=True):
        reserved = records[-1].pages * page_size
        largest = max(record.pages_appended for record in records)
        rows.append((page_size, reserved, needed, reserved - needed, largest, largest * page_size))
    columns = (
        Column("page", "rows"),
        Column("reserved after the last step", "rows"),
        Column("needed by the next", "rows"),
        Column("unneeded", "rows"),
        Column("largest table before its trim", "pages"),
        Column("in it", "rows"),
    )
    title = f"Window {inputs.window}, {inputs.steps} steps"
    table = StudyTable("sizes", title, columns, tuple(rows))
    return Findings("pages", QUESTION, asdict(inputs), (table,), (_chart(inputs, runs),))


def _chart(inputs: PagesInputs, runs: list[list[StepRecord]]) -> Chart:
    steps = tuple(float(step) for step in range(1, inputs.steps + 1))
    series = [
        Series(f"page {size}", steps, tuple(float(record.pages * size) for record in records), step=True)
        for size, records in zip(inputs.page_sizes, runs, strict=True)
    ]
    title = f"Rows reserved after each step, window {inputs.window}"
    return Chart("reserved", title, "step [tokens]", "rows reserved [rows]", tuple(series))
