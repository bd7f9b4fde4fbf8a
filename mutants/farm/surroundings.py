"""What a verdict rests on beside its mutant: the source of every module that its stages may import and the data beside them, the
engine, the interpreter and the libraries.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Self

from mutants.client import ForkServer, Source
from mutants.farm.job import digest, digest_of_sources
from mutants.mutant import Project

HERE = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Those of a run: a hash of what all stages share (`everywhere`), its modules, its stages' own, the libraries' versions."""

    everywhere: str
    suite: str
    sources: Mapping[str, Source]
    places: Mapping[str, str]
    versions: Mapping[str, str]
    _known: dict[tuple[str, ...], str] = field(default_factory=dict)

    @classmethod
    def of(cls, server: ForkServer) -> Self:
        """The surroundings of what this server judges."""
        suite, around = server.project.suite, everywhere(server.project)
        return cls(around, suite, server.sources, server.places, server.versions)

    def seen_by(self, stages: Iterable[str], module: str | None = None) -> str:
        """A hash of what these stages may see; the mutated `module` is imported first."""
        start = (
            self.suite,
            *(self.places[stage] for stage in stages if stage in self.places),
            *([module] if module else ()),
        )
        if start not in self._known:
            self._known[start] = self.digest(self._imported(start))
        return self._known[start]

    def digest(self, names: Iterable[str]) -> str:
        """A hash of these modules and all around them."""
        held = {name: self.sources[name] for name in names}
        libraries = {name.partition(".")[0] for source in held.values() for name in source.imports} | {"python"}
        versions = {name: version for name, version in self.versions.items() if name in libraries}
        return digest([self.everywhere, versions, digest_of_sources(held)])

    def _imported(self, start: Iterable[str]) -> set[str]:
        """The modules among ours that these may import, directly or not, and themselves."""
        found: set[str] = set()
        waiting = [name for name in start if name in self.sources]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                named = (name.rpartition(".")[0], *self.sources[name].imports)
                waiting += [each for each in named if each in self.sources]
        return found


def everywhere(project: Project) -> str:
    """A hash of the data beside the modules, of the engine, and of the interpreter."""
    folders = {
        project.root + "/" + name.replace(".", "/") for name in (*project.subject, *project.checks, *project.oracle)
    }
    places = {Path(folder) if Path(folder).is_dir() else Path(folder).parent for folder in folders}
    data = sorted({path for place in places for path in place.rglob("*") if _is_data(path, place)})
    engine = [*sorted((HERE / "mutants").rglob("*.py")), HERE / "verify" / "sandbox.py"]
    hashes = [(str(path), sha256(path.read_bytes()).hexdigest()) for path in (*data, *engine)]
    return digest([sys.version, hashes])


def _is_data(path: Path, place: Path) -> bool:
    hidden = any(part.startswith((".", "__")) for part in path.relative_to(place).parts)
    return path.suffix != ".py" and not hidden and path.is_file()
