"""Sources that are read and compiled once, and served to every child from memory.

A mutated module is served under its real name and file name before anything has imported it, and never touches the
disk: an edit of the same size within the same second would run stale bytecode.
"""

import ast
import importlib.util
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType


@dataclass(frozen=True, slots=True)
class HeldModule:
    """One module as it was read: its file, source and code, whether it is a package, and all that it may import."""

    path: str
    source: str
    code: CodeType
    package: bool
    imports: frozenset[str]


Held = Mapping[str, HeldModule]
"""Qualified module name -> module."""


def hold(root: str, packages: Sequence[str], start: Iterable[str]) -> dict[str, HeldModule]:
    """Every module of these packages (or single modules) that the starting ones import, directly or not, and themselves.

    An import counts wherever it stands in the text. A name that is no module under `root` is left out. Raises SyntaxError
    for a module that does not compile.
    """
    held: dict[str, HeldModule] = {}
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        file = _file(root, name) if within(name, packages) and name not in held else None
        if file is not None:
            held[name] = _read(file)
            waiting += (name.rpartition(".")[0], *held[name].imports)
    return dict(sorted(held.items()))


def within(name: str, packages: Iterable[str]) -> bool:
    """Whether the module is one of these or below one of them."""
    return any(f"{name}.".startswith(f"{package}.") for package in packages)


def blind(held: Held, mutable: Iterable[str]) -> list[str]:
    """Held modules that import none of the mutable ones, not even through another held module.

    They can be imported once, before any mutant: none of them can see one.
    """
    seeing = set(mutable)
    while True:
        more = {name for name, module in held.items() if name not in seeing and not seeing.isdisjoint(module.imports)}
        if not more:
            return [name for name in held if name not in seeing]
        seeing |= more


def outside(held: Held) -> list[str]:
    """What held modules import of packages that are not held: the standard library and other packages."""
    ours = {name.partition(".")[0] for name in held}
    names = {name for module in held.values() for name in module.imports}
    return sorted(name for name in names if name.partition(".")[0] not in ours)


def _file(root: str, name: str) -> Path | None:
    place = Path(root, *name.split("."))
    return next((file for file in (place / "__init__.py", place.with_suffix(".py")) if file.is_file()), None)


def _read(file: Path) -> HeldModule:
    source = file.read_text(encoding="utf-8")
    tree = ast.parse(source, str(file))
    code = compile(tree, str(file), "exec", dont_inherit=True)
    return HeldModule(str(file), source, code, file.name == "__init__.py", frozenset(_imports(tree)))


def _imports(tree: ast.Module) -> Iterator[str]:
    """What the module's import statements name; `from a import b` may mean the module a or a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def compile_module(source: str, path: str) -> CodeType:
    """The module's code, with nothing inherited from this one."""
    return compile(source, path, "exec", dont_inherit=True)


class HeldImporter(MetaPathFinder, InspectLoader):
    """Imports held modules from memory and leaves every other to the importers behind it."""

    def __init__(self, held: Held) -> None:
        self.held = held

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        module = self.held.get(fullname)
        if module is None:
            return None
        inside = [os.path.dirname(module.path)] if module.package else None
        return importlib.util.spec_from_file_location(
            fullname, module.path, loader=self, submodule_search_locations=inside
        )

    def is_package(self, fullname: str) -> bool:
        return self.held[fullname].package

    def get_source(self, fullname: str) -> str:
        return self.held[fullname].source

    def get_code(self, fullname: str) -> CodeType:
        return self.held[fullname].code
