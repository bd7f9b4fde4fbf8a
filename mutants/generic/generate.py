"""From a module's source to its generic mutants, with ids that stay when other code of the file is edited."""

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from mutants.generic.operator import Change, Operator
from mutants.generic.operators import OPERATORS
from mutants.generic.sites import Site, sites
from mutants.generic.surface import Surface
from mutants.mutant import Mutant
from mutants.unit import layout

DIGITS = 12
"""Hexadecimal digits of an id."""
SHOWN = 60
"""Characters of the old and of the new text in a title."""


def generate_all(surface: Surface, root: Path) -> dict[str, list[Mutant]]:
    """The mutants of every module of the surface."""
    found: dict[str, list[Mutant]] = {}
    for module, path in surface.files(root).items():
        area = surface.area_of(module)
        assert area is not None
        found[module] = generate(module, path.read_text(encoding="utf-8"), area.family)
    return found


def generate(module: str, source: str, family: str, operators: Sequence[Operator] = OPERATORS) -> list[Mutant]:
    """The mutants of one module, operator by operator at each place, in the order of its text."""
    text = layout(source)
    mutants: list[Mutant] = []
    seen: set[tuple[tuple[int, int], str]] = set()
    equals: Counter[tuple[str, ...]] = Counter()
    wholes: dict[ast.stmt, str] = {}
    for site, operator, (old, new) in _changes(ast.parse(source), operators):
        start = text.starts[old.lineno - 1] + old.col_offset
        end = text.starts[(old.end_lineno or 0) - 1] + (old.end_col_offset or 0)
        before, after = text.source[start:end].decode(), _written(new)
        if ((start, end), after) in seen:
            continue
        seen.add(((start, end), after))
        if site.whole not in wholes:
            wholes[site.whole] = ast.unparse(site.whole)
        said = (module, site.function, operator.name, _written(old), after)
        content = (*said, str(equals[said]), wholes[site.whole])
        equals[said] += 1
        mutants.append(
            Mutant(
                id=hashlib.sha256(json.dumps(content).encode()).hexdigest()[:DIGITS],
                title=f"{operator.name}: {_short(before)} -> {_short(after)}",
                family=family,
                module=module,
                function=site.function,
                before=before,
                after=after,
                declares_runaway=True,
                operator=operator.name,
                at=(start, end),
            )
        )
    return mutants


def _changes(tree: ast.Module, operators: Sequence[Operator]) -> Iterator[tuple[Site, Operator, Change]]:
    for site in sites(tree):
        for operator in operators:
            for change in operator.changes(site.node):
                yield site, operator, change


def _written(node: ast.expr | ast.stmt) -> str:
    """The node as text, in one way of writing it, without the parentheses that only its place may need."""
    return ast.unparse(ast.fix_missing_locations(node) if isinstance(node, ast.stmt) else node)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}..."
