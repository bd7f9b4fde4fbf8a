"""What a start costs on each simulator beyond the cycles that it simulates.

A program that halts at once, and loads from short to long, run on memory that is full of numbers. A line through the lowest times
gives the time of a cycle, whatever else the machine does; what a run takes beyond its cycles is the cost of a start: request,
fork, reply, and the simulator's own beginning and end. It is that of the program that halts at once, of which hardly anything
is simulated: cycles do not all take the same time, and what the machine takes from a long run is no cost of its start.
"""

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click
import numpy as np
from rich.table import Table

from impl.chip import Chip, Start
from impl.command import EPILOG, CommandError, console
from impl.exit_codes import ExitCode
from spec.isa import EXT_WORDS, LANES, Halt, Load, encode
from verify.chips.builds import BuildFailedError
from verify.chips.choice import SIMULATED, open_chip
from verify.chips.tools import ToolMissing

LOADS = 8
ROWS = (1, 8, 32)
"""Rows of each load, from a short program to a long one; before these comes one without loads."""

RUNS = 100
HOST_CYCLES = 14
"""What the bench simulates around a run besides its writes: reset, the start itself, and reading the registers."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Milliseconds of a start beyond its cycles, lowest, median and highest, and microseconds of a cycle."""

    chip: str
    lowest: float
    median: float
    highest: float
    cycle: float


def rate_of(name: str, chip: Chip, runs: int = RUNS) -> Rate:
    """What a start of the chip costs, from so many runs of each length. Raises what Chip.run raises."""
    memory = np.random.default_rng(1).integers(0, 1 << 32, chip.words, dtype=np.uint32)
    cycles: list[int] = []
    times: list[list[float]] = []
    halt = encode(Halt())
    for program in ((halt,), *((*[encode(Load(0, rows, 0))] * LOADS, halt) for rows in ROWS)):
        start = Start(program=program)
        (result,) = chip.run([start], memory)  # builds, starts the server
        if result.counters is None:
            raise ValueError(f"{name} has no cycles")
        cycles.append(result.counters.total + 2 * len(program) + HOST_CYCLES)
        times.append([_milliseconds(chip, start, memory) for _ in range(runs)])
    cycle, _ = np.polyfit(cycles, [min(taken) for taken in times], 1).tolist()
    costs = [one - cycle * cycles[0] for one in times[0]]
    return Rate(name, min(costs), statistics.median(costs), max(costs), cycle * 1000)


def rates(
    names: Sequence[str] = SIMULATED, lanes: int = LANES[0], words: int = EXT_WORDS, runs: int = RUNS
) -> Iterator[Rate]:
    """The rate of each of the chips, as it is measured."""
    for name in names:
        with open_chip(name, lanes, words) as chip:
            yield rate_of(name, chip, runs)


@click.command("chips", epilog=EPILOG)
@click.option("--lanes", type=click.Choice([str(lanes) for lanes in LANES]), default=str(LANES[0]), show_default=True)
@click.option("--runs", type=click.IntRange(3), default=RUNS, show_default=True, help="Runs of each of four programs.")
def chip_rates(lanes: str, runs: int) -> ExitCode:
    """Measure what a start of the chip's RTL costs on each simulator beyond the cycles that it simulates."""
    table = Table(
        "chip", "ms a start: lowest", "median", "highest", "us a cycle", title=f"{EXT_WORDS:,} words of memory"
    )
    try:
        for rate in rates(lanes=int(lanes), runs=runs):
            figures = (rate.lowest, rate.median, rate.highest, rate.cycle)
            table.add_row(rate.chip, *(f"{figure:.2f}" for figure in figures))
    except ToolMissing as error:
        raise CommandError(str(error), ExitCode.UNKNOWN) from None
    except BuildFailedError as error:
        raise CommandError(str(error)) from None
    console().print(table)
    return ExitCode.PASS


def _milliseconds(chip: Chip, start: Start, memory: np.typing.NDArray[np.uint32]) -> float:
    begun = time.perf_counter()
    chip.run([start], memory)
    return (time.perf_counter() - begun) * 1000
