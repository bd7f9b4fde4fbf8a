"""Which expressions may be evaluated once more, with nothing changed by it.

The language's own operations and a few builtins, on whatever they meet, and reading attributes. Where a class of ours runs code
of its own there, in a property or for an operator, that code has to be pure, too: it binds its own names and returns. What
says where something lies does not count: it has another value in every process.
"""

import ast
import builtins
from collections.abc import Iterable, Iterator
from functools import lru_cache

TRUTH = frozenset({"__bool__", "__len__"})
NUMBER = frozenset({"__abs__", "__index__", "__int__", "__invert__", "__neg__", "__pos__", "__trunc__"})
ORDER = frozenset({"__ge__", "__gt__", "__le__", "__lt__"})
EQUALITY = frozenset({"__eq__", "__ne__"})
ARITHMETIC = frozenset(
    f"__{reflected}{name}__"
    for reflected in ("", "r")
    for name in ("add", "and", "divmod", "floordiv", "mod", "mul", "or", "rshift", "sub", "truediv", "xor")
)
SUBSCRIPT = frozenset({"__getitem__", "__missing__"})
ATTRIBUTE = frozenset({"__get__", "__getattr__", "__getattribute__"})
BUILTINS = {
    "abs": NUMBER,
    "bool": TRUTH,
    "divmod": ARITHMETIC,
    "int": NUMBER,
    "isinstance": frozenset({"__instancecheck__", "__subclasshook__"}),
    "len": TRUTH,
    "max": ORDER | TRUTH,
    "min": ORDER | TRUTH,
    "range": NUMBER,
}
"""Builtins that may be called, with the methods that they call."""

OPERATORS = (TRUTH | NUMBER | ORDER | EQUALITY | ARITHMETIC | SUBSCRIPT | ATTRIBUTE).union(*BUILTINS.values())
DEAR = (ast.Pow, ast.LShift, ast.MatMult)
"""Of a mutant's operands these may make what no memory holds, or run anything."""

ADDRESSES = frozenset({"__array_interface__", "ctypes", "data"})
"""Attributes that say where something lies, which is another place in the next process."""

Bodies = dict[str, list[tuple[ast.expr, ...] | None]]
"""By its name, all that each method of that name evaluates; None where it does more."""


class Purity:
    """What counts as pure where the classes of these `sources` are met, among them those of the `mutated` modules."""

    def __init__(self, sources: Iterable[str], mutated: Iterable[str] = ()) -> None:
        # What a defaultdict does not have is stored in it by asking for it; the checks hand none to their subject.
        bodies: Bodies = {"__missing__": [None]} if any("defaultdict" in source for source in mutated) else {}
        for source in sources:
            for name, body in _owned(source):
                bodies.setdefault(name, []).append(body)
        self._impure = ADDRESSES | {name for name, each in bodies.items() if None in each}
        # All others count as pure until one of them runs what does not.
        while found := {name for name in bodies.keys() - self._impure if not self._all_pure(bodies[name])}:
            self._impure |= found

    def pure(self, node: ast.expr, shadowed: frozenset[str] = frozenset()) -> bool:
        """Whether it may be evaluated once more; `shadowed` are builtins that mean something else there."""
        needed, parts = _taken_apart(node, shadowed)
        return (
            self._impure.isdisjoint(needed) and parts is not None and all(self.pure(each, shadowed) for each in parts)
        )

    def _all_pure(self, bodies: Iterable[tuple[ast.expr, ...] | None]) -> bool:
        return all(body is not None and all(self.pure(each) for each in body) for body in bodies)


