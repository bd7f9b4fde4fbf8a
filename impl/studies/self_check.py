"""Questions that a reader of docs/reference.md should be able to answer, each answered by running the cache."""

from collections.abc import Callable

import numpy as np

from impl.event_trace import fork_run, windowed_run
from impl.kv_cache import KVCache
from impl.page_table import PageTable
from impl.studies.memory import MemoryInputs, filled
from impl.studies.pages import decoded
from impl.studies.request_lengths import request_lengths
from impl.studies.study import Column, Findings, Progress, StudyTable
from impl.window import keep_from

QUESTION = "What does a reader who has understood the cache answer?"
WINDOW, PAGE_SIZE, STEPS = 8, 4, 32

Answer = tuple[str, str, str]
"""The question, what is run, and what comes out of it."""


def self_check_findings(progress: Progress) -> Findings:
    """Every question with the answer that the implementation gives."""
    rows = []
    for number, answer in enumerate(ANSWERS, 1):
        rows.append((number, *answer()))
        progress("self-check", number, len(ANSWERS))
    columns = Column("no"), Column("question"), Column("run"), Column("answer")
    table = StudyTable("answers", "Questions and answers", columns, tuple(rows))
    return Findings("self-check", QUESTION, {}, (table,), ())


def _pages_of_a_request() -> Answer:
    cache = KVCache(8, 4)
    cache.new(0)
    cache.append(0, np.zeros((1, 2, 9, 1), np.int8))
    pages = cache.table.used
    unused = pages * 4 - cache.table.length(0)
    return (
        "9 rows in pages of 4: how many pages, and how many of their rows are unused?",
        "9 rows appended",
        f"{pages} pages, {unused} unused rows",
    )


def _first_row_needed() -> Answer:
    last = windowed_run(8, 4, 6, 8)[-1]
    released = "no page is released" if not last["dropped"] else f"{last['dropped']} pages are released"
    following = windowed_run(8, 4, 6, 9)[-1]["rows_read"]
    return (
        "Window 6, step 8 is done: which is the first row that the next step reads, and is a page of 4 released?",
        "8 steps, then a ninth",
        f"row {following[0]}, {released}",
    )


def _reuse() -> Answer:
    events = windowed_run(STEPS, PAGE_SIZE, WINDOW, STEPS)
    pages = {page for event in events for page in event["table"]}
    without = events[-1]["dropped"] + len(events[-1]["table"])
    return (
        "Why is a freed page used again first?",
        f"{STEPS} steps, window {WINDOW}, pages of {PAGE_SIZE}",
        f"the run touches {len(pages)} pages; if none were used again it would touch {without}",
    )


def _shared_page() -> Answer:
    cache = KVCache(8, 4)
    cache.new(0)
    cache.append(0, np.zeros((1, 2, 4, 1), np.int8))
    cache.fork(0, 1)
    counts = [cache.table.counts[0]]
    for request in (0, 1):
        cache.release(request)
        counts.append(cache.table.counts[0])
    freed = "free" if 0 in cache.table.free else "not free"
    return (
        "Two requests share a page: what happens to it when one ends, and when both have?",
        "a fork, and two releases",
        f"its count goes {counts[0]}, {counts[1]}, {counts[2]}: it stays while it is {counts[1]}, and is {freed} at {counts[2]}",
    )


def _copy_on_write() -> Answer:
    events = fork_run()
    forked, written = events[1], events[2]
    (old,), (new,) = (
        set(forked["tables"]["B"]) - set(written["tables"]["B"]),
        set(written["tables"]["B"]) - set(forked["tables"]["B"]),
    )
    same = "unchanged" if written["rows_of_a"] == forked["rows_of_a"] else "overwritten"
    return (
        "Why is a shared page copied before it is written?",
        "A is forked to B, and B appends a row",
        f"B's row goes to page {new}, a copy of page {old}, which A still reads: A's rows are {same}",
    )


def _programs() -> Answer:
    counts = {window: len({record.context for record in decoded(window, STEPS, PAGE_SIZE)}) for window in (None, 8, 4)}
    return (
        "How many programs does a chip need that has one for each context?",
        f"{STEPS} steps without a window, with 8 and with 4",
        f"{counts[None]}, {counts[8]} and {counts[4]}: with a window W the contexts are 1 .. W",
    )


def _bound() -> Answer:
    exact, wasteful = (_pages_before(late) for late in (0, 1))
    differ = sum(one != other for one, other in zip(exact, wasteful, strict=True))
    return (
        "Why does a bound on the pages not see a trim that comes one row late?",
        f"{STEPS} steps, window {WINDOW}, pages of {PAGE_SIZE}, trimmed on time and one row late",
        f"at most {max(exact)} pages on time and {max(wasteful)} late, but at {differ} steps the counts differ",
    )


def _wasted() -> Answer:
    inputs = MemoryInputs()
    lengths = request_lengths(inputs.requests, inputs.reserve, inputs.seed)
    filling = filled(inputs.pool_rows, inputs.reserve, lengths)
    return (
        f"A pool of {filling.rows_reserved:,} rows is reserved and {filling.rows_used:,} are used: how much is wasted?",
        f"{filling.held} requests with {inputs.reserve:,} rows reserved for each",
        f"({filling.rows_reserved} - {filling.rows_used}) / {filling.rows_reserved} = {filling.wasted:.1f} %",
    )


def _pages_before(late: int) -> list[int]:
    """Pages that each step finds when every trim comes `late` rows late."""
    table = PageTable(STEPS, PAGE_SIZE)
    table.new(0)
    found = []
    for step in range(1, STEPS + 1):
        found.append(table.used)
        table.append(0)
        table.trim(0, max(0, keep_from(step, WINDOW) - late))
    return found


ANSWERS: tuple[Callable[[], Answer], ...] = (
    _pages_of_a_request,
    _first_row_needed,
    _reuse,
    _shared_page,
    _copy_on_write,
    _programs,
    _bound,
    _wasted,
)
