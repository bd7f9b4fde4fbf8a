"""The whole comparison: each tool in a copy of its own, and what was measured as data."""

import platform
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from mutants.bench import cosmic_ray_runs, mutmut_runs, own
from mutants.bench.measured import Batch, Spread, spread
from mutants.bench.named import Mutated, made_by, named_mistakes
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
    """What was measured; `search_seconds` is the search on the original, which every survivor takes in full, and `rounds` say of
    each tool how many times this engine's CPU a mutant, cold, it took in the same round."""

    tools: tuple[Measured, ...]
    search_steps: int
    search_seconds: float
    sizes: Sizes
    rounds: Mapping[str, Sequence[float]] = field(default_factory=dict)

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
    """Measure this engine and the tools whose commands are given, in turns: a machine is not as fast in every minute. Raises
    CommandError.
    """
    with tempfile.TemporaryDirectory(prefix="mutation-bench-") as folder:
        place = copy_tree(Path(folder) / "engine")
        announce("the search on the original")
        steps, seconds = own.search_alone(place)
        benches = [_bench(name, command, Path(folder), steps, sizes, announce) for name, command in commands.items()]
        cold: list[Batch] = []
        warm: list[Batch] = []
        for number in range(sizes.rounds):
            announce(f"this engine, round {number + 1} of {sizes.rounds}")
            for batches, batch in zip((cold, warm), own.run_own(place), strict=True):
                batches.append(batch)
            for tool in benches:
                announce(f"{tool.name}, batch {number + 1} of {sizes.rounds}")
                tool.done.append(next(tool.batches))
        announce("the named mistakes among the generic mutants")
        made, makes, outcomes = made_by(own.mutated_trees()), cold[0].mutants, cold[-1].outcomes
        ours = [Measured(name, makes, spread(of), 0.0, outcomes, made) for name, of in ((OWN, cold), (WARM, warm))]
        measured = (*ours, *(tool.measured() for tool in benches))
    times = {tool.name: times_of(tool.done, cold) for tool in benches}
    return Comparison(measured, steps, seconds, sizes, times)


def units(commands: Mapping[str, Path], sizes: Sizes) -> int:
    """How often `compare` announces something."""
    return 2 + sizes.rounds + len(commands) * (1 + sizes.rounds)


def times_of(theirs: Sequence[Batch], ours: Sequence[Batch]) -> tuple[float, ...]:
    """How many times the other's CPU a mutant one takes, round by round."""
    return tuple(one.milliseconds / other.milliseconds for one, other in zip(theirs, ours, strict=True))


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool in its copy: how many mutants it makes, CPU seconds of that, its batches to come, and those that are done."""

    name: str
    makes: int
    once_seconds: float
    batches: Iterator[Batch]
    trees: Callable[[], Iterable[Mutated]]
    done: list[Batch] = field(default_factory=list)

    def measured(self) -> Measured:
        """The figures of the batches that are done."""
        outcomes = sum((Counter(batch.outcomes) for batch in self.done), Counter[str]())
        once = self.once_seconds + sum(batch.fixed for batch in self.done) / len(self.done)
        return Measured(
            self.name, self.makes, spread(self.done), once, dict(sorted(outcomes.items())), made_by(self.trees())
        )


def _bench(name: str, command: Path, folder: Path, steps: int, sizes: Sizes, announce: Announce) -> _Tool:
    """The tool, with its mutants made in a copy of its own."""
    place = copy_tree(folder / name, engine=False)
    write_suite(place, steps)
    rounds, seed = sizes.rounds, sizes.seed
    announce(f"{name} makes its mutants")
    if name == MUTMUT:
        names, once = mutmut_runs.prepare(command, place)
        batches = mutmut_runs.batches(command, place, names, sizes.mutmut, rounds, seed)
        return _Tool(name, len(names), once, batches, partial(mutmut_runs.mutated_trees, place))
    jobs, once = cosmic_ray_runs.prepare(command, place)
    batches = cosmic_ray_runs.batches(command, place, jobs, sizes.cosmic_ray, rounds, seed)
    return _Tool(name, len(jobs), once, batches, partial(cosmic_ray_runs.mutated_trees, command, place))
