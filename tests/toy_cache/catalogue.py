"""Mistakes in the stack: one for each way in which a run can end."""

from pathlib import Path

from mutants.mutant import Mutant, Project

PROJECT = Project(
    root=str(Path(__file__).parents[2]),
    subject=("tests.toy_cache.stack",),
    checks=("tests.toy_cache.suite", "tests.toy_cache.ledger"),
    oracle=(),
    suite="tests.toy_cache.suite",
    stages=("witness", "exhaustive", "unit"),
)


WHOLE = "page = self.free[-1]\ndel self.free[-1]"


def in_take(name: str, after: str, *rules: str, before: str = WHOLE) -> Mutant:
    """A mutant of Stack.take that must break all of these rules, or any rule when none is named."""
    expected = (frozenset(rules),) if rules else ()
    return Mutant(name, f"take: {after}", "toy", "tests.toy_cache.stack", "Stack.take", before, after, expected)


MUTANTS = (
    in_take("bottom", "page = self.free.pop(0)", "TOY-ORDER"),
    in_take("copy", "page = self.free[-1]", "TOY-TAKE"),
    in_take("wrong rule", "page = self.free[-1]", "TOY-ORDER"),
    in_take("spins", "while True: pass"),
    in_take("stale", "page = 0", before="page = self.free[-2]"),
)
NO_OP = in_take("no-op", "page = self.free.pop()")
BROKEN = in_take("broken", "page = 0")
