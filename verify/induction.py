"""The inductive step by plain enumeration: every operation from every small state that satisfies the invariants.

A state is enumerated whether operations can reach it or not, so what holds here holds for histories of any length that
stay within the bounds: each operation, from any invariant-satisfying state, agrees with the oracle and leaves such a state.
Every slot of the pool holds something, so that a slot read or copied by mistake always shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations, product

from spec.operations import Operation
from spec.page_table import Request, of_tables, pages_for, sink_pages, step
from verify.alphabet import alphabet
from verify.bounds import Scope
from verify.lockstep import Lockstep
from verify.refinement import Difference, check_operation
from verify.target import Layout, PlantedRequest, Planter

BEYOND_PLANTED = 500
"""A search depth whose appended tokens are above every planted one."""


@dataclass(slots=True)
class Induction:
    """What the enumeration covered, and the differences by rule with the state and operation that showed each first."""

    scope: Scope
    states: int = 0
    transitions: int = 0
    broken: dict[str, tuple[Layout, Operation | None, Difference]] = field(default_factory=dict)


def shapes(scope: Scope) -> Iterator[tuple[int, int, int, int]]:
    """(length, sinks, dropped, held pages) of every well-formed request within the scope."""
    size = scope.page_size
    for sinks, length in product(range(scope.most_sinks + 1), range(scope.length + 1)):
        for dropped in range(max(0, length // size - sink_pages(sinks, size)) + 1):
            yield length, sinks, dropped, pages_for(length, size) - dropped


def layouts(scope: Scope) -> Iterator[Layout]:
    """Every state within the scope, one for each way to name its pages.

    Page p's slot j holds token 1 + p * page_size + j, so requests that share a page agree on its rows, whatever logical
    page it is to each. A table names a page at most once. Released rows have tokens of their own.
    """
    choices: list[tuple[int, int, int, int] | None] = [None, *shapes(scope)]
    for chosen in product(choices, repeat=scope.requests):
        tables = product(*(permutations(range(scope.pages), shape[3]) if shape else [()] for shape in chosen))
        for table in tables:
            order = list(dict.fromkeys(page for pages in table for page in pages))
            if order != list(range(len(order))):
                continue  # another state differs from this one only by the names of its pages
            requests = tuple(
                (request, planted_request(scope, shape, pages))
                for request, (shape, pages) in enumerate(zip(chosen, table, strict=True))
                if shape
            )
            yield Layout(requests, tuple(range(len(order), scope.pages)))


def planted_request(scope: Scope, shape: tuple[int, int, int, int], pages: tuple[int, ...]) -> PlantedRequest:
    """The request of this shape on these pages."""
    length, sinks, dropped, _ = shape
    size = scope.page_size
    kept = sink_pages(sinks, size)
    rows = []
    for row in range(length):
        logical = row // size
        if kept <= logical < kept + dropped:
            rows.append(1000 + row)
        else:
            rows.append(1 + pages[logical if logical < kept else logical - dropped] * size + row % size)
    return PlantedRequest(tuple(rows), sinks, dropped, pages)


def induction(scope: Scope, plant: Planter) -> Induction:
    """Apply the whole alphabet in every enumerated state."""
    found = Induction(scope)
    for layout in layouts(scope):
        requests = {
            request: Request(planted.tokens, planted.sinks, planted.dropped, planted.pages)
            for request, planted in layout.requests
        }
        state = of_tables(scope.pages, scope.page_size, requests)
        found.states += 1
        run = Lockstep(plant(scope.pages, scope.page_size, layout), state)
        for difference in run.differences:
            found.broken.setdefault(difference.rule, (layout, None, difference))
        if not run.differences:
            try_alphabet(scope, layout, run, found)
    return found


def try_alphabet(scope: Scope, layout: Layout, run: Lockstep, found: Induction) -> None:
    """Every operation from one state, each on a copy of the target; those that change nothing share one while it is so."""
    scratch = run.target.clone()
    for operation in alphabet(run.state, scope, BEYOND_PLANTED):
        found.transitions += 1
        after, expected = step(run.state, operation)
        target = scratch if after is run.state else run.target.clone()
        checked = check_operation(run.state, after, expected, operation, target, run.seen)
        for difference in checked.differences:
            found.broken.setdefault(difference.rule, (layout, operation, difference))
        if target is scratch and checked.moved:
            scratch = run.target.clone()
