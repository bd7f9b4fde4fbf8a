"""One run: the original first, then the controls, then every mutant, then the original again.

A record grows while the run goes on, so that an interrupted run can still say what it knows.
"""

import base64
import marshal
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mutants.client import ForkServer, ServerError, Source
from mutants.making import Made, make
from mutants.mutant import Mutant, Project
from mutants.splice import Spliced
from mutants.verdicts import Status, Verdict, judge_run
from mutants.wire import Budget, Order, Run

Announce = Callable[[str], None]
"""Told what is about to run, once for each unit of `units`."""

BUDGET_FACTOR = 20
LEAST_STEPS = 1_000
LEAST_CPU_SECONDS = 0.25
BASELINE_CPU_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. `at_least` is how many of its stages every mutant goes through, whatever broke before.

    `seed` shuffles the mutants; None keeps the catalogue's order. `no_op` must survive, `broken` must not; `family_controls`
    are such a pair of a family's own, which run when some mutant is of that family.
    """

    project: Project
    mutants: tuple[Mutant, ...]
    no_op: Mutant
    broken: Mutant
    at_least: int = 0
    seed: int | None = None
    family_controls: Mapping[str, tuple[Mutant, Mutant]] = field(default_factory=dict)

    def in_order(self) -> list[Mutant]:
        order = list(self.mutants)
        if self.seed is not None:
            random.Random(self.seed).shuffle(order)
        return order

    def pairs(self) -> tuple[tuple[Mutant, Mutant], ...]:
        """The controls to run, each time the one that must survive and the one that must not."""
        families = {mutant.family for mutant in self.mutants}
        own = (pair for family, pair in self.family_controls.items() if family in families)
        return ((self.no_op, self.broken), *own)

    def controls(self) -> tuple[Mutant, ...]:
        """The controls to run, one by one."""
        return tuple(control for pair in self.pairs() for control in pair)

    def modules(self) -> set[str]:
        """Modules that some mutant or control changes."""
        return {mutant.module for mutant in (*self.controls(), *self.mutants)}

    def stages(self) -> tuple[str, ...]:
        """Stages that some mutant or control reaches."""
        return self.project.stages_of_all(mutant.family for mutant in (*self.controls(), *self.mutants))

    def units(self) -> int:
        """Number of runs: every mutant and control, the original twice."""
        return len(self.mutants) + len(self.controls()) + 2


@dataclass(frozen=True, slots=True)
class Result:
    """One mutant with its verdict; there is no run when making it was enough, and no `spliced` when it does not apply."""

    mutant: Mutant
    verdict: Verdict
    run: Run | None
    spliced: Spliced | None

    @property
    def caught(self) -> bool:
        """Whether it was killed as it must be: by its expected rules, or by a runaway that it declares."""
        if self.verdict.status is Status.KILLED_RUNAWAY or not self.mutant.expected:
            return self.verdict.killed
        return self.verdict.killed and self.mutant.caught_by(self.verdict.rules)

    @property
    def cpu_ms(self) -> float:
        return self.run.cpu_seconds * 1e3 if self.run else 0.0


@dataclass(slots=True)
class Record:
    """What is known of a run so far. `problems` are reasons why its verdicts would mean nothing."""

    plan: Plan
    sources: Mapping[str, Source] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    before: Run | None = None
    after: Run | None = None
    controls: list[Result] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    interrupted: bool = False
    seconds: float = 0.0


class _NotSoundError(Exception):
    """The original or a control is not as it must be: verdicts would mean nothing."""


def carry_out(record: Record, announce: Announce) -> None:
    """Run the plan into the record.

    Ends early, with a problem in the record, when the original or a control is not as it must be. A KeyboardInterrupt
    passes, after every child has been ended.
    """
    begun = time.monotonic()
    try:
        with ForkServer(record.plan.project, record.plan.modules()) as server:
            record.sources, record.versions = server.sources, server.versions
            _run_plan(record, server, announce)
    except (ServerError, _NotSoundError) as error:
        record.problems.append(str(error))
    except KeyboardInterrupt:
        record.interrupted = True
        raise
    finally:
        record.seconds = time.monotonic() - begun


def _run_plan(record: Record, server: ForkServer, announce: Announce) -> None:
    plan = record.plan
    made = make(plan.controls(), server.sources, plan.project) | make(plan.mutants, server.sources, plan.project)
    announce("the original")
    record.before = _run_original(server, plan.stages())
    _check_original(record.before, plan.stages())
    budgets = _budgets(record.before)
    for pair in plan.pairs():
        for control in pair:
            announce(f"control {control.id}")
            record.controls.append(_run_mutant(control, made[control.id], server, budgets, 0))
        _check_controls(*record.controls[-2:])
    for mutant in plan.in_order():
        announce(f"mutant {mutant.id}")
        record.results.append(_run_mutant(mutant, made[mutant.id], server, budgets, plan.at_least))
    announce("the original again")
    record.after = _run_original(server, plan.stages())
    _check_original(record.after, plan.stages())
    _check_unchanged(record.before, record.after)


def _run_original(server: ForkServer, stages: tuple[str, ...]) -> Run:
    budget = Budget(None, BASELINE_CPU_SECONDS)
    return server.run(Order(stages, dict.fromkeys(stages, budget), at_least=len(stages)))


def _budgets(original: Run) -> dict[str, Budget]:
    """Twenty times what the original took, so that a mutant that is merely slower is not a runaway."""
    return {
        stage.stage: Budget(
            max(BUDGET_FACTOR * stage.steps, LEAST_STEPS), max(BUDGET_FACTOR * stage.cpu_seconds, LEAST_CPU_SECONDS)
        )
        for stage in original.stages
    }


def _run_mutant(mutant: Mutant, made: Made, server: ForkServer, budgets: Mapping[str, Budget], at_least: int) -> Result:
    """The mutant's result; it is run unless it has its verdict already."""
    if made.verdict is not None:
        return Result(mutant, made.verdict, None, made.spliced)
    code = base64.b64encode(marshal.dumps(made.code)).decode()
    stages = server.project.stages_of(mutant.family)
    limits = {stage: budgets[stage] for stage in stages}
    order = Order(stages, limits, min(at_least, len(stages)), mutant.expected, mutant.module, code)
    run = server.run(order)
    return Result(mutant, judge_run(mutant, run, lambda: server.run(order)), run, made.spliced)


