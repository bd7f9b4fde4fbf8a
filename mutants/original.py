"""The original: what it does in each stage, that it is as it must be, and the budgets that follow from it."""

from collections.abc import Mapping

from mutants.client import ForkServer
from mutants.wire import Budget, Order, Reach, Run

BUDGET_FACTOR = 20
LEAST_STEPS = 1_000
LEAST_CPU_SECONDS, LEAST_CALL_SECONDS = 0.2, 0.1
BASELINE_CPU_SECONDS = 120.0


class NotSoundError(Exception):
    """The original or a control is not as it must be: verdicts would mean nothing."""


def run_original(server: ForkServer, stages: tuple[str, ...]) -> Run:
    budget = Budget(None, BASELINE_CPU_SECONDS)
    return server.run(Order(stages, dict.fromkeys(stages, budget), at_least=len(stages)))


def budgets_of(
    original: Run, seen: Mapping[str, Reach] | None = None, least: float = LEAST_CPU_SECONDS
) -> dict[str, Budget]:
    """Twenty times what the original took, and at `least` so many seconds of CPU, so that what is merely slower is no runaway; a
    call at least LEAST_CALL_SECONDS, of which stages make thousands.
    """
    return {
        stage.stage: Budget(
            max(BUDGET_FACTOR * stage.steps, LEAST_STEPS),
            max(BUDGET_FACTOR * stage.cpu_seconds, least),
            max(BUDGET_FACTOR * seen[stage.stage].longest_seconds, LEAST_CALL_SECONDS) if seen else None,
        )
        for stage in original.stages
    }


def check_original(run: Run, stages: tuple[str, ...]) -> None:
    """The original must pass every stage, and every stage must have applied at least one operation."""
    if run.ended != "returned" or run.stopped:
        raise NotSoundError(f"the original does not run: {run.stopped or run.ended}: {run.detail}")
    for stage in run.stages:
        if stage.outcome != "pass":
            why = "; ".join(f"{rule}: {line}" for rule, line in sorted(stage.broken.items())) or stage.detail
            raise NotSoundError(f"the original does not pass stage {stage.stage}: {stage.outcome}, {why}")
        if stage.steps < 1:
            raise NotSoundError(f"stage {stage.stage} applied no operation, so passing it says nothing")
    if tuple(stage.stage for stage in run.stages) != stages:
        raise NotSoundError("the original did not go through every stage")


def check_unchanged(before: Run, after: Run) -> None:
    for first, second in zip(before.stages, after.stages, strict=True):
        if first.steps != second.steps:
            steps = f"{first.steps} operations before the mutants and {second.steps} after"
            raise NotSoundError(f"stage {first.stage} is not deterministic: {steps}")
