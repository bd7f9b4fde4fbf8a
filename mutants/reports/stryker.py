"""A run as one JSON document, in the Stryker mutation-testing report schema (version 2) and an extension.

Standard viewers read `files`; `kvproof` holds what the schema has no place for. What has to hold is
mutants/reports/stryker.schema.json, written from the published schema's documentation. Source:
https://github.com/stryker-mutator/mutation-testing-elements (report schema).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path

from impl.schema import Schema
from mutants.reports.data import Attempt, Json, JudgedMutant, MutationRun, Trial, counts
from mutants.splice import Position
from mutants.verdicts import Status

SCHEMA = Path(__file__).resolve().parent / "stryker.schema.json"
NOWHERE = Position(1, 1)

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
    Status.EQUIVALENT_REASON: "Survived",
    Status.DUPLICATE: "Ignored",
    Status.RUNAWAY_CPU: "Timeout",
    Status.RUNAWAY_STEPS: "Timeout",
    Status.RUNAWAY_MEMORY: "Timeout",
    Status.UNKNOWN: "RuntimeError",
}


def document(run: MutationRun) -> Json:
    """The whole report. Mutants without a verdict are `Pending`: an incomplete report shows what is missing."""
    return {
        "schemaVersion": "2",
        "thresholds": {"high": 100, "low": 100},
        "framework": {"name": run.tool, "dependencies": dict(run.versions)},
        "files": _files(run),
        "testFiles": {run.suite: {"tests": _tests(run)}},
        "kvproof": _extension(run),
    }


def check_document(report: Json) -> None:
    """A ValueError says where the report breaks the schema, or which id two mutants share."""
    try:
        _schema().check(report)
    except ValueError as error:
        raise ValueError(f"the report is none of Stryker's schema, {error}") from None
    files = report["files"]
    assert isinstance(files, dict)
    ids = [mutant["id"] for file in files.values() for mutant in file["mutants"]]
    twice = sorted({name for name in ids if ids.count(name) > 1}) if len(set(ids)) < len(ids) else []
    if twice:
        raise ValueError(f"several mutants of the report are called {', '.join(twice)}")


@cache
def _schema() -> Schema:
    return Schema(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _files(run: MutationRun) -> Json:
    """Every mutated file with its source and its mutants."""
    files: dict[str, Json] = {}
    for mutant in run.mutants:
        held = run.files.get(mutant.path)
        if held is None:
            continue
        file = files.setdefault(mutant.path, {"language": held.language, "source": held.source, "mutants": []})
        mutants = file["mutants"]
        assert isinstance(mutants, list)
        mutants.append(_mutant(mutant))
    return dict(files)


def _mutant(mutant: JudgedMutant) -> Json:
    entry: Json = {
        "id": mutant.id,
        "mutatorName": mutant.mutator,
        "description": mutant.title,
        "replacement": mutant.replacement,
        "location": {"start": asdict(mutant.start or NOWHERE), "end": asdict(mutant.end or NOWHERE)},
        "status": "Pending",
    }
    if mutant.status is None:
        return entry
    entry["status"] = "Ignored" if mutant.accepted else STRYKER_STATUS[mutant.status]
    entry["statusReason"] = f"{mutant.status}: {mutant.accepted or mutant.detail}"
    entry["duration"] = round(mutant.cpu_ms, 3)
    if mutant.trials:
        entry["coveredBy"] = [trial.stage for trial in mutant.trials]
        entry["killedBy"] = [_test(trial, rule) for trial in mutant.trials for rule in trial.broken]
    return entry


def _test(trial: Trial, rule: str) -> str:
    return f"{trial.stage}/{rule}"


def _tests(run: MutationRun) -> list[Json]:
    """What kills: each stage, and each rule that some mutant broke in it."""
    tests = {stage: f"stage {stage}" for stage in run.stages}
    for mutant in run.mutants:
        for trial in mutant.trials:
            tests |= {_test(trial, rule): f"{rule} in stage {trial.stage}" for rule in trial.broken}
    return [{"id": test, "name": name} for test, name in tests.items()]


def _extension(run: MutationRun) -> Json:
    extension: Json = {
        "kind": run.kind,
        "time": run.time,
        "revision": run.revision,
        "complete": run.complete,
        "exitCode": int(run.code),
        "reasons": list(run.reasons),
        "planned": len(run.mutants),
        "executed": run.executed,
        "counts": counts(run.mutants),
        "summary": list(run.summary),
        "seed": run.seed,
        "seconds": round(run.seconds, 3),
        "medianCpuMs": round(run.median_cpu_ms, 3),
        "versions": dict(run.versions),
        "sources": {path: hashlib.sha256(file.source.encode()).hexdigest() for path, file in run.files.items()},
        "original": {when: _run(attempt) for when, attempt in run.originals.items()},
        "controls": [detail(control) for control in run.controls],
        "mutants": [detail(mutant) for mutant in run.mutants],
    }
    if run.ablation:
        extension["ablations"] = [asdict(row) for row in run.ablation]
    return extension


def detail(mutant: JudgedMutant) -> Json:
    """What is known of a mutant, in full."""
    return {
        "id": mutant.id,
        "title": mutant.title,
        "area": mutant.area,
        "operator": mutant.operator,
        "target": f"{mutant.module}.{mutant.function}".rstrip("."),
        "expected": [list(rules) for rules in mutant.expected],
        "outcome": mutant.outcome.value,
        "verdict": mutant.status.value if mutant.status else None,
        "detail": mutant.detail,
        "accepted": mutant.accepted,
        "rules": dict(mutant.rules or {}),
        "stage": mutant.stage,
        "caught": mutant.caught,
        "cpuMs": round(mutant.cpu_ms, 3),
        "diff": mutant.diff,
        "run": _run(mutant.attempt),
    }


def _run(attempt: Attempt | None) -> Json | None:
    if attempt is None:
        return None
    stages = [
        {
            "stage": trial.stage,
            "outcome": trial.outcome,
            "broken": dict(trial.broken),
            "witness": trial.witness,
            "steps": trial.steps,
            "detail": trial.detail,
            "cpuMs": round(trial.cpu_ms, 3),
        }
        for trial in attempt.trials
    ]
    return {"ended": attempt.ended, "cpuMs": round(attempt.cpu_ms, 3), "stages": stages}
