"""The checks of the prefix cache that ships as stages, cheapest first: what a mutant of it must get past.

As in verify/suite.py, a stage says which rules broke and never stops at the first rule, and takes a budget of operations.
"""

from collections.abc import Callable, Iterable

from spec.groups import Group
from spec.manager import Traits, initial
from spec.operations import ManagerOperation
from verify.managers.bounds import CONFIGURATIONS, FULL, ManagerScope, committing
from verify.managers.configuration import Configuration
from verify.managers.lockstep import ManagerLockstep
from verify.managers.saved_witnesses import SAVED_STEPS, SAVED_WITNESSES
from verify.managers.walks import ManagerFailure, search_at_random
from verify.managers.witness import ManagerWitness, to_json
from verify.managers.world import ManagerSearch
from verify.stage import StageResult, of_literals, said, spend
from verify.targets.prefix import OFFER, PrefixManager

STAGE_SCOPES = (
    ManagerScope("full and window 2", committing(4, 1, FULL, Group("window", 2)), 1, 3, ((0, 0, 0),)),
    ManagerScope("full", committing(2, 1, FULL), 1, 3, ((0, 0, 0), (0, 1, 1))),
    ManagerScope("full", committing(2, 2, FULL), 1, 4, ((0, 0, 0, 0),)),
    ManagerScope("window 3", committing(2, 2, Group("window", 3)), 1, 5, ((0, 0, 0, 0, 0),)),
    ManagerScope("full", committing(2, 1, FULL), 2, 2, ((0, 0),)),
)
"""Scopes of the exhaustive stage, the one that shows most first; the stage ends at the first with a difference."""

WALKS, STEPS, SEED = 3, 40, 0
"""Of the random stage, in each of the configurations that the random search walks in."""


def result(failures: Iterable[tuple[Traits, ManagerFailure]], steps: int) -> StageResult:
    """The stage's result from failures under these traits, the shortest of them the witness."""
    found = list(failures)
    broken = said(difference for _, failure in found for difference in failure.differences)
    witness = None
    if found:
        traits, shortest = min(found, key=lambda item: len(item[1].operations))
        configuration = Configuration(OFFER.name, traits)
        witness = to_json(ManagerWitness(configuration, shortest.operations, tuple(broken)))
    return StageResult("fail" if broken else "pass", broken, witness, steps)


def witness_stage(budget: int | None) -> StageResult:
    """Replay the checked-in witnesses."""
    failures: list[tuple[Traits, ManagerFailure]] = []
    steps = 0
    for name, witness in SAVED_WITNESSES.items():
        traits = witness.configuration.traits
        run = ManagerLockstep(PrefixManager(traits), initial(traits))
        applied: list[ManagerOperation] = []
        for step in SAVED_STEPS[name]:
            if run.differences:
                break
            applied.append(step.operation)
            run.differences = run.follow(step.operation, step.after, step.outcome)
        steps += len(applied)
        spend(steps, budget)
        if run.differences:
            failures.append((traits, ManagerFailure(tuple(applied), run.differences)))
    return result(failures, steps)


def exhaustive_stage(budget: int | None) -> StageResult:
    """Search the stage's scopes to their fixpoints, or to the end of the first depth with a difference."""
    steps = 0
    for scope in STAGE_SCOPES:
        found = ManagerSearch(scope, PrefixManager, budget=None if budget is None else budget - steps).run()
        steps += found.transitions
        if found.failures:
            return result([(scope.traits, failure) for failure in found.failures], steps)
    return result([], steps)


def unit_stage(budget: int | None) -> StageResult:
    """Hold the prefix cache against its literal tables, and check its parts and what searches leave out."""
    from verify.managers.cache_checks import CACHE_CHECKS
    from verify.managers.literals import literal_differences
    from verify.managers.part_checks import PART_CHECKS
    from verify.managers.shown import differences_in

    literals, facts = literal_differences(), differences_in((*PART_CHECKS, *CACHE_CHECKS))
    return of_literals([*literals[0], *facts[0]], literals[1] + facts[1], budget)


def random_stage(budget: int | None) -> StageResult:
    """Walk in every configuration, without shrinking; the same walks every time."""
    failures: list[tuple[Traits, ManagerFailure]] = []
    steps = 0
    for configuration in CONFIGURATIONS:
        left = None if budget is None else budget - steps
        tally = search_at_random(PrefixManager, configuration.traits, SEED, WALKS, STEPS, shrinking=False, budget=left)
        steps += tally.steps
        if tally.failure:
            failures.append((configuration.traits, tally.failure))
    return result(failures, steps)


STAGES: dict[str, Callable[[int | None], StageResult]] = {
    "witness": witness_stage,
    "exhaustive": exhaustive_stage,
    "unit": unit_stage,
    "random": random_stage,
}
