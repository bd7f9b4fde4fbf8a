"""The command line of `python -m mutants`: the gate, and the gate again and again under load."""

import importlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from impl.command import EPILOG, HELP, VERSION, CommandError, console
from impl.exit_codes import ExitCode
from mutants.ablation import ablation_document, ablation_plan, decide_ablation
from mutants.bench.bench_cli import bench
from mutants.engine import Plan, Record, carry_out
from mutants.equivalence.equivalence_cli import equivalence
from mutants.equivalence.ledger import read_ledger
from mutants.equivalence.ledger_rule import settle, under
from mutants.farm.options import farm_of, farm_options, place_of, place_options
from mutants.farm.scale import generic_plan, scale
from mutants.farm.since import touched_since
from mutants.gate import decide
from mutants.generic.command import GENERIC, WithGeneric, generic
from mutants.mutant import Mutant
from mutants.oracle.report import oracle_document, show_rules
from mutants.repeat import repeat_gate
from mutants.reports.delivery import JSON, REPORTS, deliver, destination
from mutants.reports.folder import run_with
from mutants.reports.stryker import document
from mutants.rtl_catalogue import RTL_MUTANTS
from mutants.rtl_engine import RtlPlan, RtlRecord, carry_out_rtl
from mutants.rtl_mutant import RtlMutant
from mutants.rtl_report import decide_rtl, show_rtl
from mutants.terminal import progress, show, show_ablation
from verify.campaign.executors import Kind
from verify.chips.judge import SIMULATORS
from verify.chips.tools import ToolMissing

OF_THE_RTL = frozenset({"rtl", "only", "simulator", "path", "reports", "debug"})
"""What can be given with --rtl."""
ORACLE = "mutants.oracle.catalogue"
NOT_OF_THE_ORACLE = frozenset({"attribution", "catalogue", "ablation"})
"""What cannot be given with --oracle."""

ATTRIBUTION = 2
"""Stages of its family that every mutant goes through when each broken rule is asked for."""

M = TypeVar("M", Mutant, RtlMutant)

CATALOGUE = click.option(
    "--catalogue",
    default="mutants.catalogue",
    metavar="MODULE",
    help="Module with PROJECT, MUTANTS, NO_OP and BROKEN, and FAMILY_CONTROLS where a family has controls of its own.",
)
ONLY = click.option("--only", metavar="IDS", help="Run only these mutants, by id or family: 4,7,nineteenth.")
ALL_RULES = click.option(
    "--attribution",
    is_flag=True,
    help="Go through two stages in any case, the exhaustive one among them, to name every broken rule.",
)


