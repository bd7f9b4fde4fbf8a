"""`python -m impl trace`: watch the cache work, event by event."""

from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console

from impl.command import EPILOG, HELP, CommandError, console, write_json
from impl.display import JSON_OPTION, table
from impl.event_trace import Event, exhausted_run, fork_run, windowed_run
from impl.page_table import OutOfPages


@click.command(context_settings=HELP, epilog=EPILOG)
@click.option("--pages", type=click.IntRange(min=1), default=8, show_default=True, help="Pages of the pool.")
@click.option("--page-size", type=click.IntRange(min=1), default=4, show_default=True, help="Rows of a page.")
@click.option("--window", type=click.IntRange(min=0), default=6, show_default=True, help="Rows a step attends; 0: all.")
@click.option(
    "--steps", type=click.IntRange(min=1), default=14, show_default=True, help="Steps of the windowed request."
)
@JSON_OPTION
def trace(pages: int, page_size: int, window: int, steps: int, json_path: str | None) -> None:
    """Show the cache at work: a windowed request, a fork with copy-on-write, and a pool that runs out.

    The options shape the windowed request. Its table shows, after each step's trim, the page ids that the request holds
    in logical order, how many pages it has dropped, and which pages are free.

    \b
    Examples:
      python -m impl trace
      python -m impl trace --page-size 2 --window 3 --steps 8
      python -m impl trace --window 0 --pages 4     without a window the pages run out
    """
    try:
        windowed = windowed_run(pages, page_size, window or None, steps)
    except OutOfPages as refusal:
        raise CommandError(
            f"a pool of {pages} pages of {page_size} rows is too small for this run: {refusal}"
        ) from None
    shape = {"pages": pages, "page_size": page_size, "window": window or None}
    document = {
        "window": {**shape, "steps": windowed},
        "fork": {"pages": 8, "page_size": 4, "events": fork_run()},
        "exhaustion": {"pages": 3, "page_size": 2, "events": exhausted_run()},
    }
    if json_path != "-":
        _show_trace(console(), document)
    if json_path is not None:
        write_json(json_path, document)


def _show_trace(out: Console, document: dict[str, Any]) -> None:
    windowed = document["window"]
    rule = "no window" if windowed["window"] is None else f"window {windowed['window']}"
    title = f"One request, {windowed['pages']} pages of {windowed['page_size']} rows, {rule}"
    out.print(table(title, "step|rows read|table after|dropped|free", map(_step_cells, windowed["steps"])))
    forked, exhausted = document["fork"], document["exhaustion"]
    title = f"Fork, {forked['pages']} pages of {forked['page_size']} rows"
    out.print(table(title, "event|A|B|counts|A's rows|free", map(_fork_cells, forked["events"])))
    title = f"Exhaustion, {exhausted['pages']} pages of {exhausted['page_size']} rows"
    headings = "append|outcome|length after|table after|free"
    out.print(table(title, headings, map(_exhaustion_cells, exhausted["events"])))


def _step_cells(event: Event) -> tuple[str, ...]:
    return (
        str(event["step"]),
        _ranges(event["rows_read"]),
        str(event["table"]),
        str(event["dropped"]),
        _ranges(event["free"]),
    )


def _fork_cells(event: Event) -> tuple[str, ...]:
    counts = ", ".join(f"{page}:{count}" for page, count in event["counts"].items())
    tables = (str(event["tables"].get(name, "-")) for name in "AB")
    return (event["event"], *tables, counts, _ranges(event["rows_of_a"]), _ranges(event["free"]))


def _exhaustion_cells(event: Event) -> tuple[str, ...]:
    return (
        str(event["append"]),
        event["outcome"],
        str(event["length"]),
        str(event["table"]),
        _ranges(event["free"]),
    )


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as "0, 3-7"; "-" when there are none."""
    parts: list[str] = []
    start = 0
    for index in range(1, len(numbers) + 1):
        if index == len(numbers) or numbers[index] != numbers[index - 1] + 1:
            first, last = numbers[start], numbers[index - 1]
            parts.append(str(first) if first == last else f"{first}-{last}")
            start = index
    return ", ".join(parts) or "-"
