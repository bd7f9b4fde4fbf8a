"""The command line of the searches. Each command ends with what was covered and a verdict; the exit code is the verdict's."""

import math
import os
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from impl.command import EPILOG, HELP, VERSION, CommandError, console
from impl.exit_codes import ExitCode
from impl.schedule import ScheduleOptions
from impl.traces import TraceError
from spec.operations import Operation
from verify.bounds import MOST_PAGE_SIZE, MOST_PAGES, MOST_REQUESTS, Scope
from verify.chips.decode_cli import chosen_chips, decode
from verify.chips.rate import chip_rates
from verify.conformance.cli import conformance
from verify.conformance.setup_cli import set_up_targets
from verify.explore import Exploration, Search, StepsExhausted
from verify.findings import broken_rules, describe_failure, shortest, shrunk
from verify.fuzz.cli import fuzz_chip
from verify.fuzz.replaying import replay_program
from verify.lockstep import replay as replay_operations
from verify.machines import Tally, search_at_random
from verify.refinement import Difference
from verify.remote.choice import OURS, Choice, TargetOptions, command_target, target_options
from verify.remote.new_target import new_target
from verify.show import FailureReport, facts_table, render_failure, verdict
from verify.situations import possible
from verify.summary import exploration_table, random_lines, situation_lines
from verify.targets.shipped import ShippedCache
from verify.targets.shipped_incremental import ShippedIncremental
from verify.traces.replay import MOST_POOL_PAGES, ReplayOptions, TraceResult, replay_trace
from verify.view.cli import show_witness
from verify.view.manager_walkthrough import walk_prefix_cache
from verify.view.terminal import render_walkthrough, walked_verdict
from verify.witness import Witness
from verify.witness_files import is_of_manager, is_of_program, load, load_of_manager, load_of_program


