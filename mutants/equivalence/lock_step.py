"""Lock-step: original and mutant go through every reachable state of several scopes, and all that they do is compared.

What it finds is a counterexample; finding none is evidence within those scopes and never a proof. A scope counts only when
it shows the changed statement: with an error planted in its place the transcript must differ. So a default argument that
every call gives, and a branch that no scope enters, have no evidence; and no evidence goes without pages of one row.
"""

import ast
import base64
import marshal
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from mutants.client import ForkServer
from mutants.equivalence.all_paths import REFUTED, UNKNOWN
from mutants.original import BASELINE_CPU_SECONDS, budgets_of
from mutants.splice import Position
from mutants.wire import Budget, Order, Run, StageRun

TRANSCRIPTS = "verify.transcript"
"""The suite whose stages are transcripts."""
PAGE_TABLE, MANAGER = "page table", "manager"
FAMILIES = {
    "impl.page_table": PAGE_TABLE,
    "impl.pool": PAGE_TABLE,
    "impl.kv_cache": PAGE_TABLE,
    "impl.prefix_cache": MANAGER,
    "impl.page_groups": MANAGER,
    "impl.prefix_index": MANAGER,
    "impl.shared_pages": MANAGER,
}
"""By module, the transcripts that it shows in: stages of the suite whose names begin like this."""
LEAST_SCOPES = 3
LEAST_CPU_SECONDS = 1.0
MEMORY_BYTES = 1 << 30
SHOWN = 3
"""Columns of a line of a transcript that a user of the target can see: operation, answer, what is shown."""
SCOPE = "scope"


class NoEvidence(Exception):  # noqa: N818 - the word of the verdict
    """Lock-step cannot say anything of this mutant, and why."""


@dataclass(frozen=True, slots=True)
class Walked:
    """`verdict` is SCOPE, REFUTED or UNKNOWN; `scopes` are those that count."""

    verdict: str
    detail: str
    scopes: tuple[str, ...] = ()


def baseline(server: ForkServer, stages: tuple[str, ...]) -> Run:
    """The original's transcripts. Raises NoEvidence when there is one that is not whole."""
    budget = Budget(None, BASELINE_CPU_SECONDS)
    run = server.run(Order(stages, dict.fromkeys(stages, budget), len(stages), memory_bytes=MEMORY_BYTES))
    if set(_documents(run)) != set(stages):
        raise NoEvidence(f"the original has no whole transcript: {run.ended}: {run.detail}")
    return run


def walk(server: ForkServer, original: Run, module: str, mutant: CodeType, planted: CodeType) -> Walked:
    """What the mutant's transcripts say beside the original's; `planted` is the module with the change raising instead."""
    before, limits = _documents(original), budgets_of(original, least=LEAST_CPU_SECONDS)
    found = _run(server, module, mutant, limits)
    after = _documents(found)
    for stage, document in before.items():
        if stage in after and (difference := first_difference(document, after[stage])) is not None:
            return Walked(REFUTED, f"{stage}: {difference}")
    if set(after) != set(before):
        return Walked(UNKNOWN, f"its transcripts are not whole: {found.stopped or found.ended}: {found.detail}")
    if after != before:
        return Walked(UNKNOWN, "it answers and shows the same, and holds something else")
    raising = _run(server, module, planted, limits)
    shown = {stage.stage for stage in raising.stages if _shows(stage, before[stage.stage])}
    return evidence({stage: document for stage, document in before.items() if stage in shown})


def evidence(equal: Mapping[str, Mapping[str, Any]]) -> Walked:
    """SCOPE for transcripts that are equal and show the change; UNKNOWN when these are too few, or none has pages of 1 row."""
    if len(equal) < LEAST_SCOPES:
        return Walked(UNKNOWN, f"equal in {len(equal)} scopes that show the change, and {LEAST_SCOPES} are the least")
    if all(document["page_size"] != 1 for document in equal.values()):
        return Walked(UNKNOWN, "equal, but no scope that shows the change has pages of 1 row")
    return Walked(SCOPE, f"the same transcripts in {len(equal)} scopes", tuple(equal))


def first_difference(original: Mapping[str, Any], mutant: Mapping[str, Any]) -> str | None:
    """The operations that lead to the first difference that shows, and both answers; None when there is none."""
    for index, (before, after) in enumerate(zip(original["tried"], mutant["tried"], strict=False)):
        for one, other in zip(before, after, strict=False):
            if one[:SHOWN] != other[:SHOWN]:
                path = " ".join([*_path(original, index), one[0]])
                if one[1] == other[1]:
                    return f"after {path} the mutant shows another state"
                return f"after {path} the original answers {one[1]}, the mutant {other[1]}"
    return None if original["origins"] == mutant["origins"] else "one of them begins elsewhere, or shows more states"


def _path(document: Mapping[str, Any], index: int) -> list[str]:
    operations: list[str] = []
    while index > 0:
        index, operation = document["origins"][index]
        operations.append(operation)
    return operations[::-1]


def plant(source: str, path: str, at: Position) -> CodeType:
    """The module with an error raised where the statement at that place begins. Raises NoEvidence outside of a body."""
    tree = ast.parse(source)
    column = len(source.split("\n")[at.line - 1][: at.column - 1].encode())
    blocks = [
        (block, index, statement)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for parent in ast.walk(function)
        for block in (getattr(parent, name, None) for name in ("body", "orelse", "finalbody"))
        if isinstance(block, list)
        for index, statement in enumerate(block)
        if _holds(statement, at.line, column)
    ]
    block, index, statement = min(blocks, key=lambda found: _extent(found[2]), default=([], 0, None))
    if statement is None or isinstance(statement, ast.FunctionDef | ast.ClassDef):
        raise NoEvidence("the change is in no statement of a function's body: a default argument, say, that calls give")
    block.insert(index, ast.parse("raise AssertionError('planted')").body[0])
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def _holds(statement: ast.stmt, line: int, column: int) -> bool:
    end = statement.end_lineno or statement.lineno, statement.end_col_offset or statement.col_offset
    return (statement.lineno, statement.col_offset) <= (line, column) < end


def _extent(statement: ast.stmt) -> tuple[int, int]:
    """How large the statement is, in lines and, on one line, in columns."""
    return (statement.end_lineno or 0) - statement.lineno, (statement.end_col_offset or 0) - statement.col_offset


def _run(server: ForkServer, module: str, code: CodeType, limits: Mapping[str, Budget]) -> Run:
    text = base64.b64encode(marshal.dumps(code)).decode()
    stages = tuple(limits)
    return server.run(Order(stages, limits, len(stages), module=module, code=text, memory_bytes=MEMORY_BYTES))


def _shows(planted: StageRun, original: Mapping[str, Any]) -> bool:
    """Whether the planted error came up: in a transcript that is another one, or by ending it."""
    return planted.outcome == "crash" or (planted.outcome == "pass" and planted.witness != original)


def _documents(run: Run) -> dict[str, dict[str, Any]]:
    """The transcripts of the stages that came to their end."""
    return {stage.stage: stage.witness for stage in run.stages if isinstance(stage.witness, dict)}
