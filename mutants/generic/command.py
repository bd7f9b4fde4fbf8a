"""`python -m mutants --generic`: the mutants that the operators make, through the engine of the named ones."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from impl.command import EPILOG, HELP, console
from impl.exit_codes import ExitCode
from mutants.engine import Plan, Record, carry_out
from mutants.equivalence.ledger import read_ledger
from mutants.equivalence.ledger_rule import settle, under
from mutants.farm.options import farm_of, farm_options
from mutants.farm.since import touched_since
from mutants.gate import decide
from mutants.generic.controls import CONTROLS
from mutants.generic.generate import generate
from mutants.generic.operators import OPERATORS
from mutants.generic.show import show_generic, show_operators
from mutants.generic.surface import Surface, read_surface
from mutants.mutant import Mutant, Project
from mutants.reports.delivery import JSON, REPORTS, deliver, destination
from mutants.reports.folder import run_with
from mutants.reports.stryker import document
from mutants.terminal import progress

ROOT = Path(__file__).resolve().parents[2]
SPELLING = "--generic"

GENERIC = click.option(
    SPELLING,
    is_flag=True,
    expose_value=False,
    help="Run the mutants that operators make of every module instead, or of the files that follow; "
    "`python -m mutants --generic --help` has its options.",
)


class WithGeneric(click.Group):
    """A group that takes --generic, wherever it stands, for the command of that name."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        if SPELLING in arguments:
            arguments = ["generic", *(each for each in arguments if each != SPELLING)]
        return super().parse_args(context, arguments)


@click.command("generic", context_settings=HELP, epilog=EPILOG)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path))
@click.option("--list", "listing", is_flag=True, help="Show the operators, an example of each, and what they make.")
@click.option("--operator", "names", metavar="NAMES", help="Only the mutants of these operators: boundary,constant.")
@click.option("--only", metavar="IDS", help="Run only these mutants, by id.")
@click.option("--shuffle", "seed", type=int, metavar="SEED", help="Run the mutants in an order shuffled by this seed.")
@farm_options
@JSON
@REPORTS
def generic(
    paths: tuple[Path, ...],
    listing: bool,
    names: str | None,
    only: str | None,
    seed: int | None,
    path: str | None,
    reports: Path | None,
    since: str | None,
    **who_judges: Any,
) -> ExitCode:
    """Show that the checks see every slip that the operators make of the shipped code.

    PATH are files or folders of the surface that pyproject.toml declares; without one, all of it. Any broken rule, crash or
    runaway kills; a survivor fails.
    """
    surface = read_surface(ROOT)
    mutants = chosen(surface, paths, names, only)
    if listing:
        show_operators(console(), OPERATORS, mutants)
        return ExitCode.PASS
    if since is not None:
        mutants = list(touched_since(since, mutants, ROOT))
        if not mutants:
            console().print(f"no mutant is in code that differs from {since}: nothing to judge")
            return ExitCode.PASS
    whole = names is None and only is None and since is None
    where = destination(path, reports, whole=whole and not paths)
    farm = farm_of("generic", **{**who_judges, "executor": who_judges["executor"] or "process"})
    plan = under(plan_of(surface, mutants, seed), read_ledger(), whole_files=whole, whole_surface=whole and not paths)
    record = Record(replace(plan, selects=True))
    out = console(to_stderr=path == "-")
    with suppress(KeyboardInterrupt), progress(out, record.plan.units()) as announce:
        carry_out(record, announce, farm)
    settle(record)
    show_generic(out, record)
    deliver(out, where, "generic", record, document(run_with(record)), farm.finished(record.complete))
    return decide(record).code


def chosen(surface: Surface, paths: Sequence[Path], names: str | None, only: str | None) -> list[Mutant]:
    """The mutants of the files and folders by those operators, and of those ids. Raises UsageError when there are none."""
    wanted = _split(names, {operator.name for operator in OPERATORS}, "operator")
    operators = [operator for operator in OPERATORS if operator.name in wanted]
    inside = [path.resolve() for path in paths] or [ROOT]
    found: list[Mutant] = []
    for module, path in surface.files(ROOT).items():
        area = surface.area_of(module)
        if area is not None and any(path.is_relative_to(place) for place in inside):
            found += generate(module, path.read_text(encoding="utf-8"), area.family, operators)
    ids = _split(only, {mutant.id for mutant in found}, "mutant")
    found = [mutant for mutant in found if mutant.id in ids]
    if not found:
        raise click.UsageError(f"no mutant in {', '.join(map(str, paths)) or ROOT}: no file of the surface is there")
    return found


def plan_of(surface: Surface, mutants: Sequence[Mutant], seed: int | None = None) -> Plan:
    """The plan of these mutants: each area's go through its stages, with the controls of that area."""
    families = dict.fromkeys(mutant.family for mutant in mutants)
    first, *others = families
    stages = {area.family: area.stages for area in surface.areas}
    project = Project(root=str(ROOT), family_stages=stages)
    own = {family: CONTROLS[family] for family in others}
    return Plan(project, tuple(mutants), *CONTROLS[first], seed=seed, family_controls=own)


def _split(text: str | None, known: set[str], what: str) -> set[str]:
    """The names in the text, all that are known without one. Raises UsageError for one that is not."""
    if text is None:
        return known
    names = {name.strip() for name in text.split(",")}
    if not names <= known:
        raise click.UsageError(f"no {what} {', '.join(map(repr, sorted(names - known)))}")
    return names
