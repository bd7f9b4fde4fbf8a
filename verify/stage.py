"""What the stages of a suite have in common, and imports nothing that a mutant is in: a mutation run loads it once for all its
children.
"""

import importlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from verify.explore import StepsExhausted
from verify.refinement import Difference
from verify.witness import parse


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a stage says: pass, fail or unknown; every broken rule with what differed; the shortest witness found.

    `steps` counts the operations applied, which is what step budgets are counted in; `note` says why it is unknown.
    """

    verdict: str
    broken: dict[str, str]
    witness: dict[str, object] | None
    steps: int
    note: str = ""


Part = Callable[[], Iterable[tuple[Iterable[Difference], int]]]
"""A check: again and again what differs, and how many steps were taken for that."""

SAVED_WITNESSES = {
    path.stem: parse(json.loads(path.read_text(encoding="utf-8")))
    for path in sorted((Path(__file__).parent / "witnesses").glob("*.json"))
}
"""The checked-in witnesses, by name."""


@dataclass(frozen=True, slots=True)
class StageOf:
    """A stage by the module that has it and its name there, imported when it runs: a run reads nothing of the other stages.

    Runs on a budget of operations, None for no limit; raises StepsExhausted past it.
    """

    module: str
    name: str

    def __call__(self, budget: int | None) -> StageResult:
        found: StageResult = getattr(importlib.import_module(self.module), self.name)(budget)
        return found


def said(differences: Iterable[Difference]) -> dict[str, str]:
    """Each broken rule with the first difference that showed it."""
    broken: dict[str, str] = {}
    for difference in differences:
        broken.setdefault(difference.rule, f"oracle: {difference.oracle}; target: {difference.target}")
    return broken


def of_literals(differences: Iterable[Difference], steps: int, budget: int | None) -> StageResult:
    """The stage's result from literal tables; StepsExhausted past the budget."""
    spend(steps, budget)
    broken = said(differences)
    return StageResult("fail" if broken else "pass", broken, None, steps)


def of_parts(parts: Iterable[Part], budget: int | None) -> StageResult:
    """The stage's result from checks that run one after the other, until the first that has differences; StepsExhausted past the
    budget.
    """
    steps = 0
    for part in parts:
        for differences, taken in part():
            steps += taken
            spend(steps, budget)
            if broken := said(differences):
                return StageResult("fail", broken, None, steps)
    return StageResult("pass", {}, None, steps)


def spend(steps: int, budget: int | None) -> None:
    """Raise StepsExhausted once more steps were taken than the budget allows."""
    if budget is not None and steps > budget:
        raise StepsExhausted(f"more than {budget} operations")
