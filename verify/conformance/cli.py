"""`python -m verify conformance`: third-party managers held against the oracle, with a report a target."""

import os
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from impl.command import EPILOG, CommandError, console, write_atomically, write_json
from impl.display import table
from impl.exit_codes import ExitCode
from impl.progress import bar_or_lines
from verify.conformance.environments import installed
from verify.conformance.known import KNOWN_FILE, known_of, load_known
from verify.conformance.markdown import markdown
from verify.conformance.page import report_html
from verify.conformance.profiles import PROFILES
from verify.conformance.replay import replay_witness
from verify.conformance.report import Deviation, Finding, TargetReport, rules_of, to_json, validate
from verify.conformance.run import Order, Run
from verify.conformance.tables import facts, listed, tables
from verify.conformance.targets import TARGETS, KnownTarget
from verify.remote.children import BrokenTargetError
from verify.show import facts_table, verdict

SHOWN = ("situation", "rate", "reason")
"""First columns of the tables that a terminal shows; the others are too long for it, and the reports have them."""


@click.command("conformance", epilog=EPILOG)
@click.option(
    "--target",
    "names",
    multiple=True,
    type=click.Choice(list(TARGETS)),
    help="This target; may be repeated.  [default: all that are installed]",
)
@click.option("--profile", type=click.Choice(list(PROFILES)), default="ci", show_default=True, help="How far to look.")
@click.option("--require-all", is_flag=True, help="End with 3 when a target is not installed.")
@click.option(
    "--report",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports") / "conformance",
    show_default=True,
    help="Folder for the reports.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the walks.")
@click.option("--faults/--no-faults", default=True, help="Plant faults and demand that all are found.  [default: yes]")
@click.option(
    "--workers", type=click.IntRange(1), default=min(2, os.cpu_count() or 1), show_default=True, help="Processes."
)
@click.option(
    "--witness",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Replay this witness on the one target, step by step, and do nothing else.",
)
@click.option(
    "--known",
    "known_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=KNOWN_FILE,
    help="Known deviations.  [default: verify/targets/known.toml]",
)
def conformance(
    names: tuple[str, ...],
    profile: str,
    require_all: bool,
    folder: Path,
    seed: int,
    faults: bool,
    workers: int,
    witness: Path | None,
    known_file: Path,
) -> int:
    """Hold the KV-cache managers that people run against the oracle.

    \b
    Examples:
      python -m verify targets                                      set them up first
      python -m verify conformance                                  all that are installed
      python -m verify conformance --target vllm --profile dev      this one, in a minute
      python -m verify conformance --target vllm --witness FILE     a finding, step by step

    Of each target: the witnesses of known deviations must still show them; random walks over every configuration and an
    exhaustive search of a small scope must find nothing else; every fault planted in the running target must be found. A
    difference is a finding only when a script in the target's own calls shows it again, and unknown otherwise. Reports
    come as JSON, Markdown and HTML, and a finding with its script, its witness and a page to step through.
    """
    out = console()
    chosen = [TARGETS[name] for name in dict.fromkeys(names or TARGETS)]
    there = [target for target in chosen if installed(target)]
    missing = [target.name for target in chosen if target not in there]
    for name in missing:
        out.print(f"{name} is not installed: python -m verify targets {name}", highlight=False)
    try:
        listed_deviations = load_known(known_file)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if witness is not None:
        if len(there) != 1:
            raise click.UsageError("--witness needs the one installed --target that it is replayed on.")
        return replay_witness(out, witness, there[0])
    if missing and require_all:
        return verdict(out, f"not installed: {', '.join(missing)}", ExitCode.UNKNOWN)
    if not there:
        return verdict(out, "no target is installed", ExitCode.UNKNOWN)
    prepare(folder, there)
    reports = []
    for target in there:
        order = Order(target, PROFILES[profile], seed, known_of(target, listed_deviations), faults, folder, workers)
        reports.append(check(out, order))
    return close(out, reports)


def prepare(folder: Path, there: Sequence[KnownTarget]) -> None:
    """Make the folder of the reports and remove what an earlier run found; CommandError when nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for target in there:
            for old in folder.glob(f"{target.name}-*-????????.*"):
                old.unlink()
    except OSError as error:
        raise CommandError(f"no reports can be written to {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise CommandError(f"no reports can be written to {folder}")


def check(out: Console, order: Order) -> TargetReport:
    """Run one target, write its reports and print what matters; an interrupted run is reported as far as it came."""
    target = order.target
    out.print(f"{target.name}: {target.title} {target.version}, profile {order.profile.name}, seed {order.seed}")
    run = Run(order)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with bar_or_lines(*columns, out=out) as bar:
        task = bar.add_task(f"{target.name}: starting", total=None)

        def show(name: str, ended: int, total: int) -> None:
            bar.update(task, description=f"{target.name}: {name}", completed=ended, total=total)

        try:
            run.go(show)
        except BrokenTargetError as error:
            raise CommandError(f"the target is broken: {error}", ExitCode.BROKEN) from None
        except KeyboardInterrupt:
            bar.stop()
            render(out, write(order.folder, run.report()))
            raise
    report = write(order.folder, run.report())
    render(out, report)
    return report


def write(folder: Path, report: TargetReport) -> TargetReport:
    """Write the three reports of a target; the JSON is held against its schema first."""
    data = to_json(report)
    validate(data)
    write_json(str(folder / f"{report.target}.json"), data)
    write_atomically(folder / f"{report.target}.md", markdown(report))
    write_atomically(folder / f"{report.target}.html", report_html(report))
    return report


def render(out: Console, report: TargetReport) -> None:
    """Print what matters of a report, its reasons last."""
    out.print(facts_table(f"{report.title} {report.version}", facts(report)))
    for item in tables(report):
        if item.rows and item.columns[0] in SHOWN:
            out.print(table(item.heading, "|".join(item.columns), item.rows))
    lines = [line for known in report.known for line in known_lines(known)]
    lines += [line for found in report.findings for line in finding_lines(found)]
    lines += [
        f"fault {fault.name}, {fault.sentence} {fault.note or 'Not found.'}"
        for fault in report.planted
        if not fault.found
    ]
    for line in (*lines, *report.notes, *report.failures, *report.doubts):
        out.print(Text(line), soft_wrap=True)


def known_lines(known: Deviation) -> list[str]:
    """A known deviation in a line."""
    state = (
        f"known, met {known.met:,} times in searches"
        if known.reproduced
        else f"gone, its witness shows {listed(known.shown)}"
    )
    return [f"{state}: {known.name} ({', '.join(known.rules)} in {known.configuration}). {known.sentence}"]


def finding_lines(found: Finding) -> list[str]:
    """A difference in some lines: its calls, and the files that show it."""
    files = [name for name in (found.script, found.witness, found.page) if name is not None]
    calls = "; ".join(found.calls)
    return [f"{found.status}: {', '.join(rules_of(found))} in {found.configuration}: {calls}", f"  {', '.join(files)}"]


def close(out: Console, reports: Sequence[TargetReport]) -> int:
    """Print the verdict of all targets and return its exit code: a failure counts for more than a doubt."""
    codes = {report.code for report in reports}
    words = "; ".join(f"{report.target} {report.verdict}" for report in reports)
    for code in (ExitCode.FAIL, ExitCode.UNKNOWN):
        if code in codes:
            return verdict(out, words, code)
    return verdict(out, words, ExitCode.PASS)
