"""Which mistakes of the catalogue a tool makes: a mutant of its that has the same function, as a syntax tree or as bytecode.

Equal is meant: a mutant that would merely break the same rule is another mistake.
"""

import ast
import warnings
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType

from mutants.bench.tree import MODULES, ROOT
from mutants.catalogue import MUTANTS
from mutants.making import instructions
from mutants.mutant import NINETEENTH, PAGE_TABLE, Mutant
from mutants.splice import splice

Mutated = tuple[str, ast.Module]
"""A module, and the tree of as much of it as has a mutant in it."""

Form = tuple[str, str, str | bytes]
"""Module, qualified function, and one form of the function: its tree or its bytecode."""


def named_mistakes() -> tuple[Mutant, ...]:
    """The mistakes of the catalogue in the modules that the tools mutate."""
    return tuple(mutant for mutant in MUTANTS if mutant.family in {PAGE_TABLE, NINETEENTH} and mutant.module in MODULES)


def made_by(mutated: Iterable[Mutated], root: Path = ROOT) -> tuple[str, ...]:
    """The ids of the named mistakes that are among these mutants."""
    mistakes = named_mistakes()
    functions = {(mutant.module, mutant.function) for mutant in mistakes}
    made = {form for module, tree in mutated for form in forms(module, tree, functions)}
    return tuple(mutant.id for mutant in mistakes if not made.isdisjoint(_forms_of(mutant, root)))


def forms(module: str, tree: ast.Module, wanted: Iterable[tuple[str, str]]) -> Iterator[Form]:
    """Both forms of those functions of the module that are wanted."""
    names = {function for of, function in wanted if of == module}
    for node, name in functions_of(tree):
        if name in names:
            yield from ((module, name, form) for form in _both(ast.unparse(bare(node))))


def functions_of(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, str]]:
    """The functions of the module and of its classes with their qualified names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node, node.name
        elif isinstance(node, ast.ClassDef):
            yield from (
                (child, f"{node.name}.{child.name}") for child in node.body if isinstance(child, ast.FunctionDef)
            )


def bare(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function under a name of no meaning, without decorators, annotations and docstring, which tools move about."""
    has = node.args
    lists = ([ast.arg(one.arg) for one in part] for part in (has.posonlyargs, has.args, has.kwonlyargs))
    positional, named, keywords = lists
    variadic, rest = (ast.arg(one.arg) if one else None for one in (has.vararg, has.kwarg))
    arguments = ast.arguments(positional, named, variadic, keywords, has.kw_defaults, rest, has.defaults)
    body = node.body[1:] or [ast.Pass()] if ast.get_docstring(node) is not None else node.body
    return ast.fix_missing_locations(ast.FunctionDef("function", arguments, body, [], None))


@lru_cache(maxsize=4096)
def _both(text: str) -> tuple[str, bytes]:
    """The function's tree, as one way of writing it, and its instructions."""
    with warnings.catch_warnings(action="ignore"):  # that `is` has a literal beside it, for instance
        code = compile(text, "function", "exec", dont_inherit=True)
    inner = next(value for value in code.co_consts if isinstance(value, CodeType))
    return text, instructions(inner)


@cache
def _forms_of(mutant: Mutant, root: Path) -> frozenset[Form]:
    file = root / f"{mutant.module.replace('.', '/')}.py"
    source = splice(file.read_text(encoding="utf-8"), file.name, mutant).source
    return frozenset(forms(mutant.module, ast.parse(source), [(mutant.module, mutant.function)]))
