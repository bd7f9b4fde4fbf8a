"""What is right after an operation, as plain data: for scripts that repeat a failure in a manager's own calls."""

from collections.abc import Mapping
from dataclasses import dataclass

from spec.manager import Request, State, Traits, available
from spec.manager_tables import read_next
from spec.operations import Accepted, Outcome, Refused
from verify.managers.values import values


@dataclass(frozen=True, slots=True)
class Facts:
    """What the oracle says of the state after the last operation.

    `outcome` is "accepted" or the reason of the refusal, `served` the tokens that an admission found published. By request:
    `length` in rows, `held` a group whether each logical page is held, `rows` a group the (row, value) that the next step
    reads. `published` is the number of published pages, None without a prefix index.
    """

    outcome: str
    served: int | None
    available: int
    length: Mapping[int, int]
    held: Mapping[int, tuple[tuple[bool, ...], ...]]
    rows: Mapping[int, tuple[tuple[tuple[int, int], ...], ...]]
    published: int | None


def facts_of(before: State, after: State, outcome: Outcome) -> Facts:
    """The facts of the oracle's state after an operation that was answered so; `before` is the state that it found."""
    traits = before.traits
    return Facts(
        outcome=outcome.reason.value if isinstance(outcome, Refused) else "accepted",
        served=outcome.served if isinstance(outcome, Accepted) else None,
        available=available(after),
        length={name: len(request.tokens) for name, request in after.requests.items()},
        held={
            name: tuple(tuple(cell is not None for cell in table) for table in request.tables)
            for name, request in after.requests.items()
        },
        rows={name: rows_to_read(traits, request) for name, request in after.requests.items()},
        published=len(after.index.keys) if traits.prefix else None,
    )


def rows_to_read(traits: Traits, request: Request) -> tuple[tuple[tuple[int, int], ...], ...]:
    """A group the (row, value) of each row that the next step reads."""
    told = values(request.tokens)
    found = []
    for group, low in zip(traits.groups, request.low, strict=True):
        ranges = read_next(group, traits.page_size, traits.granule == "row", low, request.written)
        found.append(tuple((row, told[row]) for lo, hi in ranges for row in range(lo, hi)))
    return tuple(found)
