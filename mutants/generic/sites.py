"""Where a slip could matter: the nodes of a module that say what it does.

Left out is what says nothing to a running program, or only to people: imports, docstrings, annotations and type aliases,
`__slots__` and `__all__`, decorators, what only a type checker reads, assertions, and what a raise says.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mutants.generic.operator import number

SILENT = (ast.Import, ast.ImportFrom, ast.Assert, ast.Global, ast.Nonlocal, ast.JoinedStr)
OF_TYPES = frozenset({"cast", "TypeVar", "NewType"})
DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Site:
    """A node, the qualified name of the function that runs it, "" when the import does, and what the node belongs to.

    `whole` is that function, or outside of functions the innermost statement of the module or of a class.
    """

    node: ast.AST
    function: str
    whole: ast.stmt


@dataclass(frozen=True, slots=True)
class _Scope:
    """Names of the classes and functions around, how many of them make the name of a function, and Site.whole."""

    names: tuple[str, ...]
    inside: int
    whole: ast.stmt

    def site(self, node: ast.AST) -> Site:
        return Site(node, ".".join(self.names[: self.inside]), self.whole)


def sites(tree: ast.Module) -> Iterator[Site]:
    """The sites of the module, in the order of its text."""
    for statement in tree.body:
        yield from _sites(statement, _Scope((), 0, statement))


def _sites(node: ast.AST, scope: _Scope) -> Iterator[Site]:
    if _silent(node):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from _of_function(node, scope)
        return
    if isinstance(node, ast.ClassDef):
        for statement in node.body:
            names = (*scope.names, node.name)
            yield from _sites(
                statement, replace(scope, names=names, whole=statement if not scope.inside else scope.whole)
            )
        return
    yield scope.site(node)
    for child in _children(node):
        yield from _sites(child, scope)


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, scope: _Scope) -> Iterator[Site]:
    """The defaults, which run where the function is defined, and the body."""
    if any(isinstance(decorator, ast.Name) and decorator.id == "overload" for decorator in node.decorator_list):
        return
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            yield from _sites(default, scope)
    names = (*scope.names, node.name)
    for statement in node.body:
        yield from _sites(statement, _Scope(names, len(names), node))


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What of the node says something."""
    if isinstance(node, ast.Raise) or number(node) is not None:
        return
    if isinstance(node, ast.AnnAssign):
        yield from [node.value] if node.value is not None else []
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        yield from node.args[:1]
        return
    for name, value in ast.iter_fields(node):
        if not (isinstance(node, ast.match_case) and name == "pattern"):
            yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST))


def _silent(node: ast.AST) -> bool:
    """Whether the node, and all in it, says nothing to a running program."""
    match node:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name in ("__slots__", "__all__") or (name[0].isupper() and not name.isupper())
        case ast.Call(func=ast.Name(id=name)):
            return name in OF_TYPES
    return isinstance(node, SILENT)
