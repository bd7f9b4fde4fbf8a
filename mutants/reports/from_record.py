"""A record of the engine, or of an ablation, as the data that reports are drawn from."""

from collections.abc import Mapping
from dataclasses import replace

from mutants.ablation import ABLATIONS, decide_ablation, survivors
from mutants.engine import Record, Result
from mutants.equivalence.ledger_rule import standing
from mutants.gate import Decision, decide, summary
from mutants.mutant import Mutant
from mutants.reports.data import Ablated, Attempt, File, JudgedMutant, MutationRun, Trial
from mutants.verdicts import KILLED
from mutants.wire import Run

TOOL = "kvproof mutants"


def run_of(record: Record, decision: Decision | None = None, accepted: Mapping[str, str] | None = None) -> MutationRun:
    """The run. Its verdict is the gate's unless another is given; `accepted` are survivors, id -> reason: the
    ledger's without it."""
    decided = decision or decide(record)
    results = {result.mutant.id: result for result in record.results}
    reasons = standing(record) if accepted is None else accepted
    return MutationRun(
        kind="gate",
        tool=TOOL,
        suite=record.plan.project.suite,
        code=decided.code,
        reasons=decided.reasons,
        complete=not record.interrupted and not record.problems and record.after is not None,
        summary=tuple(summary(record)),
        seconds=record.seconds,
        seed=record.plan.seed,
        versions=dict(record.versions),
        files={source.path: File("python", source.source) for source in record.sources.values()},
        stages=record.plan.stages(),
        originals={"before": _attempt(record.before), "after": _attempt(record.after)},
        controls=tuple(_judged(record, result.mutant, result, "") for result in record.controls),
        mutants=tuple(
            _judged(record, mutant, results.get(mutant.id), reasons.get(mutant.id, ""))
            for mutant in record.plan.mutants
        ),
    )


def run_of_ablation(record: Record) -> MutationRun:
    """The run, with what survives each ablation; in it any rule kills."""
    run = run_of(record, decide_ablation(record))
    table = tuple(
        Ablated(one.name, one.left_out, tuple(survivors(record, one)), tuple(sorted(one.survivors, key=int)))
        for one in ABLATIONS
    )
    seen = tuple(replace(one, caught=one.status in KILLED, expected=()) for one in run.mutants)
    return replace(run, kind="ablation", tool=f"{TOOL} --ablation", mutants=seen, ablation=table, summary=())


def _judged(record: Record, mutant: Mutant, result: Result | None, accepted: str) -> JudgedMutant:
    source = record.sources.get(mutant.module)
    planned = JudgedMutant(
        id=mutant.id,
        title=mutant.title,
        area=mutant.family,
        operator=mutant.operator,
        module=mutant.module,
        function=mutant.function,
        path=source.path if source else f"{mutant.module.replace('.', '/')}.py",
        expected=tuple(tuple(sorted(rules)) for rules in mutant.expected),
        replacement=mutant.after,
        accepted=accepted,
    )
    if result is None:
        return planned
    judged = replace(
        planned,
        status=result.verdict.status,
        detail=result.verdict.detail,
        rules=dict(sorted(result.verdict.rules.items())),
        stage=result.verdict.stage,
        caught=result.caught,
        cpu_ms=result.cpu_ms,
        attempt=_attempt(result.run),
    )
    if result.spliced is None:
        return judged
    made = result.spliced
    return replace(judged, start=made.start, end=made.end, replacement=made.replacement, diff=made.diff)


def _attempt(run: Run | None) -> Attempt | None:
    if run is None:
        return None
    trials = tuple(
        Trial(
            stage.stage,
            stage.outcome,
            dict(sorted(stage.broken.items())),
            stage.steps,
            stage.cpu_seconds * 1e3,
            stage.detail,
            stage.witness,
        )
        for stage in run.stages
    )
    return Attempt(run.ended, run.cpu_seconds * 1e3, trials)