def _check_original(run: Run, stages: tuple[str, ...]) -> None:
    """The original must pass every stage, and every stage must have applied at least one operation."""
    if run.ended != "returned" or run.stopped:
        raise _NotSoundError(f"the original does not run: {run.stopped or run.ended}: {run.detail}")
    for stage in run.stages:
        if stage.outcome != "pass":
            why = "; ".join(f"{rule}: {line}" for rule, line in sorted(stage.broken.items())) or stage.detail
            raise _NotSoundError(f"the original does not pass stage {stage.stage}: {stage.outcome}, {why}")
        if stage.steps < 1:
            raise _NotSoundError(f"stage {stage.stage} applied no operation, so passing it says nothing")
    if tuple(stage.stage for stage in run.stages) != stages:
        raise _NotSoundError("the original did not go through every stage")


def _check_controls(no_op: Result, broken: Result) -> None:
    due = ((no_op, Status.SURVIVED, "survive"), (broken, Status.KILLED_ASSERTION, "break a rule"))
    for control, status, must in due:
        found = control.verdict
        if found.status is not status:
            raise _NotSoundError(f"the {control.mutant.id} control must {must}: {found.status}, {found.detail}")


def _check_unchanged(before: Run, after: Run) -> None:
    for first, second in zip(before.stages, after.stages, strict=True):
        if first.steps != second.steps:
            steps = f"{first.steps} operations before the mutants and {second.steps} after"
            raise _NotSoundError(f"stage {first.stage} is not deterministic: {steps}")
