"""Every place where a check names a rule, made silent: mutants that are read off the checks themselves.

A check names a rule by Difference("RULE", ...). So a place that is added gets its mutant by itself, and none can be forgotten.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutants.mutant import Mutant
from mutants.oracle.rule_mutant import dropped

DIFFERENCE = "Difference"


@dataclass(frozen=True, slots=True)
class Naming:
    """One place where a rule is named: its function and line, and the text that says it with what makes it silent.

    `before` is None where the text has another form, whose mutant has to be written by hand.
    """

    rule: str
    function: str
    line: int
    before: str | None
    after: str = ""


def silenced(root: Path, area: str, *modules: str) -> tuple[Mutant, ...]:
    """A mutant for each place of these modules that names a rule and can be made silent as it stands."""
    found: list[Mutant] = []
    for module in modules:
        seen: Counter[tuple[str, str]] = Counter()
        for naming in namings(source_of(root, module)):
            if naming.before is None:
                continue
            seen[naming.rule, naming.function] += 1
            number = seen[naming.rule, naming.function]
            place, word = f"{module}:{naming.function}", "" if number == 1 else str(number)
            found.append(dropped(naming.rule, area, place, naming.before, naming.after, word))
    return tuple(found)


def source_of(root: Path, module: str) -> str:
    """The text of the module."""
    return root.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")


def namings(source: str) -> Iterator[Naming]:
    """Each place of the module that names a rule by its id, in the order of the text of each function."""
    tree = ast.parse(source)
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Difference"), args=[ast.Constant(value=str(rule)), *_]):
                yield Naming(rule, _function(node, parents), node.lineno, *_silence(node, parents))


def _function(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """The qualified name of the function around the node; "" at the level of the module."""
    names: list[str] = []
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
    return ".".join(reversed(names))


def _silence(call: ast.Call, parents: dict[ast.AST, ast.AST]) -> tuple[str, str] | tuple[None]:
    """The text around the call that names the rule, and the text that does not."""
    around = parents[call]
    above = parents[around]
    match around, above:
        case ast.List(elts=[_]), _:
            return ast.unparse(around), "[]"
        case ast.ListComp(), _:
            return ast.unparse(around), "[]"
        case ast.GeneratorExp(), _:
            return ast.unparse(around), "()"
        case ast.Yield(), ast.Expr():
            return ast.unparse(above), "yield from ()"
        case ast.Call(), ast.Expr():
            return ast.unparse(above), "pass"
    return (None,)
