"""The renderer of failures and of summaries: it takes data only and knows no search, oracle or target."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True, slots=True)
class RowsLine:
    """The logical rows of one request before and after the last call, and as the target shows them after it."""

    request: int
    before: str
    after: str
    target: str


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """One broken rule: its id and sentence, what the oracle says, what the target did."""

    rule: str
    sentence: str
    oracle: str
    target: str


@dataclass(frozen=True, slots=True)
class FailureReport:
    """A failure as a person reads it: the calls that lead to it, the rows around the last one, every broken rule."""

    title: str
    calls: tuple[str, ...]
    rows: tuple[RowsLine, ...]
    broken: tuple[BrokenRule, ...]
    witness: str | None = None


def render_failure(console: Console, report: FailureReport) -> None:
    """Print the failure."""
    console.print(Text(report.title, style="bold red"), soft_wrap=True)
    for number, call in enumerate(report.calls, start=1):
        marker = "  <- here" if number == len(report.calls) else ""
        console.print(Text(f"  {call}{marker}"), soft_wrap=True)
    if report.rows:
        table = Table("request", "rows before", "rows after (oracle)", "rows after (target)", title_justify="left")
        for line in report.rows:
            table.add_row(str(line.request), Text(line.before), Text(line.after), Text(line.target))
        console.print(table)
    broken = Table("broken rule", "oracle", "target")
    for item in report.broken:
        broken.add_row(Text(f"{item.rule}: {item.sentence}"), Text(item.oracle), Text(item.target))
    console.print(broken)
    if report.witness:
        console.print(Text(f"replay it: python -m verify replay {report.witness}"), soft_wrap=True)


def failure_text(report: FailureReport, width: int = 120) -> str:
    """The failure as plain text, for an assertion's message."""
    console = Console(width=width, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as captured:
        render_failure(console, report)
    return captured.get()


def facts_table(title: str, facts: Sequence[tuple[str, str]]) -> Table:
    """A two-column table of named facts."""
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in facts:
        table.add_row(name, Text(value))
    return table
