"""A conformance run of one target: known deviations, walks and small scopes over every configuration, planted faults, rates."""

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from impl.command import CommandError
from verify.conformance.crew import Crew, Job
from verify.conformance.investigate import investigate
from verify.conformance.known import Known
from verify.conformance.profiles import Profile
from verify.conformance.rates import UnmeasuredError, measure
from verify.conformance.report import Capabilities, Deviation, Finding, Planted, Rates, Searched, TargetReport
from verify.conformance.targets import KnownTarget
from verify.conformance.work import Explored, Said, explore, faults_of, find_fault, say, try_known, walk
from verify.managers.situations import SITUATIONS
from verify.managers.walks import ManagerFailure, ManagerTally
from verify.remote.children import BrokenTargetError

Progress = Callable[[str, int, int], None]
"""Takes what has just ended, how many jobs have, and how many there are so far."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done: the target, how far, from which seed, what is known of it, whether faults are planted."""

    target: KnownTarget
    profile: Profile
    seed: int
    known: tuple[Known, ...]
    faults: bool
    folder: Path
    workers: int


@dataclass(slots=True)
class Part:
    """What came of one configuration so far."""

    traits: str
    walks: int = 0
    operations: int = 0
    explored: Explored | None = None
    seconds: float = 0.0
    failure: ManagerFailure | None = None


