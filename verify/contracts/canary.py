"""The known falsehood: a run whose search cannot refute it says nothing about the other contracts."""

from spec import window as oracle
from spec.page_table import pages_for


def a_window_fits_the_pages_that_its_rows_fill(step: int, window: int, page_size: int) -> tuple[int, int]:
    """False: a window of W rows never holds more than ceil(W/P) pages. It does when it straddles a page.

    pre: step >= 1 and window >= 1 and page_size >= 1
    post: _[0] <= _[1]
    """
    return oracle.pages_before_append(step, window, page_size), pages_for(window, page_size)
