"""The original with probes in it: beside each expression that mutants change, what they make of it.

Where that may be evaluated once more it is, and the two values are compared; the outermost such expression around a change is the
one to compare, as what differs inside of it may make no difference. Anywhere else the probe tells whether the statement ran.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from types import CodeType

from mutants.infection.probes import PLACE, VALUE
from mutants.infection.purity import Purity, shadowed
from mutants.making import Made
from mutants.mutant import Mutant
from mutants.splice_at import span_at
from mutants.unit import Span, layout, parts

WHICH = "__kvproof_which__"
"""What a probe is asked with: 0 for the original's expression, and a number for each mutant's."""

Key = tuple[Span, type[ast.AST]]
Step = tuple[ast.AST, str, int | None]
"""A parent, and in which of its fields, and where in that when it is a list, a node is."""

TESTS = {(ast.If, "test"), (ast.While, "test"), (ast.IfExp, "test"), (ast.Assert, "test"), (ast.comprehension, "ifs")}
TESTS |= {(ast.match_case, "guard")}
"""Where only the truth of a value matters."""

NO_PLACE = {(ast.JoinedStr, "values"), (ast.FormattedValue, "format_spec"), (ast.Call, "func")}
NO_PLACE |= {(ast.AnnAssign, "annotation"), (ast.arg, "annotation"), (ast.MatchValue, "value"), (ast.MatchClass, "cls")}
NO_PLACE |= {(ast.MatchMapping, "keys"), (ast.FunctionDef, "returns"), (ast.FunctionDef, "decorator_list")}
"""Where no call can stand, or none that is worth it."""


@dataclass(slots=True)
class Probed:
    """Modules' code with probes, how many, and each mutant's own by number: it differs where any of them has told."""

    code: dict[str, CodeType] = field(default_factory=dict)
    count: int = 0
    of: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """An expression of the original, the mutant's in its place, and whether only its truth matters there."""

    old: ast.expr
    new: ast.expr
    test: bool = False

    def pure(self, purity: Purity, shadowed: frozenset[str]) -> bool:
        """Whether both may be evaluated."""
        return purity.pure(self.old, shadowed) and purity.pure(self.new, shadowed)


@dataclass(slots=True)
class _Sites:
    """Of one module: alternatives of expressions, with whose they are, and statements with the mutants in them."""

    values: defaultdict[Key, list[tuple[ast.expr, str]]] = field(default_factory=partial(defaultdict, list))
    tests: set[Key] = field(default_factory=set)
    places: defaultdict[Key, list[str]] = field(default_factory=partial(defaultdict, list))

    def add(self, mutant: Mutant, change: "_Change", purity: Purity) -> None:
        """Where the mutant differs, or could."""
        pairs = change.pairs(purity)
        for pair in pairs:
            self.values[_key(pair.old)].append((pair.new, mutant.id))
            if pair.test:
                self.tests.add(_key(pair.old))
        if not pairs:
            self.places[_key(change.statement())].append(mutant.id)


def probe(
    mutants: Sequence[Mutant], made: Mapping[str, Made], sources: Mapping[str, str], files: Mapping[str, str]
) -> Probed:
    """The modules of these mutants with probes for all of them that stand in a function and name their place.

    `sources` has the text of every module whose classes may be met, `files` the places of the mutants' modules.
    """
    purity = Purity(sources.values(), (sources[module] for module in {mutant.module for mutant in mutants}))
    modules: dict[str, _Sites] = {}
    for mutant in mutants:
        spliced = made[mutant.id].spliced
        if mutant.at and mutant.function and spliced and spliced.unit and spliced.unit.function:
            sites = modules.setdefault(mutant.module, _Sites())
            sites.add(mutant, _Change.of(mutant, sources[mutant.module], spliced.tree), purity)
    probed = Probed()
    for module, sites in modules.items():
        tree = ast.parse(sources[module])
        _Writer(sites, probed).visit(tree)
        probed.code[module] = compile(ast.fix_missing_locations(tree), files[module], "exec", dont_inherit=True)
    return probed


