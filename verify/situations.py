"""Situations that a search must have reached: the "sometimes" beside each "always", so that an empty search fails."""

from spec.operations import Append, Fork, Operation, Outcome, Reason, Refused, Release, Trim, Truncate
from spec.page_table import State
from verify.target import Capabilities

SHARED_PAGE_WRITTEN = "shared page written"
FULL_POOL = "full pool"
REFUSED_ROWS = "refused k-row append"
TRIM_TO_EMPTY = "trim to empty"
FORK_OF_TRIMMED = "fork of trimmed"
TRUNCATE_INTO_SHARED = "truncate into shared"
ID_USED_AGAIN = "id used again"
TRIM_AROUND_SINKS = "trim around sinks"

SITUATIONS = (
    SHARED_PAGE_WRITTEN,
    FULL_POOL,
    REFUSED_ROWS,
    TRIM_TO_EMPTY,
    FORK_OF_TRIMMED,
    TRUNCATE_INTO_SHARED,
    ID_USED_AGAIN,
    TRIM_AROUND_SINKS,
)


NEEDS: dict[str, set[type[Operation]]] = {
    SHARED_PAGE_WRITTEN: {Fork},
    TRIM_TO_EMPTY: {Trim},
    FORK_OF_TRIMMED: {Fork, Trim},
    TRUNCATE_INTO_SHARED: {Fork, Truncate},
    ID_USED_AGAIN: {Release},
    TRIM_AROUND_SINKS: {Trim},
}
"""The operations without which a situation cannot come about; those of an append are always offered."""


def possible(offered: Capabilities) -> tuple[str, ...]:
    """The situations that a target with these capabilities can come into."""
    able = [name for name in SITUATIONS if NEEDS.get(name, set()) <= offered.operations]
    return tuple(name for name in able if offered.sinks or name != TRIM_AROUND_SINKS)


def reached(before: State, operation: Operation, outcome: Outcome, after: State) -> list[str]:
    """The situations that this operation met, judged on the oracle's states; ID_USED_AGAIN needs a history and is not here."""
    if isinstance(outcome, Refused):
        rows = isinstance(operation, Append) and len(operation.tokens) > 1
        return [REFUSED_ROWS] if rows and outcome.reason is Reason.OUT_OF_PAGES else []
    found = [FULL_POOL] if after.used == after.pages and before.used < before.pages else []
    match operation:
        case Append(request, _):
            old = before.requests[request]
            if len(old.rows) % before.page_size and old.cells[-1] in before.shared:
                found.append(SHARED_PAGE_WRITTEN)
        case Trim(request, _):
            new = after.requests[request]
            if new.dropped > before.requests[request].dropped:
                found += [TRIM_TO_EMPTY] if not new.cells else []
                found += [TRIM_AROUND_SINKS] if new.sinks else []
        case Fork(request, _, _):
            found += [FORK_OF_TRIMMED] if before.requests[request].dropped else []
        case Truncate(request, length):
            cells = after.requests[request].cells
            if length % before.page_size and cells and cells[-1] in after.shared:
                found.append(TRUNCATE_INTO_SHARED)
    return found
