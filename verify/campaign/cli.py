"""`python -m verify campaign`: a long search in one file that every run goes on with."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from impl.command import EPILOG, CommandError, console
from impl.display import progress_bar
from impl.exit_codes import ExitCode
from verify.bounds import PROFILES, Scope
from verify.campaign.executors import KINDS as EXECUTORS
from verify.campaign.executors import Kind as ExecutorKind
from verify.campaign.executors import Place
from verify.campaign.plan import Order, units_of
from verify.campaign.run import Bounds, go_on
from verify.campaign.status import conclude, render, save_witnesses
from verify.campaign.store import Store, create, reading, writing
from verify.campaign.unit import KINDS, OURS, Kind, Unit, scope_from_text
from verify.conformance.targets import TARGETS
from verify.remote.choice import ADAPTER, OPTIONS, STDIO, TargetOptions
from verify.search_cli import finite
from verify.sources import sources

CPU_SECONDS, MEMORY = 1800.0, 4096
NO_PROFILE = "none"
MOST_SEEDS = 100_000


def some_scopes(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[Scope, ...]:
    """The scopes that the options name."""
    try:
        return tuple(scope_from_text(value) for value in values)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def some_targets(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """The targets that the options name, each once; ours without any."""
    for value in values:
        if value not in (*OURS, *TARGETS) and not value.startswith(STDIO) and not ADAPTER.fullmatch(value):
            names = ", ".join((*OURS, *TARGETS))
            raise click.BadParameter(f"{value} is none of {names}, nor module:factory, nor stdio:COMMAND")
    return tuple(dict.fromkeys(values)) or OURS


def adapter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the command the options that say how an adapter is run."""
    for option in reversed([one for one in OPTIONS if one.field not in ("target", "steps")]):
        add = click.option(option.flag, option.field, metavar=option.metavar, type=option.kind, help=option.help)
        command = add(command)
    return command


