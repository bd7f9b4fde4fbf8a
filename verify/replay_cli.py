"""`python -m verify replay`: a saved witness, of whatever kind, or a production request trace."""

from pathlib import Path

import click
from rich.console import Console

from impl.command import EPILOG, CommandError, console
from impl.exit_codes import ExitCode
from impl.schedule import ScheduleOptions
from impl.traces import TraceError
from verify.bounds import MOST_PAGE_SIZE
from verify.chips.decode_cli import chosen_chips
from verify.findings import broken_rules, shrunk
from verify.lockstep import replay as replay_operations
from verify.remote.choice import Choice, TargetOptions, command_target, ours, target_options
from verify.search_cli import activity, finite, report_failure
from verify.show import FailureReport, facts_table, render_failure, verdict
from verify.targets.shipped import ShippedCache
from verify.targets.shipped_incremental import ShippedIncremental
from verify.traces.replay import MOST_POOL_PAGES, ReplayOptions, TraceResult, replay_trace
from verify.view.manager_walkthrough import walk_prefix_cache
from verify.view.terminal import render_walkthrough, walked_verdict
from verify.witness import Witness
from verify.witness_files import is_of_manager, is_of_program, load, load_of_manager, load_of_program


def some_chips(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The chips that the option names, none without it."""
    return () if value is None else chosen_chips(context, parameter, value)


@click.command(epilog=EPILOG)
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
        # Programs need chips, Hypothesis and its shrinker; the other witnesses do not.
        from verify.fuzz.replaying import replay_program

        return replay_program(out, load_of_program(file), chips, waves)
    if is_witness(file):
        with command_target(target) as choice:
            return replay_witness(out, load(file), choice)
    if target != TargetOptions():
        # Each operation of a trace is checked at the cost of what it touches; a far target shows its whole state each time.
        raise click.UsageError("--target replays witnesses; a trace is replayed on the cache that ships.")
    with activity(out) as bar:
        task = bar.add_task(file.name, total=None)

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
        report_failure(out, smallest, found.differences, witness.pages, witness.page_size, ours())
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
