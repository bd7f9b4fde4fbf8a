"""Comparison over all paths: CrossHair takes both versions of a function through every path, or ends with an example.

A proof takes CrossHair's words that it confirmed the contract over all paths; a refutation takes arguments on which the
real versions, called without it, answer differently. Everything else is unknown, a search that ran out of time included.
"""

import importlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

from mutants.equivalence.claim import Claim
from mutants.equivalence.two_versions import (
    MUTANT,
    ORIGINAL,
    NotComparable,
    check_body_alone_differs,
    contract,
    load,
)
from verify.sandbox import Limits, die_with, run_limited

CPU_SECONDS = 60.0
LOADING_SECONDS = 30.0
MEMORY_BYTES = 2 << 30
WALL_FOR_CPU = 10

PROVED, REFUTED, UNKNOWN = "proved", "refuted", "unknown"


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim with the two sources of its module that are compared, by a name for the table of results."""

    name: str
    claim: Claim
    original: str
    mutated: str
    cpu_seconds: float = CPU_SECONDS


@dataclass(frozen=True, slots=True)
class Compared:
    """`verdict` is PROVED, REFUTED or UNKNOWN; `detail` has CrossHair's words, or the call with both answers."""

    verdict: str
    detail: str
    cpu_seconds: float


def compare(pair: Pair) -> Compared:
    """What a comparison comes to, in a child of this process under limits of CPU and memory."""
    try:
        if pair.original != pair.mutated:
            check_body_alone_differs(pair.original, pair.mutated, pair.claim.function)
    except NotComparable as error:
        return Compared(UNKNOWN, str(error), 0.0)
    cpu = pair.cpu_seconds + LOADING_SECONDS
    ended = run_limited(lambda: search(pair), Limits(cpu, MEMORY_BYTES, WALL_FOR_CPU * cpu))
    match ended.value:
        case {"verdict": "proved" | "refuted" | "unknown" as verdict, "detail": str(detail)}:
            return Compared(verdict, detail, ended.cpu_seconds)
    return Compared(UNKNOWN, f"{ended.kind}: {ended.detail}", ended.cpu_seconds)


def search(pair: Pair) -> dict[str, object]:
    """Compare in this process, for JSON; it is of no use for anything else after."""
    # Here alone: it brings every contract along, and the gate does without it.
    from verify.contracts.runner import CONFIRMED, counterexample, messages

    claim = pair.claim
    importlib.import_module(claim.module)  # what it imports must be whole before a second version of it is
    original, mutant = (
        load(source, f"{claim.module} {version}", as_parts=True)
        for version, source in ((ORIGINAL, pair.original), (MUTANT, pair.mutated))
    )
    made = contract(claim, original, mutant)
    said = messages(made, pair.cpu_seconds)
    words = " ".join(said) or "it finds no condition"
    if said == [CONFIRMED]:
        return {"verdict": PROVED, "detail": words}
    arguments = counterexample(made, words)
    difference = None if arguments is None else answers(pair, arguments)
    if difference is None:
        return {"verdict": UNKNOWN, "detail": words}
    return {"verdict": REFUTED, "detail": difference}


def answers(pair: Pair, arguments: Mapping[str, object]) -> str | None:
    """How the real versions differ on arguments that meet what is given, in one line; None when they do not."""
    claim = pair.claim
    if not all(eval(clause, {}, dict(arguments)) for clause in claim.given):
        return None
    original, mutant = (
        load(source, f"{claim.module} {version} as it is", as_parts=False)
        for version, source in ((ORIGINAL, pair.original), (MUTANT, pair.mutated))
    )
    before, after = contract(claim, original, mutant, (Exception,))(**arguments)
    if before == after:
        return None
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{claim.function}({given}): the original {_said(before)}, the mutant {_said(after)}"


def _said(outcome: Sequence[object]) -> str:
    match outcome:
        case ["raises", str(kind), arguments]:
            return f"raises {kind}({', '.join(map(repr, _plain(arguments)))})"
        case ["returns", value]:
            return f"returns {_plain(value)!r}"
    raise TypeError(f"{outcome!r} is no outcome")


def _plain(part: Any) -> Any:
    """A typed value without its types."""
    kind, value = part
    return tuple(map(_plain, value)) if kind in ("tuple", "list") else value


def compare_all(pairs: Sequence[Pair], workers: int = 1) -> dict[str, Compared]:
    """Every comparison by its name, in workers that load CrossHair once for the children that search."""
    if not pairs:
        return {}
    with get_context("fork").Pool(workers, _start, (os.getpid(),)) as pool:
        return dict(zip([pair.name for pair in pairs], pool.map(compare, pairs, chunksize=1), strict=True))


def _start(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)
    import crosshair.core_and_libs  # noqa: F401

    import verify.contracts.runner  # noqa: F401


def controls(pair: Pair) -> tuple[Pair, Pair]:
    """The original against itself, to be proved, and against itself with every answer off by one, to be refuted."""
    itself = replace(pair, name=f"{pair.claim.name} itself", mutated=pair.original)
    off = replace(pair.claim, call=f"off({pair.claim.call}, {{m}})")
    return itself, replace(itself, name=f"{pair.claim.name} off by one", claim=off)
