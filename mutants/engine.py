"""One run: the original first, then the controls, then every mutant, then the original again.

Who judges the mutants, and which verdicts are known already, is the farm's business. A record grows while the run goes on, so
that an interrupted run can still say what it knows.
"""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field

from mutants.client import ForkServer, ServerError, Source
from mutants.equivalence.ledger import Entry
from mutants.farm.farm import Farm
from mutants.farm.job import Bench, Finding, Job, Shard, digest, digest_of_sources, estimates, shards_of
from mutants.farm.judging import WorkersLostError, judge_all
from mutants.farm.selection import stages_that_see, watch
from mutants.farm.work import end_server, judge_job, kept_server
from mutants.infection.alike import Alike, alike_in_stages, check_alike
from mutants.making import Made, make
from mutants.mutant import Mutant, Project
from mutants.original import NotSoundError, budgets_of, check_original, check_unchanged, run_original
from mutants.splice import Spliced
from mutants.verdicts import Status, Verdict
from mutants.wire import Reach, Run

ORIGINAL, REACH = "run", "reach"
"""What is kept of the original: how it ran, and what each stage calls."""

Announce = Callable[[str], None]
"""Told what is about to run, or which mutant has its verdict, once for each unit of `units`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. `at_least` is how many of its stages every mutant goes through, whatever broke before.

    `seed` shuffles the mutants; None keeps the catalogue's order. With `selects` a mutant goes only through those of its stages
    that call its function, and a single call that does not end is told before its stage is out of CPU. `no_op` must survive,
    `broken` must not; `family_controls` are such a pair of a family's own, which run when some mutant is of that family. `ledger`
    are the survivors that are let stand, and `full_modules` those of which every mutant that there is is among the `mutants`;
    `whole_surface` says that this is so of all.
    """

    project: Project
    mutants: tuple[Mutant, ...]
    no_op: Mutant
    broken: Mutant
    at_least: int = 0
    seed: int | None = None
    family_controls: Mapping[str, tuple[Mutant, Mutant]] = field(default_factory=dict)
    selects: bool = False
    ledger: tuple[Entry, ...] = ()
    full_modules: frozenset[str] = frozenset()
    whole_surface: bool = False

    def in_order(self) -> list[Mutant]:
        order = list(self.mutants)
        if self.seed is not None:
            random.Random(self.seed).shuffle(order)
        return order

    def pairs(self) -> tuple[tuple[Mutant, Mutant], ...]:
        """The controls to run, each time the one that must survive and the one that must not."""
        families = {mutant.family for mutant in self.mutants}
        own = (pair for family, pair in self.family_controls.items() if family in families)
        return ((self.no_op, self.broken), *own)

    def controls(self) -> tuple[Mutant, ...]:
        """The controls to run, one by one."""
        return tuple(control for pair in self.pairs() for control in pair)

    def modules(self) -> set[str]:
        """Modules that some mutant or control changes."""
        return {mutant.module for mutant in (*self.controls(), *self.mutants)}

    def stages(self) -> tuple[str, ...]:
        """Stages that some mutant or control reaches."""
        return self.project.stages_of_all(mutant.family for mutant in (*self.controls(), *self.mutants))

    def units(self) -> int:
        """Number of runs: every mutant and control, the original twice, and twice more to see what each stage calls and tells."""
        return len(self.mutants) + len(self.controls()) + 2 + 2 * self.selects

    def digest(self) -> str:
        """A hash of what is run; the order of the mutants does not count."""
        mutants = sorted(({**asdict(one), "expected": one.expectation()} for one in self.mutants), key=str)
        stages = [self.project.stages_of(mutant["family"]) for mutant in mutants]
        return digest([mutants, stages, self.at_least, self.selects])


@dataclass(frozen=True, slots=True)
class Result:
    """One mutant with its verdict; there is no run when making it was enough, and no `spliced` when it does not apply.

    `known` says that the verdict is an earlier run's, or this one's before it was interrupted.
    """

    mutant: Mutant
    verdict: Verdict
    run: Run | None
    spliced: Spliced | None
    known: bool = False

    @property
    def caught(self) -> bool:
        """Whether it was killed as it must be: by its expected rules, or by a runaway that it declares."""
        if self.verdict.status is Status.KILLED_RUNAWAY or not self.mutant.expected:
            return self.verdict.killed
        return self.verdict.killed and self.mutant.caught_by(self.verdict.rules)

    @property
    def cpu_ms(self) -> float:
        return self.run.cpu_seconds * 1e3 if self.run else 0.0


