"""The one vocabulary of operations and outcomes that the oracle, every target and every search speak.

Requests and tokens are integers. A token stands for one row: a target derives that row's key and value from it, in every
layer, so that two rows are equal exactly when their tokens are. To a manager a token is one byte, 0 .. 255, and its row
stands for every token up to it (docs/reference.md section 7).
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class New:
    """Start an empty request that keeps its first `sinks` rows whatever is trimmed; it costs no page."""

    request: int
    sinks: int = 0


@dataclass(frozen=True, slots=True)
class Append:
    """Append one row a token, all or none."""

    request: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fork:
    """Start request `to` with the first `at` rows of `request`, sharing every page that it keeps."""

    request: int
    to: int
    at: int


@dataclass(frozen=True, slots=True)
class Trim:
    """Release the pages that lie wholly below row `keep_from`, sinks excepted."""

    request: int
    keep_from: int


@dataclass(frozen=True, slots=True)
class Truncate:
    """Cut the request back to its first `length` rows."""

    request: int
    length: int


@dataclass(frozen=True, slots=True)
class Release:
    """End the request."""

    request: int


@dataclass(frozen=True, slots=True)
class Read:
    """Read rows lo .. hi-1 of the request."""

    request: int
    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class Admit:
    """Start a request with these tokens, serving it what it can of their prefix from published pages."""

    request: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """Write the rows of the request that were only reserved, and publish its full pages."""

    request: int


Operation = New | Append | Fork | Trim | Truncate | Release | Read  # of a page table
ManagerOperation = Admit | Append | Commit | Fork | Truncate | Release


class Reason(StrEnum):
    """Why an operation is refused, in the order in which the reasons are looked for."""

    UNKNOWN_REQUEST = "UnknownRequest"
    DUPLICATE_REQUEST = "DuplicateRequest"
    BAD_ARGUMENT = "BadArgument"
    ROWS_RELEASED = "RowsReleased"
    OUT_OF_PAGES = "OutOfPages"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The operation took effect; `rows` are the tokens that a Read returned, None for every other operation.

    In a target's answer a row whose bytes are not those of one token in every layer, K and V, is None. `served` is the
    number of rows that an Admit took from published pages, None for every other operation.
    """

    rows: tuple[int | None, ...] | None = None
    served: int | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The operation was refused and nothing has changed."""

    reason: Reason


Outcome = Accepted | Refused
