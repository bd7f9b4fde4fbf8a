"""The command line of the searches. Each command ends with what was covered and a verdict; the exit code is the verdict's."""

import os
import time
from collections.abc import Sequence

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from impl.exit_codes import ExitCode
from spec.operations import Operation
from verify.bounds import Scope
from verify.explore import Exploration, Search
from verify.findings import describe_failure, shrunk
from verify.lockstep import replay as replay_operations
from verify.machines import Tally, search_at_random
from verify.refinement import Difference
from verify.show import facts_table, render_failure
from verify.summary import exploration_table, random_lines
from verify.targets.shipped import ShippedCache
from verify.witness import Witness

EPILOG = "Exit codes: 0 pass, 1 fail, 2 usage, 3 unknown, 4 broken input or target, 70 internal error, 130 interrupted."


@click.group(
    name="verify",
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name=None, version="0.1.0", prog_name="kvproof verify")
def main() -> None:
    """Hold a paged KV cache against the oracle.

    \b
    Examples:
      python -m verify explore --pages 4 --page-size 2 --requests 3 --length 4
      python -m verify fuzz --seed 7 --minutes 5
      python -m verify replay reports/witnesses/PT-LEAK-0123abcd.json
      python -m verify replay trace.jsonl --requests 2000 --page 16 --window 4096

    The whole suite with its closing summary is `pytest verify/`.
    """


@main.command(epilog=EPILOG)
@click.option("--pages", type=click.IntRange(1), required=True, help="Pages of the pool.")
@click.option("--page-size", type=click.IntRange(1), required=True, help="Rows of a page.")
@click.option("--requests", type=click.IntRange(1), required=True, help="Most requests alive at once.")
@click.option("--length", type=click.IntRange(0), required=True, help="Most rows of a request.")
@click.option("--sinks", type=click.IntRange(0), help="Most sinks of a request.  [default: page size + 1]")
@click.option("--raw-ids", is_flag=True, help="Tell page and request ids apart instead of renaming them.")
@click.option("--workers", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="all cores")
def explore(
    pages: int, page_size: int, requests: int, length: int, sinks: int | None, raw_ids: bool, workers: int
) -> int:
    """Search every reachable state of one scope, to the fixpoint.

    A difference comes with a shortest list of operations, and the search ends with the depth in which it was found. A
    scope grows quickly: 4 pages of 2 rows, 3 requests and length 4 have 42,241 states and 4,867,035 transitions.
    """
    scope = Scope(pages, page_size, requests, length, raw_ids, sinks)
    console = Console()
    with activity(console) as bar:
        task = bar.add_task(f"{scope}")

        def show(found: Exploration, frontier: int) -> None:
            counts = f"depth {found.depth}, {found.states:,} states, {found.transitions:,} transitions"
            bar.update(task, description=f"{scope}: {counts}, {frontier:,} to expand")

        search = Search(scope, ShippedCache, workers, progress=show)
        try:
            search.run()
        except KeyboardInterrupt:
            bar.stop()
            console.print(exploration_table([search.found]))
            console.print("verdict: unknown, the search was interrupted before its fixpoint")
            raise
    found = search.found
    console.print(exploration_table([found]))
    rate = found.transitions / max(found.seconds, 1e-9)
    console.print(f"{rate:,.0f} transitions a second; situations: {dict(found.situations)}", highlight=False)
    for failure in found.failures[:1]:
        render_failure(
            console, describe_failure(failure.operations, failure.differences, pages, page_size, ShippedCache)
        )
    if found.failures:
        return verdict(console, f"broken rules {', '.join(found.broken())}", ExitCode.FAIL)
    return verdict(console, "complete within the scope, no difference", ExitCode.PASS)


@main.command(epilog=EPILOG)
@click.option("--seed", type=click.IntRange(0), required=True, help="First seed; each batch takes the next one.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), required=True, help="How long to search.")
def fuzz(seed: int, minutes: float) -> int:
    """Search at random on larger pools for some minutes.

    A failure is shrunk and names the seed of its batch: the same seed finds it again.
    """
    console = Console()
    started = time.monotonic()
    total = Tally(seed=seed)
    with activity(console) as bar:
        task = bar.add_task("fuzz")
        batch = seed
        try:
            while time.monotonic() - started < minutes * 60:
                tally = search_at_random(ShippedCache, examples=60, steps=60, seed=batch)
                total.add(tally)
                bar.update(task, description=f"seed {batch}: {total.examples:,} examples, {total.steps:,} operations")
                if tally.failure is not None:
                    break
                batch += 1
        except KeyboardInterrupt:
            bar.stop()
            console.print(*random_lines(total), sep="\n")
            console.print(f"verdict: unknown, interrupted during the batch of seed {batch}")
            raise
    console.print(*random_lines(total), sep="\n", highlight=False)
    if total.failure is None:
        return verdict(console, f"no difference found at random, seeds {seed} to {batch - 1}", ExitCode.PASS)
    smallest = shrunk(total.failure.operations, total.pages, total.page_size, ShippedCache)
    report_failure(console, smallest, total.failure.differences, total.pages, total.page_size)
    return verdict(console, f"a rule is broken, found with seed {batch}", ExitCode.FAIL)


def replay_witness(console: Console, witness: Witness) -> int:
    """Replay an operation list with the whole check after each operation."""
    run = replay_operations(witness.operations, witness.pages, witness.page_size, ShippedCache)
    facts = [
        ("pool", f"{witness.pages} pages of {witness.page_size} rows"),
        ("operations applied", f"{len(run.applied)} of {len(witness.operations)}"),
        ("saved for", ", ".join(witness.rules) or "-"),
    ]
    console.print(facts_table("witness", facts))
    if run.differences:
        report_failure(console, run.applied, run.differences, witness.pages, witness.page_size)
        return verdict(console, f"{', '.join(dict.fromkeys(d.rule for d in run.differences))} broken", ExitCode.FAIL)
    return verdict(console, "no difference", ExitCode.PASS)


def report_failure(
    console: Console, operations: Sequence[Operation], differences: Sequence[Difference], pages: int, page_size: int
) -> None:
    """Print a failure and save its witness."""
    again = replay_operations(operations, pages, page_size, ShippedCache).differences
    render_failure(console, describe_failure(operations, again or differences, pages, page_size, ShippedCache))


def verdict(console: Console, text: str, code: ExitCode) -> ExitCode:
    """Print the verdict and return its exit code."""
    word = {ExitCode.PASS: "pass", ExitCode.FAIL: "fail"}.get(code, "unknown")
    console.print(
        f"verdict: {word}, {text}", highlight=False, style="bold green" if code is ExitCode.PASS else "bold red"
    )
    return code


def activity(console: Console) -> Progress:
    """A line of progress with the time so far; it disappears at the end and is not shown off a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
