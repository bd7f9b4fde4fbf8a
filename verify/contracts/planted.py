"""Any state of a pool of three pages that satisfies the invariants, seen from one request, and what must hold after a step.

The request stands among any number of others, of which only the counts of the pages tell: whatever they do, the operation
sees no more of them. Pages have names only by their place in the request's table, so each state stands for all renamings.
"""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from impl import page_table
from spec.operations import Accepted, Operation, Outcome, Refused
from spec.page_table import Request, State, step
from verify.contracts.id_target import IdTarget, some_rows
from verify.contracts.shape import Shape

POOL = 3
MANY = 3


@dataclass(frozen=True, slots=True)
class Planted(Shape):
    """Request 0 holds pages 0 .. held-1, others hold the next `foreign` ones, and the rest is free.

    Its page p has `others_p` owners besides it, a foreign one so many besides its first.
    """

    foreign: int
    others_0: int
    others_1: int
    others_2: int

    def valid(self) -> bool:
        """The invariants of the request and of the pool."""
        owners = (self.others_0 >= 0) & (self.others_1 >= 0) & (self.others_2 >= 0)
        return self.sound() & (self.foreign >= 0) & (self.held + self.foreign <= POOL) & owners


class Owners(Mapping[int, int]):
    """The oracle's `shared`, of the request's pages: whether a page is shared is decided only when it is asked.

    Whoever is shared has MANY owners: the oracle asks no more in one step, and the check counts from the table's entries.
    """

    def __init__(self, owners: list[int]) -> None:
        self.owners = owners

    def __contains__(self, cell: object) -> bool:
        return isinstance(cell, int) and self.owners[cell] > 1

    def __getitem__(self, cell: int) -> int:
        return MANY

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.owners)))

    def __len__(self) -> int:
        return len(self.owners)


def broken_by(planted: Planted, operation: Operation) -> list[str]:
    """The rules that the operation breaks in this state: oracle and page table side by side."""
    held, used = small(planted.held), small(planted.held + planted.foreign)
    cells = tuple(range(held))
    others = [planted.others_0, planted.others_1, planted.others_2]
    others = [*others[:held], *[count + 1 for count in others[held:used]], *[0] * (POOL - used)]
    request = Request(some_rows(planted.length), planted.sinks, planted.dropped, cells)
    state = State(POOL, planted.page_size, {0: request}, used, Owners([count + 1 for count in others[:held]]), POOL)
    table = page_table.PageTable(POOL, planted.page_size)
    table.tables[0] = page_table.BlockTable(
        planted.sinks, planted.sink_pages, planted.length, planted.dropped, array("q", cells)
    )
    table.counts[:] = [*[count + 1 for count in others[:held]], *others[held:]]
    table.free[:] = array("q", range(POOL - 1, used - 1, -1))
    free = table.free[:]
    target = IdTarget(table)
    after, expected = step(state, operation)
    answer = target.apply(operation)
    broken = outcome_rules(expected, answer)
    if not broken and isinstance(expected, Refused) and table.free != free:
        broken = ["PT-REFUSE"]
    return broken or state_rules(planted, held, after, target, others)


def small(number: int) -> int:
    """The number, 0 .. POOL, decided: from here on it is no symbol."""
    if number < 2:
        return 0 if number < 1 else 1
    return 2 if number < POOL else POOL


def outcome_rules(expected: Outcome, answer: Outcome) -> list[str]:
    """The rules that a wrong answer breaks."""
    if isinstance(expected, Refused):
        wrong = not isinstance(answer, Refused) or answer.reason is not expected.reason
        return [expected.reason.value] if wrong else []
    return [] if isinstance(answer, Accepted) else [answer.reason.value]


def state_rules(planted: Planted, held: int, after: State, target: IdTarget, others: list[int]) -> list[str]:
    """The rules that the table breaks after the step; `others` are the owners of each page besides these requests."""
    table = target.table
    if list(table.tables) != list(after.requests):
        return ["PT-LIVE"]
    entries = [0] * POOL
    length = hole = True
    page_of: dict[int, int] = {}
    for request, truth in after.requests.items():
        entry = table.tables[request]
        if len(entry.pages) != len(truth.cells):
            return ["PT-PAGES"]
        for cell, page in zip(truth.cells, entry.pages, strict=True):
            entries[page] += 1
            if page_of.setdefault(cell, page) != page:
                return ["PT-SHARE"]
        if entry.pages and entry.last != entry.pages[-1]:
            return ["PT-SHARE"]  # the next append would look at another page's owners
        length = length & (entry.length == len(truth.rows))
        hole = hole & (entry.dropped == truth.dropped) & (entry.sink_pages == planted.sink_pages)
        hole = hole & (entry.sinks == truth.sinks)
    if len({*page_of.values()}) != len(page_of):
        return ["PT-SHARE"]
    if [cell for cell, page in page_of.items() if cell < POOL and cell != page]:
        return ["PT-INPLACE"]
    if target.copied != due_copy(held, after, page_of):
        return ["PT-ROWS"]
    fresh = [page for cell, page in page_of.items() if cell >= POOL]
    if [page for page in fresh if others[page] > 0]:
        return ["PT-SHARE"]
    return pool_rules(after, table, entries, others, {"PT-LEN": length, "PT-HOLE": hole})


def due_copy(held: int, after: State, page_of: Mapping[int, int]) -> tuple[int, int] | None:
    """Source and destination of a copy-on-write, due when the oracle has put a fresh cell in the last one's place."""
    last = held - 1
    cells = after.requests[0].cells if 0 in after.requests else ()
    return (last, page_of[cells[last]]) if 0 <= last < len(cells) and cells[last] >= POOL else None


def pool_rules(
    after: State, table: page_table.PageTable, entries: list[int], others: list[int], holds: dict[str, bool]
) -> list[str]:
    """Counts and free list, with what is known to hold by rule; all in one formula unless something is broken."""
    free, counts = table.free, table.counts
    owned = lost = True
    once = len({*free}) == len(free)
    for page in range(POOL):
        owned = owned & (counts[page] == entries[page] + others[page])
        if page in free:
            once = once & (counts[page] == 0)
        else:
            lost = lost & (counts[page] != 0)
    pages = len(free) == POOL - after.used
    if holds["PT-LEN"] & holds["PT-HOLE"] & owned & once & lost & pages:
        return []
    holds |= {"PT-OWN": owned, "PT-FREE": once, "PT-LEAK": lost, "PT-PAGES": pages}
    return [rule for rule, right in holds.items() if not right]
