"""`python -m impl`: watch the cache work, and measure it. Figures come from running it; nothing is written down here."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console

from impl import bench as bench_figures
from impl import host_bench
from impl.command import EPILOG, HELP, VERSION, CommandError, console, write_json
from impl.cycles_cli import cycles
from impl.decode_cli import decode
from impl.display import JSON_OPTION, progress_bar, table
from impl.event_trace import Event, exhausted_run, fork_run, windowed_run
from impl.models_cli import models
from impl.page_table import OutOfPages
from impl.studies.studies_cli import study


@click.group("impl", context_settings=HELP, epilog=EPILOG)
@click.version_option(VERSION, prog_name="kvproof impl")
def main() -> None:
    """The paged KV cache that kvproof ships: pages of rows, block tables, copy-on-write forks, windows, and a host that
    decodes a tiny language model over it.

    \b
    From Python:
      from impl.kv_cache import KVCache
      cache = KVCache(pages=64, page_size=16, layers=2, width=128)
      cache.new(7)                    start request 7
      cache.append(7, rows)           rows of shape (layers, 2, k, width), K before V
      cache.fork(7, 8)                request 8 shares every page; the first write copies one
      cache.rows(8, 0, 10)            a fresh array of rows 0 .. 9
      cache.trim(7, keep_from=100)    give back the pages wholly before row 100
      cache.release(8)

    \b
    Examples:
      python -m impl trace                      a window, a fork and an exhausted pool, event by event
      python -m impl trace --window 4 --steps 9
      python -m impl trace --json - | jq .window.steps[6]
      python -m impl decode --window 8 --page 4 --steps 32
      python -m impl decode --chip model --starts 0   the same on the chip's cycle model
      python -m impl cycles                     cycles of a decode step beside what its port allows
      python -m impl models --check             the models are what their float models give
      python -m impl study memory               what pages of each size waste; and other studies
      python -m impl bench --json bench.json    speed beside its targets
    """


main.add_command(cycles)
main.add_command(decode)
main.add_command(models)
main.add_command(study)


@main.command(epilog=EPILOG)
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


@main.command(epilog=EPILOG)
@click.option(
    "--repeats", type=click.IntRange(min=3), default=200, show_default=True, help="Repeats of each measurement."
)
@JSON_OPTION
def bench(repeats: int, json_path: str | None) -> None:
    """Measure the cache: every figure over repeats, next to its target. Always exits with 0, whatever the speed.

    Rows are 2 x 128 int8 of one layer and pages hold 16 rows unless a line says otherwise. Rates and times are judged
    by their best repeat, ratios by their median. The figures of the host come from a decode of many requests in turns.

    \b
    Examples:
      python -m impl bench
      python -m impl bench --repeats 1000 --json bench.json
    """
    measurements = bench_figures.measurements() | host_bench.measurements()
    figures = []
    with progress_bar() as progress:
        task = progress.add_task("", total=len(measurements) + 1)
        for name, measure in measurements.items():
            progress.update(task, description=name)
            figures.append(measure(name, repeats))
            progress.advance(task)
        progress.update(task, description="window, 1,000,000 tokens")
        run = bench_figures.window_run(lambda _fraction: progress.advance(task, 0.1))
    document = {
        "figures": [{**dataclasses.asdict(figure), "met": figure.met} for figure in figures],
        "host": host_bench.SETUP,
        "window": dataclasses.asdict(run),
        "peak_resident_bytes": bench_figures.peak_resident_bytes(),
    }
    if json_path != "-":
        _show_bench(console(), figures, run)
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


def _show_bench(out: Console, figures: Sequence[bench_figures.Figure], run: bench_figures.WindowRun) -> None:
    out.print(table("Speed", "measurement|unit|low|median|high|target|", map(_figure_cells, figures)))
    met = sum(figure.met is True for figure in figures)
    out.print(f"{met} of {sum(figure.met is not None for figure in figures)} targets met")
    out.print(host_bench.SETUP)
    out.print(
        f"Window {run.window:,}, {run.tokens:,} tokens, {run.pages} pages: never more than {run.peak_pages} pages in use, "
        f"process grew by {run.resident_growth / 1024:,.0f} KiB from the first tenth to the last, "
        f"{run.first_tenth * 1e6:.2f} us a step in the first tenth and {run.last_tenth * 1e6:.2f} us in the last."
    )


def _figure_cells(figure: bench_figures.Figure) -> tuple[str, ...]:
    target, verdict = "", ""
    if figure.target is not None:
        target = f"{'<=' if figure.ceiling else '>='} {figure.target:g}"
        verdict = "met" if figure.met else "not met"
    values = (f"{value:.2f}" for value in (figure.low, figure.median, figure.high))
    return (figure.name, figure.unit, *values, target, verdict)


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
