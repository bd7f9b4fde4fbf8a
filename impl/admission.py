"""How many pages a request will hold at once, known before it starts: what a host admits it by.

Source: docs/reference.md sections 1 and 6.
"""

from collections.abc import Iterator

from impl.page_table import PageTableError
from impl.window import keep_from


# Named as the page table's errors are, beside which a host raises it.
class NotAdmitted(PageTableError):  # noqa: N818
    """The pages that live requests and the new one will hold at most do not fit the pool together."""


def peak_pages(
    rows: int,
    page_size: int,
    window: int | None,
    sinks: int = 0,
    margin: int = 0,
    prompt: int = 1,
    chunk: int = 1,
) -> int:
    """The most pages held at once, between an append and its trim included, while a request grows to `rows` rows.

    The first `prompt` rows, at most `rows`, come `chunk` at a time and the others one by one. Exact, for a request that is
    neither padded nor rolled back on the way, and at a cost that does not grow with `rows`.
    """
    kept_window = None if window is None else window + margin
    sink_pages = -(-sinks // page_size)
    most = 0
    for before, after in _telling_appends(rows, page_size, min(prompt, rows), chunk):
        # The trim after the append before this one; with no row held there was none, and nothing to release.
        kept_from = keep_from(before, kept_window, sinks) if before else 0
        released = max(0, kept_from // page_size - sink_pages)
        most = max(most, -(-after // page_size) - released)
    return most


def _telling_appends(rows: int, page_size: int, prompt: int, chunk: int) -> Iterator[tuple[int, int]]:
    """Rows before and after each append that may hold the most pages.

    Of appends of one size the last `page_size` tell: until the window slides the pages only grow, and from then on their
    number repeats after `page_size` appends at the latest.
    """
    chunks = prompt // chunk
    for index in range(max(0, chunks - page_size), chunks):
        yield index * chunk, (index + 1) * chunk
    # Of no row where the chunks fill the prompt, which holds no page more.
    yield chunks * chunk, prompt
    for before in range(max(prompt, rows - page_size), rows):
        yield before, before + 1
