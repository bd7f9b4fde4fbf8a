"""`python -m impl study traces`: the studies on a production request trace."""

from pathlib import Path

import click

from impl.command import EPILOG, CommandError
from impl.studies.running import Job, run
from impl.studies.study import Findings, Progress
from impl.studies.study_options import Numbers, number, numbers, places
from impl.studies.trace_study import TraceInputs, trace_study
from impl.traces import TraceError

TRACE = click.Path(exists=True, dir_okay=False, path_type=Path)
MOST_PAGES = 1_000_000
"""Pages of the largest pool of prefixes: their tokens alone would take 4 KB each."""


def trace_job(inputs: TraceInputs) -> Job:
    """The study of a trace, which a file that is none ends with one line."""

    def job(progress: Progress) -> Findings:
        try:
            return trace_study(inputs, progress)
        except TraceError as error:
            raise CommandError(str(error)) from error

    return job


@click.command("traces", short_help="What the requests of a production trace hold.", epilog=EPILOG)
@click.option("--trace", type=TRACE, required=True, help="A request trace in the Azure or the Mooncake format.")
@numbers("--window", TraceInputs(Path()).windows, "Rows that a step attends, beside all of them.")
@number("--page", TraceInputs(Path()).page_size, "Rows of a page where windows are compared.", most=1_000_000)
@numbers("--page-size", TraceInputs(Path()).page_sizes, "Rows of a page where waste is compared.", most=1_000_000)
@click.option(
    "--pages",
    type=Numbers(1, MOST_PAGES),
    default=(),
    show_default="chosen by the trace",
    help="Pages of 512 rows in the pools where prefixes are shared.",
)
@number(
    "--slots",
    TraceInputs(Path()).slots,
    "Longest requests that fill the pool in which requests are counted.",
    most=10_000,
)
@click.option("--requests", type=click.IntRange(1), help="First requests of the trace.  [default: all]")
@places
def traces(
    trace: Path,
    window: tuple[int, ...],
    page: int,
    page_size: tuple[int, ...],
    pages: tuple[int, ...],
    slots: int,
    requests: int | None,
    out: Path,
    figures: bool,
) -> None:
    """What the requests of a production trace hold: pages over time, waste, requests at once, and what sharing serves.

    The page table and the prefix cache that ship are driven through the whole trace. A request grows by a row every 50 ms.

    \b
    Examples:
      python -m impl study traces --trace conversation.jsonl
      python -m impl study traces --trace code.csv --window 2048 --page-size 16,32 --out reports/code
    """
    inputs = TraceInputs(trace, page_size, page, window, pages, slots, requests=requests)
    run([trace_job(inputs)], out, figures)
