"""The surface: which modules are mutated, in which area each is, and which stages judge an area; from pyproject.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from impl.command import CommandError

FAMILY = "generic {}"
"""The family of an area's mutants."""


@dataclass(frozen=True, slots=True)
class Area:
    """Modules, where a package stands for all in it, and the stages that judge them, cheapest first."""

    name: str
    modules: tuple[str, ...]
    stages: tuple[str, ...]

    @property
    def family(self) -> str:
        """The family of its mutants."""
        return FAMILY.format(self.name)

    def has(self, module: str) -> bool:
        """Whether the module is in it."""
        return any(f"{module}.".startswith(f"{name}.") for name in self.modules)


@dataclass(frozen=True, slots=True)
class Surface:
    """The areas, and why each module that is in none of them is not mutated."""

    areas: tuple[Area, ...]
    excluded: Mapping[str, str]

    def area_of(self, module: str) -> Area | None:
        """The area of the module; None when it is in none."""
        return next((area for area in self.areas if area.has(module)), None)

    def files(self, root: Path) -> dict[str, Path]:
        """Every module of the surface with its file, in the order of the areas."""
        found = {module_of(root, path): path for path in sorted(root.glob("impl/**/*.py"))}
        return {name: path for area in self.areas for name, path in found.items() if self.area_of(name) is area}


def module_of(root: Path, path: Path) -> str:
    """The name under which that file is imported."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_surface(root: Path) -> Surface:
    """The surface of the project. Raises CommandError when pyproject.toml has none, or one that is not whole."""
    path = root / "pyproject.toml"
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))["tool"]["kvproof"]["mutation"]
        areas = tuple(Area(each["name"], tuple(each["modules"]), tuple(each["stages"])) for each in said["areas"])
        return Surface(areas, dict(said["excluded"]))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise CommandError(f"{path} has no surface of mutation: {type(error).__name__}: {error}") from error
