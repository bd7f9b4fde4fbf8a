"""The command line of `python -m mutants`: the gate, and the gate again and again under load."""

import importlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import click
from click.core import ParameterSource

from impl.command import EPILOG, HELP, VERSION, CommandError, check_place, console, write_json
from impl.exit_codes import ExitCode
from mutants.ablation import ablation_document, ablation_plan, decide_ablation
from mutants.engine import Plan, Record, carry_out
from mutants.gate import decide
from mutants.mutant import Mutant
from mutants.repeat import repeat_gate
from mutants.report import document
from mutants.terminal import progress, show, show_ablation

REPORT = Path("reports", "mutants.json")
ATTRIBUTION = 2
"""Stages of its family that every mutant goes through when each broken rule is asked for."""

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


@click.group("mutants", invoke_without_command=True, context_settings=HELP, epilog=EPILOG)
@click.version_option(VERSION, prog_name="kvproof mutants")
@ONLY
@ALL_RULES
@CATALOGUE
@click.option("--matrix", is_flag=True, help="Put every mutant through every stage and print which rules each saw.")
@click.option("--ablation", is_flag=True, help="Show what survives the source suite when its exact rules are left out.")
@click.option("--shuffle", "seed", type=int, metavar="SEED", help="Run the mutants in an order shuffled by this seed.")
@click.option(
    "--json",
    "path",
    metavar="PATH",
    help=f'Where the report goes; "-": stdout.  [default: {REPORT} for a run of the whole catalogue]',
)
@click.pass_context
def cli(
    context: click.Context,
    only: str | None,
    attribution: bool,
    catalogue: str,
    matrix: bool,
    ablation: bool,
    seed: int | None,
    path: str | None,
) -> ExitCode | None:
    """Show that the checks see every mistake of the catalogue, each by the rule that it must break.

    Eighteen mistakes of the page table, the window and the host, those of the last two again while the chip's cycle model
    decodes, a nineteenth in two readings, and eight of the prefix cache. A survivor and a kill by another rule fail; when the original or a control is not as it must be, nothing is
    judged and the run is broken.
    """
    if context.invoked_subcommand is not None:
        given = [name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
        if given:
            raise click.UsageError(f"options of {context.invoked_subcommand} come after its name")
        return None
    if ablation and (only is not None or attribution or matrix):
        raise click.UsageError(
            "--ablation runs every mutant through a suite of its own: no --only, --attribution, --matrix"
        )
    if path is None and only is None and not ablation:
        path = str(REPORT)
    plan = _plan(catalogue, only, attribution, matrix, seed)
    record = Record(ablation_plan(plan) if ablation else plan)
    if path is not None:
        if path == str(REPORT):
            with suppress(OSError):
                REPORT.parent.mkdir(exist_ok=True)
        check_place(path)
    out = console(to_stderr=path == "-")
    with suppress(KeyboardInterrupt), progress(out, record.plan.units()) as announce:
        carry_out(record, announce)
    if ablation:
        show_ablation(out, record)
    else:
        show(out, record, matrix)
    if path is not None:
        write_json(path, ablation_document(record) if ablation else document(record))
    return (decide_ablation(record) if ablation else decide(record)).code


@cli.command("repeat", epilog=EPILOG)
@ONLY
@ALL_RULES
@CATALOGUE
@click.option("--runs", default=20, show_default=True, type=click.IntRange(min=2), help="How often the gate runs.")
@click.option("--load", is_flag=True, help="Keep every core busy meanwhile.")
@click.option("--seed", default=0, show_default=True, help="Run k shuffles the mutants by seed + k.")
def repeat(only: str | None, attribution: bool, catalogue: str, runs: int, load: bool, seed: int) -> ExitCode:
    """Run the gate again and again in shuffled order and compare the verdicts.

    It passes when every run passes with the same verdicts.
    """
    plans = [_plan(catalogue, only, attribution, False, seed + run) for run in range(runs)]
    return repeat_gate(plans, load, console())


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
    if only is None:
        return tuple(mutants)
    wanted = {name.strip() for name in only.split(",")}
    unknown = wanted - {name for mutant in mutants for name in (mutant.id, mutant.family)}
    if unknown:
        ids = ", ".join(mutant.id for mutant in mutants)
        raise click.UsageError(f"no mutant {', '.join(map(repr, sorted(unknown)))}; there are {ids}")
    return tuple(mutant for mutant in mutants if not wanted.isdisjoint((mutant.id, mutant.family)))
