"""The checks of the page table as stages, cheapest first.

A stage runs on whatever `impl` the process has imported and says which rules broke; it never stops at the first rule.
"""

from collections.abc import Iterable

from verify.bounds import Scope
from verify.explore import Failure, Search
from verify.literals import literal_differences
from verify.lockstep import replay
from verify.stage import SAVED_WITNESSES, StageResult, of_literals, said, spend
from verify.storage_checks import storage_differences
from verify.targets.shipped import ShippedCache
from verify.witness import Witness, to_json

STAGE_SCOPES = (
    Scope(2, 1, 1, 2, sinks=1),
    Scope(2, 2, 1, 4, sinks=1),
    Scope(2, 2, 2, 3, sinks=0),
)
"""Scopes of the exhaustive stage, the cheapest first; the stage ends at the first with a difference."""


def result(failures: Iterable[tuple[int, int, Failure]], steps: int) -> StageResult:
    """The stage's result from failures on pools of (pages, page_size), the first of them the witness."""
    found = list(failures)
    broken = said(difference for _, _, failure in found for difference in failure.differences)
    witness = None
    if found:
        pages, page_size, first = min(found, key=lambda item: len(item[2].operations))
        witness = to_json(Witness(pages, page_size, first.operations, tuple(broken)))
    return StageResult("fail" if broken else "pass", broken, witness, steps)


def witness_stage(budget: int | None) -> StageResult:
    """Replay the checked-in witnesses."""
    failures: list[tuple[int, int, Failure]] = []
    steps = 0
    for witness in SAVED_WITNESSES.values():
        run = replay(witness.operations, witness.pages, witness.page_size, ShippedCache)
        steps += len(run.applied)
        spend(steps, budget)
        if run.differences:
            failures.append((witness.pages, witness.page_size, Failure(run.applied, run.differences)))
    return result(failures, steps)


def exhaustive_stage(budget: int | None) -> StageResult:
    """Search the stage's scopes to their fixpoints, or to the end of the first depth with a difference."""
    steps = 0
    for scope in STAGE_SCOPES:
        search = Search(scope, ShippedCache, budget=None if budget is None else budget - steps)
        found = search.run()
        steps += found.transitions
        if found.failures:
            return result([(scope.pages, scope.page_size, failure) for failure in found.failures], steps)
    return result([], steps)


def unit_stage(budget: int | None) -> StageResult:
    """Hold the event trace, the fork example and the order of the free list against their literal tables, and check storage."""
    literals, storage = literal_differences(), storage_differences()
    return of_literals([*literals[0], *storage[0]], literals[1] + storage[1], budget)
