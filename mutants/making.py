"""Make the mutants of a run: splice, compile, and set aside those that are no new program.

A mutant that compiles to the original's instructions is equivalent, proved by identity; one that compiles to those of an
earlier mutant which goes through the same stages is a duplicate. Neither needs a child.
"""

import hashlib
import marshal
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import CodeType

from mutants.client import Source
from mutants.held import compile_module, within
from mutants.mutant import Mutant, Project
from mutants.splice import DoesNotApply, Spliced, splice
from mutants.splice_at import splice_at
from mutants.unit import swapped
from mutants.verdicts import Status, Verdict

ORIGINAL = "the original"
Programs = dict[tuple[str, bytes, tuple[str, ...]], str]
"""Module, digest of its instructions and stages -> the first to make them: a mutant's id, or ORIGINAL, which has no stages."""


@dataclass(frozen=True, slots=True)
class Made:
    """A mutant's code, or the verdict that it gets without a run; `spliced` is None only when it does not apply."""

    spliced: Spliced | None
    code: CodeType | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Original:
    """A module as it is: its source, its code, and that code without its places."""

    source: Source
    code: CodeType
    bare: CodeType


def make(mutants: Iterable[Mutant], sources: Mapping[str, Source], project: Project) -> dict[str, Made]:
    """Every mutant by its id, from the sources that the server holds; only modules of the subject can be mutated."""
    programs: Programs = {}
    originals: dict[str, Original] = {}
    for module, source in sources.items():
        if within(module, project.subject):
            code = compile_module(source.source, os.path.join(project.root, source.path))
            originals[module] = Original(source, code, _without_places(code))
            programs[module, _digest(originals[module].bare), ()] = ORIGINAL
    return {mutant.id: _make(mutant, originals, project, programs) for mutant in mutants}


def instructions(code: CodeType) -> bytes:
    """What the code runs, on which constants; where its source stands does not count."""
    # Version 2 of the format has no back references: equal code gives equal bytes.
    return marshal.dumps(_without_places(code), 2)


def _without_places(code: CodeType) -> CodeType:
    constants = tuple(_without_places(value) if isinstance(value, CodeType) else value for value in code.co_consts)
    return code.replace(co_consts=constants, co_linetable=b"", co_firstlineno=1)


def _digest(bare: CodeType) -> bytes:
    return hashlib.sha256(marshal.dumps(bare, 2)).digest()


def _make(mutant: Mutant, originals: Mapping[str, Original], project: Project, programs: Programs) -> Made:
    original = originals.get(mutant.module)
    if original is None:
        why = f"{mutant.module} is no module of {', '.join(project.subject)}"
        return Made(None, verdict=Verdict(Status.INVALID_APPLY, why, {}, ""))
    splicing = splice if mutant.at is None else splice_at
    try:
        spliced = splicing(original.source.source, original.source.path, mutant)
    except DoesNotApply as error:
        return Made(None, verdict=Verdict(Status.INVALID_APPLY, str(error), {}, ""))
    try:
        code, bare = _compiled(spliced, original)
    except (SyntaxError, ValueError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
        return Made(spliced, verdict=Verdict(Status.INVALID_COMPILE, why, {}, ""))
    made = _digest(bare)
    stages = project.stages_of(mutant.family)
    maker = programs.get((mutant.module, made, ())) or programs.setdefault((mutant.module, made, stages), mutant.id)
    if maker == mutant.id:
        return Made(spliced, code)
    status = Status.EQUIVALENT_BYTECODE if maker == ORIGINAL else Status.DUPLICATE
    return Made(spliced, verdict=Verdict(status, f"the same instructions as {maker}", {}, ""))


def _compiled(spliced: Spliced, original: Original) -> tuple[CodeType, CodeType]:
    """The mutated module's code, with and without its places."""
    name = original.code.co_filename
    function = _function(spliced, original)
    if function is not None:
        places, code = function
        return swapped(original.code, places, code), swapped(original.bare, places, _without_places(code))
    whole = spliced.tree if spliced.unit is None else spliced.source
    code = compile(whole, name, "exec", dont_inherit=True)
    return code, _without_places(code)


def _function(spliced: Spliced, original: Original) -> tuple[tuple[int, ...], CodeType] | None:
    """Where the mutated function's code belongs in the module's, and that code, when it is all of the module that changes.

    More changes when the lines behind the function move, and when it closes over other names of its class.
    """
    unit = spliced.unit
    if unit is None or not unit.stands_alone or "\n" in spliced.replacement or spliced.start.line != spliced.end.line:
        return None
    places = unit.places(original.code)
    code = unit.code_of(compile(spliced.tree, original.code.co_filename, "exec", dont_inherit=True))
    if places is None or code is None:
        return None
    before = original.code
    for place in places:
        before = before.co_consts[place]
    return (places, code) if code.co_freevars == before.co_freevars else None
