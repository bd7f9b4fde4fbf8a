"""Make the mutants of a run: splice, compile, and set aside those that are no new program.

A mutant that compiles to the original's instructions is equivalent, proved by identity; one that compiles to those of an
earlier mutant which goes through the same stages is a duplicate. Neither needs a child.
"""

import marshal
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import CodeType

from mutants.client import Source
from mutants.held import compile_module, within
from mutants.mutant import Mutant, Project
from mutants.splice import DoesNotApply, Spliced, splice
from mutants.verdicts import Status, Verdict

ORIGINAL = "the original"
Programs = dict[tuple[str, bytes, tuple[str, ...]], str]
"""Module, instructions and stages -> the first to make them: a mutant's id, or ORIGINAL, which has no stages of its own."""


@dataclass(frozen=True, slots=True)
class Made:
    """A mutant's code, or the verdict that it gets without a run; `spliced` is None only when it does not apply."""

    spliced: Spliced | None
    code: CodeType | None = None
    verdict: Verdict | None = None


def make(mutants: Iterable[Mutant], sources: Mapping[str, Source], project: Project) -> dict[str, Made]:
    """Every mutant by its id, from the sources that the server holds; only modules of the subject can be mutated."""
    programs: Programs = {}
    for module, source in sources.items():
        if within(module, project.subject):
            code = compile_module(source.source, os.path.join(project.root, source.path))
            programs[module, instructions(code), ()] = ORIGINAL
    return {mutant.id: _make(mutant, sources, project, programs) for mutant in mutants}


def instructions(code: CodeType) -> bytes:
    """What the code runs, on which constants; where its source stands does not count."""
    # Version 2 of the format has no back references: equal code gives equal bytes.
    return marshal.dumps(_without_places(code), 2)


def _without_places(code: CodeType) -> CodeType:
    constants = tuple(_without_places(value) if isinstance(value, CodeType) else value for value in code.co_consts)
    return code.replace(co_consts=constants, co_linetable=b"", co_firstlineno=1)


def _make(mutant: Mutant, sources: Mapping[str, Source], project: Project, programs: Programs) -> Made:
    source = sources.get(mutant.module)
    if source is None or not within(mutant.module, project.subject):
        why = f"{mutant.module} is no module of {', '.join(project.subject)}"
        return Made(None, verdict=Verdict(Status.INVALID_APPLY, why, {}, ""))
    try:
        spliced = splice(source.source, source.path, mutant)
    except DoesNotApply as error:
        return Made(None, verdict=Verdict(Status.INVALID_APPLY, str(error), {}, ""))
    try:
        code = compile(spliced.tree, os.path.join(project.root, source.path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
        return Made(spliced, verdict=Verdict(Status.INVALID_COMPILE, why, {}, ""))
    made = instructions(code)
    stages = project.stages_of(mutant.family)
    maker = programs.get((mutant.module, made, ())) or programs.setdefault((mutant.module, made, stages), mutant.id)
    if maker == mutant.id:
        return Made(spliced, code)
    status = Status.EQUIVALENT_BYTECODE if maker == ORIGINAL else Status.DUPLICATE
    return Made(spliced, verdict=Verdict(status, f"the same instructions as {maker}", {}, ""))
