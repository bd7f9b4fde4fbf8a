"""Slips in sequences: the other end, another order, a bound that is one off or forgotten, the same one instead of a copy."""

import ast
from collections.abc import Iterator

from mutants.generic.operator import Change, Operator, called, number, plus

FULL = ast.Slice()
UNUSED = "_"
"""The name of what a loop does not look at."""


def other_end(node: ast.AST) -> Iterator[Change]:
    """The first for the last, and the other way: of items, of slices, and of where something is put or taken from."""
    match node:
        case ast.Subscript(slice=ast.Slice(lower=lower, upper=upper, step=None)):
            if lower is not None and upper is None and number(lower) is not None:
                yield node, _sliced(node, None, ast.Constant(-(number(lower) or 0)))
            if upper is not None and lower is None and number(upper) is not None:
                yield node, _sliced(node, ast.Constant(-(number(upper) or 0)), None)
        case ast.Subscript(slice=index) if number(index) in (0, -1):
            yield index, ast.Constant(-1 - (number(index) or 0))
        case ast.Call(func=ast.Attribute(value=held, attr="append"), args=[item], keywords=[]):
            yield node, _method(held, "insert", ast.Constant(0), item)
        case ast.Call(func=ast.Attribute(value=held, attr="pop"), args=[], keywords=[]):
            yield node, _method(held, "pop", ast.Constant(0))
        case ast.Call(func=ast.Attribute(value=held, attr="pop"), args=[index], keywords=[]) if number(index) == 0:
            yield node, _method(held, "pop")
        case ast.Call(func=ast.Attribute(value=held, attr="popleft"), args=[]):
            yield node, _method(held, "pop")


def other_order(node: ast.AST) -> Iterator[Change]:
    """The other way round, where the order can be turned and what is walked is looked at; and an order forgotten."""
    if isinstance(node, ast.For | ast.ListComp):
        loop = node if isinstance(node, ast.For) else node.generators[0]
        walked, looked_at = loop.iter, not (isinstance(loop.target, ast.Name) and loop.target.id == UNUSED)
        turns = isinstance(walked, ast.Name | ast.Attribute | ast.Subscript) or called(walked, "range")
        if looked_at and turns:
            yield walked, ast.Call(ast.Name("reversed"), [walked], [])
    call = called(node, "reversed", "sorted")
    if call is not None and len(call.args) == 1:
        yield call, call.args[0]


def bound_off(node: ast.AST) -> Iterator[Change]:
    """A bound of a slice or of a range one off, or of a slice forgotten; a written number is another slip's business."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        lower, upper, step = node.slice.lower, node.slice.upper, node.slice.step
        for bound in (lower, upper):
            if bound is not None and number(bound) is None:
                yield bound, plus(bound, -1 if bound is upper else 1)
        if lower is not None:
            yield node, _sliced(node, None, upper, step)
        if upper is not None:
            yield node, _sliced(node, lower, None, step)
        if step is not None:
            yield node, _sliced(node, lower, upper)
    call = called(node, "range")
    if call is not None and not any(isinstance(argument, ast.Starred) for argument in call.args):
        *before, last = call.args[:2]
        if number(last) is None:
            yield last, plus(last, -1)
            yield last, plus(last, 1)
        if not before:
            yield call, ast.Call(call.func, [ast.Constant(1), last], [])
        elif number(before[0]) is None:
            yield before[0], plus(before[0], 1)


def copy_forgotten(node: ast.AST) -> Iterator[Change]:
    """The same one instead of a copy."""
    match node:
        case ast.Call(func=ast.Attribute(value=copied, attr="copy"), args=[], keywords=[]):
            yield node, copied
        case ast.Subscript(value=copied, slice=ast.Slice(lower=None, upper=None, step=None), ctx=ast.Load()):
            yield node, copied


def _sliced(
    node: ast.Subscript, lower: ast.expr | None, upper: ast.expr | None, step: ast.expr | None = None
) -> ast.expr:
    return ast.Subscript(node.value, ast.Slice(lower, upper, step), node.ctx)


def _method(held: ast.expr, name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(held, name, ast.Load()), list(arguments), [])


SEQUENCES = (
    Operator(
        "other end",
        other_end,
        (
            ("a[0]", ("a[-1]",)),
            ("a[-1]", ("a[0]",)),
            ("a[1:]", ("a[:-1]",)),
            ("a[-2:]", ("a[:2]",)),
            ("a.append(b)", ("a.insert(0, b)",)),
            ("a.pop()", ("a.pop(0)",)),
            ("a.popleft()", ("a.pop()",)),
            ("a[1]", ()),
        ),
    ),
    Operator(
        "other order",
        other_order,
        (
            ("for a in b: c()", ("for a in reversed(b): c()",)),
            ("for a in zip(b, c): d()", ()),
            ("for _ in range(a): b()", ()),
            ("reversed(a)", ("a",)),
            ("sorted(a, key=b)", ("a",)),
        ),
    ),
    Operator(
        "bound",
        bound_off,
        (
            ("a[b:c]", ("a[b + 1:c]", "a[b:c - 1]", "a[:c]", "a[b:]")),
            ("a[::-1]", ("a[:]",)),
            ("range(a)", ("range(a - 1)", "range(a + 1)", "range(1, a)")),
            ("range(a, b)", ("range(a, b - 1)", "range(a, b + 1)", "range(a + 1, b)")),
        ),
    ),
    Operator("copy forgotten", copy_forgotten, (("a.copy()", ("a",)), ("a[:]", ("a",)))),
)