@dataclass(frozen=True, slots=True)
class _Change:
    """What a mutant replaces, how to come there from the module, the mutant's tree, and builtins that are none there."""

    replaced: ast.AST
    steps: tuple[Step, ...]
    mutated: ast.Module
    shadowed: frozenset[str]

    @classmethod
    def of(cls, mutant: Mutant, source: str, mutated: ast.Module) -> "_Change":
        module = layout(source)
        assert mutant.at is not None
        unit = module.unit_at(*mutant.at)
        assert unit is not None
        text = unit.alone("\n".join((*module.lines[unit.first - 1 : unit.last], "")))
        kind = ast.expr if isinstance(ast.parse(mutant.after).body[0], ast.Expr) else ast.stmt
        nodes = parts(text)[1][span_at(module, *mutant.at)]
        replaced = next(node for node in nodes if isinstance(node, kind))
        node: ast.AST = replaced
        steps: list[Step] = []
        parents = _parents(text)
        while node in parents:
            steps.append(parents[node])
            node = steps[-1][0]
        return cls(replaced, tuple(reversed(steps)), mutated, _shadowed(source))

    def statement(self) -> ast.stmt:
        """The innermost statement that it is, or is in."""
        around = (parent for parent, _, _ in reversed(self.steps) if isinstance(parent, ast.stmt))
        return self.replaced if isinstance(self.replaced, ast.stmt) else next(around)

    def pairs(self, purity: Purity) -> list[Pair]:
        """The outermost expressions that differ and can be compared; none where there are none."""
        if not isinstance(self.replaced, ast.expr) or self._in_class():
            return []
        statement, inside = self.statement(), False
        old, new = self.replaced, _follow(self.mutated, self.steps)
        for at, (parent, name, index) in enumerate(self.steps):
            inside = inside or parent is statement
            one, other = _child(parent, name, index), _follow(self.mutated, self.steps[: at + 1])
            if inside and isinstance(one, ast.expr) and isinstance(other, ast.expr):
                pair = Pair(one, other, _is_test(parent, name))
                if _may_be_called(one, parent, name) and pair.pure(purity, self.shadowed):
                    return [pair]
        return self._arguments(old, new, purity)

    def _in_class(self) -> bool:
        """Whether a class in the function is around it, whose names a function in it does not see."""
        kinds = [type(parent) for parent, _, _ in self.steps]
        function = next(at for at, kind in enumerate(kinds) if kind in (ast.FunctionDef, ast.AsyncFunctionDef))
        return ast.ClassDef in kinds[function:]

    def _arguments(self, old: ast.AST, new: ast.AST, purity: Purity) -> list[Pair]:
        """The arguments in which two calls of the same function differ, when these are all that differs and can be compared."""
        if not isinstance(old, ast.Call) or not isinstance(new, ast.Call) or ast.dump(old.func) != ast.dump(new.func):
            return []
        if len(old.args) != len(new.args) or [each.arg for each in old.keywords] != [each.arg for each in new.keywords]:
            return []
        both = [*zip(old.args, new.args, strict=True)]
        both += [(one.value, other.value) for one, other in zip(old.keywords, new.keywords, strict=True)]
        differing = [Pair(one, other) for one, other in both if ast.dump(one) != ast.dump(other)]
        whole = all(_may_be_called(pair.old, old, "args") and pair.pure(purity, self.shadowed) for pair in differing)
        return differing if whole else []


class _Writer(ast.NodeTransformer):
    """Writes the probes of a module into its tree, and their numbers down."""

    def __init__(self, sites: _Sites, probed: Probed) -> None:
        self.sites = sites
        self.probed = probed

    def visit(self, node: ast.AST) -> ast.AST | list[ast.AST]:
        """The node, with what is in it probed; an expression in its probe, a statement behind its own."""
        if not isinstance(node, ast.stmt | ast.expr):
            return self.generic_visit(node)
        key = _key(node)
        visited = self.generic_visit(node)
        if key in self.sites.values and isinstance(visited, ast.expr):
            return self._value(visited, self.sites.values[key], key in self.sites.tests)
        if key in self.sites.places:
            return [self._place(self.sites.places[key]), visited]
        return visited

    def _value(self, node: ast.expr, others: Sequence[tuple[ast.expr, str]], test: bool) -> ast.expr:
        """value(first, count, test, lambda which: node if which == 0 else ...)"""
        first = self.probed.count
        for _, mutant in others:
            self._number([mutant])
        chain = others[-1][0]
        for which, choice in reversed([*enumerate([node, *(other for other, _ in others[:-1])])]):
            chain = ast.IfExp(
                ast.Compare(ast.Name(WHICH, ast.Load()), [ast.Eq()], [ast.Constant(which)]), choice, chain
            )
        arguments = ast.arguments([], [ast.arg(WHICH)], None, [], [], None, [])
        numbers = [ast.Constant(each) for each in (first, len(others), test)]
        return ast.Call(ast.Name(VALUE, ast.Load()), [*numbers, ast.Lambda(arguments, chain)], [])

    def _place(self, mutants: Iterable[str]) -> ast.stmt:
        """place[number] = 1"""
        number = ast.Constant(self._number(mutants))
        return ast.Assign([ast.Subscript(ast.Name(PLACE, ast.Load()), number, ast.Store())], ast.Constant(1))

    def _number(self, mutants: Iterable[str]) -> int:
        """The number of the next probe, which is one of these mutants'."""
        number = self.probed.count
        for mutant in mutants:
            self.probed.of[mutant] = (*self.probed.of.get(mutant, ()), number)
        self.probed.count += 1
        return number


def _follow(tree: ast.AST, steps: Iterable[Step]) -> ast.AST:
    """Where these steps lead in another tree of the same shape."""
    for _, name, index in steps:
        tree = _child(tree, name, index)
    return tree


def _child(parent: ast.AST, name: str, index: int | None) -> ast.AST:
    found = getattr(parent, name)
    child: ast.AST = found if index is None else found[index]
    return child


def _is_test(parent: ast.AST, name: str) -> bool:
    return (type(parent), name) in TESTS or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))


def _may_be_called(node: ast.expr, parent: ast.AST, name: str) -> bool:
    """Whether a call may stand in the node's place."""
    spread = isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice | ast.Starred) for each in node.elts)
    return not spread and not isinstance(node, ast.Slice | ast.Starred) and (type(parent), name) not in NO_PLACE


def _key(node: ast.expr | ast.stmt) -> Key:
    return (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0), type(node)


@lru_cache(maxsize=1024)
def _parents(text: str) -> dict[ast.AST, Step]:
    found: dict[ast.AST, Step] = {}
    for parent in ast.walk(parts(text)[0]):
        for name, value in ast.iter_fields(parent):
            children = enumerate(value) if isinstance(value, list) else ((None, value),)
            found |= {child: (parent, name, index) for index, child in children if isinstance(child, ast.AST)}
    return found


@lru_cache(maxsize=256)
def _shadowed(source: str) -> frozenset[str]:
    return shadowed(ast.parse(source))
