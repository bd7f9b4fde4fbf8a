"""What the commands of `python -m impl` show alike: tables, progress, and the option that writes a result as JSON."""

from collections.abc import Iterable, Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from impl.command import check_place
from impl.progress import bar_or_lines


def a_place(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """The path that the option names. CommandError when nothing can be written there."""
    if value is not None:
        check_place(value)
    return value


JSON_OPTION = click.option(
    "--json",
    "json_path",
    metavar="FILE",
    callback=a_place,
    help='Also write the result as JSON to FILE; "-" prints it instead of tables.',
)


def table(title: str, headings: str, rows: Iterable[Sequence[str]]) -> Table:
    """A table of plain text; `headings` are separated by "|". A narrow terminal folds all columns but the first."""
    shown = Table(title=title or None, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for number, heading in enumerate(headings.split("|")):
        shown.add_column(heading, no_wrap=number == 0, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown


def progress_bar() -> Progress:
    """A line of progress with the time so far, on standard error."""
    return bar_or_lines(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