@dataclass(slots=True)
class Record:
    """What is known of a run so far. `problems` are reasons why its verdicts would mean nothing; `workers` are those that
    judged, by name, with the seconds of CPU that each has used, in so many `judging_seconds` on the wall."""

    plan: Plan
    sources: Mapping[str, Source] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    before: Run | None = None
    after: Run | None = None
    controls: list[Result] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    workers: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False
    seconds: float = 0.0
    judging_seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether the run came to its end, with an original and controls as they must be."""
        return not self.interrupted and not self.problems and self.after is not None


def carry_out(record: Record, announce: Announce, farm: Farm | None = None) -> None:
    """Run the plan into the record; without a farm here, one mutant after the other.

    Ends early, with a problem in the record, when the original or a control is not as it must be, or when workers are lost
    again and again. A KeyboardInterrupt passes, after every child has been ended.
    """
    begun = time.monotonic()
    farm = farm or Farm()
    try:
        server = kept_server(farm.run, record.plan.project, record.plan.modules(), record.plan.stages())
        record.sources, record.versions = server.sources, server.versions
        _run_plan(record, server, announce, farm)
    except (ServerError, WorkersLostError, NotSoundError) as error:
        record.problems.append(str(error))
    except KeyboardInterrupt:
        record.interrupted = True
        raise
    finally:
        end_server()
        farm.end()
        record.seconds = time.monotonic() - begun


def _run_plan(record: Record, server: ForkServer, announce: Announce, farm: Farm) -> None:
    plan, project = record.plan, record.plan.project
    made = make(plan.controls(), server.sources, project) | make(plan.mutants, server.sources, project)
    sources = digest_of_sources(server.sources)
    farm.begin(plan.digest(), server)
    seen = _watch(plan, server, farm, announce) if plan.selects else None
    alike = {} if seen is None else _alike(plan, made, seen, server, farm, announce)
    jobs, settled = _jobs(plan, made, seen, {stage: one.mutants for stage, one in alike.items()})
    known = farm.known(list(jobs.values()))
    # With every verdict known, the original that they were found beside is that of the same cache.
    said = farm.recall(ORIGINAL, plan.stages()) if known.keys() == jobs.keys() else None
    announce("the original")
    record.before = run_original(server, plan.stages()) if said is None else Run.of_json(said)
    check_original(record.before, plan.stages())
    check_alike(alike, record.before)
    bench = Bench(farm.run, project, tuple(sorted(plan.modules())), budgets_of(record.before, seen), sources)
    _run_controls(record, made, server, bench, farm, announce)
    for result in settled:
        announce(f"mutant {result.mutant.id}")
        record.results.append(result)
    _judge_mutants(record, jobs, made, known, bench, farm, announce)
    announce("the original again")
    record.after = run_original(server, plan.stages()) if said is None else record.before
    check_original(record.after, plan.stages())
    check_unchanged(record.before, record.after)
    farm.remember(ORIGINAL, plan.stages(), asdict(record.after))


def _run_controls(
    record: Record, made: Mapping[str, Made], server: ForkServer, bench: Bench, farm: Farm, announce: Announce
) -> None:
    """Every control's result into the record, pair by pair; raises NotSoundError when one is not as it must be."""
    project = record.plan.project
    for pair in record.plan.pairs():
        for control in pair:
            announce(f"control {control.id}")
            job = _job(control, made[control.id], project.stages_of(control.family), 0)
            found = [] if job is None else farm.cached([job]) or [judge_job(job, server, bench.budgets)]
            if job is not None:
                farm.found.append((job, found[0]))
            record.controls.append(_result(control, made[control.id], *found))
        _check_controls(*record.controls[-2:])


