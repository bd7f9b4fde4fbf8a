"""Slips in statements: one left out, a refusal among them, a loop left or not, another value returned."""

import ast
from collections.abc import Iterator

from mutants.generic.operator import Change, Operator


def deleted(node: ast.AST) -> Iterator[Change]:
    """A statement that changes something left out; a name that is bound just once is needed, and nobody forgets it."""
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Delete():
            yield node, ast.Pass()
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            if any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value)):
                yield node, ast.Pass()
        case ast.Assign():
            if not any(isinstance(target, ast.Tuple) for target in node.targets):
                yield node, ast.Pass()


def refusal_forgotten(node: ast.AST) -> Iterator[Change]:
    """A raise left out where it does not stand alone below a condition, which then never holds."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, [])
        alone = isinstance(node, ast.If) and name == "body" and len(block) == 1
        for statement in block if isinstance(block, list) and not alone else ():
            if isinstance(statement, ast.Raise) and statement.exc is not None:
                yield statement, ast.Pass()


def other_leap(node: ast.AST) -> Iterator[Change]:
    """Break for continue, and the other way; or neither."""
    if isinstance(node, ast.Break | ast.Continue):
        yield node, ast.Continue() if isinstance(node, ast.Break) else ast.Break()
        yield node, ast.Pass()


def other_result(node: ast.AST) -> Iterator[Change]:
    """Nothing returned; the parts of a pair in the other order."""
    if not isinstance(node, ast.Return) or node.value is None or isinstance(node.value, ast.Constant):
        return
    yield node.value, ast.Constant(None)
    if (
        isinstance(node.value, ast.Tuple)
        and len({ast.dump(part) for part in node.value.elts}) == len(node.value.elts) == 2
    ):
        yield node.value, ast.Tuple(node.value.elts[::-1], ast.Load())


def not_caught(node: ast.AST) -> Iterator[Change]:
    """One of the exceptions that are caught forgotten."""
    if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Tuple):
        kinds = node.type.elts
        for place in range(len(kinds)):
            yield node.type, ast.Tuple([*kinds[:place], *kinds[place + 1 :]], ast.Load())


STATEMENTS = (
    Operator(
        "statement deleted",
        deleted,
        (
            ("f(a)", ("pass",)),
            ("a.b = c", ("pass",)),
            ("del a[b]", ("pass",)),
            ("a -= b", ("pass",)),
            ("a = a * b", ("pass",)),
            ("a = b", ()),
        ),
    ),
    Operator(
        "refusal forgotten",
        refusal_forgotten,
        (("try: a()\nexcept b: raise c", ("try: a()\nexcept b: pass",)), ("if a: raise b", ())),
    ),
    Operator(
        "break for continue",
        other_leap,
        (
            ("while a: break", ("while a: continue", "while a: pass")),
            ("while a: continue", ("while a: break", "while a: pass")),
        ),
    ),
    Operator(
        "return value",
        other_result,
        (
            ("def f(): return a", ("def f(): return None",)),
            ("def f(): return a, b", ("def f(): return None", "def f(): return b, a")),
            ("def f(): return a, a", ("def f(): return None",)),
        ),
    ),
    Operator(
        "exception not caught",
        not_caught,
        (("try: a()\nexcept (b, c): d()", ("try: a()\nexcept (c,): d()", "try: a()\nexcept (b,): d()")),),
    ),
)
