"""`python -m impl cycles`: cycles of a decode step on the chip's model, beside its rooflines and the source's chip."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console

from impl.chip import ChipError, Profile
from impl.command import EPILOG, CommandError, console, write_json
from impl.decode_cli import LONGEST_LATENCY
from impl.decode_cycles import (
    JUDGED,
    MOST_RATIO,
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
LAST_STEPS = 3
STEP_HEADINGS = "width|n|cycles|port: words|cycles a word|MAC: rows|the source's chip"
RUN_HEADINGS = f"width|window|cycles|step 1|last {LAST_STEPS} steps|once the window is full|the source's chip"


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
    cycle. Weights are streamed: every step loads them again.

    It fails when a step at n = 8 or 32 takes more than 1.25 cycles for each word of the port, or when the steps of a run
    differ once its window is full. With at most 16 reads outstanding the chip gets 16 words in latency + 1 cycles from a
    memory that slow, so a long latency fails whatever the rest does.

    \b
    Examples:
      python -m impl cycles
      python -m impl cycles --latency 20
      python -m impl cycles --json - | jq '.steps[] | [.width, .context, .cycles]'
    """
    with progress_bar() as progress:
        task = progress.add_task("decode", total=len(LANES) * len(SOURCE_RUNS) * STEPS)
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
    out.print(
        f"port: {PORT_BITS} bits, {LANES_A_WORD} int8 a word, one word a cycle at most; weights streamed at every step"
    )
    out.print(
        "port: words = RW*(1 + 3d + 2(n-1) + d + 16 + 2 + rows of logits) + 1, RW = d/4 words a row, 64/d rows of logits"
    )
    out.print("MAC: rows = 3d (Wq, Wk, Wv) + n (K) + n (V) + d (Wo) + 16 (U), one row a cycle at most")
    for slope in figures.slopes:
        out.print(
            f"width {slope.width}: one more token costs {slope.cycles:.2f} cycles, {slope.port_words} words of the port "
            f"(the source's chip: {source_slope():.2f} cycles)"
        )
    out.print("the source's chip: cycles that the source states; its width is unknown, so no ratio is drawn\n")
    title = f"{STEPS} steps from start 0, latency {figures.latency}"
    out.print(table(title, RUN_HEADINGS, map(_run_cells, figures.runs)))
    out.print(f"verdict: {_verdict(figures)}, {_reason(figures)}")


def _step_cells(step: StepFigure) -> tuple[str, ...]:
    source = f"{SOURCE_STEPS[step.context]:,}"
    counts = (f"{step.cycles:,}", f"{step.port_words:,}", f"{step.ratio:.3f}", f"{step.mac_rows:,}")
    return (str(step.width), str(step.context), *counts, source)


def _run_cells(run: RunFigure) -> tuple[str, ...]:
    flat = {None: "-", True: f"flat from step {run.window}", False: "not flat"}[run.flat]
    ends = (f"{run.steps[0]:,}", " ".join(f"{step:,}" for step in run.steps[-LAST_STEPS:]))
    window = "none" if run.window is None else str(run.window)
    return (str(run.width), window, f"{run.cycles:,}", *ends, flat, f"{SOURCE_RUNS[run.window]:,}")


def _verdict(figures: CycleFigures) -> str:
    return "pass" if figures.passed else "fail"


def _reason(figures: CycleFigures) -> str:
    judged = " and ".join(map(str, JUDGED))
    ratio = f"at n = {judged} up to {figures.worst_ratio:.3f} cycles a word of the port (limit {MOST_RATIO})"
    uneven: Sequence[RunFigure] = [run for run in figures.runs if run.flat is False]
    named = ", ".join(f"width {run.width} window {run.window}" for run in uneven)
    return f"{ratio}; " + (f"not flat: {named}" if uneven else "flat once the window is full")


def _document(figures: CycleFigures) -> dict[str, Any]:
    """The figures as JSON values, what they were made from and what the source states with them."""
    return {
        "latency": figures.latency,
        "port_bits": PORT_BITS,
        "int8_a_word": LANES_A_WORD,
        "weights": "streamed",
        "steps": [
            {**asdict(step), "ratio": step.ratio, "source_cycles": SOURCE_STEPS[step.context]} for step in figures.steps
        ],
        "slopes": [{**asdict(slope), "source_cycles": source_slope()} for slope in figures.slopes],
        "runs": [
            {
                "width": run.width,
                "window": run.window,
                "cycles": run.cycles,
                "cycles_of_steps": run.steps,
                "flat": run.flat,
                "source_cycles": SOURCE_RUNS[run.window],
            }
            for run in figures.runs
        ],
        "source_width": None,
        "most_ratio": MOST_RATIO,
        "worst_ratio": figures.worst_ratio,
        "verdict": _verdict(figures),
    }
