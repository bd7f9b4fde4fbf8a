"""Slips in calls: neighbours among the arguments swapped, one that has a default left out."""

import ast
from collections.abc import Iterator

from mutants.generic.operator import Change, Operator, called

IN_ANY_ORDER = ("min", "max", "isinstance", "range", "cast")
METHODS_IN_ANY_ORDER = frozenset({"minimum", "maximum", "swapaxes"})
"""What does the same, or nothing sensible, with its arguments swapped; methods by their names."""


def swapped(node: ast.AST) -> Iterator[Change]:
    """Two arguments next to each other, each in the place of the other."""
    if not isinstance(node, ast.Call) or called(node, *IN_ANY_ORDER):
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS_IN_ANY_ORDER:
        return
    for place in range(len(node.args) - 1):
        first, second = node.args[place : place + 2]
        written = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
        if not written and ast.dump(first) != ast.dump(second):
            arguments = [*node.args[:place], second, first, *node.args[place + 2 :]]
            yield node, ast.Call(node.func, arguments, node.keywords)


def dropped(node: ast.AST) -> Iterator[Change]:
    """An argument that is given by name left out."""
    for place, keyword in enumerate(node.keywords if isinstance(node, ast.Call) else ()):
        if isinstance(node, ast.Call) and keyword.arg is not None:
            yield node, ast.Call(node.func, node.args, [*node.keywords[:place], *node.keywords[place + 1 :]])


CALLS = (
    Operator(
        "arguments swapped",
        swapped,
        (("f(a, b, c)", ("f(b, a, c)", "f(a, c, b)")), ("min(a, b)", ()), ("np.maximum(a, b)", ()), ("f(*a, b)", ())),
    ),
    Operator("argument forgotten", dropped, (("f(a, b=c)", ("f(a)",)), ("f(**a)", ()))),
)
