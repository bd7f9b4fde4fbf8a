"""How many cycles a decode step takes on the chip's cycle model, beside what no chip with these ports could go below.

Every figure is counted by the model while it decodes; only the rooflines are formulas. Source: docs/chip.md sections 6
and 7.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from impl.admission import peak_pages
from impl.chip import Profile
from impl.chip_decoder import ChipDecoder
from impl.chip_model.machine import ChipModel
from impl.host import Host
from impl.kv_cache import KVCache
from impl.memory_words import LANES_A_WORD
from impl.model_files import load
from impl.row_store import PagedStore
from impl.tiny_lm import VOCABULARY
from spec.isa import LANES

STEPS = 32
PAGE_SIZE = 4
JUDGED = (8, 32)
"""Contexts at which a step may take at most MOST_RATIO times the port's roofline."""
MOST_RATIO = 1.25

SOURCE_STEPS = {1: 7_000, 4: 7_259, 8: 7_615, 32: 9_751}
SOURCE_RUNS: dict[int | None, int] = {None: 268_346, 8: 241_286, 4: 231_792}
"""Cycles that the source states for its own chip, whose width it does not: by context, and by window over 32 steps."""


@dataclass(frozen=True, slots=True)
class StepFigure:
    """One step of context n at a width: its cycles, and the rooflines of the port, in words, and of MAC, in rows."""

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

    width: int
    window: int | None
    steps: tuple[int, ...]

    @property
    def cycles(self) -> int:
        """Cycles of all steps."""
        return sum(self.steps)

    @property
    def flat(self) -> bool | None:
        """Whether all steps take the same once the window is full; None without a window."""
        return None if self.window is None else len(set(self.steps[self.window - 1 :])) == 1


@dataclass(frozen=True, slots=True)
class Slope:
    """What one more token of context costs at a width, from the second longest context to the longest."""

    width: int
    cycles: float
    port_words: int


@dataclass(frozen=True, slots=True)
class CycleFigures:
    """What was measured at one memory latency."""

    latency: int
    steps: tuple[StepFigure, ...]
    slopes: tuple[Slope, ...]
    runs: tuple[RunFigure, ...]

    @property
    def worst_ratio(self) -> float:
        """The largest ratio at the contexts that are judged."""
        return max(step.ratio for step in self.steps if step.context in JUDGED)

    @property
    def passed(self) -> bool:
        """Whether every judged ratio is within MOST_RATIO and every windowed run is flat."""
        return self.worst_ratio <= MOST_RATIO and all(run.flat is not False for run in self.runs)


def port_words(width: int, context: int) -> int:
    """Words that cross the port in a step of the streamed program; docs/chip.md section 7."""
    row_words = width // LANES_A_WORD
    logit_rows = VOCABULARY * LANES_A_WORD // width
    return row_words * (1 + 3 * width + 2 * (context - 1) + width + VOCABULARY + 2 + logit_rows) + 1


def mac_rows(width: int, context: int) -> int:
    """Rows that MAC has to take in, one a cycle: of Wq, Wk, Wv, of K, of V, of Wo, and of U."""
    return 3 * width + context + context + width + VOCABULARY


def cycle_figures(latency: int, tick: Callable[[], None], widths: Sequence[int] = LANES) -> CycleFigures:
    """Decode STEPS tokens at every width, without a window and with each of the source's; `tick` hears every step.

    Raises ChipError when the chip gives no result.
    """
    steps: list[StepFigure] = []
    slopes: list[Slope] = []
    runs: list[RunFigure] = []
    for width in widths:
        of_width = [_run(width, window, latency, tick) for window in SOURCE_RUNS]
        growing = of_width[0].steps  # without a window, step n attends n rows
        found = [
            StepFigure(width, context, growing[context - 1], port_words(width, context), mac_rows(width, context))
            for context in SOURCE_STEPS
        ]
        before, last = found[-2:]
        tokens = last.context - before.context
        one_more = port_words(width, last.context) - port_words(width, last.context - 1)
        slopes.append(Slope(width, (last.cycles - before.cycles) / tokens, one_more))
        steps += found
        runs += of_width
    return CycleFigures(latency, tuple(steps), tuple(slopes), tuple(runs))


def source_slope() -> float:
    """What one more token of context costs the source's chip, between the same contexts as a Slope."""
    (short, fewer), (long, more) = list(SOURCE_STEPS.items())[-2:]
    return (more - fewer) / (long - short)


def _run(width: int, window: int | None, latency: int, tick: Callable[[], None]) -> RunFigure:
    decoder = ChipDecoder(load(f"structured-{width}"), ChipModel(width), Profile(latency))
    pages = peak_pages(STEPS, PAGE_SIZE, window)
    host = Host(decoder, PagedStore(KVCache(pages, PAGE_SIZE, width=width)))
    host.admit(0, [0], window)
    cycles: list[int] = []
    for _ in range(STEPS):
        before = decoder.cycles
        host.step(0)
        cycles.append(decoder.cycles - before)
        tick()
    return RunFigure(width, window, tuple(cycles))
