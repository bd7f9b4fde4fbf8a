"""A failure made ready to be read and kept: shrunk, replayed, described and saved as a witness."""

import time
from collections.abc import Sequence
from pathlib import Path

import impl.rules
import spec.rules
from spec.operations import Operation
from spec.page_table import Request, State, released
from verify.explore import Exploration, Failure
from verify.lockstep import Replayed, replay
from verify.refinement import Difference
from verify.remote.spelling import SHIPPED, Spelling
from verify.show import BrokenRule, FailureReport, RowsLine
from verify.shrink import shrink
from verify.target import Factory, RequestView, Snapshot
from verify.view.where_to_read import where_to_read
from verify.witness import Witness, calls
from verify.witness_files import keep

SENTENCES = spec.rules.RULES | impl.rules.RULES
WITNESS_FOLDER = Path("reports") / "witnesses"
MOST_SHRINK_SECONDS = 60.0


def shrunk(operations: Sequence[Operation], pages: int, page_size: int, factory: Factory) -> tuple[Operation, ...]:
    """A smaller list of operations that breaks one of the rules that this one breaks.

    How far it is made smaller, not whether it breaks, may depend on time: each try on a target that hangs takes some.
    """
    rules = {difference.rule for difference in replay(operations, pages, page_size, factory).differences}
    deadline = time.monotonic() + MOST_SHRINK_SECONDS

    def breaks(candidate: Sequence[Operation]) -> bool:
        if time.monotonic() > deadline:
            return False
        return any(d.rule in rules for d in replay(candidate, pages, page_size, factory).differences)

    return shrink(operations, breaks) if rules else tuple(operations)


def shortest(found: Exploration, factory: Factory) -> Failure:
    """The shortest failure of a search, in operations.

    One that a single transition does not show comes with the tries before it; it is cut down to those that it needs.
    """
    failure = min(found.failures, key=lambda failure: len(failure.operations))
    if len(failure.operations) <= found.depth:
        return failure
    scope = found.scope
    operations = shrunk(failure.operations, scope.pages, scope.page_size, factory)
    return Failure(
        operations, replay(operations, scope.pages, scope.page_size, factory).differences or failure.differences
    )


def describe_failure(
    operations: Sequence[Operation],
    differences: Sequence[Difference],
    pages: int,
    page_size: int,
    factory: Factory,
    folder: Path | None = WITNESS_FOLDER,
    spelling: Spelling = SHIPPED,
) -> FailureReport:
    """The report of a failure; the witness is written below `folder`, nowhere when that is None.

    A folder that cannot be written costs the witness, never the report.
    """
    again = replay(operations, pages, page_size, factory)
    rules = tuple(dict.fromkeys(difference.rule for difference in differences))
    broken = broken_rules(differences)
    title = f"{', '.join(rules)} broken after {len(operations)} operations on {pages} pages of {page_size} rows"
    if not again.differences:
        title += " (not every time: the same operations passed when they were replayed)"
    path, why = keep(folder, Witness(pages, page_size, tuple(operations), rules))
    return FailureReport(
        title + why,
        tuple(calls(operations)),
        rows_lines(again),
        tuple(broken),
        str(path) if path else None,
        spelling.options,
        spelling.paste(operations, pages, page_size),
    )


def broken_rules(differences: Sequence[Difference]) -> list[BrokenRule]:
    """The differences with the sentences of their rules, and where to read more."""
    return [BrokenRule(d.rule, SENTENCES[d.rule], d.oracle, d.target, str(where_to_read(d.rule))) for d in differences]


def rows_lines(run: Replayed) -> tuple[RowsLine, ...]:
    """The logical rows of every request that is live before or after the last operation."""
    ids = sorted({*run.before.requests, *run.after.requests})
    shown = run.shown.requests if isinstance(run.shown, Snapshot) else {}
    return tuple(
        RowsLine(
            request,
            rows_text(run.before, run.before.requests.get(request)),
            rows_text(run.after, run.after.requests.get(request)),
            shown_text(shown[request]) if request in shown else "-",
        )
        for request in ids
    )


def shown_text(view: RequestView) -> str:
    """The readable rows that the target shows, a question mark for one that is no token's."""
    return " ".join("?" if row is None else str(row) for row in view.rows) or "(none)"


def rows_text(state: State, request: Request | None) -> str:
    """The rows of a request, a dot for each released one."""
    if request is None:
        return "-"
    first, stop = released(request, state.page_size)
    hole = range(first * state.page_size, stop * state.page_size)
    return " ".join("." if index in hole else str(token) for index, token in enumerate(request.rows)) or "(none)"
