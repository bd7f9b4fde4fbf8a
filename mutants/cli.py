"""The command line of `python -m mutants`: the gate, and the gate again and again under load."""

import importlib
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import click

from impl.command import CommandError, write_json
from impl.exit_codes import ExitCode
from mutants.engine import Plan, Record, carry_out
from mutants.gate import decide
from mutants.mutant import Mutant
from mutants.repeat import repeat_gate
from mutants.report import document
from mutants.terminal import console, progress, show

REPORT = Path("reports", "mutants.json")
ATTRIBUTION = ("witness", "exhaustive")
"""Stages that every mutant goes through when each broken rule is asked for."""

CATALOGUE = click.option(
    "--catalogue",
    default="mutants.catalogue",
    metavar="MODULE",
    help="Module with PROJECT, MUTANTS, NO_OP and BROKEN.",
)
ONLY = click.option("--only", metavar="IDS", help="Run only these mutants, by id or family: 4,7,nineteenth.")
ALL_RULES = click.option(
    "--attribution",
    is_flag=True,
    help="Go through the exhaustive stage in any case, to name every broken rule.",
)


@click.group("mutants", invoke_without_command=True)
@ONLY
@ALL_RULES
@CATALOGUE
@click.option("--matrix", is_flag=True, help="Put every mutant through every stage and print which rules each saw.")
@click.option("--shuffle", "seed", type=int, metavar="SEED", help="Run the mutants in an order shuffled by this seed.")
@click.option(
    "--json", "path", default=str(REPORT), show_default=True, metavar="PATH", help='Where the report goes; "-": stdout.'
)
@click.pass_context
def cli(
    context: click.Context,
    only: str | None,
    attribution: bool,
    catalogue: str,
    matrix: bool,
    seed: int | None,
    path: str,
) -> ExitCode | None:
    """Show that the checks see every mistake of the catalogue, each by the rule that it must break.

    Exit codes: 0 pass, 1 a survivor or the wrong rule, 2 usage, 3 no verdict, 4 the original, a control or a mutant is
    broken, 130 interrupted.
    """
    if context.invoked_subcommand is not None:
        return None
    record = Record(_plan(catalogue, only, attribution, matrix, seed))
    out = console(to_stderr=path == "-")
    with suppress(KeyboardInterrupt), progress(out, record.plan.units()) as announce:
        carry_out(record, announce)
    show(out, record, matrix)
    _write(path, record)
    return decide(record).code


@cli.command("repeat")
@ONLY
@ALL_RULES
@CATALOGUE
@click.option("--runs", default=20, show_default=True, type=click.IntRange(min=2), help="How often the gate runs.")
@click.option("--load", is_flag=True, help="Keep every core busy meanwhile.")
@click.option("--seed", default=0, show_default=True, help="Run k shuffles the mutants by seed + k.")
def repeat(only: str | None, attribution: bool, catalogue: str, runs: int, load: bool, seed: int) -> ExitCode:
    """Run the gate again and again in shuffled order and compare the verdicts.

    Exit codes: 0 when every run passes with the same verdicts, 1 when verdicts differ, else that of the first run that
    does not pass.
    """
    plans = [_plan(catalogue, only, attribution, False, seed + run) for run in range(runs)]
    return repeat_gate(plans, load, console())


def _plan(catalogue: str, only: str | None, attribution: bool, matrix: bool, seed: int | None) -> Plan:
    try:
        module: ModuleType = importlib.import_module(catalogue)
        project, mutants, no_op, broken = module.PROJECT, module.MUTANTS, module.NO_OP, module.BROKEN
    except (ImportError, AttributeError) as error:
        raise CommandError(f"{catalogue} is no catalogue: {error}") from error
    at_least = len(project.stages) if matrix else len(ATTRIBUTION) if attribution else 0
    return Plan(project, _chosen(mutants, only), no_op, broken, at_least, seed)


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


def _write(path: str, record: Record) -> None:
    if path == str(REPORT):
        REPORT.parent.mkdir(exist_ok=True)
    write_json(path, document(record))
