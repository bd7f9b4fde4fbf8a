"""The manager protocol: what a search may ask of a manager, and what it sees of it.

An adapter reports what the manager really does: it never repairs, guesses or hides, and it asks the oracle nothing.
`answered`, `Raised` and `FarError` of verify/target.py say what becomes of an exception.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, get_args

from spec.manager import Traits
from spec.operations import Commit, Fork, ManagerOperation, Outcome
from verify.target import Raised, said_instead

ALL_OPERATIONS: frozenset[type[ManagerOperation]] = frozenset(get_args(ManagerOperation))
COUNTS, FREE, PUBLISHED = "counts", "free", "published"
"""What a manager may be unable to show, in the words of the wire."""

Table = tuple[int | None, ...]
"""The physical page of each logical page, None for a released one."""

Rows = tuple[int | None, ...]
"""The value of each logical row 0..n-1, None where it cannot be read: released, gone, never written."""


# Named tuples, here and below, as the snapshots of page tables are.
class ManagerView(NamedTuple):
    """One live request, seen from outside: its length in rows as the manager counts them, a table and the rows a group."""

    length: int
    tables: tuple[Table, ...]
    rows: tuple[Rows, ...]


class ManagerSnapshot(NamedTuple):
    """The whole visible state.

    `counts` are by physical page, `free` are the available pages in the order in which they will be handed out, `published`
    are (page, group, value of the page's last row), a page once; each None when the manager cannot show it. `available` is
    the number of pages that nobody holds.
    """

    requests: Mapping[int, ManagerView]
    counts: tuple[int, ...] | None
    free: tuple[int, ...] | None
    available: int
    published: tuple[tuple[int, int, int], ...] | None


@dataclass(frozen=True, slots=True)
class Offer:
    """What a manager offers; a search asks for nothing else and says what it left out.

    Where forks are possible is one of the traits. `not_observed` names what its snapshots leave out.
    """

    name: str
    operations: frozenset[type[ManagerOperation]] = ALL_OPERATIONS
    not_observed: tuple[str, ...] = ()

    def not_offered(self) -> tuple[str, ...]:
        """What the manager does not offer, in the vocabulary's order."""
        return tuple(kind.__name__ for kind in get_args(ManagerOperation) if kind not in self.operations)


class ManagerTarget(Protocol):
    """A manager under check.

    `apply` returns Accepted, with `served` after an Admit, or Refused; any exception out of it, or out of `observe`, breaks
    PT-TOTAL. Equal `image`s promise equal snapshots: it is a cheap, complete picture of the state, compared and never
    hashed. `foresee` tells a manager that is far away what it will be asked next, so that all of it can travel at once:
    each operation of a copy of its own (`apart`), or one after the other of this one. It changes nothing.
    """

    @property
    def offer(self) -> Offer: ...

    @property
    def traits(self) -> Traits: ...

    def apply(self, operation: ManagerOperation) -> Outcome: ...

    def observe(self) -> ManagerSnapshot: ...

    def image(self) -> object: ...

    def clone(self) -> Self: ...

    def foresee(self, operations: Sequence[ManagerOperation], apart: bool) -> None: ...


ManagerFactory = Callable[[Traits], ManagerTarget]
"""Makes a fresh manager with these traits."""


def attempt(target: ManagerTarget, operation: ManagerOperation) -> Outcome | Raised:
    """What the manager answers, an exception included."""
    try:  # not `answered`, as for a page table
        return target.apply(operation)
    except Exception as error:
        return said_instead(error)


def look(target: ManagerTarget) -> ManagerSnapshot | Raised:
    """What the manager shows, an exception included."""
    try:
        return target.observe()
    except Exception as error:
        return said_instead(error)


def offers(offer: Offer, traits: Traits, operation: ManagerOperation) -> bool:
    """Whether a manager of these traits, with this offer, can be asked for the operation."""
    if type(operation) not in offer.operations:
        return False
    match operation:
        case Commit():
            return traits.commits
        case Fork(at=at) if traits.forks == "sinks":
            return all(at <= group.sinks for group in traits.groups if group.kind == "window")
    return True
