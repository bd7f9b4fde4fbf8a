"""Contracts of the exact page counts and their bounds, for every window, page size, number of sinks and step.

A decode stands here in pages and offsets, for the reason that division.py gives.
"""

from dataclasses import dataclass

from impl import admission
from impl import window as host
from spec import window as oracle
from spec.page_table import pages_for


@dataclass(frozen=True, slots=True)
class Decode:
    """A step of a windowed decode, in pages.

    `sinks` fill `sink_pages` pages but for `spare` rows; the window has `wide` pages, `rest` rows and one more besides the
    sinks; the step comes so many rows after row `offset` of logical page `page`, which is negative until the window slides.
    """

    page_size: int
    sink_pages: int
    spare: int
    wide: int
    rest: int
    page: int
    offset: int

    @property
    def sinks(self) -> int:
        """Rows that are attended for ever."""
        return self.sink_pages * self.page_size - self.spare

    @property
    def sliding(self) -> int:
        """Rows of the window besides the sinks."""
        return self.wide * self.page_size + self.rest + 1

    @property
    def window(self) -> int:
        """Rows that a step attends."""
        return self.sinks + self.sliding

    @property
    def step(self) -> int:
        """The step, from 1."""
        return self.page * self.page_size + self.offset + self.sliding

    def possible(self) -> bool:
        """Whether the quotients and remainders are those of a step, a window and sinks."""
        size = self.page_size
        return (
            (size >= 1)
            & (self.spare >= 0)
            & (self.spare < size)
            & (self.rest >= 0)
            & (self.rest < size)
            & (self.offset >= 0)
            & (self.offset < size)
            & (self.sinks >= 0)
            & (self.wide >= 0)
            & (self.step >= 1)
        )

    def pages(self) -> int:
        """Pages that the step finds, by the oracle."""
        return oracle.pages_before_append(self.step, self.window, self.page_size, self.sinks)

    def pages_appended(self) -> int:
        """Pages between its append and its trim."""
        return self.pages() + pages_for(self.step, self.page_size) - pages_for(self.step - 1, self.page_size)


def pages_are_the_references(step: int, window: int, page_size: int) -> tuple[int, int]:
    """Before its append, step L finds ceil((L-1)/P) - floor(max(0, L-W)/P) pages.

    pre: step >= 1 and window >= 1 and page_size >= 1
    post: _[0] == _[1]
    """
    held, gone = step - 1, max(0, step - window)
    return oracle.pages_before_append(step, window, page_size), (held + page_size - 1) // page_size - gone // page_size


def pages_follow_from_append_and_trim(
    page_size: int, sink_pages: int, spare: int, kept_page: int, kept_offset: int, page: int, offset: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """From a step to the next: a page more when its row starts one, a page less when keep_from passes the end of one.

    The step appends row page * P + offset; before it keep_from is kept_page * P + kept_offset, negative until it slides.

    pre: (page_size >= 1) & (0 <= spare) & (spare < page_size) & (sink_pages * page_size >= spare)
    pre: (0 <= kept_offset) & (kept_offset < page_size) & (0 <= offset) & (offset < page_size) & (page >= 0)
    pre: kept_page * page_size + kept_offset <= page * page_size + offset
    post: _[0] == _[1]
    """
    step = page * page_size + offset + 1
    kept = kept_page * page_size + kept_offset
    sinks = sink_pages * page_size - spare
    window = sinks + step - kept
    # Found here, with little else for the solver to consider, and used below.
    assert pages_for(sinks, page_size) == sink_pages
    assert kept // page_size == kept_page
    assert (kept + 1) // page_size == kept_page + (kept_offset == page_size - 1)
    assert pages_for(step, page_size) == page + 1
    assert pages_for(step - 1, page_size) == page + (offset > 0)
    now = oracle.pages_before_append(step, window, page_size, sinks)
    then = oracle.pages_before_append(step + 1, window, page_size, sinks)
    starts = offset == 0
    passes = kept_offset == page_size - 1 and kept_page >= sink_pages
    return (host.keep_from(step, window, sinks), then), (max(0, kept + 1), now + starts - passes)


def pages_without_a_window_only_grow(page_size: int, page: int, offset: int, sinks: int) -> tuple[object, object]:
    """Without a window no page is let go; and with or without one, step 1 finds none.

    pre: (page_size >= 1) & (page >= 0) & (0 <= offset) & (offset < page_size) & (sinks >= 0)
    post: _[0] == _[1]
    """
    step = page * page_size + offset + 1
    now = oracle.pages_before_append(step, None, page_size, sinks)
    then = oracle.pages_before_append(step + 1, None, page_size, sinks)
    first = oracle.pages_before_append(1, None, page_size, sinks), oracle.pages_before_append(1, sinks + 1, page_size)
    return (host.keep_from(step, None, sinks), then, first), (0, now + (offset == 0), (0, 0))


def pages_after_append_stay_within_the_bound(at: Decode) -> tuple[int, int]:
    """Between append and trim a request never holds more pages than the bound.

    pre: at.possible()
    post: _[0] <= _[1]
    """
    return at.pages_appended(), oracle.bound_after_append(at.window, at.page_size, at.sinks)


def pages_after_trim_stay_within_the_bound(at: Decode) -> tuple[int, int]:
    """Between trim and append a request never holds more pages than the bound.

    pre: at.possible()
    post: _[0] <= _[1]
    """
    return at.pages(), oracle.bound_after_trim(at.window, at.page_size, at.sinks)


def the_bounds_are_reached(page_size: int, sink_pages: int, spare: int, wide: int, rest: int) -> tuple[object, object]:
    """Both bounds are reached, where P - 1 rows out of reach share the first page with the rows that slide.

    pre: Decode(page_size, sink_pages, spare, wide, rest, sink_pages, page_size - 1).possible()
    post: _[0] == _[1]
    """
    at = Decode(page_size, sink_pages, spare, wide, rest, sink_pages, page_size - 1)
    return (at.pages(), at.pages_appended()), (
        oracle.bound_after_trim(at.window, at.page_size, at.sinks),
        oracle.bound_after_append(at.window, at.page_size, at.sinks),
    )


def bounds_are_the_references(window: int, page_size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Without sinks the bounds are ceil((W-1)/P) + 1 and ceil((W-2)/P) + 1.

    pre: window >= 1 and page_size >= 1
    post: _[0] == _[1]
    """
    return (oracle.bound_after_append(window, page_size), oracle.bound_after_trim(window, page_size)), (
        pages_for(window - 1, page_size) + 1,
        pages_for(window - 2, page_size) + 1,
    )


def a_windowed_request_is_admitted_by_the_bound(
    page_size: int, rows: int, window: int, sinks: int
) -> tuple[int, int, bool]:
    """The host expects at most the bound of a request, and the bound itself of one that is long enough.

    It looks at as many appends as a page has rows, hence the few page sizes.

    pre: 1 <= page_size <= 2 and rows >= 0 and 0 <= sinks < window
    post: _[0] <= _[1] and (_[0] == _[1] or not _[2])
    """
    size = 1 if page_size == 1 else 2
    peak = admission.peak_pages(rows, size, window, sinks)
    return peak, oracle.bound_after_append(window, size, sinks), rows >= window + 2 * size
