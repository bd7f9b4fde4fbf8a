"""Slips in conditions."""

import ast
from collections.abc import Iterator

from mutants.generic.comparisons import OPPOSITES
from mutants.generic.operator import Change, Operator


def other_connective(node: ast.AST) -> Iterator[Change]:
    """And for or, and the other way."""
    if isinstance(node, ast.BoolOp):
        yield node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def condition_forgotten(node: ast.AST) -> Iterator[Change]:
    """One of the conditions that are joined left out."""
    if isinstance(node, ast.BoolOp):
        for place in range(len(node.values)):
            others = [*node.values[:place], *node.values[place + 1 :]]
            yield node, others[0] if len(others) == 1 else ast.BoolOp(node.op, others)


def negation_forgotten(node: ast.AST) -> Iterator[Change]:
    """Not left out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, node.operand


def negated(node: ast.AST) -> Iterator[Change]:
    """A condition the other way round, unless another operator does just that."""
    for test in _tests(node):
        turned = isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in OPPOSITES
        if not turned and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            yield test, ast.UnaryOp(ast.Not(), test)


def never(node: ast.AST) -> Iterator[Change]:
    """What is done on a condition is never done."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield node.test, ast.Constant(False)


def always(node: ast.AST) -> Iterator[Change]:
    """What is done on a condition is always done; not a refusal, which nothing would get past."""
    for test in _tests(node):
        refusal = isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)
        if not refusal and not isinstance(node, ast.While):
            yield test, ast.Constant(True)


def _tests(node: ast.AST) -> list[ast.expr]:
    """The conditions of the node itself."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return [node.test]
    if isinstance(node, ast.comprehension):
        return node.ifs
    return [node.guard] if isinstance(node, ast.match_case) and node.guard is not None else []


CONDITIONS = (
    Operator("and for or", other_connective, (("a and b", ("a or b",)), ("a or b or c", ("a and b and c",)))),
    Operator(
        "condition forgotten",
        condition_forgotten,
        (("a and b", ("b", "a")), ("a or b or c", ("b or c", "a or c", "a or b"))),
    ),
    Operator("not forgotten", negation_forgotten, (("not a", ("a",)),)),
    Operator(
        "condition negated",
        negated,
        (
            ("if a < b: c()", ("if not a < b: c()",)),
            ("[a for a in b if a]", ("[a for a in b if not a]",)),
            ("if a == b: c()", ()),
            ("while not a: b()", ()),
        ),
    ),
    Operator("never", never, (("if a: b()", ("if False: b()",)), ("while a: b()", ("while False: b()",)))),
    Operator(
        "always",
        always,
        (("if a: b()", ("if True: b()",)), ("b if a else c", ("b if True else c",)), ("if a: raise b", ())),
    ),
)
