"""How many cycles a decode step takes on the chip's cycle model, beside what no chip with these ports could go below.

Every figure is counted by the model while it decodes; only the rooflines are formulas. Source: docs/chip.md sections 6
and 7.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from impl.admission import peak_pages
from impl.chip import Profile
from impl.chip_decoder import DecoderOnChip
from impl.chip_forms import Form, host_on
from impl.chip_model.machine import ChipModel
from impl.memory_words import LANES_A_WORD
from impl.model_files import load
from impl.tiny_lm import VOCABULARY
from spec.isa import LANES

STEPS = 32
PAGE_SIZE = 4

JUDGED = (8, 32)
"""Contexts at which a step with streamed weights may take at most MOST_RATIO times the port's roofline."""
MOST_RATIO = 1.10
JUDGED_WIDTH = 16
"""The width at which the limits below hold, and those of the source's chip can have been meant."""
MOST_RESIDENT = {1: 200, 32: 400}
"""Cycles that a step with resident weights may take, by context."""
MOST_SLOPE = 8.6
"""Cycles that one more token of context may cost."""

SOURCE_STEPS = {1: 7_000, 4: 7_259, 8: 7_615, 32: 9_751}
SOURCE_RUNS: dict[int | None, int] = {None: 268_346, 8: 241_286, 4: 231_792}
"""Cycles that the source states for its own chip, whose width it does not: by context, and by window over 32 steps."""


@dataclass(frozen=True, slots=True)
class StepFigure:
    """One step of context n at a width: its cycles, and the rooflines of the port, in words, and of MAC, in rows."""

    form: Form
    width: int
    context: int
    cycles: int
    port_words: int
    mac_rows: int

    @property
    def ratio(self) -> float:
        """Cycles for each word that the port has to bring or take."""
        return self.cycles / self.port_words


@dataclass(frozen=True, slots=True)
class RunFigure:
    """A decode of STEPS steps at a width, with a window or none: the cycles of each step."""

    form: Form
    width: int
    window: int | None
    steps: tuple[int, ...]

    @property
    def cycles(self) -> int:
        """Cycles of all steps."""
        return sum(self.steps)

    @property
    def period(self) -> int:
        """Steps after which a full window lies in its pages as before; to a host that gathers all steps are alike."""
        return 1 if self.form is Form.HOST_GATHER else PAGE_SIZE

    @property
    def steady(self) -> bool | None:
        """Whether the cycles repeat with that period once the window is full; None without a window."""
        if self.window is None:
            return None
        full = self.steps[self.window - 1 :]
        return full[self.period :] == full[: -self.period]


@dataclass(frozen=True, slots=True)
class Slope:
    """What one more token of context costs at a width, from the second longest context to the longest."""

    form: Form
    width: int
    cycles: float
    port_words: float


class Judged(NamedTuple):
    """A figure that has a limit."""

    what: str
    figure: float
    most: float


@dataclass(frozen=True, slots=True)
class CycleFigures:
    """What was measured at one memory latency."""

    latency: int
    steps: tuple[StepFigure, ...]
    slopes: tuple[Slope, ...]
    runs: tuple[RunFigure, ...]

    @property
    def judged(self) -> tuple[Judged, ...]:
        """The largest figure for each limit, of those that were measured."""
        found: list[Judged] = []

        def judge(what: str, figures: Sequence[float], most: float) -> None:
            if figures:
                found.append(Judged(what, max(figures), most))

        of_width = [step for step in self.steps if step.width == JUDGED_WIDTH]
        streamed = [step for step in self.steps if step.form is not Form.RESIDENT and step.context in JUDGED]
        judge(
            f"cycles a word of the port, streamed, n = {' and '.join(map(str, JUDGED))}",
            [step.ratio for step in streamed],
            MOST_RATIO,
        )
        for context, most in MOST_RESIDENT.items():
            kept = [step.cycles for step in of_width if step.form is Form.RESIDENT and step.context == context]
            judge(f"cycles, resident, width {JUDGED_WIDTH}, n = {context}", kept, most)
        slopes = [slope.cycles for slope in self.slopes if slope.width == JUDGED_WIDTH]
        judge(f"cycles for one more token, width {JUDGED_WIDTH}", slopes, MOST_SLOPE)
        return tuple(found)

    @property
    def passed(self) -> bool:
        """Whether every judged figure is within its limit and every windowed run is steady."""
        within = all(judged.figure <= judged.most for judged in self.judged)
        return within and all(run.steady is not False for run in self.runs)