@click.group("mutants", cls=WithGeneric, invoke_without_command=True, context_settings=HELP, epilog=EPILOG)
@click.version_option(VERSION, prog_name="kvproof mutants")
@ONLY
@ALL_RULES
@CATALOGUE
@GENERIC
@click.option("--matrix", is_flag=True, help="Put every mutant through every stage and print which rules each saw.")
@click.option("--ablation", is_flag=True, help="Show what survives the source suite when its exact rules are left out.")
@click.option(
    "--rtl", is_flag=True, help="Run the mutants of the chip's RTL in the simulators, all of them in one build each."
)
@click.option("--simulator", type=click.Choice(list(SIMULATORS)), help="With --rtl: only this one.  [default: all]")
@click.option(
    "--oracle", is_flag=True, help="Run the mutants of the definitions and of the checks: an oracle that says nothing."
)
@click.option("--shuffle", "seed", type=int, metavar="SEED", help="Run the mutants in an order shuffled by this seed.")
@farm_options
@JSON
@REPORTS
@click.pass_context
def cli(
    context: click.Context,
    /,
    only: str | None,
    attribution: bool,
    catalogue: str,
    matrix: bool,
    ablation: bool,
    rtl: bool,
    simulator: str | None,
    oracle: bool,
    seed: int | None,
    path: str | None,
    reports: Path | None,
    since: str | None,
    **who_judges: Any,
) -> ExitCode | None:
    """Show that the checks see every mistake of the catalogue, each by the rule that it must break.

    Eighteen mistakes of the page table, the window and the host, those of the last two again while the chip's cycle model
    decodes, a nineteenth in two readings, and eight of the prefix cache; with --rtl those of the chip's RTL instead, each of
    which every simulator must see; with --oracle those of the oracle, each rule dropped where it is checked and negated where
    it is defined. A survivor and a kill by another rule fail; when the original or a control is not as it
    must be, nothing is judged and the run is broken.
    """
    if context.invoked_subcommand is not None:
        given = _given(context)
        if given:
            raise click.UsageError(f"options of {context.invoked_subcommand} come after its name")
        return None
    if rtl:
        return _rtl(context, only, simulator, path, reports)
    if simulator is not None:
        raise click.UsageError("--simulator is for --rtl")
    if ablation and (only is not None or attribution or matrix):
        raise click.UsageError(
            "--ablation runs every mutant through a suite of its own: no --only, --attribution, --matrix"
        )
    if oracle and NOT_OF_THE_ORACLE.intersection(_given(context)):
        others = ", ".join(sorted(NOT_OF_THE_ORACLE.intersection(_given(context))))
        raise click.UsageError(f"--oracle has mutants and checks of its own: no {others}")
    kind = "ablation" if ablation else "oracle" if oracle else "gate"
    farm = farm_of(kind, **who_judges)
    plan = _plan(ORACLE if oracle else catalogue, only, attribution, matrix, seed)
    if since is not None:
        plan = replace(plan, mutants=touched_since(since, plan.mutants, Path(plan.project.root)))
        if not plan.mutants:
            console().print(f"no mutant is in code that differs from {since}: nothing to judge")
            return ExitCode.PASS
    record = Record(ablation_plan(plan) if ablation else plan)
    where = destination(path, reports, whole=only is None and since is None)
    out = console(to_stderr=path == "-")
    with suppress(KeyboardInterrupt), progress(out, record.plan.units()) as announce:
        carry_out(record, announce, farm)
    settle(record)
    if ablation:
        show_ablation(out, record)
    else:
        show(out, record, matrix)
    if oracle:
        show_rules(out, record)
    if ablation:
        deliver(out, where, kind, record, ablation_document(record), farm.finished(record.complete))
        return decide_ablation(record).code
    made = oracle_document(record) if oracle else document(run_with(record))
    deliver(out, where, kind, record, made, farm.finished(record.complete))
    return decide(record).code


def _rtl(
    context: click.Context, only: str | None, simulator: str | None, path: str | None, reports: Path | None
) -> ExitCode:
    """Run the mutants of the RTL."""
    others = set(_given(context)) - OF_THE_RTL
    if others:
        raise click.UsageError(f"--rtl has mutants and checks of its own: no {', '.join(sorted(others))}")
    plan = RtlPlan(_chosen_rtl(only), tuple(SIMULATORS) if simulator is None else (simulator,))
    record = RtlRecord(plan)
    where = destination(path, reports, whole=only is None and simulator is None)
    out = console(to_stderr=path == "-")
    with suppress(KeyboardInterrupt), progress(out, plan.units()) as announce:
        try:
            carry_out_rtl(record, announce)
        except ToolMissing as error:
            raise CommandError(str(error), ExitCode.UNKNOWN) from None
    show_rtl(out, record)
    deliver(out, where, "rtl", record, document(run_with(record)))
    return decide_rtl(record).code


cli.add_command(generic)
cli.add_command(bench)


