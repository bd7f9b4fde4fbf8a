"""The pages of a pool that requests share: who holds one, which are blank, and in what order idle ones are reused.

A page that nobody holds is idle when it is published, since a later request may still be served its rows, and blank otherwise.
Blank pages are taken first, the one freed last before the others; then idle ones, the longest idle first, which end by it.
"""

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from impl.page_table import NO_PAGE
from impl.prefix_index import PrefixIndex


class SharedPages:
    """Reference counts, blank pages, idle pages and the prefix index of a pool of `pages` pages.

    `counts[page]` is the number of block tables that name the page. `blank` is a stack whose last entry is handed out next; a
    fresh pool hands out 0, 1, 2, ... `idle` has the page to be reused next in front; its values say nothing. All are for
    reading. NO_PAGE in a table is passed over.
    """

    __slots__ = ("blank", "counts", "idle", "index")

    def __init__(self, pages: int, groups: int) -> None:
        self.counts = [0] * pages
        self.blank = array("q", range(pages - 1, -1, -1))
        self.idle: OrderedDict[int, None] = OrderedDict()
        self.index = PrefixIndex(groups)

    @property
    def available(self) -> int:
        """Pages that nobody holds."""
        return len(self.blank) + len(self.idle)

    def must_not_be_written(self, page: int) -> bool:
        """Whether the page has another owner, or is published: its rows are then not its holder's alone to change."""
        return self.counts[page] > 1 or page in self.index

    def count_idle(self, pages: Iterable[int]) -> int:
        """How many of these pages are idle."""
        return sum(page in self.idle for page in pages)

    def hold(self, pages: Iterable[int]) -> None:
        """Count one more owner of each page; an idle one is idle no more."""
        for page in pages:
            if page == NO_PAGE:
                continue
            if self.counts[page] == 0:
                del self.idle[page]
            self.counts[page] += 1

    def take(self, count: int) -> list[int]:
        """Pages for one owner; the caller has made sure that they are available."""
        return [self._take() for _ in range(count)]

    def let_go(self, pages: Sequence[int]) -> None:
        """Take one owner off each page of a table or of a piece of it.

        The last page goes first, so that the head of a request, which more requests have in common, is reused after its tail.
        """
        for page in reversed(pages):
            if page != NO_PAGE:
                self._let_go(page)

    def clone(self) -> "SharedPages":
        """An independent copy."""
        other = SharedPages.__new__(SharedPages)
        other.counts = self.counts[:]
        other.blank = self.blank[:]
        other.idle = self.idle.copy()
        other.index = self.index.clone()
        return other

    def _take(self) -> int:
        """A page for one owner: a blank one, or else the longest idle, whose rows nobody can be served any more."""
        if self.blank:
            page = self.blank.pop()
        else:
            page, _ = self.idle.popitem(last=False)
            self.index.forget(page)
        self.counts[page] = 1
        return page

    def _let_go(self, page: int) -> None:
        """Take one owner off the page; the last one leaves it idle or blank."""
        self.counts[page] -= 1
        if self.counts[page] > 0:
            return
        if page in self.index:
            self.idle[page] = None
        else:
            self.blank.append(page)
