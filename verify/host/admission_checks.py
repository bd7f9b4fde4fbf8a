"""The peak of an admission against growing the request in a page table (HOST-ADMIT)."""

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import NamedTuple

from impl.admission import peak_pages
from verify.decode.oracle import Found
from verify.host import oracle
from verify.refinement import Difference
from verify.target import answered

PAGE_SIZES = (1, 2, 3, 4)
WINDOWS = (None, 1, 2, 3, 4, 6, 9)
PROMPTS = ((1, 1), (2, 5), (4, 3), (7, 2), (9, 4), (12, 7))
"""Rows of a prompt, and of its chunks."""

ONE_IN = 29
"""Of the cases, on little: no divisor of how many values any argument has, so that all of them come up."""

LONG = 10**12
"""Rows that nobody counts one by one."""


class Growth(NamedTuple):
    """What a peak is asked for."""

    rows: int
    page_size: int
    window: int | None
    sinks: int = 0
    margin: int = 0
    prompt: int = 1
    chunk: int = 1


def growths() -> Iterator[Growth]:
    """Requests of a few rows under every window, with sinks, margins and prompts in chunks."""
    for page_size, window, sinks, margin, (prompt, chunk), rows in product(
        PAGE_SIZES, WINDOWS, (0, 1, 3), (0, 2, 5), PROMPTS, (1, 2, 5, 9, 12, 14, 23)
    ):
        if sinks < (window or 4):
            yield Growth(rows, page_size, window, sinks, margin, prompt, chunk)


def few_growths() -> Iterator[Growth]:
    """Some of them."""
    return islice(growths(), 0, None, ONE_IN)


def check_peaks(cases: Iterable[Growth]) -> Found:
    """The peak is the most pages that growing the request holds at once, whatever comes of its prompt in those rows."""
    differences: list[Difference] = []
    asked = 0
    for case in cases:
        due = oracle.peak_pages(*case._replace(prompt=min(case.prompt, case.rows)))
        shown = answered(peak_pages, *case)
        if shown != due:
            differences.append(Difference("HOST-ADMIT", f"{case} holds {due} pages at most", f"{shown}"))
        asked += 1
    return differences, asked


def check_peak_defaults() -> Found:
    """Without them a request has no sinks and no margin, and its rows come one by one."""
    cases = (
        (Growth(0, 2, 3), answered(peak_pages, 0, 2, 3)),
        (Growth(9, 1, 3), answered(peak_pages, 9, 1, 3)),
        (Growth(9, 2, 2), answered(peak_pages, 9, 2, 2)),
        (Growth(9, 1, 3, sinks=1), answered(peak_pages, 9, 1, 3, 1)),
        (Growth(9, 1, 1, prompt=5), answered(peak_pages, 9, 1, 1, prompt=5)),
        (Growth(9, 1, 1, chunk=3), answered(peak_pages, 9, 1, 1, chunk=3)),
    )
    differences = [
        Difference("HOST-ADMIT", f"{case} holds {due} pages at most", f"{shown}")
        for case, shown in cases
        if shown != (due := oracle.peak_pages(*case))
    ]
    return differences, len(cases)


def check_long_growths() -> Found:
    """A request too long to be grown holds what its window does once that slides, and without one all of its rows."""
    differences = []
    cases = [Growth(40, size, 7, 2, 1, 9, 4) for size in PAGE_SIZES]
    for case in cases:
        for due, long in (
            (oracle.peak_pages(*case), case._replace(rows=LONG)),
            (-(-LONG // case.page_size), case._replace(rows=LONG, window=None)),
            (-(-LONG // case.page_size), case._replace(rows=LONG, prompt=LONG, window=None)),
        ):
            shown = answered(peak_pages, *long)
            if shown != due:
                differences.append(Difference("HOST-ADMIT", f"{long} holds {due} pages at most", f"{shown}"))
    return differences, 3 * len(cases)