@cli.command("repeat", epilog=EPILOG)
@ONLY
@ALL_RULES
@CATALOGUE
@click.option("--runs", default=20, show_default=True, type=click.IntRange(min=2), help="How often the gate runs.")
@click.option("--load", is_flag=True, help="Keep every core busy meanwhile.")
@click.option("--seed", default=0, show_default=True, help="Run k shuffles the mutants by seed + k.")
@click.option("--drawn", type=click.IntRange(min=1), help="So many generic mutants, drawn at random, instead.")
@place_options
def repeat(
    only: str | None,
    attribution: bool,
    catalogue: str,
    runs: int,
    load: bool,
    seed: int,
    drawn: int | None,
    **who_judges: Any,
) -> ExitCode:
    """Run the gate again and again in shuffled order and compare the verdicts.

    It passes when every run passes with the same verdicts.
    """
    if drawn is None:
        plan = _plan(catalogue, only, attribution, False, seed)
    else:
        plan = under(generic_plan(drawn, ()), read_ledger(), whole_files=False, whole_surface=False)
    plans = [replace(plan, seed=seed + run) for run in range(runs)]
    return repeat_gate(plans, load, console(), place_of(**who_judges))


@cli.command("scale", epilog=EPILOG)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path))
@click.option("--mutants", default=2000, show_default=True, type=click.IntRange(min=1), help="How many are drawn.")
@click.option(
    "--pairs",
    default=3,
    show_default=True,
    type=click.IntRange(min=1),
    help="How often both numbers of workers judge them.",
)
@click.option("--executor", default="process", show_default=True, type=click.Choice(["process", "dask"]))
@click.option("--catalogue", metavar="MODULE", help="Judge all mutants of this catalogue instead of drawn ones.")
def scale_command(paths: tuple[Path, ...], mutants: int, pairs: int, executor: Kind, catalogue: str | None) -> ExitCode:
    """Measure what a second worker brings: the same generic mutants, of PATH or of all files, on one worker and on two.

    It prints both ratios, of the time on the wall and of the CPU that all workers used, and passes when every run came to the
    same verdicts.
    """
    plan = generic_plan(mutants, paths) if catalogue is None else _plan(catalogue, None, False, False, None)
    return scale(plan, pairs, executor, console())


cli.add_command(equivalence)


def _given(context: click.Context) -> list[str]:
    """Names of the parameters that the command line has."""
    return [name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]


def _plan(catalogue: str, only: str | None, attribution: bool, matrix: bool, seed: int | None) -> Plan:
    try:
        module: ModuleType = importlib.import_module(catalogue)
        project, mutants, no_op, broken = module.PROJECT, module.MUTANTS, module.NO_OP, module.BROKEN
        family_controls = getattr(module, "FAMILY_CONTROLS", {})
    except Exception as error:
        raise CommandError(f"{catalogue} is no catalogue: {error}") from error
    plan = Plan(project, _chosen(mutants, only), no_op, broken, 0, seed, family_controls)
    return replace(plan, at_least=len(plan.stages()) if matrix else ATTRIBUTION if attribution else 0)


def _chosen(mutants: tuple[Mutant, ...], only: str | None) -> tuple[Mutant, ...]:
    """The mutants of these ids and families; a UsageError lists the ids when one is unknown."""
    return _those(mutants, only, lambda mutant: (mutant.id, mutant.family))


def _chosen_rtl(only: str | None) -> tuple[RtlMutant, ...]:
    """The mutants of the RTL of these ids and modules; a UsageError lists the ids when one is unknown."""
    return _those(RTL_MUTANTS, only, lambda mutant: (mutant.id, mutant.module))


def _those(mutants: tuple[M, ...], only: str | None, names: Callable[[M], tuple[str, str]]) -> tuple[M, ...]:
    if only is None:
        return tuple(mutants)
    wanted = {name.strip() for name in only.split(",")}
    unknown = wanted - {name for mutant in mutants for name in names(mutant)}
    if unknown:
        ids = ", ".join(mutant.id for mutant in mutants)
        raise click.UsageError(f"no mutant {', '.join(map(repr, sorted(unknown)))}; there are {ids}")
    return tuple(mutant for mutant in mutants if not wanted.isdisjoint(names(mutant)))
