"""The renderer of a manager's failure: it takes data only and knows no search, oracle or manager."""

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from verify.show import BrokenRule, broken_table, read_more


@dataclass(frozen=True, slots=True)
class TableLine:
    """The block table of one request in one group, before and after the last call, and as the manager shows it after it."""

    request: int
    group: int
    before: str
    after: str
    target: str


@dataclass(frozen=True, slots=True)
class PoolLine:
    """One fact about the pool, before and after the last call, and as the manager shows it after it."""

    name: str
    before: str
    after: str
    target: str


@dataclass(frozen=True, slots=True)
class ManagerReport:
    """A failure as a person reads it: the configuration, the calls that lead to it, tables and pool, every broken rule.

    `answers` are the oracle's to each call. `witness` is the file that has the failure, when it was written.
    """

    title: str
    configuration: str
    calls: tuple[str, ...]
    answers: tuple[str, ...]
    tables: tuple[TableLine, ...]
    pool: tuple[PoolLine, ...]
    broken: tuple[BrokenRule, ...]
    witness: str | None = None


def render_report(console: Console, report: ManagerReport) -> None:
    """Print the failure."""
    console.print(Text(report.title, style="bold red"), soft_wrap=True)
    console.print(Text(report.configuration), soft_wrap=True)
    width = max((len(call) for call in report.calls), default=0)
    for number, (call, answer) in enumerate(zip(report.calls, report.answers, strict=True), start=1):
        marker = "  <- here" if number == len(report.calls) else ""
        console.print(Text(f"  {call:{min(width, 60)}}  # {answer}{marker}"), soft_wrap=True)
    if report.tables:
        table = Table("request", "group", "pages before", "pages after (oracle)", "pages after (target)")
        for line in report.tables:
            cells = (str(line.request), str(line.group), line.before, line.after, line.target)
            table.add_row(*map(Text, cells))
        console.print(table)
    if report.pool:
        table = Table("pool", "before", "after (oracle)", "after (target)")
        for fact in report.pool:
            table.add_row(*map(Text, (fact.name, fact.before, fact.after, fact.target)))
        console.print(table)
    console.print(broken_table(report.broken))
    for place in read_more(report.broken):
        console.print(Text(place), soft_wrap=True)
    if report.witness:
        console.print(Text(f"saved as {report.witness}"), soft_wrap=True)


def report_text(report: ManagerReport, width: int = 120) -> str:
    """The failure as plain text, for an assertion's message."""
    console = Console(width=width, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as captured:
        render_report(console, report)
    return captured.get()
