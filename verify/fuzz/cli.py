"""`python -m verify fuzz-chip`: programs at random on several chips, until a difference or the end of time."""

import math
import time

import click
from rich.console import Console

from impl.command import EPILOG, CommandError, console
from impl.display import progress_bar
from impl.exit_codes import ExitCode
from verify.chips.builds import BuildFailedError
from verify.chips.decode_cli import chosen_chips
from verify.chips.tools import ToolMissing
from verify.findings import WITNESS_FOLDER
from verify.fuzz.report import failure_lines, shrunk, witness_of
from verify.fuzz.running import Bench
from verify.fuzz.search import ProgramTally, search_programs
from verify.show import verdict
from verify.summary import program_lines
from verify.witness_files import keep

BATCH = 200
"""Cases of a seed."""


@click.command("fuzz-chip", epilog=EPILOG)
@click.option("--seed", type=click.IntRange(0), required=True, help="First seed; each batch takes the next one.")
@click.option("--minutes", type=click.FloatRange(0, 1e6, min_open=True), help="How long to search.")
@click.option("--programs", type=click.IntRange(1), help="How many programs to run, as the other way to say how long.")
@click.option(
    "--chip",
    "names",
    callback=chosen_chips,
    default="spec,model",
    show_default=True,
    help="Chips, separated by commas, or all; those with cycles are also held against each other.",
)
def fuzz_chip(seed: int, minutes: float | None, programs: int | None, names: tuple[str, ...]) -> ExitCode:
    """Run programs at random on several chips at once, and stop at the first difference.

    Every program is legal, or ends with an error that the definition names; each run has several starts. Memory, TOK, STATUS
    and ERRPC must be the definition's, whatever the latency of memory, and every counter that of the other chips. A failure is
    shrunk to a few instructions and saved; the seed of its batch finds it again.

    \b
    Examples:
      python -m verify fuzz-chip --seed 1 --programs 2000
      python -m verify fuzz-chip --seed 1 --minutes 60 --chip all
    """
    if (minutes is None) == (programs is None) or not math.isfinite(minutes or 0):
        raise click.UsageError("say either --programs or --minutes")
    out = console()
    begun = time.monotonic()
    total = ProgramTally(names, seed=seed)
    batch = seed

    def more() -> bool:
        if programs is not None:
            return total.programs < programs
        return batch == seed or time.monotonic() - begun < (minutes or 0) * 60

    with Bench(names) as bench:
        try:
            with progress_bar() as bar:
                task = bar.add_task(f"seed {batch}", total=programs)
                while more() and total.failure is None:
                    tally = ProgramTally(names, batch)

                    def show(now: ProgramTally, done: int = total.programs, at: int = batch) -> None:
                        count = done + now.programs
                        bar.update(task, description=f"seed {at}: {count:,} programs", completed=count)

                    try:
                        search_programs(bench, BATCH, tally, show)
                    finally:
                        total.add(tally)
                    batch += 1
        except KeyboardInterrupt:
            _print_tally(out, total)
            out.print(f"verdict: unknown, interrupted during the batch of seed {batch}", highlight=False)
            raise
        except (ToolMissing, BuildFailedError) as error:
            raise CommandError(str(error), ExitCode.UNKNOWN) from None
        _print_tally(out, total)
        what = f"{total.programs:,} programs on {', '.join(names)}"
        if total.failure is None:
            return verdict(out, f"{what}: no difference, seeds {seed} to {batch - 1}", ExitCode.PASS)
        failure = shrunk(total.failure, total, bench)
    out.print(*failure_lines(failure.case, failure.compared), sep="\n", highlight=False, soft_wrap=True, markup=False)
    path, why = keep(WITNESS_FOLDER, witness_of(failure, names))
    out.print(f"witness: {path}{why}; again: python -m verify replay {path}", highlight=False, soft_wrap=True)
    return verdict(out, f"{', '.join(failure.compared.rules)} broken, found with seed {batch - 1}", ExitCode.FAIL)


def _print_tally(out: Console, total: ProgramTally) -> None:
    out.print(*program_lines(total), sep="\n", highlight=False, soft_wrap=True)
