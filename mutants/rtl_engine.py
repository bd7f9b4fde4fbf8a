"""One run of the mutants of the RTL: in each simulator the original first, the controls, every mutant, the original again.

All of them are in one build a simulator, and a run has the one that a plusarg selects, so it is the select that makes a mutant
and no file that changes. A mutant of which some text is not in its file exactly once is planted nowhere and is invalid.apply.
"""

import resource
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mutants.engine import Announce
from mutants.rtl_catalogue import RTL_BROKEN, RTL_MUTANTS, RTL_NO_OP
from mutants.rtl_mutant import RtlMutant
from mutants.verdicts import Status, Verdict
from verify.chips.builds import BuildFailedError
from verify.chips.judge import SIMULATORS, Judge, Judged, opened, version_of
from verify.chips.planted_rtl import DoesNotFitError, place_of, plant, sources_of


@dataclass(frozen=True, slots=True)
class RtlPlan:
    """Which mutants to run in which simulators. `planted` are all that are in the build, so that a choice of a few needs none
    of its own; `no_op` must survive, `broken` must not."""

    mutants: tuple[RtlMutant, ...] = RTL_MUTANTS
    simulators: tuple[str, ...] = tuple(SIMULATORS)
    planted: tuple[RtlMutant, ...] = RTL_MUTANTS
    no_op: RtlMutant = RTL_NO_OP
    broken: RtlMutant = RTL_BROKEN

    def units(self) -> int:
        """Number of runs: in each simulator every mutant, both controls, the original twice."""
        return len(self.simulators) * (len(self.mutants) + 4)


@dataclass(frozen=True, slots=True)
class RtlResult:
    """A mutant's verdict in one simulator, after so many runs of the chip; `cpu_ms` counts the simulator's, too."""

    mutant: RtlMutant
    simulator: str
    verdict: Verdict
    runs: int = 0
    cpu_ms: float = 0.0

    @property
    def caught(self) -> bool:
        """Whether it was killed as it must be, by its expected rules."""
        return self.verdict.killed and self.mutant.caught_by(self.verdict.rules)


@dataclass(slots=True)
class RtlRecord:
    """What is known of a run so far. `problems` are reasons why its verdicts would mean nothing."""

    plan: RtlPlan
    sources: Mapping[str, str] = field(default_factory=sources_of)
    versions: dict[str, str] = field(default_factory=dict)
    originals: dict[str, list[Judged]] = field(default_factory=dict)
    controls: list[RtlResult] = field(default_factory=list)
    results: list[RtlResult] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    interrupted: bool = False
    seconds: float = 0.0


class _NotSoundError(Exception):
    """The original or a control is not as it must be: verdicts would mean nothing."""


def carry_out_rtl(record: RtlRecord, announce: Announce) -> None:
    """Run the plan into the record. Raises ToolMissing before anything has run.

    Ends early, with a problem in the record, when the RTL does not build, or the original or a control is not as it must be.
    """
    record.versions |= {simulator: version_of(simulator) for simulator in record.plan.simulators}
    begun = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="planted-") as folder:
            _run_plan(record, Path(folder), announce)
    except (BuildFailedError, DoesNotFitError, _NotSoundError) as error:
        record.problems.append(str(error))
    except KeyboardInterrupt:
        record.interrupted = True
        raise
    finally:
        record.seconds = time.monotonic() - begun


def misfit(mutant: RtlMutant, sources: Mapping[str, str]) -> str:
    """Why the mutant does not apply to these sources; nothing when it does."""
    try:
        for edit in mutant.fault().edits:
            place_of(edit, sources)
    except DoesNotFitError as error:
        return str(error)
    return ""


def verdict_of(judged: Judged, simulator: str) -> Verdict:
    """What a chip that was judged like this says of its mutant.

    Broken rules count even when other runs were lost. A lost run alone is no kill: it says nothing of the chip.
    """
    if judged.broken:
        return Verdict(Status.KILLED_ASSERTION, "; ".join(sorted(judged.broken)), judged.broken, simulator)
    if judged.lost:
        status = Status.RUNAWAY_CPU if judged.out_of_cpu else Status.HARNESS_ERROR
        return Verdict(status, judged.lost[-1].replace("\n", " "), {}, simulator)
    return Verdict(Status.SURVIVED, f"passed {judged.runs} runs", {}, simulator)


def _run_plan(record: RtlRecord, folder: Path, announce: Announce) -> None:
    plan = record.plan
    for control in (plan.no_op, plan.broken):
        if why := misfit(control, record.sources):
            raise _NotSoundError(f"the {control.id} control does not apply: {why}")
    mutants = dict.fromkeys((*plan.planted, *plan.mutants))
    misfits = {mutant.id: why for mutant in mutants if (why := misfit(mutant, record.sources))}
    fitting = [*(mutant for mutant in mutants if mutant.id not in misfits), plan.no_op, plan.broken]
    listing = plant([mutant.fault() for mutant in fitting], folder)
    numbers = {mutant.id: number for number, mutant in enumerate(fitting, start=1)}
    judge = Judge()

    def judged(simulator: str, number: int) -> tuple[Judged, float]:
        """How the RTL with that fault is judged, and the milliseconds of CPU that it took, after the first run's build."""
        with opened(simulator, listing, number) as chip:
            chip.launch(waves=False)
            begun = _cpu_seconds()
            found = judge.judge(chip)
        return found, (_cpu_seconds() - begun) * 1e3

    def result(mutant: RtlMutant, simulator: str) -> RtlResult:
        if mutant.id in misfits:
            return RtlResult(mutant, simulator, Verdict(Status.INVALID_APPLY, misfits[mutant.id], {}, ""))
        found, cpu_ms = judged(simulator, numbers[mutant.id])
        return RtlResult(mutant, simulator, verdict_of(found, simulator), found.runs, cpu_ms)

    for simulator in plan.simulators:
        announce(f"{simulator}: the original")
        before, _ = judged(simulator, 0)
        record.originals[simulator] = [before]
        _check_original(simulator, before)
        for control in (plan.no_op, plan.broken):
            announce(f"{simulator}: control {control.id}")
            record.controls.append(result(control, simulator))
        _check_controls(*record.controls[-2:])
        for mutant in plan.mutants:
            announce(f"{simulator}: mutant {mutant.id}")
            record.results.append(result(mutant, simulator))
        announce(f"{simulator}: the original again")
        after, _ = judged(simulator, 0)
        record.originals[simulator].append(after)
        _check_original(simulator, after)
        if (before.runs, before.cycles) != (after.runs, after.cycles):
            counts = f"{before.cycles} cycles before the mutants and {after.cycles} after"
            raise _NotSoundError(f"{simulator} is not deterministic: {counts}")


def _check_original(simulator: str, judged: Judged) -> None:
    found = [*(f"{rule}: {line}" for rule, line in sorted(judged.broken.items())), *judged.lost]
    if found:
        raise _NotSoundError(f"the original does not pass in {simulator}: {'; '.join(found)}")
    if not judged.cycles:
        raise _NotSoundError(f"the original was busy for no cycle in {simulator}, so passing says nothing")


def _check_controls(no_op: RtlResult, broken: RtlResult) -> None:
    for control, status, must in (
        (no_op, Status.SURVIVED, "survive"),
        (broken, Status.KILLED_ASSERTION, "break a rule"),
    ):
        found = control.verdict
        if found.status is not status:
            where = f"{control.mutant.id} control must {must} in {control.simulator}"
            raise _NotSoundError(f"the {where}: {found.status}, {found.detail}")


def _cpu_seconds() -> float:
    """CPU that this process and the children that have ended have used."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
