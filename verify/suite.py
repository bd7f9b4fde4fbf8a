"""The checks as stages, those of the page table cheapest first: what a mutant must get past.

A stage runs on whatever `impl` the process has imported and says which rules broke; it never stops at the first rule. What
only some stages need they import when they run, so that a mutant of the page table does not pay for decoders.
"""

from collections.abc import Callable, Iterable

from verify.bounds import Scope
from verify.explore import Failure, Search, StepsExhausted
from verify.lockstep import replay
from verify.refinement import Difference
from verify.stage import SAVED_WITNESSES, StageResult
from verify.targets.shipped import ShippedCache
from verify.witness import Witness, to_json

Stage = Callable[[int | None], StageResult]
"""Runs on a budget of operations, None for no limit; raises StepsExhausted past it."""

STAGE_SCOPES = (
    Scope(2, 2, 2, 3, sinks=0),
    Scope(2, 1, 1, 2, sinks=1),
    Scope(2, 2, 1, 4, sinks=1),
)
"""Scopes of the exhaustive stage, the one that shows most first; the stage ends at the first with a difference."""

RANDOM_EXAMPLES, RANDOM_STEPS = 40, 40


def said(differences: Iterable[Difference]) -> dict[str, str]:
    """Each broken rule with the first difference that showed it."""
    broken: dict[str, str] = {}
    for difference in differences:
        broken.setdefault(difference.rule, f"oracle: {difference.oracle}; target: {difference.target}")
    return broken


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
    from verify.literals import literal_differences
    from verify.storage_checks import storage_differences

    literals, storage = literal_differences(), storage_differences()
    return of_literals([*literals[0], *storage[0]], literals[1] + storage[1], budget)


def random_stage(budget: int | None) -> StageResult:
    """Generate examples with Hypothesis, without shrinking; the same examples every time."""
    from verify.machines import search_at_random

    tally = search_at_random(ShippedCache, RANDOM_EXAMPLES, RANDOM_STEPS, shrinking=False, budget=budget)
    return result([(tally.pages, tally.page_size, tally.failure)] if tally.failure else [], tally.steps)


def decode_stage(budget: int | None) -> StageResult:
    """The window rule and the decoders; see verify/decode/suite.py."""
    from verify.decode.suite import decode_stage as run

    return run(budget)


def host_stage(budget: int | None) -> StageResult:
    """The host; see verify/host/suite.py."""
    from verify.host.suite import host_stage as run

    return run(budget)


def decode_unit_stage(budget: int | None) -> StageResult:
    """The form in which models are kept; see verify/decode/suite.py."""
    from verify.decode.suite import unit_stage as run

    return run(budget)


def host_unit_stage(budget: int | None) -> StageResult:
    """Admission and the stores of a host; see verify/host/suite.py."""
    from verify.host.suite import unit_stage as run

    return run(budget)


def chip_stage(budget: int | None) -> StageResult:
    """The window, the host and the float reference with a chip as the decoder; see verify/chips/suite.py."""
    from verify.chips.suite import chip_stage as run

    return run(budget)


def programs_stage(budget: int | None) -> StageResult:
    """The chip's software, its cycle model and what decodes on it; see verify/chips/programs_suite.py."""
    from verify.chips.programs_suite import programs_stage as run

    return run(budget)


def source_stage(budget: int | None) -> StageResult:
    """The source suite, which ablations run; see verify/source/suite.py."""
    from verify.source.suite import source_stage as run

    return run(budget)


def prefix_stage(name: str) -> Stage:
    """The stage of the prefix cache that has this name in verify/managers/suite.py."""

    def run(budget: int | None) -> StageResult:
        from verify.managers import suite

        return suite.STAGES[name](budget)

    return run


def of_literals(differences: Iterable[Difference], steps: int, budget: int | None) -> StageResult:
    """The stage's result from literal tables; StepsExhausted past the budget."""
    spend(steps, budget)
    broken = said(differences)
    return StageResult("fail" if broken else "pass", broken, None, steps)


def spend(steps: int, budget: int | None) -> None:
    """Raise StepsExhausted once more steps were taken than the budget allows."""
    if budget is not None and steps > budget:
        raise StepsExhausted(f"more than {budget} operations")


STAGES: dict[str, Stage] = {
    "witness": witness_stage,
    "exhaustive": exhaustive_stage,
    "unit": unit_stage,
    "random": random_stage,
    "decode": decode_stage,
    "host": host_stage,
    "decode unit": decode_unit_stage,
    "host unit": host_unit_stage,
    "chip": chip_stage,
    "programs": programs_stage,
    "source": source_stage,
    **{f"prefix {name}": prefix_stage(name) for name in ("witness", "exhaustive", "unit", "random")},
}