@dataclass(slots=True)
class Run:
    """A run as it goes: `report` can be asked at any time, so that an interrupted one is reported, too."""

    order: Order
    said: Said | None = None
    parts: dict[str, Part] = field(default_factory=dict)
    situations: Counter[str] = field(default_factory=Counter)
    able: dict[str, None] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    known: list[Deviation] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    planted: list[Planted] = field(default_factory=list)
    rates: Rates | None = None
    notes: list[str] = field(default_factory=list)
    interrupted: bool = True
    started: float = field(default_factory=time.monotonic)
    ended: int = 0
    total: int = 0

    def go(self, progress: Progress) -> None:
        """Do all of it; BrokenTargetError, CommandError, LostWorkerError, OSError."""
        order = self.order
        with Crew(order.workers, (BrokenTargetError, OSError)) as crew:
            self.begin(crew, progress)
            self.document(crew, progress)
            self.search(crew, progress)
            self.investigate(crew, progress)
            if order.faults:
                self.find_faults(crew, progress)
        progress("rates", self.ended, self.total)
        try:
            self.rates = measure(order.target, order.seed, order.profile.rate_walks, order.known)
        except UnmeasuredError as error:
            self.notes.append(str(error))
        self.interrupted = False

    def work(self, crew: Crew, jobs: list[Job], progress: Progress, take: Callable[[Job, object], list[Job]]) -> None:
        """Have the jobs done; `take` gets each result and says what more is to do."""
        pending = deque(jobs)
        self.total += len(jobs)
        for job, result in crew.results(pending):
            more = take(job, result)
            self.total += len(more)
            self.ended += 1
            pending.extend(more)
            progress(job.name, self.ended, self.total)

    def begin(self, crew: Crew, progress: Progress) -> None:
        """Ask the target what it is, and try what is known of it."""
        order = self.order

        def take(job: Job, result: object) -> list[Job]:
            if isinstance(result, Said):
                self.said = result
                self.parts = {name: Part(traits) for name, traits in result.traits.items()}
                self.able = {name: None for able in result.able.values() for name in able}
            elif isinstance(result, Deviation):
                self.known.append(result)
            return []

        tries = [Job(f"known: {known.name}", try_known, (order.target, known)) for known in order.known]
        self.work(crew, [Job("hello", say, (order.target,)), *tries], progress, take)
        self.known.sort(key=lambda found: [known.name for known in order.known].index(found.name))
        for known in order.known:
            strange = [name for name in (known.configuration, *known.also) if name not in self.parts]
            if strange:
                raise CommandError(
                    f"the known deviation {known.name!r} names no configuration of {order.target.name}: {strange[0]}"
                )

    def document(self, crew: Crew, progress: Progress) -> None:
        """Write the script of every known deviation that is still there, and run it."""
        order, listed = self.order, {known.name: known for known in self.order.known}

        def take(job: Job, result: object) -> list[Job]:
            if isinstance(result, Finding):
                self.known = [
                    replace(known, script=result.script, page=result.page, doubt=result.why)
                    if job.name == f"script: {known.name}"
                    else known
                    for known in self.known
                ]
            return []

        jobs = [
            Job(
                f"script: {known.name}",
                investigate,
                (order.target, known.configuration, ManagerFailure(listed[known.name].operations, ()), order.folder),
            )
            for known in self.known
            if known.reproduced
        ]
        self.work(crew, jobs, progress, take)

    def search(self, crew: Crew, progress: Progress) -> None:
        """Walk in every configuration, search small scopes, and walk again where situations are rare."""
        order, profile = self.order, self.order.profile

        def take(job: Job, result: object) -> list[Job]:
            name = job.arguments[1]
            if isinstance(result, ManagerTally):
                self.walked(name, result)
            elif isinstance(result, Explored):
                self.explored(name, result)
            return []

        operations = int(profile.operations * order.target.pace)
        jobs = [self.walk_job(name, operations) for name in self.parts]
        if profile.transitions:
            jobs += [
                Job(f"explore: {name}", explore, (order.target, name, profile.transitions, order.known))
                for name in self.parts
            ]
        self.work(crew, jobs, progress, take)
        for _ in range(profile.rounds):
            if not self.rare() or self.failed():
                break
            more = [name for name in self.parts if set(self.rare()) & set(self.said_able(name))]
            self.work(crew, [self.walk_job(name, operations) for name in more], progress, take)

    def walk_job(self, name: str, operations: int) -> Job:
        """More walks in the configuration."""
        order = self.order
        arguments = (order.target, name, order.seed, self.parts[name].walks, operations, order.known)
        return Job(f"walk: {name}", walk, arguments)

    def walked(self, name: str, tally: ManagerTally) -> None:
        """Take in walks of a configuration."""
        part = self.parts[name]
        part.walks = tally.walks
        part.operations += tally.steps
        part.seconds += tally.seconds
        part.failure = part.failure or tally.failure
        self.situations += tally.situations
        self.refusals += tally.refusals
        self.met += tally.known

    def explored(self, name: str, found: Explored) -> None:
        """Take in the exhaustive search of a configuration; its situations are no part of how often walks met them."""
        part = self.parts[name]
        part.explored = found
        part.seconds += found.seconds
        # The shortest failure is the one to look at.
        part.failure = found.failure or part.failure
        if found.met is not None:
            self.met[found.met] += 1
            self.notes.append(f"{name}: the exhaustive search ended at a known deviation, {found.met}")

    def said_able(self, name: str) -> tuple[str, ...]:
        """The situations that the configuration can come into."""
        return self.said.able[name] if self.said is not None else ()

    def rare(self) -> list[str]:
        """The situations that were possible and not met often enough yet."""
        return [name for name in self.able if self.situations[name] < self.order.profile.each]

    def failed(self) -> bool:
        """Whether something was found that nobody knows."""
        return any(part.failure is not None for part in self.parts.values())

    def investigate(self, crew: Crew, progress: Progress) -> None:
        """Make every difference ready to be reported."""
        order = self.order

        def take(job: Job, result: object) -> list[Job]:
            if isinstance(result, Finding):
                self.findings.append(result)
            return []

        jobs = [
            Job(f"investigate: {name}", investigate, (order.target, name, part.failure, order.folder))
            for name, part in self.parts.items()
            if part.failure is not None
        ]
        self.work(crew, jobs, progress, take)
        self.findings.sort(key=lambda found: found.name)

    def find_faults(self, crew: Crew, progress: Progress) -> None:
        """Plant each fault and look for it."""
        order, faults = self.order, faults_of(self.order.target)
        sound = tuple(name for name, part in self.parts.items() if part.failure is None)
        if not sound:
            self.notes.append("no fault was planted: in every configuration the healthy target shows something new")
            return

        def take(job: Job, result: object) -> list[Job]:
            if isinstance(result, Planted):
                self.planted.append(result)
            return []

        jobs = [
            Job(
                f"fault: {fault.name}",
                find_fault,
                (order.target, fault, order.seed, order.profile.fault_operations, order.known, sound),
            )
            for fault in faults
        ]
        self.work(crew, jobs, progress, take)
        names = [fault.name for fault in faults]
        self.planted.sort(key=lambda planted: names.index(planted.name))

    def report(self) -> TargetReport:
        """What came of it so far."""
        order, said = self.order, self.said
        told = Capabilities("nothing", (), (), ())
        if said is not None:
            told = Capabilities(said.name, said.offered, said.not_offered, said.not_observed)
        return TargetReport(
            order.target.name,
            order.target.title,
            order.target.version,
            order.profile.name,
            order.seed,
            order.profile.each,
            told,
            tuple(searched(name, part) for name, part in self.parts.items()),
            {name: self.situations[name] for name in self.able},
            tuple(name for name in SITUATIONS if name not in self.able),
            dict(self.refusals),
            tuple(replace(found, met=self.met[found.name]) for found in self.known),
            tuple(self.findings),
            tuple(self.planted),
            self.rates,
            tuple(self.notes),
            time.monotonic() - self.started,
            self.interrupted,
        )


def searched(name: str, part: Part) -> Searched:
    """A configuration's part of the report."""
    found = part.explored
    return Searched(
        name,
        part.traits,
        part.walks,
        part.operations,
        found.scope if found else None,
        found.states if found else 0,
        found.transitions if found else 0,
        bool(found and found.complete),
        part.seconds,
    )