def _watch(plan: Plan, server: ForkServer, farm: Farm, announce: Announce) -> dict[str, Reach]:
    """What each stage calls of the original."""
    announce("what each stage calls")
    seen: dict[str, Reach] = {}
    for stage in plan.stages():
        said = farm.recall(REACH, (stage,))
        seen[stage] = watch(server, stage) if said is None else Reach.of_json(said)
        farm.remember(REACH, (stage,), seen[stage].as_json())
    return seen


def _alike(
    plan: Plan,
    made: Mapping[str, Made],
    seen: Mapping[str, Reach],
    server: ForkServer,
    farm: Farm,
    announce: Announce,
) -> dict[str, Alike]:
    """Which mutants each stage cannot tell from the original."""
    announce("which mutants each stage can tell apart")
    asked: dict[str, list[Mutant]] = {}
    for mutant in plan.mutants:
        if made[mutant.id].code is not None and mutant.at is not None:
            for stage in stages_that_see(mutant, plan.project.stages_of(mutant.family), seen):
                asked.setdefault(stage, []).append(mutant)
    return alike_in_stages(asked, made, server, farm)


def _jobs(
    plan: Plan,
    made: Mapping[str, Made],
    seen: Mapping[str, Reach] | None,
    alike: Mapping[str, frozenset[str]],
) -> tuple[dict[str, Job], list[Result]]:
    """The mutants that have to be judged, by id, and the results of those whose verdict needs no run."""
    jobs: dict[str, Job] = {}
    settled: list[Result] = []
    for mutant in plan.in_order():
        one, stages = made[mutant.id], plan.project.stages_of(mutant.family)
        why = ""
        if seen is not None:
            called = stages_that_see(mutant, stages, seen)
            why = "in every stage it does what the original does" if called else "no stage calls it"
            stages = stages_that_see(mutant, called, seen, alike)
        job = _job(mutant, one, stages, plan.at_least)
        if job is None:
            settled.append(_result(mutant, one))
        elif not stages:
            settled.append(Result(mutant, Verdict(Status.SURVIVED, why, {}, ""), None, one.spliced))
        else:
            jobs[mutant.id] = job
    return jobs, settled


def _judge_mutants(
    record: Record,
    jobs: Mapping[str, Job],
    made: Mapping[str, Made],
    known: Mapping[str, Finding],
    bench: Bench,
    farm: Farm,
    announce: Announce,
) -> None:
    """The result of every job into the record: from what is known, or from those who judge."""

    def take(findings: Iterable[Finding], known: bool) -> None:
        for finding in findings:
            announce(f"mutant {finding.id}")
            mutant, spliced = jobs[finding.id].mutant, made[finding.id].spliced
            record.results.append(Result(mutant, finding.verdict, finding.run, spliced, known))

    def deliver(findings: list[Finding]) -> None:
        farm.keep((jobs[finding.id], finding) for finding in findings)
        take(findings, known=False)

    take((known[name] for name in jobs if name in known), known=True)
    left = [job for name, job in jobs.items() if name not in known]
    if farm.place.serial:
        shards = [Shard(bench, (job,)) for job in left]
    else:
        shards = shards_of(left, estimates(left, farm.costs()), farm.place.workers, bench)
    begun = time.monotonic()
    record.workers = judge_all(shards, farm.place, deliver)
    record.judging_seconds = time.monotonic() - begun


def _job(mutant: Mutant, made: Made, stages: tuple[str, ...], at_least: int) -> Job | None:
    """The job of judging it; None when its making was enough."""
    return None if made.code is None else Job.of_code(mutant, made.code, stages, at_least)


def _result(mutant: Mutant, made: Made, finding: Finding | None = None) -> Result:
    """The result of a mutant, from its finding or else from its making."""
    if finding is not None:
        return Result(mutant, finding.verdict, finding.run, made.spliced)
    assert made.verdict is not None
    return Result(mutant, made.verdict, None, made.spliced)


def _check_controls(no_op: Result, broken: Result) -> None:
    due = ((no_op, Status.SURVIVED, "survive"), (broken, Status.KILLED_ASSERTION, "break a rule"))
    for control, status, must in due:
        found = control.verdict
        if found.status is not status:
            raise NotSoundError(f"the {control.mutant.id} control must {must}: {found.status}, {found.detail}")
