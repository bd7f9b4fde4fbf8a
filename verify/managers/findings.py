"""A failure of a manager made ready to be read and kept: replayed, described, saved as a witness."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from spec.manager import State, available, initial, step
from verify.findings import WITNESS_FOLDER, broken_rules
from verify.managers.configuration import Configuration
from verify.managers.lockstep import ManagerReplayed, replay
from verify.managers.show import ManagerReport, PoolLine, TableLine
from verify.managers.target import ManagerFactory, ManagerSnapshot, Table
from verify.managers.walks import ManagerFailure
from verify.managers.witness import ManagerWitness
from verify.refinement import describe
from verify.target import Raised
from verify.witness import calls
from verify.witness_files import keep


def describe_failure(
    failure: ManagerFailure,
    configuration: Configuration,
    factory: ManagerFactory,
    folder: Path | None = WITNESS_FOLDER,
) -> ManagerReport:
    """The report of a failure; the witness is written below `folder`, nowhere when that is None.

    A folder that cannot be written costs the witness, never the report.
    """
    traits = configuration.traits
    run = replay(failure.operations, traits, factory)
    rules = tuple(dict.fromkeys(difference.rule for difference in failure.differences))
    title = f"{', '.join(rules)} broken after {len(failure.operations)} operations"
    if not run.differences:
        title += " (not every time: the same operations passed when they were replayed)"
    path, why = keep(folder, ManagerWitness(configuration, failure.operations, rules))
    return ManagerReport(
        title + why,
        configuration_text(configuration),
        tuple(calls(failure.operations)),
        answers(failure, configuration),
        table_lines(run),
        pool_lines(run),
        tuple(broken_rules(failure.differences)),
        str(path) if path else None,
    )


def configuration_text(configuration: Configuration) -> str:
    """The configuration in one line."""
    traits = configuration.traits
    groups = ", ".join(
        group.kind
        + (f" {group.size}" if group.size else "")
        + (f" with {group.sinks} sinks" if group.sinks else "")
        + (f" keeping {group.keeps} more" if group.keeps else "")
        for group in traits.groups
    )
    how = [
        f"{traits.pages} pages of {traits.page_size} rows",
        f"groups: {groups}",
        f"prefix sharing, {traits.leaves} computed at least" if traits.prefix else "no prefix sharing",
        "writes at Commit" if traits.commits else "writes at once",
        f"tails {traits.tail}",
        f"trims {traits.trims}" + (", recycling" if traits.recycles else ""),
        f"by {traits.granule}",
        f"forks {traits.forks}",
    ]
    return f"{configuration.name}: {'; '.join(how)}" if configuration.name else "; ".join(how)


def answers(failure: ManagerFailure, configuration: Configuration) -> tuple[str, ...]:
    """The oracle's answer to each operation."""
    state, said = initial(configuration.traits), []
    for operation in failure.operations:
        state, outcome = step(state, operation)
        said.append(describe(outcome))
    return tuple(said)


def table_lines(run: ManagerReplayed) -> tuple[TableLine, ...]:
    """The tables of every request that is live before or after the last operation."""
    shown = run.shown.requests if isinstance(run.shown, ManagerSnapshot) else {}
    lines = []
    for request in sorted({*run.before.requests, *run.after.requests, *shown}):
        tables = shown[request].tables if request in shown else ()
        for group in range(len(run.before.traits.groups)):
            lines.append(
                TableLine(
                    request,
                    group,
                    cells_text(run.before, request, group, run.mapped),
                    cells_text(run.after, request, group, run.mapped),
                    pages_text(tables[group]) if group < len(tables) else "-",
                )
            )
    return tuple(lines)


def cells_text(state: State, request: int, group: int, mapped: Mapping[int, int]) -> str:
    """The oracle's table in the manager's pages: a dot for a released one, new for one that the last operation took."""
    found = state.requests.get(request)
    if found is None:
        return "-"
    return " ".join("." if c is None else str(mapped.get(c, "new")) for c in found.tables[group]) or "(none)"


def pages_text(table: Table) -> str:
    """The manager's table."""
    return " ".join("." if page is None else str(page) for page in table) or "(none)"


def pool_lines(run: ManagerReplayed) -> tuple[PoolLine, ...]:
    """Lengths, available pages, the idle ones in the order of reuse, and the published ones."""
    before, after, shown = run.before, run.after, run.shown
    if isinstance(shown, Raised):
        return ()
    free = "not shown" if shown.free is None else numbers(shown.free)
    published = "not shown" if shown.published is None else numbers(sorted(page for page, _, _ in shown.published))
    lengths = {request: view.length for request, view in shown.requests.items()}
    return (
        PoolLine("length by request", lengths_text(before), lengths_text(after), str(lengths)),
        PoolLine("available pages", str(available(before)), str(available(after)), str(shown.available)),
        PoolLine(
            "idle pages, reused last", idle_text(before, run.mapped), idle_text(after, run.mapped), f"free: {free}"
        ),
        PoolLine("published pages", published_text(before, run.mapped), published_text(after, run.mapped), published),
    )


def lengths_text(state: State) -> str:
    """The length of each request."""
    return str({request: len(found.tokens) for request, found in state.requests.items()})


def idle_text(state: State, mapped: Mapping[int, int]) -> str:
    """The pages of the idle cells, in the order of reuse."""
    return numbers([mapped.get(cell, "new") for cell in state.idle])


def published_text(state: State, mapped: Mapping[int, int]) -> str:
    """The pages of the published cells."""
    return numbers(sorted((mapped.get(cell, "new") for cell in state.index.keys), key=str))


def numbers(pages: Sequence[object]) -> str:
    """Pages in one line."""
    return " ".join(map(str, pages)) or "(none)"
