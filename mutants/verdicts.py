"""What became of a mutant, in one word from a fixed list, and why.

Machine load never makes a verdict: an end that load might have caused is seen twice or is no verdict at all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from mutants.mutant import Mutant, covers
from mutants.wire import Run


class Status(StrEnum):
    """The words of a report."""

    KILLED_ASSERTION = "killed.assertion"
    KILLED_CRASH = "killed.crash"
    KILLED_GUARD = "killed.spec-guard"
    KILLED_RUNAWAY = "killed.runaway"
    INVALID_APPLY = "invalid.apply"
    INVALID_COMPILE = "invalid.compile"
    INVALID_IMPORT = "invalid.import"
    INVALID_COLLECT = "invalid.collect"
    HARNESS_ERROR = "harness-error"
    FLAKY = "flaky"
    SURVIVED = "survived"
    EQUIVALENT_BYTECODE = "equivalent.bytecode"
    EQUIVALENT_PROVED = "equivalent.proved"
    EQUIVALENT_SCOPE = "equivalent.scope"
    EQUIVALENT_REASON = "equivalent.reason"
    DUPLICATE = "duplicate"
    RUNAWAY_CPU = "runaway.cpu"
    RUNAWAY_STEPS = "runaway.steps"
    RUNAWAY_MEMORY = "runaway.memory"
    UNKNOWN = "unknown"


KILLED = frozenset({Status.KILLED_ASSERTION, Status.KILLED_CRASH, Status.KILLED_GUARD, Status.KILLED_RUNAWAY})
INVALID = frozenset({Status.INVALID_APPLY, Status.INVALID_COMPILE, Status.INVALID_IMPORT, Status.INVALID_COLLECT})
NO_VERDICT = frozenset({Status.HARNESS_ERROR, Status.FLAKY, Status.UNKNOWN})
NO_NEW_PROGRAM = frozenset({Status.EQUIVALENT_BYTECODE, Status.DUPLICATE})
RUNAWAYS = frozenset({Status.RUNAWAY_CPU, Status.RUNAWAY_STEPS, Status.RUNAWAY_MEMORY})

OUTCOMES = {
    "crash": Status.KILLED_CRASH,
    "spec-guard": Status.KILLED_GUARD,
    "harness-error": Status.HARNESS_ERROR,
    "runaway.steps": Status.RUNAWAY_STEPS,
    "unknown": Status.UNKNOWN,
}
"""Outcomes of a stage that decide when no rule broke, the weightiest first."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status, one line of detail, every broken rule with what differed, and the stage that decided."""

    status: Status
    detail: str
    rules: Mapping[str, str]
    stage: str

    @property
    def killed(self) -> bool:
        return self.status in KILLED


def judge_run(mutant: Mutant, run: Run, again: Callable[[], Run]) -> Verdict:
    """The verdict on a mutant whose child ended like this; `again` runs it once more, alone.

    A crash, and a runaway that the mutant declares, are kills that name no rule: they count only when the second run ends
    the same way. Which of its budgets a runaway exhausts first may depend on the machine; that it is one may not.

    Where nobody has said what must catch a mutant, it is a crash too that it cannot be imported, or that the checks raise
    on what it hands them: on the original they do not.
    """
    verdict = _verdict(mutant, run)
    declared = mutant.declares_runaway and verdict.status in RUNAWAYS
    if not declared and verdict.status is not Status.KILLED_CRASH:
        return verdict
    second = _verdict(mutant, again())
    same = second.status is verdict.status or (declared and second.status in RUNAWAYS)
    if not same or second.stage != verdict.stage:
        detail = f"first {verdict.status} in {verdict.stage}, then {second.status} in {second.stage}"
        return Verdict(Status.FLAKY, detail, {}, verdict.stage)
    if declared:
        return Verdict(Status.KILLED_RUNAWAY, "a budget ran out, and again alone", {}, verdict.stage)
    return verdict


def _verdict(mutant: Mutant, run: Run) -> Verdict:
    """What one run says by itself."""
    if run.stopped:
        return Verdict(Status.KILLED_CRASH if mutant.generic else Status(run.stopped), run.detail, {}, "")
    rules = run.broken()
    if rules:
        return Verdict(Status.KILLED_ASSERTION, "; ".join(sorted(rules)), rules, _deciding_stage(mutant, run))
    last = run.stages[-1] if run.stages else None
    stage = last.stage if last else ""
    if run.ended != "returned":
        return Verdict(*_abnormal(run, begun=last is not None), {}, stage)
    for outcome, status in OUTCOMES.items():
        for one in run.stages:
            if one.outcome == outcome:
                if mutant.generic and status is Status.HARNESS_ERROR:
                    status = Status.KILLED_CRASH
                return Verdict(status, one.detail, {}, one.stage)
    if last is None or any(one.outcome != "pass" for one in run.stages):
        return Verdict(Status.HARNESS_ERROR, "no stage said pass, fail or unknown", {}, stage)
    return Verdict(Status.SURVIVED, f"passed {', '.join(one.stage for one in run.stages)}", {}, stage)


def _deciding_stage(mutant: Mutant, run: Run) -> str:
    """The stage at which the broken rules were enough, or the first with a broken rule when they never were."""
    so_far: dict[str, str] = {}
    for one in run.stages:
        so_far |= one.broken
        if so_far and covers(mutant.expected, so_far):
            return one.stage
    return next(one.stage for one in run.stages if one.broken)


def _abnormal(run: Run, begun: bool) -> tuple[Status, str]:
    """The status of a child that did not return. A death before any stage is not the mutant's doing."""
    match run.ended:
        case "runaway.cpu":
            # How it was ended, without the seconds that it took: a verdict is the same every time.
            return Status.RUNAWAY_CPU, run.detail.partition(" after ")[0]
        case "runaway.memory":
            return Status.RUNAWAY_MEMORY, run.detail
        case "runaway.wall":
            return Status.UNKNOWN, run.detail
        case "died" if begun and run.detail != "its reply is garbled":
            return Status.KILLED_CRASH, run.detail
    return Status.HARNESS_ERROR, f"{run.ended}: {run.detail}"
