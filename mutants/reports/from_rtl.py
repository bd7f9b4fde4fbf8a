"""A record of the RTL's mutants as the data that reports are drawn from.

A mutant is killed when it was killed in every simulator; its verdict is that of the first simulator in which it was not.
"""

import difflib
from collections.abc import Mapping
from dataclasses import replace

from mutants.reports.data import Attempt, File, JudgedMutant, MutationRun, Trial
from mutants.rtl_engine import RtlRecord, RtlResult
from mutants.rtl_mutant import RtlMutant
from mutants.rtl_report import decide_rtl, summary_rtl
from mutants.splice import Position
from mutants.verdicts import INVALID
from verify.chips.judge import Judged
from verify.chips.planted_rtl import Edit, place_of

TOOL = "kvproof mutants --rtl"
SUITE = "verify/chips/judge.py"


def run_of_rtl(record: RtlRecord) -> MutationRun:
    """The run."""
    decision = decide_rtl(record)
    return MutationRun(
        kind="rtl",
        tool=TOOL,
        suite=SUITE,
        code=decision.code,
        reasons=decision.reasons,
        complete=not record.interrupted and not record.problems,
        summary=tuple(summary_rtl(record)),
        seconds=record.seconds,
        seed=None,
        versions=dict(record.versions),
        files={_path(name): File("verilog", source) for name, source in sorted(record.sources.items())},
        stages=record.plan.simulators,
        originals={
            f"{simulator} {when}": _original(simulator, judged)
            for simulator, both in record.originals.items()
            for when, judged in zip(("before", "after"), both, strict=False)
        },
        controls=tuple(_judged(record, mutant, list(record.controls)) for mutant in _controls(record)),
        mutants=tuple(_judged(record, mutant, record.results) for mutant in record.plan.mutants),
    )


def _controls(record: RtlRecord) -> list[RtlMutant]:
    return list(dict.fromkeys(result.mutant for result in record.controls))


def _judged(record: RtlRecord, mutant: RtlMutant, among: list[RtlResult]) -> JudgedMutant:
    results = [result for result in among if result.mutant == mutant]
    planned = JudgedMutant(
        id=mutant.id,
        title=mutant.title,
        area=mutant.module,
        operator="",
        module=mutant.module,
        function="",
        path=_path(f"{mutant.module}.v"),
        expected=tuple(tuple(sorted(rules)) for rules in mutant.expected),
        replacement=mutant.after,
    )
    if len(results) < len(record.plan.simulators):
        return planned
    worst = next((result for result in results if not result.caught), results[0])
    judged = replace(
        planned,
        status=worst.verdict.status,
        detail="; ".join(f"{one.simulator}: {one.verdict.status}: {one.verdict.detail}" for one in results),
        rules=dict(sorted((rule, said) for one in results for rule, said in one.verdict.rules.items())),
        stage=worst.simulator,
        caught=worst.caught,
        cpu_ms=sum(result.cpu_ms for result in results),
        attempt=Attempt("returned", sum(one.cpu_ms for one in results), tuple(map(_trial, results))),
    )
    if any(result.verdict.status in INVALID for result in results):
        return judged
    start, end = _place(record.sources, mutant.fault().edits[0])
    return replace(judged, start=start, end=end, diff=_diff(record.sources, mutant.fault().edits))


def _trial(result: RtlResult) -> Trial:
    verdict = result.verdict
    outcome, detail = ("fail", "") if verdict.killed else (verdict.status.value, verdict.detail)
    return Trial(result.simulator, outcome, dict(sorted(verdict.rules.items())), result.runs, result.cpu_ms, detail)


def _original(simulator: str, judged: Judged) -> Attempt:
    outcome = "fail" if judged.broken or judged.lost else "pass"
    detail = "; ".join(judged.lost) or f"{judged.cycles} cycles"
    return Attempt("returned", 0.0, (Trial(simulator, outcome, dict(judged.broken), judged.runs, 0.0, detail),))


def _place(sources: Mapping[str, str], edit: Edit) -> tuple[Position, Position]:
    source = sources[f"{edit.module}.v"]
    start, end = place_of(edit, sources)
    return _position(source, start), _position(source, end)


def _position(source: str, at: int) -> Position:
    return Position(source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at))


def _diff(sources: Mapping[str, str], edits: tuple[Edit, ...]) -> str:
    """All edits as one unified diff, file by file."""
    lines: list[str] = []
    for name in dict.fromkeys(f"{edit.module}.v" for edit in edits):
        mutated = sources[name]
        places = [(place_of(edit, sources), edit.after) for edit in edits if f"{edit.module}.v" == name]
        for (start, end), after in sorted(places, reverse=True):
            mutated = mutated[:start] + after + mutated[end:]
        both = sources[name].split("\n"), mutated.split("\n")
        lines += difflib.unified_diff(*both, f"a/{_path(name)}", f"b/{_path(name)}", n=2, lineterm="")
    return "\n".join(lines)


def _path(name: str) -> str:
    return f"rtl/{name}"