def port_words(width: int, context: int, form: Form = Form.HOST_GATHER, pages: int = 0) -> int:
    """Words that cross the port in a step; `pages` are those in which the chip finds the past rows, if it gathers."""
    row_words = width // LANES_A_WORD
    logit_rows = VOCABULARY * LANES_A_WORD // width
    words = row_words * (1 + 2 * (context - 1) + 2 + logit_rows) + 1
    if form is not Form.RESIDENT:
        words += row_words * (4 * width + VOCABULARY)
    return words if form is Form.HOST_GATHER else words + 2 * pages


def mac_rows(width: int, context: int) -> int:
    """Rows that MAC has to take in, one a cycle: of Wq, Wk, Wv, of K, of V, of Wo, and of U."""
    return 3 * width + context + context + width + VOCABULARY


def pages_read(first: int, context: int, page_size: int) -> int:
    """Pages in which a step finds its past rows, from row `first` on; it attends `context` rows, its own included."""
    return -(-(first + context - 1) // page_size) - first // page_size if context > 1 else 0


def cycle_figures(latency: int, tick: Callable[[], None], widths: Sequence[int] = LANES) -> CycleFigures:
    """Decode STEPS tokens at every width in every form, without a window and with each of the source's.

    `tick` hears every step. Raises ChipError when the chip gives no result.
    """
    steps: list[StepFigure] = []
    slopes: list[Slope] = []
    runs: list[RunFigure] = []
    for width in widths:
        for form in Form:
            of_form = [_run(form, width, window, latency, tick) for window in SOURCE_RUNS]
            growing = of_form[0].steps  # without a window, step n attends n rows
            found = [_step(form, width, context, growing[context - 1]) for context in SOURCE_STEPS]
            before, last = found[-2:]
            tokens = last.context - before.context
            rise = last.cycles - before.cycles, last.port_words - before.port_words
            slopes.append(Slope(form, width, *(each / tokens for each in rise)))
            steps += found
            runs += of_form
    return CycleFigures(latency, tuple(steps), tuple(slopes), tuple(runs))


def source_slope() -> float:
    """What one more token of context costs the source's chip, between the same contexts as a Slope."""
    (short, fewer), (long, more) = list(SOURCE_STEPS.items())[-2:]
    return (more - fewer) / (long - short)


def _step(form: Form, width: int, context: int, cycles: int) -> StepFigure:
    """The figure of a step that attends every row of its request."""
    words = port_words(width, context, form, pages_read(0, context, PAGE_SIZE))
    return StepFigure(form, width, context, cycles, words, mac_rows(width, context))


def _run(form: Form, width: int, window: int | None, latency: int, tick: Callable[[], None]) -> RunFigure:
    pages = peak_pages(STEPS, PAGE_SIZE, window)
    host = host_on(form, load(f"structured-{width}"), ChipModel(width), pages, PAGE_SIZE, Profile(latency))
    decoder = host.decoder
    assert isinstance(decoder, DecoderOnChip)
    host.admit(0, [0], window)
    clock = [decoder.cycles]
    for _ in range(STEPS):
        host.step(0)
        clock.append(decoder.cycles)
        tick()
    return RunFigure(form, width, window, tuple(after - before for before, after in pairwise(clock)))
