"""Slips in comparisons."""

import ast
from collections.abc import Iterator

from mutants.generic.operator import Change, Operator

BOUNDARIES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def other_boundary(node: ast.AST) -> Iterator[Change]:
    """The bound taken in, or left out."""
    return _with_operators(node, BOUNDARIES)


def opposite(node: ast.AST) -> Iterator[Change]:
    """Equality, identity and membership turned round; an order turned round is a condition negated."""
    return _with_operators(node, OPPOSITES)


def _with_operators(node: ast.AST, others: dict[type[ast.cmpop], type[ast.cmpop]]) -> Iterator[Change]:
    for place, found in enumerate(node.ops if isinstance(node, ast.Compare) else ()):
        if isinstance(node, ast.Compare) and type(found) in others:
            ops = [*node.ops[:place], others[type(found)](), *node.ops[place + 1 :]]
            yield node, ast.Compare(node.left, ops, node.comparators)


COMPARISONS = (
    Operator(
        "boundary",
        other_boundary,
        (("a < b", ("a <= b",)), ("0 <= lo <= hi", ("0 < lo <= hi", "0 <= lo < hi")), ("a == b", ())),
    ),
    Operator(
        "opposite comparison",
        opposite,
        (("a == b", ("a != b",)), ("a is not None", ("a is None",)), ("a in b", ("a not in b",)), ("a < b", ())),
    ),
)
