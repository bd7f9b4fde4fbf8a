"""The window rule: what a step attends, what the host may trim after it, and how many pages that leaves.

Steps count from 1. Step L finds rows 0 .. L-2, reads some of them, appends row L-1 and trims with keep_from(L). A step
attends W tokens at most, the new one included; W = None means all. The first S rows, the sinks, S < W, are attended for
ever and the other W - S places of the window slide. Integers are unbounded. Source: docs/reference.md section 1.

Every function raises ValueError for step < 1, window < 1, sinks < 0, sinks >= window or page_size < 1.
"""

from spec.page_table import pages_for, sink_pages


def context(step: int, window: int | None) -> int:
    """Tokens that the step attends, the new one included (WIN-1); sinks do not change it."""
    _check(step, window)
    return step if window is None else min(step, window)


def rows_read(step: int, window: int | None, sinks: int = 0) -> tuple[tuple[int, int], ...]:
    """The ranges (lo, hi), hi excluded, of rows that the step reads besides the new token (WIN-2, WIN-6).

    Ascending, none empty, no two adjacent; context - 1 rows in all, so none at step 1 and none ever with W = 1.
    """
    _check(step, window, sinks)
    first = 0 if window is None or step <= window else step - (window - sinks)
    # Once the window slides, `first` lies past the sinks; until then the rows from 0 on include them.
    ranges = ((0, min(sinks, first)), (first, step - 1))
    return tuple((lo, hi) for lo, hi in ranges if lo < hi)


def keep_from(step: int, window: int | None, sinks: int = 0) -> int:
    """The row to trim to after the step's append: below it, later steps read nothing but sinks (WIN-3, WIN-6).

    At most `step`, the length at that time, so the trim is legal; equal to it when W - S = 1, where the next step reads
    no row but the sinks. 0 without a window.
    """
    _check(step, window, sinks)
    return 0 if window is None else max(0, step + 1 - (window - sinks))


def pages_before_append(step: int, window: int | None, page_size: int, sinks: int = 0) -> int:
    """Pages that the request holds when the step begins, exactly (WIN-4, WIN-6).

    ceil((L-1)/P) pages were started; the trim after step L-1 has released those wholly below its keep_from, except the
    ceil(S/P) that hold a sink. 0 at step 1.
    """
    _check(step, window, sinks)
    _check_page_size(page_size)
    kept_from = 0 if window is None else max(0, step - (window - sinks))
    gone = max(0, kept_from // page_size - sink_pages(sinks, page_size))
    return pages_for(step - 1, page_size) - gone


def bound_after_append(window: int, page_size: int, sinks: int = 0) -> int:
    """The most pages that the request ever holds, seen between append and trim (WIN-5, WIN-6): ceil((W-1)/P) + 1.

    Reached for every W, P and S: when P - 1 rows out of reach share the first page with the W - S rows that slide.
    Sinks add pages of their own, ceil(S/P).
    """
    _check(1, window, sinks)
    _check_page_size(page_size)
    return sink_pages(sinks, page_size) + pages_for(page_size - 1 + window - sinks, page_size)


def bound_after_trim(window: int, page_size: int, sinks: int = 0) -> int:
    """The most pages that the request holds between trim and the next append (WIN-5, WIN-6): ceil((W-2)/P) + 1.

    Reached for every W, P and S: as after the append, but the next step reads one row fewer. W = 1 reads none and keeps
    only the page that it is filling: 1 page, or none when P = 1.
    """
    _check(1, window, sinks)
    _check_page_size(page_size)
    return sink_pages(sinks, page_size) + pages_for(page_size - 1 + window - sinks - 1, page_size)


def _check(step: int, window: int | None, sinks: int = 0) -> None:
    if step < 1:
        raise ValueError(f"steps count from 1, got step={step}")
    if window is not None and window < 1:
        raise ValueError(f"a window holds at least the new token, got window={window}")
    if sinks < 0:
        raise ValueError(f"sinks are a number of rows, got sinks={sinks}")
    if window is not None and sinks >= window:
        raise ValueError(f"sinks must leave room for the new token, got sinks={sinks} with window={window}")


def _check_page_size(page_size: int) -> None:
    if page_size < 1:
        raise ValueError(f"a page holds at least one row, got page_size={page_size}")
