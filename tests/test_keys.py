"""The search against the second counter, and its state key on hand-made tables."""

import pytest

from spec.page_table import Request, State, of_tables
from tests.test_counts import count_scope
from verify.bounds import Scope
from verify.canonical import canonical_key
from verify.explore import Search
from verify.target import RequestView, Snapshot
from verify.targets.shipped import ShippedCache


@pytest.mark.parametrize(
    "small",
    [Scope(2, 2, 2, 3, sinks=1), Scope(2, 1, 3, 2, sinks=0), Scope(2, 2, 2, 2, raw_ids=True, sinks=0)],
    ids=str,
)
def test_the_search_finds_the_counts_of_the_second_counter(small: Scope) -> None:
    found = Search(small, ShippedCache).run()
    assert found.complete
    assert (found.states, found.transitions) == count_scope(small)


def joint(*tables: tuple[int, ...]) -> tuple[State, Snapshot]:
    """Requests 0, 1, ... on these pages of one row, full; cell and page are the same number."""
    requests = {name: Request(tuple(range(len(pages))), 0, 0, pages) for name, pages in enumerate(tables)}
    views = {name: RequestView(len(pages), (0, 0), pages, ()) for name, pages in enumerate(tables)}
    counts = tuple(sum(page in pages for pages in tables) for page in range(5))
    free = tuple(page for page in range(5) if not counts[page])
    return of_tables(5, 1, requests), Snapshot(views, counts, free)


def test_the_key_tells_who_shares_with_whom_and_forgets_names() -> None:
    crossed = canonical_key(*joint((0, 1), (0, 2), (3, 1), (3, 2)), None)
    paired = canonical_key(*joint((0, 1), (0, 1), (2, 3), (2, 3)), None)
    assert crossed != paired
    assert crossed == canonical_key(*joint((3, 0), (4, 0), (3, 2), (4, 2)), None)
    assert paired == canonical_key(*joint((4, 1), (0, 2), (4, 1), (0, 2)), None)
