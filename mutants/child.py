"""What a forked child does: put the mutant in place, import what judges it, run the stages, say what happened.

Every stage is announced before it begins and reported when it ends, so that the engine knows how far a child came that
did not live to the end.
"""

import base64
import importlib
import marshal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from types import ModuleType, TracebackType
from typing import Any

from mutants.call_limit import limit_calls
from mutants.held import Held, HeldImporter, within
from mutants.infection.probes import probing
from mutants.mutant import Project, covers
from mutants.reach import watched
from mutants.wire import Order, StageRun
from verify.sandbox import Note, describe, limit_cpu

BEGUN = "begun"


class Stopped(Exception):  # noqa: N818 - the run ends here for a reason that the report names
    """No stage can run; the arguments are the verdict and why."""


def judge(order: Order, project: Project, held: Held, note: Note) -> dict[str, object]:
    """Run the order in this process, which is spoilt by it; what stopped it, if anything did. Stages go to `note`."""
    if order.reach:
        with watched(project.subject) as seen:
            said = _judge(order, project, held, note)
        return said | {"reach": seen.reach().as_json()}
    if order.probes:
        with probing(order.probes) as told:
            said = _judge(order, project, held, note)
        return said | {"told": [number for number, one in enumerate(told) if one]}
    return _judge(order, project, held, note)


def _judge(order: Order, project: Project, held: Held, note: Note) -> dict[str, object]:
    calls = [budget.call_seconds for budget in order.budgets.values() if budget.call_seconds is not None]
    if calls:
        limit_calls(max(calls), project.subject)
    try:
        stages, exhausted = _prepare(order, project, held)
    except Stopped as stop:
        verdict, detail = stop.args
        return {"stopped": verdict, "detail": detail}
    broken: dict[str, str] = {}
    for done, name in enumerate(order.stages):
        if done >= order.at_least and covers(order.expected, broken):
            break
        note({"stage": name, "outcome": BEGUN})
        run = _run_stage(name, stages[name], exhausted, order, project)
        note(asdict(run))
        broken |= run.broken
        if run.outcome not in ("pass", "fail", "unknown") and done + 1 >= order.at_least:
            break
    return {"stopped": "", "detail": ""}


def _prepare(order: Order, project: Project, held: Held) -> tuple[dict[str, Callable[..., Any]], type[Exception]]:
    """The stages, imported with the mutant in place, and the exception of an exhausted step budget."""
    changed = dict(order.probed)
    if order.module is not None and order.code is not None:
        changed[order.module] = order.code
    if changed:
        codes = {name: marshal.loads(base64.b64decode(code)) for name, code in changed.items()}
        held = {**held, **{name: replace(held[name], code=code) for name, code in codes.items()}}
    sys.meta_path.insert(0, HeldImporter(held))
    if order.module is not None:
        _import(order.module, "invalid.import")
    suite = _import(project.suite, "invalid.collect")
    missing = [name for name in order.stages if name not in suite.STAGES]
    if missing:
        raise Stopped("invalid.collect", f"{project.suite} has no stage {', '.join(missing)}")
    return suite.STAGES, suite.StepsExhausted


def _import(name: str, verdict: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except MemoryError:
        raise
    except Exception as error:
        raise Stopped(verdict, describe(error)) from error


def _run_stage(
    name: str, stage: Callable[..., Any], exhausted: type[Exception], order: Order, project: Project
) -> StageRun:
    """One stage under its budgets. Whatever it raises is an outcome; only running out of memory ends the child."""
    budget = order.budgets[name]
    limit_cpu(budget.cpu_seconds)
    if budget.call_seconds is not None:
        limit_calls(budget.call_seconds, project.subject)
    begun = time.process_time()
    try:
        found = stage(budget.steps)
    except MemoryError:
        raise
    except exhausted as error:
        return _failed(name, "runaway.steps", describe(error), begun)
    except BaseException as error:
        return _failed(name, _whose(error.__traceback__, project), describe(error), begun)
    took = time.process_time() - begun
    return StageRun(name, found.verdict, found.broken, found.witness, found.steps, found.note, took)


def _failed(name: str, outcome: str, detail: str, begun: float) -> StageRun:
    return StageRun(name, outcome, {}, None, 0, detail, time.process_time() - begun)


def _whose(trace: TracebackType | None, project: Project) -> str:
    """Whose exception it is: a crash, a guard or our own fault, by the innermost frame of subject, oracle or checks."""
    owners = {
        "crash": project.subject,
        "spec-guard": project.oracle,
        "harness-error": project.checks,
    }
    outcome = "harness-error"
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        outcome = next((owner for owner, packages in owners.items() if within(module, packages)), outcome)
        trace = trace.tb_next
    return outcome
