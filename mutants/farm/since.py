"""Which mutants touch what has changed since a revision: the function, or the top-level statement, that they are in."""

import ast
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import click

from mutants.mutant import Mutant

Lines = list[tuple[int, int]]
"""Changed places of a file as (first, last) line; last is first - 1 where lines were only taken out before the first."""

HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def touched_since(revision: str, mutants: Iterable[Mutant], root: Path) -> tuple[Mutant, ...]:
    """The mutants whose function, or top-level statement outside functions, differs from the revision's, in their order.

    Raises UsageError when git knows no such revision.
    """
    changes: dict[str, Lines | None] = {}
    trees: dict[str, tuple[bytes, ast.Module]] = {}
    chosen: list[Mutant] = []
    for mutant in mutants:
        if mutant.module not in trees:
            file = _file(root, mutant.module)
            text = (root / file).read_bytes() if file else b""
            trees[mutant.module] = text, ast.parse(text)
            changes[mutant.module] = _changes(root, revision, file) if file else None
        lines = changes[mutant.module]
        if lines is None or (lines and _touches(lines, *_place(mutant, *trees[mutant.module]))):
            chosen.append(mutant)
    return tuple(chosen)


def _file(root: Path, module: str) -> Path | None:
    """The module's file relative to the root; None when it has none, and making its mutants will say so."""
    path = Path(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if (root / file).is_file()), None)


def _changes(root: Path, revision: str, file: Path) -> Lines | None:
    """Where the file differs from the revision's; None when that has no such file."""
    found = _git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if found.returncode:
        raise click.UsageError(f"--since: git knows no revision {revision!r} here")
    if _git(root, "cat-file", "-e", f"{revision}:./{file}").returncode:
        return None
    diff = _git(root, "diff", "-U0", "--no-color", "--no-ext-diff", revision, "--", str(file)).stdout
    hunks = ((int(first), int(count or 1)) for first, count in HUNK.findall(diff))
    # A hunk without new lines names the line before the gap.
    return [(first, first + count - 1) if count else (first + 1, first) for first, count in hunks]


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise click.UsageError("--since needs git") from None


def _place(mutant: Mutant, text: bytes, tree: ast.Module) -> tuple[int, int]:
    """First and last line of the mutant's function, decorators included, or of its top-level statement."""
    scope: ast.AST = tree
    for name in mutant.function.replace("<locals>.", "").split(".") if mutant.function else ():
        inside = (node for node in ast.walk(scope) if node is not scope and getattr(node, "name", None) == name)
        kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        scope = next((node for node in inside if isinstance(node, kinds)), scope)
    at = getattr(mutant, "at", None)
    if scope is tree and at is not None:
        line = text[: at[0]].count(b"\n") + 1
        scope = next((node for node in tree.body if _lines(node)[0] <= line <= _lines(node)[1]), tree)
    return _lines(scope) if isinstance(scope, ast.stmt) else (1, text.count(b"\n") + 1)


def _lines(node: ast.stmt) -> tuple[int, int]:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)]), node.end_lineno or node.lineno


def _touches(lines: Lines, first: int, last: int) -> bool:
    """Whether a change lies in those lines; a gap counts when it has some of them on both sides."""
    return any(begin <= last and first <= end for begin, end in lines)