def shadowed(tree: ast.Module) -> frozenset[str]:
    """The builtins of whose names the module makes something else."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.alias(asname=str(name)):
                bound.add(name)
            case ast.alias(name=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
    return frozenset(bound & set(dir(builtins)))


def _taken_apart(node: ast.expr, shadowed: frozenset[str]) -> tuple[Iterable[str], list[ast.expr] | None]:
    """The methods that evaluating the node itself may run, and its parts; no parts, not even none, where it is not pure."""
    match node:
        case ast.Constant() | ast.Name(ctx=ast.Load()):
            return (), []
        case ast.Attribute(value=value, attr=attr, ctx=ast.Load()):
            return (attr, *ATTRIBUTE), [value]
        case ast.Subscript(value=value, slice=index, ctx=ast.Load()):
            return SUBSCRIPT, [value, *_indices(index)]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in BUILTINS and name not in shadowed:
            # Of one argument min and max take the elements, which uses up an iterator.
            return BUILTINS[name], args if len(args) > 1 or name not in ("min", "max") else None
        case ast.UnaryOp(op=op, operand=operand):
            return TRUTH if isinstance(op, ast.Not) else NUMBER, [operand]
        case ast.BinOp(left=left, op=op, right=right):
            return ARITHMETIC, None if isinstance(op, DEAR) else [left, right]
        case ast.BoolOp(values=values):
            return TRUTH, values
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return TRUTH, [test, body, orelse]
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _compared(ops, comparators), [left, *comparators] if _no_iterator(ops, comparators) else None
        case ast.Tuple(elts=elts, ctx=ast.Load()) | ast.List(elts=elts, ctx=ast.Load()) | ast.Set(elts=elts):
            return EQUALITY if isinstance(node, ast.Set) else (), elts
    return (), None


def _compared(ops: Iterable[ast.cmpop], comparators: Iterable[ast.expr]) -> frozenset[str]:
    ordered = any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in ops)
    identity = all(isinstance(op, ast.Is | ast.IsNot) for op in ops)
    return frozenset() if identity else TRUTH | EQUALITY | (ORDER if ordered else frozenset())


def _no_iterator(ops: Iterable[ast.cmpop], comparators: Iterable[ast.expr]) -> bool:
    """Whether nothing is searched but what is written out there: a search uses up an iterator."""
    searched = (right for op, right in zip(ops, comparators, strict=True) if isinstance(op, ast.In | ast.NotIn))
    return all(isinstance(right, ast.Tuple | ast.List | ast.Set) for right in searched)


def _indices(index: ast.expr) -> list[ast.expr]:
    if isinstance(index, ast.Slice):
        return [each for each in (index.lower, index.upper, index.step) if each is not None]
    if isinstance(index, ast.Tuple):
        return [part for each in index.elts for part in _indices(each)]
    return [index]


@lru_cache(maxsize=1024)
def _owned(source: str) -> tuple[tuple[str, tuple[ast.expr, ...] | None], ...]:
    """Attributes and operators for which a class of the module runs code, with all that this evaluates; None: it does more."""
    if "property" not in source and "def __" not in source:
        return ()
    tree = ast.parse(source)
    hidden = shadowed(tree)
    return tuple(
        (name, None if body is not None and hidden & _names(body) else body)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for name, body in _of_class(node)
    )


def _of_class(node: ast.ClassDef) -> Iterator[tuple[str, tuple[ast.expr, ...] | None]]:
    for method in node.body:
        if isinstance(method, ast.FunctionDef):
            decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in method.decorator_list}
            if "cached_property" in decorators:
                yield method.name, None
            elif "property" in decorators or method.name in OPERATORS:
                yield method.name, _evaluated(method.body)


def _evaluated(body: Iterable[ast.stmt]) -> tuple[ast.expr, ...] | None:
    """All that these statements evaluate, when all that they do is to bind names and to return."""
    found: list[ast.expr] = []
    for statement in body:
        match statement:
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Expr(value=ast.Constant()) | ast.Return(value=None):
                inner: tuple[ast.expr, ...] | None = ()
            case ast.Return(value=ast.expr() as value) | ast.Assign(targets=[ast.Name()], value=value):
                inner = (value,)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if _all_names(names):
                inner = tuple(values)
            case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
                inner = (value,)
            case ast.If(test=test, body=first, orelse=second) | ast.While(test=test, body=first, orelse=second):
                inner = _evaluated([*first, *second])
                inner = None if inner is None else (test, *inner)
            case _:
                inner = None
        if inner is None:
            return None
        found += inner
    return tuple(found)


def _names(expressions: Iterable[ast.expr]) -> set[str]:
    return {node.id for each in expressions for node in ast.walk(each) if isinstance(node, ast.Name)}


def _all_names(targets: Iterable[ast.expr]) -> bool:
    return all(isinstance(target, ast.Name) for target in targets)
