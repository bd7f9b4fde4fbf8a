"""`python -m verify explore`: every reachable state of one scope."""

import os

import click

from impl.command import EPILOG, console
from impl.exit_codes import ExitCode
from verify.bounds import MOST_PAGE_SIZE, MOST_PAGES, MOST_REQUESTS, Scope
from verify.explore import Exploration, Search, StepsExhausted
from verify.findings import shortest
from verify.remote.choice import TargetOptions, command_target, target_options
from verify.search_cli import activity, report_failure
from verify.show import verdict
from verify.situations import possible
from verify.summary import exploration_table, situation_lines


@click.command(epilog=EPILOG)
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
            task = bar.add_task(f"{scope}", total=None)

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
