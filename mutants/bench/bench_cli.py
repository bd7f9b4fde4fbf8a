"""`python -m mutants bench`: the comparison as a command, a table and a JSON file."""

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from impl.command import EPILOG, check_place, console, write_json
from impl.exit_codes import ExitCode
from mutants.bench import environments
from mutants.bench.comparison import (
    COLD_MS,
    COSMIC_RAY,
    MUTMUT,
    OWN,
    TIMES_COSMIC_RAY,
    TIMES_MUTMUT,
    WARM,
    WARM_MS,
    Comparison,
    Measured,
    Sizes,
    compare,
    units,
)
from mutants.bench.named import named_mistakes
from mutants.terminal import progress

TOOLS = (environments.MUTMUT, environments.COSMIC_RAY)
OF_MUTMUT, OF_COSMIC_RAY = 300, 60
"""Mutants drawn by default."""


@click.command("bench", epilog=EPILOG)
@click.option(
    "--sample", type=click.IntRange(min=6), help=f"Mutants of each tool.  [default: {OF_MUTMUT}, {OF_COSMIC_RAY}]"
)
@click.option(
    "--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Batches of each tool, rounds here."
)
@click.option("--seed", default=0, show_default=True, help="Draws the samples.")
@click.option("--own", "alone", is_flag=True, help="Measure this engine alone; nothing is installed.")
@click.option("--json", "path", metavar="PATH", help='Write the figures as JSON there; "-": stdout.')
def bench(sample: int | None, rounds: int, seed: int, alone: bool, path: str | None) -> ExitCode:
    """Measure the CPU that a mutant costs here, in mutmut and in cosmic-ray: one suite, one machine, the same two modules.

    The suite is the exhaustive search of the page table. Both tools are installed below .venvs/ at first, and work on copies in
    a temporary folder. It ends with 0 whatever the figures are, and with 3 when a tool cannot be installed.
    """
    if path is not None:
        check_place(path)
    out = console(to_stderr=path == "-")
    with out.status("the tools") as status:
        commands = (
            {} if alone else {tool.name: environments.environment(tool, status.update) / tool.command for tool in TOOLS}
        )
    sizes = Sizes(sample or OF_MUTMUT, sample or OF_COSMIC_RAY, rounds, seed)
    with progress(out, units(commands, sizes)) as announce:
        found = compare(commands, sizes, announce)
    show(out, found)
    if path is not None:
        write_json(path, found.as_json())
    return ExitCode.PASS


def show(out: Console, found: Comparison) -> None:
    """Print the table and what it has to be read with."""
    table = Table(
        "", "CPU ms a mutant", "least, median, most of the batches", "of so many", "it makes", "once a run", "outcomes"
    )
    for tool in found.tools:
        cpu = tool.cpu
        outcomes = ", ".join(f"{number} {word.lower()}" for word, number in tool.outcomes.items())
        batches = f"{cpu.least:.1f}, {cpu.median:.1f}, {cpu.most:.1f} of {cpu.batches}"
        once = f"{tool.once_seconds:.1f} s" if tool.once_seconds else "counted"
        table.add_row(tool.name, f"{cpu.mean:.1f}", batches, str(cpu.mutants), str(tool.makes), once, outcomes)
    out.print(table)
    for line in (*_targets(found), *_mistakes(found)):
        out.print(Text(line))
    search = (
        f"the search on the original: {found.search_steps} operations in {found.search_seconds * 1e3:.0f} ms of CPU"
    )
    out.print(Text(f"{search}, which every survivor takes in full"))


def _targets(found: Comparison) -> list[str]:
    """Each target beside its figure."""
    limits = ((OWN, COLD_MS), (WARM, WARM_MS))
    lines = [f"{name}: {found.cpu(name):.1f} ms a mutant, target at most {most:g} ms" for name, most in limits]
    for name, least in ((MUTMUT, TIMES_MUTMUT), (COSMIC_RAY, TIMES_COSMIC_RAY)):
        times = found.times(name)
        if times is not None:
            by_round = ", ".join(f"{one:.1f}" for one in sorted(found.rounds.get(name, ())))
            rounds = f" ({by_round} in the same round)" if by_round else ""
            lines.append(
                f"{name}: {times:.1f} times the CPU of this engine, cold{rounds}, target at least {least:g} times"
            )
    return lines


def _mistakes(found: Comparison) -> list[str]:
    """How many of the named mistakes each tool makes."""
    all_of_them = len(named_mistakes())
    lines = [f"named mistakes of the two modules: {all_of_them}, all made by the catalogue"]
    return lines + [_made(tool, all_of_them) for tool in found.tools if tool.name != WARM]


def _made(tool: Measured, all_of_them: int) -> str:
    name = "the generic operators" if tool.name == OWN else tool.name
    which = f": {', '.join(tool.mistakes)}" if tool.mistakes else ""
    return f"made by {name}: {len(tool.mistakes)} of {all_of_them}{which}"
