"""What a second worker brings: the same mutants judged by one and by two, pair by pair, on one machine."""

import importlib
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from impl.exit_codes import ExitCode
from mutants.engine import Announce, Plan, Record, carry_out
from mutants.farm.farm import Farm
from mutants.repeat import say_whether_alike, verdict_key
from mutants.terminal import progress
from verify.campaign.executors import Kind, Place

WORKERS = (1, 2)
GENERIC = "mutants.generic.command"


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: wall seconds of the judging alone, CPU seconds of all its workers, and its verdicts by mutant id."""

    wall: float
    cpu: float
    verdicts: dict[str, str]
    problems: tuple[str, ...]


def scale(plan: Plan, pairs: int, executor: Kind, out: Console) -> ExitCode:
    """Run the pairs, print each and the spread of both ratios; it passes when every run came to the same verdicts."""
    ratios: list[tuple[float, float]] = []
    verdicts: list[dict[str, str]] = []
    with progress(out, pairs * len(WORKERS) * plan.units()) as announce:
        for pair in range(pairs):
            # Which one goes first changes from pair to pair, so that a machine that gets slower favours neither.
            order = WORKERS if pair % 2 == 0 else WORKERS[::-1]
            found = {workers: _measured(plan, executor, workers, announce) for workers in order}
            for one in found.values():
                if one.problems:
                    out.print(Text("; ".join(one.problems), style="red"))
                    return ExitCode.BROKEN
                verdicts.append(one.verdicts)
            alone, together = found[1], found[2]
            ratios.append((alone.wall / together.wall, together.cpu / alone.cpu))
            out.print(Text(_line(pair + 1, alone, together)))
    for name, values in zip(
        ("wall, 1 worker : 2", "worker CPU, 2 workers : 1"), zip(*ratios, strict=True), strict=True
    ):
        spread = f"least {min(values):.3f}, median {statistics.median(values):.3f}, most {max(values):.3f}"
        out.print(Text(f"{name}: {spread}", style="bold"))
    same = say_whether_alike(verdicts, out)
    out.print(Text(f"{len(plan.mutants)} mutants: {'identical verdicts' if same else 'verdicts differ'}", style="bold"))
    return ExitCode.PASS if same else ExitCode.FAIL


def generic_plan(mutants: int, paths: Sequence[Path]) -> Plan:
    """A draw of so many generic mutants of these files, of all without one; the same draw every time."""
    command = importlib.import_module(GENERIC)
    surface = command.read_surface(command.ROOT)
    found = command.chosen(surface, paths, None, None)
    drawn = random.Random(0).sample(found, min(mutants, len(found)))
    plan: Plan = command.plan_of(surface, drawn)
    return replace(plan, selects=True)


def _measured(plan: Plan, executor: Kind, workers: int, announce: Announce) -> Measured:
    record = Record(plan)
    carry_out(record, announce, Farm(Place(executor, workers)))
    verdicts = {result.mutant.id: verdict_key(result) for result in record.results}
    return Measured(record.judging_seconds, sum(record.workers.values()), verdicts, tuple(record.problems))


def _line(pair: int, alone: Measured, together: Measured) -> str:
    each = (f"{one.wall:.1f} s and {one.cpu:.1f} s of CPU" for one in (alone, together))
    return f"pair {pair}: {' on one worker, '.join(each)} on two"
