"""The parts of the prefix cache, each by itself, as quick checks: what a group reads, which prefixes are one, what is found.

A search sees the parts through the cache alone, where prefixes of one hash never meet and many a row is asked for by none.
Source: docs/reference.md section 7; values are literal. Each check takes the classes that it checks and says fact by fact what
is due and what is shown.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from impl import prefix_index
from impl.page_groups import Chunk, Full, PageGroup, Window
from impl.prefix_index import Prefix, PrefixIndex
from verify.managers.shown import Fact, raised

WEAK_HASHES: tuple[Callable[[Prefix | None, tuple[int, ...]], int], ...] = (
    lambda parent, tokens: 7,
    lambda parent, tokens: sum(tokens),
)
"""Hashes under which prefixes collide: all of them, and those whose last pages have one sum."""


def reads() -> tuple[tuple[PageGroup, dict[int, int]], ...]:
    """Groups, and the first row that their steps at these positions read."""
    return (
        (Full(), {0: 0, 1: 0, 9: 0}),
        (Window(4), {0: 0, 1: 0, 3: 0, 4: 1, 9: 6}),
        (Window(4, sinks=1), {0: 0, 4: 2, 5: 3, 9: 7}),
        (Window(1), {0: 0, 1: 1, 5: 5}),
        (Window(2, sinks=1), {2: 2, 3: 3}),
        (Chunk(3), {0: 0, 2: 0, 3: 3, 5: 3, 6: 6}),
        (Chunk(1), {0: 0, 5: 5}),
    )


def check_groups() -> Iterator[Fact]:
    """Groups read the rows of the definition, and none is made without room (PT-HOLE, PRE-PUBLISH, PT-TOTAL)."""
    for group, first in reads():
        yield "PT-HOLE", first, {position: group.first_read(position) for position in first}
    groups: tuple[PageGroup, ...] = (Full(), Window(5), Window(5, sinks=2), Window(1), Chunk(3), Chunk(1))
    yield "PT-HOLE", [0, 0, 2, 0, 0, 0], [group.sinks for group in groups]
    yield "PRE-PUBLISH", [True, True, True, False, True, True], [group.publishes for group in groups]
    always, never = [True] * 3, [False] * 3
    due = [always, never, [True, True, False], never, never, never]
    yield "PT-HOLE", due, [[group.always_reads(row) for row in (0, 1, 2)] for group in groups]
    for size, sinks in ((0, 0), (2, 2), (3, -1)):
        yield "PT-TOTAL", "ValueError", raised(Window, size, sinks)
    yield "PT-TOTAL", "ValueError", raised(Chunk, 0)


def check_prefixes(prefix: type[Prefix] = Prefix) -> Iterator[Fact]:
    """Prefixes are equal when all their tokens are, whatever their hashes, which differ with what is before (PRE-KEY)."""
    heads = (None, *(prefix(None, (token, token)) for token in range(9)))
    yield "PRE-KEY", 10, len({hash(prefix(head, (1, 2))) for head in heads})
    for weak in (None, *WEAK_HASHES):
        with _hashed_by(weak):
            short, long = prefix(None, (1, 2)), prefix(prefix(None, (3, 4)), (1, 2))
            yield "PRE-KEY", [False, False, False], [short == long, long == short, long == prefix(None, (2, 1))]
            yield "PRE-KEY", [True, True], [short != long, long == prefix(prefix(None, (3, 4)), (1, 2))]
            yield "PRE-KEY", [False, False], [prefix(prefix(None, (4, 3)), (1, 2)) == long, long == (3, 4, 1, 2)]
            yield "PRE-KEY", (3, 4, 1, 2), long.every_token()


def check_index(make: type[PrefixIndex] = PrefixIndex, prefix: type[Prefix] = Prefix) -> Iterator[Fact]:
    """An index finds what is published under the whole prefix, the oldest copy first, and keeps nothing else (PRE-KEY,
    PRE-PUBLISH, PRE-EVICT)."""
    for weak in (None, *WEAK_HASHES):
        with _hashed_by(weak):
            index = make(1)
            head = prefix(None, (9, 9))
            index.publish(0, 5, prefix(head, (1, 2)))
            found = [prefix(head, (2, 1)), prefix(None, (1, 2)), prefix(prefix(head, (1, 2)), (1, 2))]
            yield "PRE-KEY", [None, None, None], [index.first(0, other) for other in found]
            yield "PRE-KEY", 5, index.first(0, prefix(prefix(None, (9, 9)), (1, 2)))
    index = make(2)
    one, two = prefix(None, (1,)), prefix(None, (2,))
    index.publish(1, 5, one)
    index.publish(0, 5, two)
    yield "PRE-PUBLISH", [(5, 1, one)], list(index)
    yield "PRE-PUBLISH", [5, None, None], [index.first(1, one), index.first(0, one), index.first(0, two)]
    index = make(2)
    index.publish(0, 5, one)
    index.publish(0, 6, prefix(None, (1,)))
    index.publish(1, 7, prefix(None, (1,)))
    due = [(5, 0, one), (6, 0, one), (7, 1, one)]
    yield "PRE-PUBLISH", [due, due], [list(index), list(index.clone())]
    for page in (5, 6):
        yield "PRE-PUBLISH", [True, page], [index.extended(None, (1,)) is one, index.first(0, one)]
        index.forget(page)
    yield "PRE-PUBLISH", [True, None, 7], [index.extended(None, (1,)) is one, index.first(0, one), index.first(1, one)]
    index.forget(7)
    yield "PRE-EVICT", [False, []], [index.extended(None, (1,)) is one, list(index)]


@contextmanager
def _hashed_by(weak: Callable[[Prefix | None, tuple[int, ...]], int] | None) -> Iterator[None]:
    """Prefixes are hashed by that function meanwhile; None: by their own."""
    kept = prefix_index.chained_hash
    vars(prefix_index)["chained_hash"] = weak or kept
    try:
        yield
    finally:
        vars(prefix_index)["chained_hash"] = kept


PART_CHECKS = (check_groups, check_prefixes, check_index)
