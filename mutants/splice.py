"""Make a mutant: match its pattern in the syntax tree, splice the change into the source, prove that the two agree.

The pattern matches by structure, so comments and layout do not matter, but it must match exactly once: a pattern that
fits nowhere or twice is a stale mutant, and a stale mutant must never count as a kill. The splice keeps the rest of the
file byte for byte, so that line numbers in tracebacks and the diff in the report are the original's.
"""

import ast
import difflib
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from mutants.mutant import Mutant
from mutants.unit import Unit


class DoesNotApply(Exception):  # noqa: N818 - the word of the report: the mutant does not apply
    """The pattern does not match exactly once, or its change cannot be spliced."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a file: line and column in characters, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Spliced:
    """The mutated module: its whole source, what replaced what and where, and the unified diff.

    `tree` is that of the whole module or, with a unit, of that unit alone, as Unit.alone has it.
    """

    source: str
    tree: ast.Module = field(repr=False, compare=False)
    start: Position
    end: Position
    replacement: str
    diff: str
    unit: Unit | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """One match: the list or field of the parent that holds it, and the nodes matched."""

    parent: ast.AST
    field: str
    index: int | None
    nodes: tuple[ast.stmt | ast.expr, ...]


def splice(source: str, path: str, mutant: Mutant) -> Spliced:
    """The module with the mutant in it; raises DoesNotApply."""
    tree = ast.parse(source)
    before, after = _pattern(mutant.before), _pattern(mutant.after)
    if isinstance(before, ast.expr) != isinstance(after, ast.expr):
        before, after = ast.parse(mutant.before).body, ast.parse(mutant.after).body
    hits = list(_hits(_function(tree, mutant.function), before))
    if len(hits) != 1:
        where = f"{mutant.module}.{mutant.function}"
        raise DoesNotApply(f"{mutant.before!r} matches {len(hits)} times in {where}, not once")
    hit = hits[0]
    first, last = hit.nodes[0], hit.nodes[-1]
    start = _offset(source, first.lineno, first.col_offset)
    end = _offset(source, last.end_lineno or last.lineno, last.end_col_offset or last.col_offset)
    _replace(hit, after)
    wanted = ast.dump(tree)
    for text in spellings(mutant.after, first.col_offset, isinstance(after, ast.expr)):
        mutated = (source.encode()[:start] + text.encode() + source.encode()[end:]).decode()
        parsed = _parse(mutated)
        if parsed is not None and ast.dump(parsed) == wanted:
            place = _position(source, start), _position(source, end)
            return Spliced(mutated, parsed, *place, text, _diff(source, mutated, path))
    raise DoesNotApply("the splice does not parse as the transformed tree")


def _pattern(text: str) -> ast.expr | list[ast.stmt]:
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise DoesNotApply(f"{text!r} is no pattern: {error}") from error
    if not body:
        raise DoesNotApply("an empty pattern matches nothing; delete a statement with `pass`")
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else body


def _function(tree: ast.Module, qualified: str) -> ast.AST:
    """The function of that qualified name: classes and functions along the way."""
    scope: ast.AST = tree
    for name in qualified.split("."):
        kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        named = [node for node in getattr(scope, "body", ()) if isinstance(node, kinds) and node.name == name]
        if len(named) != 1:
            raise DoesNotApply(f"{qualified}: {len(named)} definitions of {name}, not one")
        scope = named[0]
    return scope


def _hits(function: ast.AST, pattern: ast.expr | list[ast.stmt]) -> Iterator[Hit]:
    """Every place of the function where the pattern matches."""
    for parent in ast.walk(function):
        for name, value in ast.iter_fields(parent):
            if isinstance(pattern, ast.expr):
                yield from _expression_hits(parent, name, value, ast.dump(pattern))
            elif isinstance(value, list):
                yield from _statement_hits(parent, name, value, [ast.dump(node) for node in pattern])


def _expression_hits(parent: ast.AST, field: str, value: object, wanted: str) -> Iterator[Hit]:
    if isinstance(value, ast.expr) and ast.dump(value) == wanted:
        yield Hit(parent, field, None, (value,))
    if isinstance(value, list):
        for index, node in enumerate(value):
            if isinstance(node, ast.expr) and ast.dump(node) == wanted:
                yield Hit(parent, field, index, (node,))


def _statement_hits(parent: ast.AST, field: str, value: list[object], wanted: list[str]) -> Iterator[Hit]:
    for index in range(len(value) - len(wanted) + 1):
        run = tuple(node for node in value[index : index + len(wanted)] if isinstance(node, ast.stmt))
        if [ast.dump(node) for node in run] == wanted:
            yield Hit(parent, field, index, run)


def _replace(hit: Hit, after: ast.expr | list[ast.stmt]) -> None:
    """Put `after` where the hit is, in the tree."""
    if isinstance(after, list):
        assert hit.index is not None
        getattr(hit.parent, hit.field)[hit.index : hit.index + len(hit.nodes)] = after
    elif hit.index is not None:
        getattr(hit.parent, hit.field)[hit.index] = after
    else:
        setattr(hit.parent, hit.field, after)


def spellings(after: str, column: int, expression: bool) -> Iterator[str]:
    """The change as text to splice in: statements indented to the column; an expression also with parentheses."""
    if expression:
        yield after.strip()
        yield f"({after.strip()})"
    else:
        yield textwrap.indent(textwrap.dedent(after).strip(), " " * column).lstrip()


def _parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _offset(source: str, line: int, column: int) -> int:
    """Byte offset of a place that the parser names: lines from 1, columns in UTF-8 bytes."""
    return sum(len(text.encode()) + 1 for text in source.split("\n")[: line - 1]) + column


def _position(source: str, offset: int) -> Position:
    head = source.encode()[:offset].decode()
    return Position(head.count("\n") + 1, len(head) - head.rfind("\n"))


def _diff(source: str, mutated: str, path: str) -> str:
    lines = source.split("\n"), mutated.split("\n")
    return "\n".join(difflib.unified_diff(*lines, f"a/{path}", f"b/{path}", n=2, lineterm=""))
