"""Slips in arithmetic: another operator, a term forgotten, a quotient rounded the other way, the other extreme."""

import ast
from collections.abc import Iterator

from mutants.generic.operator import Change, Operator, called, number

OTHERS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.Pow: ast.Mult,
}
"""What each operator may be taken for."""

EXTREMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


def other_operator(node: ast.AST) -> Iterator[Change]:
    """Another operator between the same terms; text is joined, and joined only."""
    if isinstance(node, ast.BinOp) and type(node.op) in OTHERS and not (_text(node.left) or _text(node.right)):
        yield node, ast.BinOp(node.left, OTHERS[type(node.op)](), node.right)


def other_augmentation(node: ast.AST) -> Iterator[Change]:
    """Another operator in an augmented assignment, or the old value forgotten."""
    if isinstance(node, ast.AugAssign):
        if type(node.op) in OTHERS:
            yield node, ast.AugAssign(node.target, OTHERS[type(node.op)](), node.value)
        yield node, ast.Assign([node.target], node.value, lineno=node.lineno)


def term_forgotten(node: ast.AST) -> Iterator[Change]:
    """One side of a sum, difference or product alone; a written number is another slip's business."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return
    if _text(node.left) or _text(node.right):
        return
    if number(node.right) is None:
        yield node, node.left
    if number(node.left) is None and not isinstance(node.op, ast.Sub):
        yield node, node.right


def other_rounding(node: ast.AST) -> Iterator[Change]:
    """A quotient rounded up instead of down, and the other way."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        if not _negated(node.left):
            negated = ast.UnaryOp(ast.USub(), node.left)
            yield node, ast.UnaryOp(ast.USub(), ast.BinOp(negated, node.op, node.right))
    elif _negated(node) and isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.BinOp):
        quotient = node.operand
        if isinstance(quotient.op, ast.FloorDiv) and isinstance(quotient.left, ast.UnaryOp) and _negated(quotient.left):
            yield node, ast.BinOp(quotient.left.operand, quotient.op, quotient.right)


def sign_forgotten(node: ast.AST) -> Iterator[Change]:
    """A sign, or the complement, forgotten before what is no written number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Invert) and number(node) is None:
        yield node, node.operand


def other_extreme(node: ast.AST) -> Iterator[Change]:
    """The least for the greatest, any for all, and the other way."""
    call = called(node, *EXTREMES)
    if call is not None and isinstance(call.func, ast.Name):
        yield call.func, ast.Name(EXTREMES[call.func.id])


def _negated(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and number(node) is None


def _text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


ARITHMETIC = (
    Operator(
        "arithmetic",
        other_operator,
        (("a + b", ("a - b",)), ("a // b", ("a % b",)), ("a << b", ("a >> b",)), ("'a' + b", ())),
    ),
    Operator(
        "augmented assignment",
        other_augmentation,
        (("a += b", ("a -= b", "a = b")), ("a |= b", ("a &= b", "a = b"))),
    ),
    Operator(
        "term forgotten", term_forgotten, (("a + b", ("a", "b")), ("a - b", ("a",)), ("2 * a", ("2",)), ("a % b", ()))
    ),
    Operator("rounding", other_rounding, (("a // b", ("-(-a // b)",)), ("-(-a // b)", ("a // b",)))),
    Operator("sign forgotten", sign_forgotten, (("-a % b", ("a % b",)), ("~a", ("a",)), ("-1", ()))),
    Operator("extreme", other_extreme, (("min(a, b)", ("max(a, b)",)), ("any(a)", ("all(a)",)))),
)