@click.command("campaign", epilog=EPILOG)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--target",
    "targets",
    metavar="TARGET",
    multiple=True,
    callback=some_targets,
    help=f"{', '.join((*OURS, *TARGETS))}, module:factory or stdio:COMMAND; may be repeated.  [default: {', '.join(OURS)}]",
)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="May be repeated.  [default: all]")
@click.option(
    "--profile", type=click.Choice([*PROFILES, NO_PROFILE]), default="dev", show_default=True, help="Which scopes."
)
@click.option(
    "--scope",
    "scopes",
    metavar="P,S,R,L[,SINKS][,raw]",
    multiple=True,
    callback=some_scopes,
    help="A scope more of page tables: pages, page size, requests, length; may be repeated.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="First seed.")
@click.option("--seeds", type=click.IntRange(0, MOST_SEEDS), default=10, show_default=True, help="How many seeds.")
@adapter_options
@click.option(
    "--executor", type=click.Choice(EXECUTORS), default="process", show_default=True, help="Where units are searched."
)
@click.option("--workers", type=click.IntRange(1), default=os.cpu_count() or 1, help="Workers.  [default: all cores]")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler, tcp://HOST:PORT.  [default: workers of its own]")
@click.option(
    "--minutes",
    type=click.FloatRange(0, 1e6, min_open=True),
    callback=finite,
    help="Begin no unit after so many.  [default: none]",
)
@click.option(
    "--unit-seconds",
    type=click.FloatRange(1, 1e7),
    default=CPU_SECONDS,
    show_default=True,
    callback=finite,
    help="CPU time of one unit.",
)
@click.option(
    "--unit-memory",
    metavar="MIB",
    type=click.IntRange(64, 1 << 30),
    default=MEMORY,
    show_default=True,
    help="Memory of one unit.",
)
@click.option("--new", is_flag=True, help="Start over, whatever FILE has.")
@click.option("--retry", is_flag=True, help="Search the units again that ended unknown.")
@click.option("--status", is_flag=True, help="Only say how FILE stands, also while it is worked on.")
def campaign(
    file: Path,
    targets: tuple[str, ...],
    kinds: tuple[Kind, ...],
    profile: str,
    scopes: tuple[Scope, ...],
    seed: int,
    seeds: int,
    python: str | None,
    path: str | None,
    seconds: float | None,
    memory: int | None,
    executor: ExecutorKind,
    workers: int,
    scheduler: str | None,
    minutes: float | None,
    unit_seconds: float,
    unit_memory: int,
    new: bool,
    retry: bool,
    status: bool,
) -> int:
    """Search for a long time, and keep in FILE what was searched and what was found.

    \b
    Examples:
      python -m verify campaign night.db --seeds 500 --profile ci
      python -m verify campaign night.db --seeds 500 --profile ci --minutes 60     goes on, for an hour
      python -m verify campaign --status night.db
      python -m verify campaign mine.db --target adapter:make --target-path ../mine --scope 3,2,2,4
      python -m verify campaign farm.db --seeds 100000 --executor dask --scheduler tcp://head:8786

    A campaign is a list of units, each one target, one kind of search, one scope or configuration and one seed: `explore`
    visits every state of a scope, `random` searches page tables and managers at random, `fuzz` runs programs on the
    definition and the cycle model of the chip. A unit is searched in a process of its own under limits. FILE is SQLite, and
    whole after every unit: interrupt or kill a run, and the same command goes on. Its plan must be the one that FILE was
    begun with, on the same sources; --executor, --workers, --minutes and the limits of units may change. A Dask scheduler
    and its workers need this checkout on PYTHONPATH, and adapters where --target-path says.

    Failures are shrunk, and those of one target with the same broken rules and the same operations are one finding; its
    shortest witness is saved beside FILE for `python -m verify replay`. Ends with 1 when there is a finding, with 3 when
    units are open or ended unknown.
    """
    out = console()
    if status:
        if not file.exists():
            raise CommandError(f"there is no file {file}")
        with reading(file) as store:
            save_witnesses(file, store)
            render(out, file, store)
            return conclude(out, store)
    if scheduler is not None and executor != "dask":
        raise click.UsageError("--scheduler is of --executor dask.")
    options = TargetOptions(None, python, path, seconds, memory)
    if set(targets) - {*OURS, *TARGETS}:
        options = TargetOptions(None, python, str(Path(path or ".").absolute()), seconds, memory)
    elif options != TargetOptions():
        raise click.UsageError("The options of a target are of module:factory and stdio:COMMAND.")
    order = Order(targets, kinds or KINDS, None if profile == NO_PROFILE else profile, scopes, seed, seeds, options)
    begin(file, order, new)
    return search(out, file, Place(executor, workers, scheduler), Bounds(unit_seconds, unit_memory, minutes), retry)


def begin(file: Path, order: Order, new: bool) -> None:
    """Make the file, unless it is there and of this order; CommandError when it is of another one."""
    plan = {"order": order.to_json(), "sources": sources()}
    if file.exists() and not new:
        with reading(file) as store:
            check_same(file, store.plan, plan)
        return
    units = units_of(order)
    if not units:
        raise click.UsageError("The plan has no unit: give seeds, a profile or a scope to a target that takes them.")
    create(file, plan, units)


def check_same(file: Path, known: dict[str, Any], plan: dict[str, Any]) -> None:
    """CommandError when the plans differ."""
    ours, theirs = plan["order"], known["order"]
    names = [name for name in ours if ours[name] != theirs.get(name)]
    if names:
        words = "; ".join(f"{name} {shown(theirs.get(name))}, not {shown(ours[name])}" for name in names)
        raise CommandError(f"{file} has another plan: {words}. Repeat its options, or start over with --new")
    if known["sources"] != plan["sources"]:
        raise CommandError(f"{file} is of other sources of spec/, impl/ and verify/: start over with --new")


def shown(value: object) -> str:
    """A value of a plan in a line."""
    return " + ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def search(out: Console, file: Path, place: Place, bounds: Bounds, retry: bool) -> ExitCode:
    """Go on with the campaign, and say how it stands at the end, whatever the end is."""
    with writing(file) as store:
        if retry:
            store.forget_unknown()
        lost = 0
        try:
            lost = work_off(store, place, bounds)
        except KeyboardInterrupt:
            close(out, file, store)
            conclude(out, store, "interrupted")
            raise
        close(out, file, store)
        return conclude(out, store, f"{lost:,} of them with lost workers" if lost else "")


def work_off(store: Store, place: Place, bounds: Bounds) -> int:
    """Work off the open units behind a line of progress; how many lost their workers."""
    counts = store.counts()
    total = sum(count.total for count in counts)
    with progress_bar() as bar:
        task = bar.add_task("campaign", total=total, completed=sum(count.done + count.unknown for count in counts))

        def show(unit: Unit) -> None:
            bar.update(task, advance=1, description=f"{unit}; findings: {store.number_of_findings()}")

        return go_on(store, place, bounds, show)


def close(out: Console, file: Path, store: Store) -> None:
    """Save the witnesses and print the tables."""
    save_witnesses(file, store)
    render(out, file, store)
