"""Which mutants do in a stage just what the original does there, because nothing that they change ever made a difference.

A mutant is told from the original only where it *infects* a state: its expression has another value, its statement runs. One run
of the original with probes finds that for all mutants at once; those that infect nothing need no run of their own.
"""

import base64
import marshal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mutants.client import ForkServer, ServerError
from mutants.farm.farm import Farm
from mutants.farm.job import digest
from mutants.farm.selection import WATCHED_CPU_SECONDS
from mutants.infection.probed import Probed, probe
from mutants.making import Made
from mutants.mutant import Mutant
from mutants.original import NotSoundError
from mutants.wire import Budget, Order, Run

LEAST_MUTANTS = 20
"""Of fewer mutants in a stage hardly one is alike, and the run with probes takes as long as some of them."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Of one stage: the mutants that are like the original, by id, and the operations that it applied meanwhile."""

    mutants: frozenset[str]
    steps: int

    def as_json(self) -> dict[str, object]:
        return {"mutants": sorted(self.mutants), "steps": self.steps}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> "Alike":
        return cls(frozenset(data["mutants"]), int(data["steps"]))


def alike_in_stages(
    stages: Mapping[str, Iterable[Mutant]], made: Mapping[str, Made], server: ForkServer, farm: Farm
) -> dict[str, Alike]:
    """For each stage with enough of these mutants, which of them are alike there. Raises ServerError."""
    asked = {stage: list(mutants) for stage, mutants in stages.items()}
    asked = {stage: mutants for stage, mutants in asked.items() if len(mutants) >= LEAST_MUTANTS}
    by_id = {mutant.id: mutant for mutants in asked.values() for mutant in mutants}
    what = f"alike {digest(sorted(by_id))}"
    said = {stage: farm.recall(what, (stage,)) for stage in asked}
    found = {stage: Alike.of_json(one) for stage, one in said.items() if one is not None}
    if found.keys() != asked.keys():
        sources = {name: source.source for name, source in server.sources.items()}
        files = {name: source.path for name, source in server.sources.items()}
        probed = probe([by_id[id] for id in sorted(by_id)], made, sources, files)
        found |= {stage: _alike_in(stage, probed, server) for stage in asked if stage not in found}
    for stage, one in found.items():
        farm.remember(what, (stage,), one.as_json())
    return found


def check_alike(found: Mapping[str, Alike], original: Run) -> None:
    """The probes may not have changed what the original does. Raises NotSoundError."""
    for stage in original.stages:
        if stage.stage in found and found[stage.stage].steps != stage.steps:
            steps = f"{found[stage.stage].steps} operations with probes and {stage.steps} without"
            raise NotSoundError(f"stage {stage.stage} is not the same with probes: {steps}")


def _alike_in(stage: str, probed: Probed, server: ForkServer) -> Alike:
    codes = {module: base64.b64encode(marshal.dumps(code)).decode() for module, code in probed.code.items()}
    budget = Budget(None, WATCHED_CPU_SECONDS)
    run = server.run(Order((stage,), {stage: budget}, 1, probes=max(1, probed.count), probed=codes))
    if run.told is None or any(one.outcome != "pass" for one in run.stages):
        raise ServerError(f"stage {stage} does not pass with probes: {run.ended}: {run.detail or run.stages}")
    same = (mutant for mutant, numbers in probed.of.items() if run.told.isdisjoint(numbers))
    return Alike(frozenset(same), run.stages[0].steps)
