"""The options of a run at scale, which every command that carries out a plan may have, and the farm that they mean."""

import os
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import click

from impl.command import CommandError
from impl.exit_codes import ExitCode
from mutants.farm.cache import Cache
from mutants.farm.farm import Farm
from mutants.farm.folder import NEWEST, to_resume
from verify.campaign.executors import KINDS, ExecutorMissing, Kind, Place

PLACE = (
    click.option(
        "--executor",
        type=click.Choice(KINDS),
        help="Who judges: this process alone, several processes, or a Dask cluster.",
    ),
    click.option("--workers", type=click.IntRange(min=1), help="How many judge at once.  [default: one a core]"),
    click.option(
        "--scheduler", metavar="ADDRESS", help="With --executor dask: the scheduler, such as tcp://host:8786."
    ),
)

KEPT = (
    click.option(
        "--resume",
        is_flag=False,
        flag_value=NEWEST,
        metavar="[FOLDER]",
        help="Go on with an interrupted run of the same plan; without a folder, the newest one in reports/.",
    ),
    click.option("--no-cache", is_flag=True, help="Judge every mutant again, whatever earlier runs have found."),
    click.option(
        "--since",
        metavar="REV",
        help="Only mutants in functions, or top-level statements, that differ from git's REV; a change of the suite or of "
        "the engine selects none.",
    ),
)

Command = Callable[..., Any]


def place_options(command: Command) -> Command:
    """Give the command the options that say who judges."""
    return reduce(lambda done, option: option(done), reversed(PLACE), command)


def farm_options(command: Command) -> Command:
    """Give the command the options of a run that is kept, as well as those that say who judges."""
    return place_options(reduce(lambda done, option: option(done), reversed(KEPT), command))


def place_of(executor: Kind | None, workers: int | None, scheduler: str | None) -> Place:
    """Where these options say that mutants are judged; in this process without an executor.

    Raises UsageError, and CommandError when there is no such place, before anything runs.
    """
    if executor is None and (workers is not None or scheduler is not None):
        raise click.UsageError("--workers and --scheduler are for --executor")
    if scheduler is not None and executor != "dask":
        raise click.UsageError("--scheduler is for --executor dask")
    place = Place(executor or "serial", workers or os.cpu_count() or 1, scheduler)
    try:
        place.check()
    except ExecutorMissing as error:
        raise CommandError(str(error), ExitCode.UNKNOWN) from None
    return place


def farm_of(
    kind: str,
    executor: Kind | None,
    workers: int | None,
    scheduler: str | None,
    resume: str | None,
    no_cache: bool,
    always_kept: bool = False,
) -> Farm:
    """The farm that these options mean, whose run is of that kind.

    A run with an executor, one that is resumed and one that is `always_kept` has a folder and takes known verdicts from the
    cache. Raises UsageError for options that do not go together, CommandError when there is nothing to resume.
    """
    place = place_of(executor, workers, scheduler)
    if executor is None and resume is None and not always_kept:
        return Farm(place)
    folder = None if resume is None else to_resume(kind) if resume == NEWEST else Path(resume)
    return Farm(place, None if no_cache else Cache(), kind, folder)
