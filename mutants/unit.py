"""The parts of a module that parse by themselves: a function within the classes around it, or a top-level statement.

A mutant changes one of them, so that one is parsed, proven and compiled again, and the rest of the module is as it was. Alone,
a part stands on the lines and in the columns that it has in its module, in classes of the same names and behind the same
imports, as a call of an imported module's function compiles to other instructions: its tree and its code are those that it has
there.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType

Span = tuple[int, int, int, int]
"""First line, first column in bytes, last line, the column behind the end; lines from 1, columns from 0."""


@dataclass(frozen=True, slots=True)
class Around:
    """A class around a function: its name, its column, and the line on which it begins, decorators included."""

    name: str
    column: int
    line: int


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines `first` .. `last` of a module; a function of that name in those classes, or with no name a top-level statement.

    `body` is the byte of the module at which the function's body begins: what stands before it runs when the module does.
    `imports` are the names that the module imports.
    """

    first: int
    last: int
    body: int = 0
    function: str = ""
    classes: tuple[Around, ...] = ()
    imports: tuple[str, ...] = ()

    @property
    def stands_alone(self) -> bool:
        """Whether it is a function with a line to spare before it."""
        return bool(self.function) and self.first > 1 + len(self.classes)

    def alone(self, text: str) -> str:
        """A module of which this unit, whose lines are the text, is all there is."""
        imports = f"import {', '.join(self.imports)}" if self.imports and self.stands_alone else ""
        heads = "".join(f"{' ' * around.column}class {around.name}:\n" for around in self.classes)
        return imports + "\n" * (self.first - 1 - len(self.classes)) + heads + text

    def code_of(self, alone: CodeType) -> CodeType | None:
        """The function's code in that of a module in which it stands alone."""
        for depth, around in enumerate(self.classes):
            found = _nested(alone, around.name, self.first - len(self.classes) + depth)
            if found is None:
                return None
            alone = alone.co_consts[found]
        place = _nested(alone, self.function, self.first)
        return None if place is None else alone.co_consts[place]

    def places(self, module: CodeType) -> tuple[int, ...] | None:
        """Where the function's code is in the module's: in which constant, and in which of that one's. None: nowhere."""
        places = []
        for name, line in (*((around.name, around.line) for around in self.classes), (self.function, self.first)):
            place = _nested(module, name, line)
            if place is None:
                return None
            places.append(place)
            module = module.co_consts[place]
        return tuple(places)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A module's source as bytes, the byte at which each line begins, its lines, and its units, functions first."""

    source: bytes
    starts: tuple[int, ...]
    lines: tuple[str, ...]
    units: tuple[Unit, ...]

    def unit_at(self, start: int, end: int) -> Unit | None:
        """The unit that has these bytes, a function only when they are in its body."""
        for unit in self.units:
            if max(unit.body, self.starts[unit.first - 1]) <= start and end <= self.end_of(unit):
                return unit
        return None

    def end_of(self, unit: Unit) -> int:
        """The byte behind the unit's last line."""
        return self.starts[unit.last] if unit.last < len(self.starts) else len(self.source)


@lru_cache(maxsize=256)
def layout(source: str) -> Layout:
    """The source taken apart. Raises SyntaxError."""
    lines = source.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()) + 1)
    body = ast.parse(source).body
    imports = tuple(dict.fromkeys(name for node in body for name in _imported(node)))
    functions = tuple(replace(unit, imports=imports) for node in body for unit in _functions(node, (), starts))
    statements = tuple(Unit(_first_line(node), node.end_lineno or node.lineno) for node in body)
    return Layout(source.encode(), tuple(starts[:-1]), tuple(lines), (*functions, *statements))


@lru_cache(maxsize=1024)
def parts(text: str) -> tuple[ast.Module, dict[Span, list[ast.AST]]]:
    """The tree of a unit that stands alone, and its statements and expressions by where they are, outer ones first."""
    tree = ast.parse(text)
    found: dict[Span, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            span = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            found.setdefault(span, []).append(node)
    return tree, found


def swapped(module: CodeType, places: tuple[int, ...], function: CodeType) -> CodeType:
    """The module's code with the function's in that place."""
    if not places:
        return function
    constants = list(module.co_consts)
    constants[places[0]] = swapped(constants[places[0]], places[1:], function)
    return module.replace(co_consts=tuple(constants))


def _functions(node: ast.stmt, classes: tuple[Around, ...], starts: list[int]) -> Iterator[Unit]:
    """The functions that stand in the module or in its classes, without those inside of functions."""
    if isinstance(node, ast.ClassDef):
        around = (*classes, Around(node.name, node.col_offset, _first_line(node)))
        for child in node.body:
            yield from _functions(child, around, starts)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        body = starts[node.body[0].lineno - 1] + node.body[0].col_offset
        yield Unit(_first_line(node), node.end_lineno or node.lineno, body, node.name, classes)


def _imported(node: ast.AST) -> Iterator[str]:
    """Names that the module binds by an import, wherever in its statements."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
        for child in ast.iter_child_nodes(node):
            yield from _imported(child)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _nested(code: CodeType, name: str, line: int) -> int | None:
    """Which constant is the code of that name that begins on that line."""
    for place, value in enumerate(code.co_consts):
        if isinstance(value, CodeType) and (value.co_name, value.co_firstlineno) == (name, line):
            return place
    return None
