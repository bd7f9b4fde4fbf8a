"""`python -m impl cycles`: cycles of a decode step on the chip's model, beside its rooflines and the source's chip."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console

from impl.chip import ChipError, Profile
from impl.chip_forms import Form
from impl.command import EPILOG, CommandError, console, write_json
from impl.decode_cli import LONGEST_LATENCY
from impl.decode_cycles import (
    PAGE_SIZE,
    SOURCE_RUNS,
    SOURCE_STEPS,
    STEPS,
    CycleFigures,
    RunFigure,
    StepFigure,
    cycle_figures,
    source_slope,
)
from impl.display import JSON_OPTION, progress_bar, table
from impl.exit_codes import ExitCode
from impl.memory_words import LANES_A_WORD
from spec.isa import LANES

PORT_BITS = 32
LAST_STEPS = 4
STEP_HEADINGS = "form|width|n|cycles|port: words|cycles a word|MAC: rows|the source's chip"
RUN_HEADINGS = f"form|width|window|cycles|step 1|last {LAST_STEPS} steps|once the window is full|the source's chip"


@click.command(epilog=EPILOG)
@click.option(
    "--latency",
    type=click.IntRange(1, LONGEST_LATENCY),
    default=Profile().latency,
    show_default=True,
    help="Cycles from a read that memory accepts to its answer.",
)
@JSON_OPTION
def cycles(latency: int, json_path: str | None) -> ExitCode:
    """Count the cycles of decode steps on the chip's cycle model, for models of width 16 and 32.

    The structured model of each width decodes 32 tokens from start 0, without a window and with windows of 8 and 4, and
    every step's cycles are counted as it runs. A step of context n attends n rows, the new one included. Beside its cycles
    stand two rooflines: the words that must cross the memory port, one a cycle, and the rows that MAC must take in, one a
    cycle.

    There are three forms. host-gather: the host gathers the past rows, and every step loads the weights again. chip-gather:
    so does this, but the chip gathers, from pages of 4 rows through a block table. resident: the chip gathers, and finds
    the weights where it left them; bringing them there once is not counted.

    It fails when a step at n = 8 or 32 with streamed weights takes more than 1.10 cycles for each word of the port; when at
    width 16 one with resident weights takes more than 200 at n = 1 or 400 at n = 32, or one more token costs more than 8.6;
    or when the steps of a run do not repeat once its window is full: each the one before, where the chip gathers that of
    four steps before. With at most 16 reads outstanding the chip gets 16 words in latency + 1 cycles from a memory that
    slow, so a long latency fails whatever the rest does.

    \b
    Examples:
      python -m impl cycles
      python -m impl cycles --latency 20
      python -m impl cycles --json - | jq '.steps[] | [.form, .width, .context, .cycles]'
    """
    with progress_bar() as progress:
        task = progress.add_task("decode", total=len(LANES) * len(Form) * len(SOURCE_RUNS) * STEPS)
        try:
            figures = cycle_figures(latency, lambda: progress.advance(task))
        except ChipError as error:
            raise CommandError(f"the chip gave no result: {error}") from error
    if json_path != "-":
        _show(console(), figures)
    if json_path is not None:
        write_json(json_path, _document(figures))
    return ExitCode.PASS if figures.passed else ExitCode.FAIL


def _show(out: Console, figures: CycleFigures) -> None:
    out.print(
        table(f"One step of context n, latency {figures.latency}", STEP_HEADINGS, map(_step_cells, figures.steps))
    )
    out.print(f"port: {PORT_BITS} bits, {LANES_A_WORD} int8 a word, one word a cycle at most")
    out.print(
        "port: words = RW*(1 + 2(n-1) + 2 + 64/d) + 1, RW = d/4 words a row; with streamed weights RW*(4d + 16) more, where "
        f"the chip gathers 2 more for each page of {PAGE_SIZE} rows that it reads"
    )
    out.print("MAC: rows = 3d (Wq, Wk, Wv) + n (K) + n (V) + d (Wo) + 16 (U), one row a cycle at most")
    for slope in figures.slopes:
        out.print(
            f"{slope.form}, width {slope.width}: one more token costs {slope.cycles:.2f} cycles, {slope.port_words:g} words of "
            f"the port (the source's chip: {source_slope():.2f} cycles)"
        )
    out.print("the source's chip: cycles that the source states; its width is unknown, so no ratio is drawn\n")
    title = f"{STEPS} steps from start 0, latency {figures.latency}"
    out.print(table(title, RUN_HEADINGS, map(_run_cells, figures.runs)))
    for judged in figures.judged:
        out.print(f"{judged.what}: {judged.figure:,.4g} (limit {judged.most:g})")
    out.print(f"verdict: {_verdict(figures)}, {_reason(figures)}")


def _step_cells(step: StepFigure) -> tuple[str, ...]:
    source = f"{SOURCE_STEPS[step.context]:,}"
    counts = (f"{step.cycles:,}", f"{step.port_words:,}", f"{step.ratio:.3f}", f"{step.mac_rows:,}")
    return (step.form, str(step.width), str(step.context), *counts, source)


def _run_cells(run: RunFigure) -> tuple[str, ...]:
    repeats = "flat" if run.period == 1 else f"repeats every {run.period} steps"
    steady = {None: "-", True: f"{repeats} from step {run.window}", False: "not steady"}[run.steady]
    ends = (f"{run.steps[0]:,}", " ".join(f"{step:,}" for step in run.steps[-LAST_STEPS:]))
    window = "none" if run.window is None else str(run.window)
    source = f"{SOURCE_RUNS[run.window]:,}"
    return (run.form, str(run.width), window, f"{run.cycles:,}", *ends, steady, source)


def _verdict(figures: CycleFigures) -> str:
    return "pass" if figures.passed else "fail"


def _reason(figures: CycleFigures) -> str:
    beyond = [judged.what for judged in figures.judged if judged.figure > judged.most]
    uneven: Sequence[RunFigure] = [run for run in figures.runs if run.steady is False]
    beyond += [f"not steady: {run.form}, width {run.width}, window {run.window}" for run in uneven]
    if beyond:
        return "; ".join(beyond)
    return f"all {len(figures.judged)} limits kept, and steady once the window is full"


def _document(figures: CycleFigures) -> dict[str, Any]:
    """The figures as JSON values, what they were made from and what the source states with them."""
    return {
        "latency": figures.latency,
        "port_bits": PORT_BITS,
        "int8_a_word": LANES_A_WORD,
        "page_size": PAGE_SIZE,
        "steps": [
            {**asdict(step), "ratio": step.ratio, "source_cycles": SOURCE_STEPS[step.context]} for step in figures.steps
        ],
        "slopes": [{**asdict(slope), "source_cycles": source_slope()} for slope in figures.slopes],
        "runs": [
            {
                "form": run.form,
                "width": run.width,
                "window": run.window,
                "cycles": run.cycles,
                "cycles_of_steps": run.steps,
                "steady": run.steady,
                "source_cycles": SOURCE_RUNS[run.window],
            }
            for run in figures.runs
        ],
        "source_width": None,
        "judged": [judged._asdict() for judged in figures.judged],
        "verdict": _verdict(figures),
    }
