"""What the commands that search have in common: a line of progress, the report of a failure, a finite number as an option."""

import math
from collections.abc import Sequence

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from impl.progress import bar_or_lines
from spec.operations import Operation
from verify.findings import describe_failure
from verify.lockstep import replay as replay_operations
from verify.refinement import Difference
from verify.remote.choice import Choice
from verify.show import render_failure


def finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """The number, unless it is none."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter("not a number")
    return value


def report_failure(
    out: Console,
    operations: Sequence[Operation],
    differences: Sequence[Difference],
    pages: int,
    page_size: int,
    choice: Choice,
) -> None:
    """Print a failure and save its witness."""
    again = replay_operations(operations, pages, page_size, choice.factory).differences
    report = describe_failure(
        operations, again or differences, pages, page_size, choice.factory, spelling=choice.spelling
    )
    render_failure(out, report)


def activity(out: Console) -> Progress:
    """A line of progress with the time so far, for what has no end that is known."""
    return bar_or_lines(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), out=out)
