"""The shortest witness of each mutant, replayed on the mutant itself: what the step-by-step pictures are drawn from."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from mutants.client import ENVIRONMENT
from mutants.engine import Record, Result
from mutants.reports.data import OPEN, MutationRun
from mutants.reports.stepper import Replay, Request

HERE = Path(__file__).resolve().parent.parent.parent
VIEW = "verify.view.witness_page"
KINDS = frozenset({"witness", "manager witness"})
"""Witnesses that can be shown step by step, in the word that each begins with."""

MOST_REPLAYS = 100
MOST_STEPS = 60
MOST_SECONDS = 600.0

Steps = dict[str, dict[str, Any]]
"""Mutant -> the data of the page of its witness."""


def steps_of(record: Record, run: MutationRun) -> Steps:
    """The steps of the mutants that have a witness; of many, first those to look at, then one of each kind of kill.

    A mutant without steps is left out: a picture that cannot be drawn takes nothing away from a verdict.
    """
    results = {result.mutant.id: result for result in record.results}
    alike: Counter[tuple[str, ...]] = Counter()
    ranks: dict[str, tuple[bool, int]] = {}
    for mutant in run.mutants:
        kind = (mutant.module, mutant.function, *(mutant.rules or ()))
        ranks[mutant.id] = mutant.outcome not in OPEN, alike[kind]
        alike[kind] += 1
    wanted = sorted(run.mutants, key=lambda mutant: ranks[mutant.id])
    replays = [
        replay
        for mutant in wanted
        if (result := results.get(mutant.id)) and (replay := _replay(result, mutant.witness)) is not None
    ]
    if not replays:
        return {}
    project = record.plan.project
    packages = (*project.subject, *project.checks, *project.oracle)
    request = Request(project.root, packages, VIEW, MOST_STEPS, tuple(replays[:MOST_REPLAYS]))
    lines = _answers(request)
    return {line["id"]: line["page"] for line in lines if line["page"] is not None}


def _replay(result: Result, witness: object) -> Replay | None:
    if result.spliced is None or not isinstance(witness, dict) or witness.get("kvproof") not in KINDS:
        return None
    source = f"{result.verdict.stage}, mutant {result.mutant.id}"
    return Replay(result.mutant.id, result.mutant.module, result.spliced.source, witness, source)


def _answers(request: Request) -> list[dict[str, Any]]:
    """What the stepper answered before its end; a mutant that ends it leaves what came before."""
    command = [sys.executable, "-m", "mutants.reports.stepper", str(os.getpid())]
    environment = os.environ | ENVIRONMENT
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=HERE, env=environment) as stepper:
        try:
            said, _ = stepper.communicate(json.dumps(request.as_json()).encode() + b"\n", MOST_SECONDS)
        except subprocess.TimeoutExpired:
            stepper.kill()
            said, _ = stepper.communicate()
    return [json.loads(line) for line in said.splitlines(keepends=True) if line.endswith(b"\n")]