def finite(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """The number, unless it is none."""
    if not math.isfinite(value):
        raise click.BadParameter("not a number")
    return value


def some_chips(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The chips that the option names, none without it."""
    return () if value is None else chosen_chips(context, parameter, value)


@click.group("verify", epilog=EPILOG, context_settings=HELP)
@click.version_option(VERSION, prog_name="kvproof verify")
def main() -> None:
    """Hold a paged KV cache against the oracle.

    \b
    Examples:
      python -m verify explore --pages 4 --page-size 2 --requests 3 --length 4
      python -m verify fuzz --seed 7 --minutes 5
      python -m verify replay verify/witnesses/fill-the-pool.json
      python -m verify show verify/witnesses/fill-the-pool.json --html page.html
      python -m verify replay trace.jsonl --requests 2000 --page 16 --window 4096
      python -m verify new-target ../mine
      python -m verify fuzz --seed 7 --minutes 5 --target adapter:make --target-path ../mine
      python -m verify conformance --target vllm --profile dev
      python -m verify decode --chip all --window 8 --latency 1,4,16
      python -m verify fuzz-chip --seed 7 --minutes 5 --chip spec,model

    Without --target it is the cache that ships. The whole suite with its closing summary is `pytest verify/`.
    """


main.add_command(show_witness)
main.add_command(new_target)
main.add_command(set_up_targets)
main.add_command(conformance)
main.add_command(decode)
main.add_command(chip_rates)
main.add_command(fuzz_chip)


@main.command(epilog=EPILOG)
@click.option("--pages", type=click.IntRange(1, MOST_PAGES), required=True, help="Pages of the pool.")
@click.option("--page-size", type=click.IntRange(1, MOST_PAGE_SIZE), required=True, help="Rows of a page.")
@click.option("--requests", type=click.IntRange(1, MOST_REQUESTS), required=True, help="Most requests alive at once.")
@click.option("--length", type=click.IntRange(1, MOST_PAGE_SIZE), required=True, help="Most rows of a request.")
@click.option(
    "--sinks", type=click.IntRange(0, MOST_PAGE_SIZE), help="Most sinks of a request.  [default: page size + 1]"
)
@click.option("--raw-ids", is_flag=True, help="Tell page and request ids apart instead of renaming them.")
@click.option("--workers", type=click.IntRange(1), default=os.cpu_count() or 1, help="Processes.  [default: all cores]")
@target_options
def explore(
    pages: int,
    page_size: int,
    requests: int,
    length: int,
    sinks: int | None,
    raw_ids: bool,
    workers: int,
    target: TargetOptions,
) -> int:
    """Search every reachable state of one scope, to the fixpoint.

    A difference comes with a shortest list of operations, and the search ends with the depth in which it was found. A
    scope grows quickly: 4 pages of 2 rows, 3 requests and length 4 have 42,241 states and 4,867,035 transitions.
    """
    scope = Scope(pages, page_size, requests, length, raw_ids, sinks)
    out = console()
    with command_target(target, workers) as choice:
        with activity(out) as bar:
            task = bar.add_task(f"{scope}")

            def show(found: Exploration, frontier: int) -> None:
                counts = f"depth {found.depth}, {found.states:,} states, {found.transitions:,} transitions"
                bar.update(task, description=f"{scope}: {counts}, {frontier:,} to expand")

            search = Search(scope, choice.factory, workers, choice.steps, progress=show)
            try:
                search.run()
            except (KeyboardInterrupt, StepsExhausted) as end:
                bar.stop()
                out.print(exploration_table([search.found]))
                why = "it was interrupted" if isinstance(end, KeyboardInterrupt) else f"{end}"
                out.print(f"verdict: unknown, the search did not reach its fixpoint: {why}", highlight=False)
                if isinstance(end, KeyboardInterrupt):
                    raise
                return ExitCode.UNKNOWN
        found = search.found
        out.print(exploration_table([found]))
        rate = found.transitions / max(found.seconds, 1e-9)
        met = situation_lines(found.situations, possible(choice.capabilities))
        lines = [f"{rate:,.0f} transitions a second", *met, *choice.lines()]
        out.print(*lines, sep="\n", highlight=False, soft_wrap=True)
        if found.complete:
            return verdict(out, "complete within the scope, no difference", ExitCode.PASS)
        if not found.failures:
            return verdict(out, "the target offers nothing that could be tried", ExitCode.UNKNOWN)
        failure = shortest(found, choice.factory)
        report_failure(out, failure.operations, failure.differences, pages, page_size, choice)
        return verdict(out, f"broken rules {', '.join(found.broken())}", ExitCode.FAIL)


@main.command(epilog=EPILOG)
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
            task = bar.add_task("fuzz")
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


@main.command(epilog=EPILOG)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--requests", type=click.IntRange(1), default=2000, show_default=True, help="First requests of a trace.")
@click.option(
    "--page", "page_size", type=click.IntRange(1, MOST_PAGE_SIZE), default=16, show_default=True, help="Rows of a page."
)
@click.option("--window", type=click.IntRange(1), help="Rows that a step attends, its own included.  [default: all]")
@click.option("--pages", type=click.IntRange(1, MOST_POOL_PAGES), help="Pages of the pool.  [default: enough]")
@click.option(
    "--ms-per-token",
    type=click.FloatRange(0, 1e9),
    callback=finite,
    default=50.0,
    show_default=True,
    help="Time of one decode step.",
)
@click.option(
    "--hold", type=click.IntRange(0), default=64, show_default=True, help="Finished requests kept for sharing."
)
@click.option(
    "--abort-every", type=click.IntRange(0), default=0, help="End every N-th request halfway.  [default: none]"
)
@click.option("--chip", "chips", callback=some_chips, help="Chips for a witness of a program.  [default: its own]")
@click.option("--waves", type=click.Path(dir_okay=False, path_type=Path), help="Waves of a program in a simulator.")
@target_options
def replay(
    file: Path,
    requests: int,
    page_size: int,
    window: int | None,
    pages: int | None,
    ms_per_token: float,
    hold: int,
    abort_every: int,
    chips: tuple[str, ...],
    waves: Path | None,
    target: TargetOptions,
) -> int:
    """Replay FILE: a saved witness, or a production request trace in the Azure or Mooncake format.

    A witness says its own pool; the options but those of a target are for traces. Of a trace every operation is checked: the
    touched request with all its rows and pages and the changes of the free list each time, the whole state every 1,000
    operations.
    """
    out = console()
    if not file.is_file():
        raise CommandError(f"{file} is no regular file")
    if is_witness(file) and is_of_manager(file):
        walkthrough = walk_prefix_cache(load_of_manager(file), click.format_filename(file), target)
        render_walkthrough(out, walkthrough)
        return walked_verdict(out, walkthrough)
    if is_witness(file) and is_of_program(file):
        return replay_program(out, load_of_program(file), chips, waves)
    if is_witness(file):
        with command_target(target) as choice:
            return replay_witness(out, load(file), choice)
    if target != TargetOptions():
        # Each operation of a trace is checked at the cost of what it touches; a far target shows its whole state each time.
        raise click.UsageError("--target replays witnesses; a trace is replayed on the cache that ships.")
    with activity(out) as bar:
        task = bar.add_task(file.name)

        def show(done: int, total: int, operations: int) -> None:
            bar.update(
                task, description=f"{file.name}: {done:,} of {total:,} requests, {operations:,} operations checked"
            )

        try:
            schedule = ScheduleOptions(page_size, window, ms_per_token, hold, abort_every)
            found = replay_trace(file, ReplayOptions(schedule, requests, pages), ShippedIncremental, show)
        except (TraceError, ValueError) as error:
            raise CommandError(str(error), ExitCode.BROKEN) from error
    out.print(facts_table(f"{file.name}, pages of {page_size} rows", trace_facts(found)))
    if found.interrupted:
        out.print(f"verdict: unknown, {found.note}")
        raise KeyboardInterrupt
    if found.differences:
        return report_trace_failure(out, found)
    if found.verdict != "pass":
        return verdict(out, found.note, ExitCode.UNKNOWN)
    return verdict(out, f"no difference in {found.checks:,} operations", ExitCode.PASS)


def trace_facts(found: TraceResult) -> list[tuple[str, str]]:
    """The figures of a replay, by name."""
    did = found.figures
    pool = f"{found.pool_pages:,} pages" + ("" if found.limited else ", never short of any")
    return [
        ("requests", f"{did.done:,} of {found.requests:,} done, {did.aborted:,} aborted, {did.rejected:,} never fit"),
        ("rows appended", f"{did.rows:,}"),
        ("pool", pool),
        ("pages now / peak", f"{found.pages_now:,} / {found.pages_peak:,}"),
        ("shared pages now / peak", f"{found.shared_now:,} / {found.shared_peak:,}"),
        ("forks", f"{did.forks:,}, which shared {did.forked_rows:,} rows"),
        (
            "refused",
            f"{did.refused:,}; {did.waited:,} requests waited, {did.preempted:,} preempted, {did.evicted:,} evicted",
        ),
        (
            "operations checked",
            f"{found.checks:,}, {found.rows_compared:,} rows read back; {found.whole_checks:,} whole states",
        ),
        ("checks a second", f"{found.checks_per_second:,.0f} over {found.seconds:.1f} s"),
    ]


def report_trace_failure(out: Console, found: TraceResult) -> ExitCode:
    """Print what a trace broke, from the short witness when there is one."""
    rules = ", ".join(dict.fromkeys(difference.rule for difference in found.differences))
    witness = found.witness
    if (
        witness is not None
        and replay_operations(witness.operations, witness.pages, witness.page_size, ShippedCache).differences
    ):
        smallest = shrunk(witness.operations, witness.pages, witness.page_size, ShippedCache)
        report_failure(out, smallest, found.differences, witness.pages, witness.page_size, OURS)
    else:
        broken = tuple(broken_rules(found.differences))
        render_failure(out, FailureReport(f"{rules} broken: {found.note}", (), (), broken))
    return verdict(out, f"{rules} broken, {found.note}", ExitCode.FAIL)


def is_witness(file: Path) -> bool:
    """Whether the file is JSON as a whole and calls itself a kvproof file; a trace in JSON lines is not."""
    with file.open("rb") as opened:
        head = opened.read(4096)
    return head.lstrip().startswith(b"{") and b'"kvproof"' in head


def replay_witness(out: Console, witness: Witness, choice: Choice) -> int:
    """Replay an operation list with the whole check after each operation."""
    run = replay_operations(witness.operations, witness.pages, witness.page_size, choice.factory)
    facts = [
        ("pool", f"{witness.pages} pages of {witness.page_size} rows"),
        ("operations applied", f"{len(run.applied)} of {len(witness.operations)}"),
        ("saved for", ", ".join(witness.rules) or "-"),
    ]
    out.print(facts_table("witness", facts))
    out.print(*choice.lines(), sep="\n", highlight=False, soft_wrap=True, end="\n" if choice.far else "")
    if run.differences:
        report_failure(out, run.applied, run.differences, witness.pages, witness.page_size, choice)
        return verdict(out, f"{', '.join(dict.fromkeys(d.rule for d in run.differences))} broken", ExitCode.FAIL)
    if not run.applied:
        return verdict(out, "the witness has no operation that could be applied", ExitCode.UNKNOWN)
    return verdict(out, "no difference", ExitCode.PASS)


def report_failure(
    out: Console,
    operations: Sequence[Operation],
    differences: Sequence[Difference],
    pages: int,
    page_size: int,
    choice: Choice,
) -> None:
    """Print a failure and save its witness."""
    again = replay_operations(operations, pages, page_size, choice.factory).differences
    report = describe_failure(
        operations, again or differences, pages, page_size, choice.factory, spelling=choice.spelling
    )
    render_failure(out, report)


def activity(out: Console) -> Progress:
    """A line of progress with the time so far; it disappears at the end and is not shown off a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=out, transient=True, disable=not out.is_terminal)
