"""Slips in written numbers, defaults among them: one too many, one too few, a flag the other way."""

import ast
from collections.abc import Iterator

from mutants.generic.operator import Change, Operator, number


def one_off(node: ast.AST) -> Iterator[Change]:
    """One more and one less; below 0 only what was below 0."""
    value = number(node)
    if value is not None and isinstance(node, ast.expr):
        for other in (value + 1, value - 1):
            if other >= 0 or value < 0:
                yield node, ast.Constant(other)


def other_flag(node: ast.AST) -> Iterator[Change]:
    """True for False, and the other way."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, ast.Constant(not node.value)


def other_scale(node: ast.AST) -> Iterator[Change]:
    """Twice the float; 1 for 0."""
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield node, ast.Constant(2 * node.value or 1.0)


CONSTANTS = (
    Operator(
        "constant",
        one_off,
        (("f(a, 2)", ("f(a, 3)", "f(a, 1)")), ("a = 0", ("a = 1",)), ("a[-1]", ("a[0]", "a[-2]")), ("a = True", ())),
    ),
    Operator("flag", other_flag, (("def f(a=False): ...", ("def f(a=True): ...",)), ("1", ()))),
    Operator("scale", other_scale, (("0.5 * a", ("1.0 * a",)), ("a = 0.0", ("a = 1.0",)))),
)
