"""`python -m impl bench`: measure the cache. Figures come from running it; nothing is written down here."""

import dataclasses
from collections.abc import Sequence

import click
from rich.console import Console

from impl import bench as bench_figures
from impl import host_bench
from impl.command import EPILOG, HELP, console, write_json
from impl.display import JSON_OPTION, progress_bar, table


@click.command(context_settings=HELP, epilog=EPILOG)
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
