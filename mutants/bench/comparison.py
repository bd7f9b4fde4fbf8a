"""The whole comparison: each tool in a copy of its own, and what was measured as data."""

import platform
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from mutants.bench import cosmic_ray_runs, mutmut_runs, own
from mutants.bench.measured import Batch, Spread, spread
from mutants.bench.named import made_by, named_mistakes
from mutants.bench.tree import MODULES, copy_tree, write_suite
from mutants.farm.job import Json

COLD_MS, WARM_MS = 15.0, 5.0
TIMES_MUTMUT, TIMES_COSMIC_RAY = 5.0, 70.0

OWN, WARM, MUTMUT, COSMIC_RAY = "this engine, cold", "this engine, warm", "mutmut", "cosmic-ray"

Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many mutants of mutmut and of cosmic-ray are drawn by this seed, and in how many batches or rounds."""

    mutmut: int
    cosmic_ray: int
    rounds: int
    seed: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A tool's figures: how many mutants it makes, CPU a mutant, CPU seconds once a run, outcomes, named mistakes among them."""

    name: str
    makes: int
    cpu: Spread
    once_seconds: float
    outcomes: Mapping[str, int]
    mistakes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was measured; `search_seconds` is the search on the original, which every survivor takes in full."""

    tools: tuple[Measured, ...]
    search_steps: int
    search_seconds: float
    sizes: Sizes

    def cpu(self, name: str) -> float | None:
        """CPU milliseconds a mutant of that tool."""
        return next((tool.cpu.mean for tool in self.tools if tool.name == name), None)

    def times(self, name: str) -> float | None:
        """How many times this engine's CPU a mutant, cold, that tool takes."""
        theirs, ours = self.cpu(name), self.cpu(OWN)
        return theirs / ours if theirs is not None and ours else None

    def as_json(self) -> Json:
        """The comparison with its targets, for a file."""
        targets = {
            "cold_ms": COLD_MS,
            "warm_ms": WARM_MS,
            "times_mutmut": TIMES_MUTMUT,
            "times_cosmic_ray": TIMES_COSMIC_RAY,
        }
        return asdict(self) | {
            "modules": MODULES,
            "python": platform.python_version(),
            "targets": targets,
            "times_mutmut": self.times(MUTMUT),
            "times_cosmic_ray": self.times(COSMIC_RAY),
            "named_mistakes": [mutant.id for mutant in named_mistakes()],
        }


def compare(commands: Mapping[str, Path], sizes: Sizes, announce: Announce) -> Comparison:
    """Measure this engine and the tools whose commands are given, one after the other. Raises CommandError."""
    with tempfile.TemporaryDirectory(prefix="mutation-bench-") as folder:
        place = copy_tree(Path(folder) / "engine")
        announce("the search on the original")
        steps, seconds = own.search_alone(place)
        tools = [*_own(place, sizes, announce)]
        for name in commands:
            place = copy_tree(Path(folder) / name, engine=False)
            write_suite(place, steps)
            measure = _mutmut if name == MUTMUT else _cosmic_ray
            tools.append(measure(commands[name], place, sizes, announce))
    return Comparison(tuple(tools), steps, seconds, sizes)


def units(commands: Mapping[str, Path], sizes: Sizes) -> int:
    """How often `compare` announces something."""
    return 2 + sizes.rounds + len(commands) * (1 + sizes.rounds)


def _own(place: Path, sizes: Sizes, announce: Announce) -> tuple[Measured, Measured]:
    cold: list[Batch] = []
    warm: list[Batch] = []
    outcomes: dict[str, int] = {}
    for number in range(sizes.rounds):
        announce(f"this engine, round {number + 1} of {sizes.rounds}")
        first, second, outcomes = own.run_own(place)
        cold.append(first)
        warm.append(second)
    announce("the named mistakes among the generic mutants")
    made = made_by(own.mutated_trees())
    makes = cold[0].mutants
    return (
        Measured(OWN, makes, spread(cold), 0.0, outcomes, made),
        Measured(WARM, makes, spread(warm), 0.0, outcomes, made),
    )


def _mutmut(command: Path, place: Path, sizes: Sizes, announce: Announce) -> Measured:
    announce("mutmut makes its mutants")
    names, once = mutmut_runs.prepare(command, place)
    batches, outcomes = mutmut_runs.run_batches(command, place, names, sizes.mutmut, sizes.rounds, sizes.seed, announce)
    made = made_by(mutmut_runs.mutated_trees(place))
    return Measured(MUTMUT, len(names), spread(batches), once + _mean_fixed(batches), outcomes, made)


def _cosmic_ray(command: Path, place: Path, sizes: Sizes, announce: Announce) -> Measured:
    announce("cosmic-ray lists its mutants")
    jobs, once = cosmic_ray_runs.prepare(command, place)
    batches, outcomes = cosmic_ray_runs.run_batches(
        command, place, jobs, sizes.cosmic_ray, sizes.rounds, sizes.seed, announce
    )
    made = made_by(cosmic_ray_runs.mutated_trees(command, place))
    return Measured(COSMIC_RAY, len(jobs), spread(batches), once + _mean_fixed(batches), outcomes, made)


def _mean_fixed(batches: list[Batch]) -> float:
    return sum(batch.fixed for batch in batches) / len(batches)
