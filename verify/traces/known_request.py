"""What the last operations left of one request, for the check of the next one."""

from array import array
from collections.abc import Sequence

from spec.page_table import Request, readable, released
from verify.traces.expected_rows import Encode, ExpectedRows
from verify.traces.pages import Pages
from verify.traces.tokens import Tokens


class KnownRequest:
    """The oracle's request, its cells, also as an array, and the pages that they are on.

    `released` and `readable` are the oracle's, `rows` what the readable ones must read as. `owners` are those of the pages, as
    Pages.of has them, as of a number of changes of owners.
    """

    __slots__ = ("_truth", "cell_ids", "cells", "owners", "owners_as_of", "pages", "readable", "released", "rows")

    def __init__(self) -> None:
        self._truth: Request | None = None
        self.cells: tuple[int, ...] = ()
        self.cell_ids = array("q")
        self.pages = Pages()
        self.owners: list[Sequence[int]] = []
        self.owners_as_of = -1
        self.released = 0, 0
        self.readable: tuple[tuple[int, int], ...] = ()
        self.rows = ExpectedRows()

    def put(self, cells: tuple[int, ...], same: int, pages: "array[int]") -> None:
        """The cells are now these; the first `same` are the same as before, and the others are on `pages`."""
        kept = self.pages if same == len(self.cells) else Pages().then(self.pages.ids[:same])
        self.cells = cells
        self.cell_ids = self.cell_ids[:same] + array("q", cells[same:])
        self.pages = kept.then(pages)
        self.owners_as_of = -1

    def become(self, truth: Request, page_size: int, encode: Encode) -> None:
        """What can be read, and as what, is as the oracle has it now. Raises what `encode` raises."""
        if truth is self._truth:
            return
        self.released = released(truth, page_size)
        self.readable = readable(truth, page_size)
        if self.readable:
            self.rows.follow(Tokens.of(truth.rows), encode)
        self._truth = truth
