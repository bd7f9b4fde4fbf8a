"""What a window saves in cycles: each step of a decode on the chip's cycle model, beside the source's published figures."""

from dataclasses import asdict, dataclass

from impl.chip import Profile
from impl.chip_forms import Form
from impl.decode_cycles import SOURCE_RUNS, STEPS, RunFigure, cycle_figures
from impl.studies.study import Cell, Chart, Column, Findings, Progress, Series, StudyTable

QUESTION = "How many cycles does a step take as the context grows, and where does a window stop the growth?"
SOURCE = {1: 7_000, 4: 7_259, 8: 7_615, 9: 7_734, 12: 7_971, 16: 8_327, 24: 9_039, 32: 9_751}
"""Cycles of a step of the source's chip, whose width it does not state, by the rows that the step attends."""


@dataclass(frozen=True, slots=True)
class CyclesInputs:
    """The structured model of a width, from start 0, on a memory that answers after `latency` cycles."""

    width: int = 16
    latency: int = Profile().latency


def cycles_findings(inputs: CyclesInputs, progress: Progress) -> Findings:
    """32 steps without a window and with 8 and 4, in every form of the decode program. Raises ChipError."""
    total = len(Form) * len(SOURCE_RUNS) * STEPS
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        progress("cycles", done, total)

    runs = cycle_figures(inputs.latency, tick, (inputs.width,)).runs
    note = "the source does not state the width of its chip, so its figures stand beside ours and no ratio is drawn"
    tables = _of_steps(runs), _of_runs(runs)
    return Findings("cycles", QUESTION, asdict(inputs), tables, _charts(inputs, runs), (note,))


def _name(window: int | None) -> str:
    return "no window" if window is None else f"window {window}"


def _of_steps(runs: tuple[RunFigure, ...]) -> StudyTable:
    """A row a step: host-gather, the form of the source's chip, and what the source publishes of a step that attends as much."""
    gathered = [run for run in runs if run.form is Form.HOST_GATHER]
    ours = [Column(_name(run.window), "cycles") for run in gathered]
    published = [Column(f"source, {_name(run.window)}", "cycles") for run in gathered]
    rows: list[tuple[Cell, ...]] = []
    for step in range(1, STEPS + 1):
        attended = [step if run.window is None else min(step, run.window) for run in gathered]
        rows.append((step, *(run.steps[step - 1] for run in gathered), *map(SOURCE.get, attended)))
    title = "Cycles of each step, weights streamed and rows gathered by the host"
    return StudyTable("steps", title, (Column("step"), *ours, *published), tuple(rows))


def _of_runs(runs: tuple[RunFigure, ...]) -> StudyTable:
    columns = (
        Column("form"),
        Column("window", "rows"),
        Column("32 steps", "cycles"),
        Column("less than without a window", "%", 1),
        Column("source, 32 steps", "cycles"),
        Column("source, less than without", "%", 1),
    )
    rows: list[tuple[Cell, ...]] = []
    for form in Form:
        of_form = {run.window: run.cycles for run in runs if run.form is form}
        for window, total in of_form.items():
            saved = 100 * (1 - total / of_form[None])
            source_saved = 100 * (1 - SOURCE_RUNS[window] / SOURCE_RUNS[None])
            rows.append((form.value, window, total, saved, SOURCE_RUNS[window], source_saved))
    return StudyTable("runs", f"Cycles of {STEPS} steps", columns, tuple(rows))


def _charts(inputs: CyclesInputs, runs: tuple[RunFigure, ...]) -> tuple[Chart, ...]:
    steps = tuple(float(step) for step in range(1, STEPS + 1))
    ours = tuple(
        Series(_name(run.window), steps, tuple(map(float, run.steps))) for run in runs if run.form is Form.HOST_GATHER
    )
    theirs = []
    for window in SOURCE_RUNS:
        found = {step: SOURCE.get(step if window is None else min(step, window)) for step in range(1, STEPS + 1)}
        known = {step: figure for step, figure in found.items() if figure is not None}
        theirs.append(Series(_name(window), tuple(map(float, known)), tuple(map(float, known.values()))))
    forms = tuple(
        Series(f"{run.form}, {_name(run.window)}", steps, tuple(map(float, run.steps)))
        for run in runs
        if run.window in (None, 8)
    )
    title = f"Cycles of a decode step, width {inputs.width}, latency {inputs.latency}"
    return (
        Chart("steps", f"{title}: host-gather", "step [tokens]", "cycles of the step [cycles]", ours),
        Chart(
            "source",
            "Cycles of a decode step that the source publishes",
            "step [tokens]",
            "cycles of the step [cycles]",
            tuple(theirs),
        ),
        Chart("forms", f"{title}: all forms", "step [tokens]", "cycles of the step [cycles]", forms),
    )
