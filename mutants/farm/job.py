"""Work as it travels to a worker, and what comes back: jobs in shards out, findings in."""

import base64
import hashlib
import json
import marshal
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import CodeType
from typing import Any

from mutants.client import Source
from mutants.mutant import Mutant, Project
from mutants.verdicts import Status, Verdict
from mutants.wire import Budget, Run

SHARDS_A_WORKER = 12
"""So many that a worker which is slow, or lost, holds up little."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """One mutant to judge: its marshalled code in base64, its stages in order, and how many of them run in any case."""

    mutant: Mutant
    code: str
    stages: tuple[str, ...]
    at_least: int = 0

    @classmethod
    def of_code(cls, mutant: Mutant, code: CodeType, stages: tuple[str, ...], at_least: int = 0) -> "Job":
        return cls(mutant, base64.b64encode(marshal.dumps(code)).decode(), stages, min(at_least, len(stages)))


@dataclass(frozen=True, slots=True)
class Bench:
    """What all shards of a run have in common: the run's own name, the project and its mutable modules, every stage's budget,
    and the digest of the sources and the Python that the code was made with, which a worker must share."""

    run: str
    project: Project
    mutable: tuple[str, ...]
    budgets: Mapping[str, Budget]
    sources: str
    python: str = platform.python_version()


@dataclass(frozen=True, slots=True)
class Shard:
    """Some jobs of a run, and its bench."""

    bench: Bench
    jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one mutant and the run that it rests on."""

    id: str
    verdict: Verdict
    run: Run

    def as_json(self) -> Json:
        return asdict(self)

    @classmethod
    def of_json(cls, data: Json) -> "Finding":
        """The finding; ValueError, TypeError or KeyError when the data are none."""
        verdict = Verdict(**data["verdict"] | {"status": Status(data["verdict"]["status"])})
        return cls(data["id"], verdict, Run.of_json(data["run"]))


def shards_of(jobs: Sequence[Job], cost: Mapping[str, float], workers: int, bench: Bench) -> list[Shard]:
    """The jobs in shards of about equal cost, given in seconds of CPU by mutant id, the dearest first; a shard has those of few
    modules, one module after the other.
    """
    count = min(len(jobs), workers * SHARDS_A_WORKER)
    most = sum(cost[job.mutant.id] for job in jobs) / max(count, 1)
    shards: list[list[Job]] = []
    spent: list[float] = []
    for job in sorted(jobs, key=lambda job: job.mutant.module):
        of_job = cost[job.mutant.id]
        if not shards or spent[-1] + of_job > most:
            shards.append([])
            spent.append(0.0)
        shards[-1].append(job)
        spent[-1] += of_job
    dearest = sorted(range(len(shards)), key=lambda number: -spent[number])
    return [Shard(bench, tuple(shards[number])) for number in dearest]


def digest(value: object) -> str:
    """A hash of something that JSON can carry."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def digest_of_sources(sources: Mapping[str, Source]) -> str:
    """A hash of every held module's name, place and text."""
    return digest(sorted((name, source.path, source.source) for name, source in sources.items()))


def estimates(jobs: Iterable[Job], past: Mapping[str, float], otherwise: float = 0.02) -> dict[str, float]:
    """Seconds of CPU for each job by its mutant's id: its own past, else the mean of its family, else `otherwise`."""
    jobs = list(jobs)
    by_family: dict[str, list[float]] = {}
    for job in jobs:
        if job.mutant.id in past:
            by_family.setdefault(job.mutant.family, []).append(past[job.mutant.id])
    mean = {family: sum(costs) / len(costs) for family, costs in by_family.items()}
    return {job.mutant.id: past.get(job.mutant.id, mean.get(job.mutant.family, otherwise)) for job in jobs}
