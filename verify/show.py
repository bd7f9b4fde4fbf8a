"""The renderer of failures and of summaries: it takes data only and knows no search, oracle or target."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from impl.exit_codes import ExitCode


@dataclass(frozen=True, slots=True)
class RowsLine:
    """The logical rows of one request before and after the last call, and as the target shows them after it."""

    request: int
    before: str
    after: str
    target: str


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """One broken rule: its id and sentence, what the oracle says, what the target did, and where to read more about it."""

    rule: str
    sentence: str
    oracle: str
    target: str
    read_more: str


@dataclass(frozen=True, slots=True)
class FailureReport:
    """A failure as a person reads it: the calls that lead to it, the rows around the last one, every broken rule.

    `options` name the target to the commands that take the witness; `paste` are lines that do the same on a fresh target.
    """

    title: str
    calls: tuple[str, ...]
    rows: tuple[RowsLine, ...]
    broken: tuple[BrokenRule, ...]
    witness: str | None = None
    options: str = ""
    paste: tuple[str, ...] = ()


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
    console.print(broken_table(report.broken))
    for place in read_more(report.broken):
        console.print(Text(place), soft_wrap=True)
    if report.paste:
        console.print("the same on a fresh target, ready to paste:")
        console.print(Text("\n".join(report.paste)), soft_wrap=True)
    if report.witness:
        witness = f"{report.witness}{report.options}"
        console.print(Text(f"replay it: python -m verify replay {witness}"), soft_wrap=True)
        console.print(Text(f"step through it: python -m verify show {witness}"), soft_wrap=True)


def broken_table(broken: Sequence[BrokenRule]) -> Table:
    """One line a difference."""
    table = Table("broken rule", "oracle", "target")
    for item in broken:
        table.add_row(Text(f"{item.rule}: {item.sentence}"), Text(item.oracle), Text(item.target))
    return table


def read_more(broken: Sequence[BrokenRule]) -> list[str]:
    """Where to read about these rules, a line a place."""
    places: dict[str, list[str]] = {}
    for item in broken:
        rules = places.setdefault(item.read_more, [])
        if item.rule not in rules:
            rules.append(item.rule)
    return [f"more about {', '.join(rules)}: {place}" for place, rules in places.items()]


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


def verdict(out: Console, text: str, code: ExitCode) -> ExitCode:
    """Print the verdict and return its exit code."""
    word = {ExitCode.PASS: "pass", ExitCode.FAIL: "fail"}.get(code, "unknown")
    style = "bold green" if code is ExitCode.PASS else "bold red"
    out.print(f"verdict: {word}, {text}", highlight=False, style=style, soft_wrap=True)
    return code
