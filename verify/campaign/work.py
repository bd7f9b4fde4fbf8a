"""What a worker does with a unit: it searches in a child of its own, under limits, and hands back plain data."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from verify.campaign.searches import search
from verify.campaign.unit import Unit, family_of
from verify.remote.children import BrokenTargetError
from verify.remote.choice import MOST_MEMORY, WALL_FOR_CPU
from verify.remote.managers import MOST_MEMORY as MOST_MEMORY_OF_SYSTEM
from verify.sandbox import Limits, run_limited
from verify.sources import sources

State = Literal["done", "unknown", "broken", "other sources"]


@dataclass(frozen=True, slots=True)
class Task:
    """A unit with the sources that it is for, seconds of CPU, and MiB of address space beyond what the worker has."""

    unit: Unit
    sources: str
    cpu_seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a unit. `found` are the failures of its search, as searches.py has them.

    It is unknown when the search did not come to its end, for a reason that `note` has; broken when there was no target, and of
    other sources when the worker's checkout is another one: these two are no result.
    """

    state: State
    note: str
    tried: int
    found: tuple[dict[str, Any], ...]
    cpu_seconds: float


def work(task: Task) -> Result:
    """What becomes of the unit, whatever it does."""
    if sources() != task.sources:
        return Result("other sources", "", 0, (), 0.0)
    seconds = task.cpu_seconds
    limits = Limits(seconds, memory_of(task) << 20, seconds * WALL_FOR_CPU)
    ended = run_limited(partial(searched, task.unit), limits)
    match ended.kind, ended.value:
        case "returned", {"broken": str(why)}:
            return Result("broken", why, 0, (), ended.cpu_seconds)
        case "returned", {"tried": int(tried), "found": list(found), "note": str(note)}:
            return Result("unknown" if note else "done", note, tried, tuple(found), ended.cpu_seconds)
    return Result("unknown", f"{ended.kind}: {ended.detail}", 0, (), ended.cpu_seconds)


def searched(unit: Unit) -> dict[str, Any]:
    """In the child: the search, or why there is no target."""
    try:
        return search(unit)
    except BrokenTargetError as error:
        return {"broken": str(error)}


def memory_of(task: Task) -> int:
    """MiB for the child: the limit is handed down to what it starts, which has room of its own."""
    match family_of(task.unit.target):
        case "serving system":
            return task.memory + MOST_MEMORY_OF_SYSTEM
        case _:
            options = task.unit.work.get("options", {})
            return task.memory + (options.get("memory") or MOST_MEMORY if options else 0)
