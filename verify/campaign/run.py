"""A run of a campaign: works off the open units until there are none, until its time is over, or until it is interrupted."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from impl.command import CommandError
from impl.exit_codes import ExitCode
from verify.campaign.executors import ExecutorMissing, Lost, Place, finished
from verify.campaign.store import Store
from verify.campaign.unit import Unit
from verify.campaign.work import Result, Task, work
from verify.sources import sources

Progress = Callable[[Unit], None]
"""Called with each unit whose result was kept."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a unit may use, seconds of CPU and MiB of memory, and the minutes after which no unit is begun; None: no end."""

    cpu_seconds: float
    memory: int
    minutes: float | None = None


def go_on(store: Store, place: Place, bounds: Bounds, progress: Progress = lambda unit: None) -> int:
    """Work off the open units; how many lost their workers too often, and are still open.

    CommandError when there is no executor or no target, or when a worker has other sources. What was kept before stays.
    """
    lost = 0
    tasks = tasks_in_time(store.open_units(), bounds)
    try:
        with closing(finished(place, work, tasks)) as results:
            for task, result in results:
                if isinstance(result, Lost):
                    lost += 1
                else:
                    check(task.unit, result)
                    store.keep(task.unit, result, datetime.now(UTC).isoformat(timespec="seconds"))
                    progress(task.unit)
    except ExecutorMissing as error:
        raise CommandError(str(error), ExitCode.UNKNOWN) from None
    return lost


def check(unit: Unit, result: Result) -> None:
    """CommandError for what is no result."""
    match result.state:
        case "broken":
            raise CommandError(f"the target is broken: {unit.target}: {result.note}", ExitCode.BROKEN)
        case "other sources":
            raise CommandError("a worker has other sources than this checkout: start it in this one, or in a copy")


def tasks_in_time(units: Iterable[Unit], bounds: Bounds) -> Iterator[Task]:
    """The units as they are asked for, none after the time is over."""
    begun = time.monotonic()
    for unit in units:
        if bounds.minutes is not None and time.monotonic() - begun >= bounds.minutes * 60:
            return
        yield Task(unit, sources(), bounds.cpu_seconds, bounds.memory)
