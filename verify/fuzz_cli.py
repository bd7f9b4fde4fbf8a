"""`python -m verify fuzz`: random operations on larger pools, for some minutes."""

import time

import click

from impl.command import EPILOG, console
from impl.exit_codes import ExitCode
from verify.explore import StepsExhausted
from verify.findings import shrunk
from verify.machines import Tally, search_at_random
from verify.remote.choice import TargetOptions, command_target, target_options
from verify.search_cli import activity, finite, report_failure
from verify.show import verdict
from verify.situations import possible
from verify.summary import random_lines


@click.command(epilog=EPILOG)
@click.option("--seed", type=click.IntRange(0), required=True, help="First seed; each batch takes the next one.")
@click.option(
    "--minutes",
    type=click.FloatRange(0, 1e6, min_open=True),
    callback=finite,
    required=True,
    help="How long to search.",
)
@target_options
def fuzz(seed: int, minutes: float, target: TargetOptions) -> int:
    """Search at random on larger pools for some minutes.

    A failure is shrunk and names the seed of its batch: the same seed finds it again.
    """
    out = console()
    started = time.monotonic()
    total = Tally(seed=seed)
    batch, tally = seed, Tally(seed=seed)
    with command_target(target) as choice:
        able = possible(choice.capabilities)
        with activity(out) as bar:
            task = bar.add_task("fuzz", total=None)
            try:
                while batch == seed or time.monotonic() - started < minutes * 60:
                    tally = Tally(seed=batch)
                    left = None if choice.steps is None else choice.steps - total.steps
                    # What a far target broke, our own shrinker makes smaller: Hypothesis would try far more.
                    search_at_random(choice.factory, 60, 60, shrinking=not choice.far, budget=left, tally=tally)
                    total.add(tally)
                    bar.update(
                        task, description=f"seed {batch}: {total.examples:,} examples, {total.steps:,} operations"
                    )
                    if tally.failure is not None:
                        break
                    batch += 1
            except (KeyboardInterrupt, StepsExhausted) as end:
                bar.stop()
                total.add(tally)
                out.print(*random_lines(total, able), *choice.lines(), sep="\n", highlight=False, soft_wrap=True)
                why = "interrupted" if isinstance(end, KeyboardInterrupt) else f"{end},"
                out.print(f"verdict: unknown, {why} during the batch of seed {batch}", highlight=False)
                if isinstance(end, KeyboardInterrupt):
                    raise
                return ExitCode.UNKNOWN
        out.print(*random_lines(total, able), *choice.lines(), sep="\n", highlight=False, soft_wrap=True)
        if total.failure is None:
            return verdict(out, f"no difference found at random, seeds {seed} to {batch - 1}", ExitCode.PASS)
        smallest = shrunk(total.failure.operations, total.pages, total.page_size, choice.factory)
        report_failure(out, smallest, total.failure.differences, total.pages, total.page_size, choice)
        return verdict(out, f"a rule is broken, found with seed {batch}", ExitCode.FAIL)
