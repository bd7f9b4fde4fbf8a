"""The original and a mutant of one module side by side, and a contract that says that one function answers alike in both.

Each version is executed under a name of its own. An error's text spells integers out, which a solver cannot follow: so here
an error has the parts of its text as arguments instead, and equal parts make equal texts.
"""

import ast
import linecache
import sys
from collections.abc import Callable
from dataclasses import astuple, is_dataclass
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

from mutants.equivalence.claim import Claim

ORIGINAL, MUTANT = "original", "mutant"
CONTRACT = '''def answers_alike({parameters}):
    """Both versions answer alike.

{given}
    post: _[0] == _[1]
    """
    return outcome(lambda: {original}), outcome(lambda: {mutant})
'''
TOLD = (ValueError, ArithmeticError, LookupError)
"""Errors that are an answer, beside those of the module's own; others may come from the solver's stand-ins for integers."""


class NotComparable(Exception):  # noqa: N818 - the word of the verdict
    """Calls with all arguments given cannot tell the two versions apart, or not only them."""


class _PartsForText(ast.NodeTransformer):
    """Formatted text in a raise statement becomes the tuple of its parts."""

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return _Parts().visit(node)  # type: ignore[no-any-return]


class _Parts(ast.NodeTransformer):
    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.copy_location(ast.Tuple([self._part(value) for value in node.values], ast.Load()), node)

    def _part(self, value: ast.expr) -> ast.expr:
        if not isinstance(value, ast.FormattedValue):
            return value
        how = ast.Constant(f"{value.conversion} {ast.dump(value.format_spec) if value.format_spec else ''}")
        return ast.Tuple([self.visit(value.value), how], ast.Load())


def check_body_alone_differs(original: str, mutated: str, function: str) -> None:
    """NotComparable unless the sources are alike but for statements in the body of that function.

    A changed default argument is no change of the body: a comparison that gives every argument would never use it.
    """
    trees = ast.parse(original), ast.parse(mutated)
    for tree in trees:
        found = function_in(tree, function)
        if found is None:
            raise NotComparable(f"{function or 'the module'} is no function")
        found.body = [ast.Pass()]
    if ast.dump(trees[0]) != ast.dump(trees[1]):
        raise NotComparable(
            f"the change is not in the body of {function}: in a default argument, say, or outside of it"
        )


def function_in(tree: ast.Module, qualified: str) -> ast.FunctionDef | None:
    """The function of that qualified name, the only one of it; None when there is none."""
    scope: ast.AST = tree
    for name in qualified.split("."):
        named = [
            node
            for node in getattr(scope, "body", ())
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name
        ]
        if len(named) != 1:
            return None
        scope = named[0]
    return scope if isinstance(scope, ast.FunctionDef) else None


def load(source: str, name: str, as_parts: bool) -> ModuleType:
    """The module, executed under this name; `as_parts` has texts of errors in parts."""
    tree = ast.parse(source)
    if as_parts:
        tree = ast.fix_missing_locations(_PartsForText().visit(tree))
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(tree, f"<{name}>", "exec", dont_inherit=True), module.__dict__)
    return module


def contract(
    claim: Claim, original: ModuleType, mutant: ModuleType, told: tuple[type[Exception], ...] = TOLD
) -> Callable[..., Any]:
    """A function with a contract for CrossHair: what the claim calls has the same outcome in both versions."""
    text = CONTRACT.format(
        parameters=claim.parameters,
        given="\n".join(f"    pre: {clause}" for clause in claim.given),
        original=claim.call.format(m=ORIGINAL),
        mutant=claim.call.format(m=MUTANT),
    )
    file = f"<comparison of {claim.name}>"
    # CrossHair reads the contract from the source.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {
        ORIGINAL: original,
        MUTANT: mutant,
        "outcome": partial(outcome, told),
        "of": of,
        "Has": SimpleNamespace,
        "Asked": Asked,
        "left": left,
        "state": state,
        "fields": fields,
        "off": off,
    }
    names["__name__"] = __name__
    exec(compile(text, file, "exec", dont_inherit=True), names)
    made: Callable[..., Any] = names["answers_alike"]
    return made


def outcome(told: tuple[type[Exception], ...], call: Callable[[], object]) -> tuple[object, ...]:
    """What a call gives back, with the types of all of it, or which error it raises with which arguments.

    Other errors than those that are `told`, or of the module's own, pass.
    """
    try:
        return "returns", typed(call())
    except Exception as error:
        if not (isinstance(error, told) or type(error).__module__.startswith("impl.")):
            raise
        return "raises", type(error).__name__, typed(error.args)


def typed(value: object) -> tuple[object, ...]:
    """The value with its type, so that 1, True and 1.0 are three."""
    if isinstance(value, tuple | list):
        return type(value).__name__, [typed(part) for part in value]
    return type(value).__name__, value


def of(kind: type[Any], **attributes: object) -> Any:
    """An instance with these attributes alone, made without its constructor."""
    made = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made


class Asked:
    """A sequence of which one place is asked for: it has the same value in every place, and notes the `places` asked."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.places: list[int] = []

    def __getitem__(self, place: int) -> int:
        self.places.append(place)
        return self.value


def left(receiver: object, returned: object, *names: str) -> tuple[object, ...]:
    """What was returned, and these attributes as the call left them."""
    return returned, *(getattr(receiver, name) for name in names)


def state(receiver: object) -> tuple[tuple[str, object], ...]:
    """Every attribute that the receiver holds, by name."""
    names = [name for kind in type(receiver).__mro__ for name in vars(kind).get("__slots__", ())]
    names += getattr(receiver, "__dict__", ())
    return tuple((name, getattr(receiver, name)) for name in sorted(names) if hasattr(receiver, name))


def fields(value: object) -> object:
    """A dataclass as its name and the values of its fields; of a tuple, each in it so; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(map(fields, value))
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *astuple(value))
    return value


def off(value: object, module: ModuleType) -> object:
    """The value, off by one in the mutant's module: the fault that a comparison must see before its other words count."""
    if not module.__name__.split()[1].startswith(MUTANT):
        return value
    match value:
        case None:
            return 0
        case bool():
            return not value
        case int():
            return value + 1
        case tuple() | list():
            return (*value[:-1], off(value[-1], module)) if value else (0,)
    raise TypeError(f"{type(value).__name__} cannot be off by one")
