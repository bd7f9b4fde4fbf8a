"""What an operator is: a kind of slip, as a function from a node of the syntax tree to what could stand there by mistake."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Change = tuple[ast.expr | ast.stmt, ast.expr | ast.stmt]
"""The node, or a part of it, and what takes its place; the new one may share parts with the old one."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A kind of slip. `examples` are source, and every source that the operator makes of it, in order."""

    name: str
    changes: Callable[[ast.AST], Iterator[Change]]
    examples: tuple[tuple[str, tuple[str, ...]], ...]


def called(node: ast.AST, *names: str) -> ast.Call | None:
    """The node, when it calls a function of one of these names, plain and not as an attribute."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
        return node
    return None


def number(node: ast.AST | None) -> int | None:
    """The integer that is written there, with its sign; None for anything else."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and number(node.operand) is not None:
        return -(number(node.operand) or 0)
    return None


def plus(node: ast.expr, by: int) -> ast.expr:
    """The expression with that added, 1 or -1; a written number is another one."""
    value = number(node)
    if value is not None:
        return ast.Constant(value + by)
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), ast.Constant(abs(by)))
