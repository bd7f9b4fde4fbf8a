"""What the check of managers says about the pool: counts, available pages, the order of reuse, and what is published."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from spec.manager import State, available
from spec.prefix_index import Key
from verify.managers.target import ManagerSnapshot
from verify.managers.values import value
from verify.refinement import Difference, check_counts, check_free

Published = tuple[int, int]
"""What a page is published under, as a manager shows it: the group, and the value of the page's last row."""


class Size(NamedTuple):
    """Pages of the pool, and those that the oracle uses."""

    pages: int
    used: int


def check_pages(state: State, snapshot: ManagerSnapshot, named: list[int], differences: list[Difference]) -> None:
    """Counts against table entries, available pages against the counts, and how many there are.

    Table entries stand in for counts that are not shown.
    """
    size = Size(state.traits.pages, state.used)
    if snapshot.available != (free := available(state)):
        differences.append(Difference("PT-PAGES", f"{free} pages available", f"{snapshot.available}"))
    counts = snapshot.counts
    if counts is not None and list(counts) != named:
        check_counts(size, counts, named, differences)
    if snapshot.free is not None:
        seen = tuple(named) if counts is None else counts
        if sorted(snapshot.free) != [page for page, count in enumerate(seen) if not count] or seen != tuple(named):
            check_free(size, snapshot.free, seen, named, differences)


def check_idle(
    state: State, snapshot: ManagerSnapshot, known: Mapping[int, int], mapped: dict[int, int], backs: dict[int, int]
) -> list[Difference]:
    """Idle pages that were taken out of turn (PRE-EVICT); completes the bijection by the idle cells whose page can be told.

    `known` has their pages from before. A cell that was taken, published and let go by one operation was never seen in a
    table: what it is published under tells its page.
    """
    differences: list[Difference] = []
    unknown: list[int] = []
    for cell in state.idle:
        page = known.get(cell)
        if page is None:
            unknown.append(cell)
        elif page in backs:
            said = f"page {page} stays, published and idle: others come before it"
            differences.append(Difference("PRE-EVICT", said, f"page {page} was taken for other rows"))
        else:
            mapped[cell], backs[page] = page, cell
    if unknown:
        tell_pages(state, snapshot, unknown, mapped, backs)
    return differences


def check_order(
    state: State, snapshot: ManagerSnapshot, mapped: Mapping[int, int], differences: list[Difference]
) -> None:
    """Blank pages come before idle ones in the order of reuse, and those as the oracle has them (PRE-EVICT).

    A page that the manager takes for idle and the oracle does not, or the other way, is for PRE-PUBLISH to tell.
    """
    free = snapshot.free
    if free is None or len(free) != available(state):
        return
    due = [mapped.get(cell) for cell in state.idle]
    shown = list(free)
    if snapshot.published is not None:
        disputed = {page for page, _, _ in snapshot.published}.intersection(free).symmetric_difference(due)
        due = [page for page in due if page not in disputed]
        shown = [page for page in free if page not in disputed]
    last = shown[len(shown) - len(due) :]
    if any(page not in (None, seen) for page, seen in zip(due, last, strict=True)):
        order = ", ".join("?" if page is None else str(page) for page in due)
        said = f"blank pages are reused first, then the idle pages [{order}]"
        differences.append(Difference("PRE-EVICT", said, f"pages are reused in the order {list(free)}"))


def tell_pages(
    state: State, snapshot: ManagerSnapshot, cells: Sequence[int], mapped: dict[int, int], backs: dict[int, int]
) -> None:
    """Find the page of each of these idle cells, all unseen so far, by what is published or else by the order of reuse."""
    free = snapshot.free
    if snapshot.published is not None:
        places = {page: place for place, page in enumerate(free)} if free is not None else {}
        named: dict[Published, list[int]] = {}
        for page, group, told in sorted(snapshot.published, key=lambda entry: places.get(entry[0], -1)):
            if page not in backs and (free is None or page in places):
                named.setdefault((group, told), []).append(page)
        wanted = Counter(shown_key(state.index.keys[cell]) for cell in cells)
        for cell in cells:
            key = shown_key(state.index.keys[cell])
            pages = named.get(key, [])
            # Without an order, two pages under one key cannot be told apart; they stay unknown until one is served.
            if pages and (free is not None or wanted[key] == len(pages) == 1):
                page = pages.pop(0)
                mapped[cell], backs[page] = page, cell
    elif free is not None and len(free) == available(state):
        blank = len(free) - len(state.idle)
        for cell, page in zip(state.idle, free[blank:], strict=True):
            if cell not in mapped and page not in backs:
                mapped[cell], backs[page] = page, cell


@lru_cache(maxsize=65536)
def shown_key(key: Key) -> Published:
    """The key as a manager shows it."""
    group, tokens = key
    return group, value(tokens)


def check_published(
    state: State, snapshot: ManagerSnapshot, mapped: Mapping[int, int], differences: list[Difference]
) -> None:
    """Each published cell's page is published under its key, and no other page is (PRE-PUBLISH, PRE-KEY).

    Cells whose page is not known are held against the pages that are left, by their keys.
    """
    if snapshot.published is None:
        return
    shown = {page: (group, told) for page, group, told in snapshot.published}
    due: dict[int, Published] = {}
    unseen: list[Published] = []
    for cell, key in state.index.keys.items():
        page = mapped.get(cell)
        if page is None:
            unseen.append(shown_key(key))
        else:
            due[page] = shown_key(key)
    if shown == due and not unseen and len(shown) == len(snapshot.published):
        return
    add = differences.append
    for page, times in Counter(page for page, _, _ in snapshot.published).items():
        if times > 1:
            add(Difference("PRE-KEY", f"page {page} is published under one prefix", f"under {times}"))
    for page, wanted in due.items():
        if page not in shown:
            add(Difference("PRE-PUBLISH", f"page {page} is published", "it is not"))
        elif shown[page] != wanted:
            said = f"page {page} is published under {words(wanted)}"
            add(Difference("PRE-KEY", said, f"under {words(shown[page])}"))
    left = Counter(unseen)
    for page, told in shown.items():
        if page in due:
            continue
        if left[told] > 0:
            left[told] -= 1
        else:
            add(Difference("PRE-PUBLISH", f"page {page} is not published", f"it is, under {words(told)}"))
    for missing in left.elements():
        add(Difference("PRE-PUBLISH", f"an idle page is published under {words(missing)}", "none is"))


def words(key: Published) -> str:
    """What a page is published under, in words."""
    group, told = key
    return f"group {group}, a prefix of value {told}"
