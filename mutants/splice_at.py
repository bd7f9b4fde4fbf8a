"""Make a mutant that names its place: put its text there, and prove on the unit around it that nothing else has changed.

A run has thousands of such mutants, so what does not depend on the mutant is worked out once a module.
"""

import ast
from bisect import bisect_right
from collections.abc import Sequence

from mutants.mutant import Mutant
from mutants.splice import DoesNotApply, Position, Spliced, spellings
from mutants.unit import Layout, Span, Unit, layout, parts

CONTEXT = 2  # lines around a change in a diff


def splice_at(source: str, path: str, mutant: Mutant) -> Spliced:
    """The module with the mutant in it, one expression or one statement in the place of another; raises DoesNotApply."""
    start, end = mutant.at or (0, 0)
    module = layout(source)
    if module.source[start:end] != mutant.before.encode():
        raise DoesNotApply(f"bytes {start} .. {end} of {mutant.module} are not {mutant.before!r}")
    unit = module.unit_at(start, end)
    if unit is None:
        raise DoesNotApply(f"bytes {start} .. {end} of {mutant.module} are in no one statement")
    first, last = module.starts[unit.first - 1], module.end_of(unit)
    span = span_at(module, start, end)
    after = _one(mutant.after)
    for text in spellings(mutant.after, span[1], isinstance(after, ast.expr)):
        lines = module.source[first:start] + text.encode() + module.source[end:last]
        tree = _proven(module, unit, lines.decode(), span, after)
        if tree is not None:
            mutated = (module.source[:first] + lines + module.source[last:]).decode()
            places = _position(module, start), _position(module, end)
            return Spliced(mutated, tree, *places, text, _diff(module, span, text, path), unit)
    raise DoesNotApply("the splice does not parse as the transformed tree")


def _one(text: str) -> ast.expr | ast.stmt:
    """The one expression or statement that the text is."""
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise DoesNotApply(f"{text!r} is no change: {error}") from error
    if len(body) != 1:
        raise DoesNotApply(f"{text!r} is {len(body)} statements, not one")
    return body[0].value if isinstance(body[0], ast.Expr) else body[0]


def _proven(module: Layout, unit: Unit, text: str, span: Span, after: ast.expr | ast.stmt) -> ast.Module | None:
    """The tree of the unit with this text, when it is the original's with `after` where the span is, and nothing else."""
    original = "\n".join((*module.lines[unit.first - 1 : unit.last], ""))
    tree, places = parts(unit.alone(original))
    kind = ast.expr if isinstance(after, ast.expr) else ast.stmt
    replaced = next((node for node in places.get(span, ()) if isinstance(node, kind)), None)
    if replaced is None:
        return None
    if hasattr(replaced, "ctx") and hasattr(after, "ctx"):
        after.ctx = replaced.ctx  # the text of a target alone reads like a value
    try:
        parsed = ast.parse(unit.alone(text))
    except SyntaxError:
        return None
    return parsed if _same(tree, parsed, replaced, after) else None


def _same(old: object, new: object, replaced: ast.AST, after: ast.AST) -> bool:
    """Whether the new tree is the old one with `after` in the place of a node of it."""
    if old is replaced:
        old = after
    if old.__class__ is not new.__class__:
        return False
    if isinstance(old, ast.AST):
        return all(
            _same(getattr(old, name, None), getattr(new, name, None), replaced, after) for name in old.__class__._fields
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(_same(*pair, replaced, after) for pair in zip(old, new, strict=True))
    return old == new


def span_at(module: Layout, start: int, end: int) -> Span:
    """Where these bytes of the module stand."""
    first, last = bisect_right(module.starts, start), bisect_right(module.starts, end)
    return first, start - module.starts[first - 1], last, end - module.starts[last - 1]


def _position(module: Layout, place: int) -> Position:
    line = bisect_right(module.starts, place)
    return Position(line, len(module.source[module.starts[line - 1] : place].decode()) + 1)


def _diff(module: Layout, span: Span, text: str, path: str) -> str:
    """The change as a unified diff of one hunk."""
    first, column, last, behind = span
    head = module.lines[first - 1].encode()[:column].decode()
    tail = module.lines[last - 1].encode()[behind:].decode()
    old, new = list(module.lines[first - 1 : last]), f"{head}{text}{tail}".split("\n")
    before = module.lines[max(0, first - 1 - CONTEXT) : first - 1]
    after = module.lines[last : last + CONTEXT]
    hunk = f"@@ -{_range(first, before, old, after)} +{_range(first, before, new, after)} @@"
    changed = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    kept = [f" {line}" for line in before], [f" {line}" for line in after]
    return "\n".join((f"--- a/{path}", f"+++ b/{path}", hunk, *kept[0], *changed, *kept[1]))


def _range(first: int, before: Sequence[str], changed: Sequence[str], after: Sequence[str]) -> str:
    return f"{first - len(before)},{len(before) + len(changed) + len(after)}"
