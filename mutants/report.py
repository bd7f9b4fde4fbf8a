"""The record of a run as one JSON document, in the Stryker mutation-testing report schema (version 2) and an extension.

Standard viewers read `files`; `kvproof` holds what the schema has no place for. Source:
https://github.com/stryker-mutator/mutation-testing-elements (report schema).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict

from mutants.engine import Record, Result
from mutants.gate import Decision, decide, median_cpu_ms, summary
from mutants.mutant import Mutant
from mutants.splice import Spliced
from mutants.verdicts import Status
from mutants.wire import Run, StageRun

Json = dict[str, object]

STRYKER_STATUS: Mapping[Status, str] = {
    Status.KILLED_ASSERTION: "Killed",
    Status.KILLED_CRASH: "Killed",
    Status.KILLED_GUARD: "Killed",
    Status.KILLED_RUNAWAY: "Killed",
    Status.INVALID_APPLY: "RuntimeError",
    Status.INVALID_COMPILE: "CompileError",
    Status.INVALID_IMPORT: "RuntimeError",
    Status.INVALID_COLLECT: "RuntimeError",
    Status.HARNESS_ERROR: "RuntimeError",
    Status.FLAKY: "RuntimeError",
    Status.SURVIVED: "Survived",
    Status.EQUIVALENT_BYTECODE: "Ignored",
    Status.EQUIVALENT_PROVED: "Ignored",
    Status.EQUIVALENT_SCOPE: "Survived",
    Status.DUPLICATE: "Ignored",
    Status.RUNAWAY_CPU: "Timeout",
    Status.RUNAWAY_STEPS: "Timeout",
    Status.RUNAWAY_MEMORY: "Timeout",
    Status.UNKNOWN: "RuntimeError",
}


def document(record: Record) -> Json:
    """The whole report. Mutants without a verdict are `Pending`: an incomplete report shows what is missing."""
    decision = decide(record)
    return {
        "schemaVersion": "2",
        "thresholds": {"high": 100, "low": 100},
        "framework": {"name": "kvproof mutants", "dependencies": dict(record.versions)},
        "files": _files(record),
        "testFiles": {record.plan.project.suite: {"tests": _tests(record)}},
        "kvproof": _extension(record, decision),
    }


def _files(record: Record) -> Json:
    """Every mutated file with its source and its mutants."""
    results = {result.mutant.id: result for result in record.results}
    files: dict[str, Json] = {}
    for mutant in record.plan.mutants:
        source = record.sources.get(mutant.module)
        if source is None:
            continue
        file = files.setdefault(source.path, {"language": "python", "source": source.source, "mutants": []})
        mutants = file["mutants"]
        assert isinstance(mutants, list)
        mutants.append(_mutant(mutant, results.get(mutant.id)))
    return dict(files)


def _mutant(mutant: Mutant, result: Result | None) -> Json:
    start = {"line": 1, "column": 1}
    entry: Json = {
        "id": mutant.id,
        "mutatorName": mutant.family,
        "description": mutant.title,
        "replacement": mutant.after,
        "location": {"start": start, "end": start},
        "status": "Pending",
    }
    if result is None:
        return entry
    entry |= {
        "status": STRYKER_STATUS[result.verdict.status],
        "statusReason": f"{result.verdict.status}: {result.verdict.detail}",
        "duration": round(result.cpu_ms, 3),
    }
    if result.spliced is not None:
        entry["location"] = _location(result.spliced)
        entry["replacement"] = result.spliced.replacement
    if result.run is not None:
        entry["coveredBy"] = [stage.stage for stage in result.run.stages]
        entry["killedBy"] = [_test(stage, rule) for stage in result.run.stages for rule in sorted(stage.broken)]
    return entry


def _location(spliced: Spliced) -> Json:
    return {"start": asdict(spliced.start), "end": asdict(spliced.end)}


def _test(stage: StageRun, rule: str) -> str:
    return f"{stage.stage}/{rule}"


def _tests(record: Record) -> list[Json]:
    """What kills: each stage, and each rule that some mutant broke in it."""
    tests = {stage: f"stage {stage}" for stage in record.plan.stages()}
    for result in record.results:
        for stage in result.run.stages if result.run else ():
            tests |= {_test(stage, rule): f"{rule} in stage {stage.stage}" for rule in stage.broken}
    return [{"id": test, "name": name} for test, name in tests.items()]


def _extension(record: Record, decision: Decision) -> Json:
    return {
        "complete": not record.interrupted and not record.problems and record.after is not None,
        "exitCode": int(decision.code),
        "reasons": list(decision.reasons),
        "summary": summary(record),
        "seed": record.plan.seed,
        "seconds": round(record.seconds, 3),
        "medianCpuMs": round(median_cpu_ms(record.results), 3),
        "versions": dict(record.versions),
        "sources": {
            source.path: hashlib.sha256(source.source.encode()).hexdigest() for source in record.sources.values()
        },
        "original": {"before": _run(record.before), "after": _run(record.after)},
        "controls": [_detail(result) for result in record.controls],
        "mutants": [_detail(result) for result in record.results],
    }


def _detail(result: Result) -> Json:
    """A mutant's verdict in full, in the order of execution."""
    mutant, verdict = result.mutant, result.verdict
    return {
        "id": mutant.id,
        "title": mutant.title,
        "target": f"{mutant.module}.{mutant.function}",
        "expected": [sorted(rules) for rules in mutant.expected],
        "verdict": verdict.status.value,
        "detail": verdict.detail,
        "rules": dict(sorted(verdict.rules.items())),
        "stage": verdict.stage,
        "caught": result.caught,
        "cpuMs": round(result.cpu_ms, 3),
        "diff": result.spliced.diff if result.spliced else "",
        "run": _run(result.run),
    }


def _run(run: Run | None) -> Json | None:
    if run is None:
        return None
    stages = [
        {
            "stage": stage.stage,
            "outcome": stage.outcome,
            "broken": dict(sorted(stage.broken.items())),
            "witness": stage.witness,
            "steps": stage.steps,
            "detail": stage.detail,
            "cpuMs": round(stage.cpu_seconds * 1e3, 3),
        }
        for stage in run.stages
    ]
    return {"ended": run.ended, "cpuMs": round(run.cpu_seconds * 1e3, 3), "stages": stages}
