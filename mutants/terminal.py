"""The record of a run for people: a progress bar, tables, and a summary that fits in a glance."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from impl.exit_codes import ExitCode
from impl.progress import bar_or_lines
from mutants.ablation import (
    ABLATIONS,
    OTHERS,
    STORIES,
    broken_rules,
    by_group,
    decide_ablation,
    survivors,
)
from mutants.engine import Announce, Record
from mutants.gate import Decision, decide, in_catalogue_order, median_cpu_ms, summary
from mutants.wire import StageRun
from verify.source.rules import GROUPS

WORDS = {ExitCode.PASS: "pass", ExitCode.FAIL: "fail", ExitCode.BROKEN: "unknown, nothing can be judged"}


@contextmanager
def progress(out: Console, units: int) -> Iterator[Announce]:
    """Progress that goes on by one at each announcement."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with bar_or_lines(*columns, out=out) as bar:
        task = bar.add_task("starting", total=units)
        done = count()

        def announce(label: str) -> None:
            bar.update(task, description=label, completed=next(done))

        yield announce


def show(out: Console, record: Record, matrix: bool) -> None:
    """Print the table, the matrix when asked for, and the summary."""
    if record.results:
        out.print(_table(record))
        if matrix:
            out.print(_matrix(record))
    for line in summary(record):
        out.print(Text(line))
    if record.results:
        out.print(Text(f"median {median_cpu_ms(record.results):.1f} ms of CPU a mutant, {record.seconds:.1f} s in all"))
    show_decision(out, decide(record))


def show_ablation(out: Console, record: Record) -> None:
    """Print who is caught by what, the survivors of each ablation, and why they survive."""
    if record.results:
        out.print(_rules_by_group(record))
        out.print(_survivors(record))
        for result in in_catalogue_order(record):
            rule, why = STORIES.get(result.mutant.id, ("", ""))
            if rule in result.verdict.rules:
                out.print(Text(f"mutant {result.mutant.id}: {why} {rule} sees it: {result.verdict.rules[rule]}"))
        out.print(Text(f"{record.seconds:.1f} s in all"))
    show_decision(out, decide_ablation(record))


def show_decision(out: Console, decision: Decision) -> None:
    """Print each reason that it is not a pass, and the verdict."""
    for reason in decision.reasons:
        out.print(Text(reason, style="red"))
    out.print(
        Text(
            f"verdict: {WORDS.get(decision.code, 'unknown')}",
            style="bold green" if decision.code == ExitCode.PASS else "bold red",
        )
    )


def _table(record: Record) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "mutant", "expected", "verdict", "rules", "stage"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("id", "verdict", "stage"))
    table.add_column("CPU ms", justify="right", no_wrap=True)
    survive = [no_op for no_op, _ in record.plan.pairs()]
    for result in [*record.controls, *in_catalogue_order(record)]:
        mutant, verdict = result.mutant, result.verdict
        as_it_must = result.caught or result in record.controls
        table.add_row(
            Text(mutant.id),
            Text(mutant.title),
            "to survive" if mutant in survive else mutant.expectation(),
            Text(verdict.status.value, style="green" if as_it_must else "red"),
            " ".join(sorted(verdict.rules)) or "-",
            verdict.stage or "-",
            f"{result.cpu_ms:.1f}",
        )
    return table


def _matrix(record: Record) -> Table:
    """Mutants against stages: the rules that each stage saw broken; `not run` where the family does not go."""
    table = Table(box=None, pad_edge=False, title="kill matrix", title_justify="left")
    table.add_column("id", no_wrap=True)
    stages = record.plan.stages()
    for stage in stages:
        table.add_column(stage, overflow="fold")
    for result in in_catalogue_order(record):
        runs = {stage.stage: stage for stage in result.run.stages} if result.run else {}
        table.add_row(result.mutant.id, *(_cell(runs.get(stage)) for stage in stages))
    return table


def _cell(stage: StageRun | None) -> str:
    if stage is None:
        return "not run"
    return " ".join(sorted(stage.broken)) or ("-" if stage.outcome == "pass" else stage.outcome)


def _rules_by_group(record: Record) -> Table:
    """Mutants against groups of rules: the rules that each mutant broke."""
    table = Table(box=None, pad_edge=False, title="caught by", title_justify="left")
    for heading in ("id", *GROUPS, OTHERS):
        table.add_column(heading, overflow="fold", no_wrap=heading == "id")
    for result in in_catalogue_order(record):
        rules = broken_rules(result)
        cells = ["unknown"] * (len(GROUPS) + 1) if rules is None else map(" ".join, by_group(rules).values())
        table.add_row(result.mutant.id, *(cell or "-" for cell in cells))
    return table


def _survivors(record: Record) -> Table:
    table = Table(box=None, pad_edge=False, title="ablation", title_justify="left")
    for heading in ("rules", "survivors", "expected"):
        table.add_column(heading)
    for ablation in ABLATIONS:
        found, due = survivors(record, ablation), sorted(ablation.survivors, key=int)
        table.add_row(
            ablation.name,
            Text(", ".join(found) or "none", style="green" if sorted(found) == sorted(due) else "red"),
            ", ".join(due) or "none",
        )
    return table
