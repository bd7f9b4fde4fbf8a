"""The target protocol: what a search may ask of an implementation, and what it sees of it.

A target is driven by the operations of spec/operations.py and observed from outside. An adapter reports what the
implementation really does: it never repairs, guesses or hides, and it asks the oracle nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self, get_args

from spec.operations import Operation, Outcome, Read

ALL_OPERATIONS: frozenset[type[Operation]] = frozenset(get_args(Operation))


@dataclass(frozen=True, slots=True)
class RequestView:
    """One live request, seen from outside.

    `released` are its released logical pages as (first, stop), (0, 0) when there are none. `pages` are the physical pages
    that it holds, in logical order. `rows` are the tokens of all readable rows, ascending; None stands for a row whose
    bytes are not those of one token in every layer, K and V. `kept` are its first logical pages, those of its sinks, that no
    trim releases; None when the target cannot tell.
    """

    length: int
    released: tuple[int, int]
    pages: tuple[int, ...]
    rows: tuple[int | None, ...]
    kept: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole visible state: live requests, one reference count a physical page, free pages in the target's order."""

    requests: Mapping[int, RequestView]
    counts: tuple[int, ...]
    free: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a target offers; a search asks for nothing else and says what it left out."""

    name: str
    operations: frozenset[type[Operation]] = ALL_OPERATIONS
    moves_pages: bool = False

    def not_offered(self) -> tuple[str, ...]:
        """Names of the operations that the target does not offer, in the vocabulary's order; reads are always offered."""
        return tuple(kind.__name__ for kind in get_args(Operation) if kind not in {*self.operations, Read})


class Target(Protocol):
    """An implementation under check.

    `apply` returns Accepted or Refused; any exception out of it, or out of `observe`, breaks PT-TOTAL. Equal `image`s
    promise equal snapshots: it is a cheap, complete picture of the state, compared and never hashed. `written` has, for
    each physical page, flags that tell which of its slots were ever written; a target that cannot tell returns None.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    def apply(self, operation: Operation) -> Outcome: ...

    def observe(self) -> Snapshot: ...

    def image(self) -> object: ...

    def written(self) -> tuple[bytes, ...] | None: ...

    def clone(self) -> Self: ...


@dataclass(frozen=True, slots=True)
class PlantedRequest:
    """One request of a state to plant: the token of every row, released ones included, its sinks, the number of released
    pages behind them, and the physical pages that it holds, in logical order."""

    tokens: tuple[int, ...]
    sinks: int
    dropped: int
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """A state to plant in a target, reachable or not: requests by id, and the free pages, the next one last.

    Every slot that no row owns holds some other token's row, so that a slot read or copied by mistake shows.
    """

    requests: tuple[tuple[int, PlantedRequest], ...]
    free: tuple[int, ...]


Planter = Callable[[int, int, Layout], Target]
"""Makes a target of (pages, page_size) that stands in the layout's state."""

Factory = Callable[[int, int], Target]
"""Makes a fresh target of (pages, page_size)."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The target raised instead of answering: the exception's name and text."""

    kind: str
    message: str


def attempt(target: Target, operation: Operation) -> Outcome | Raised:
    """What the target answers, an exception included; a MemoryError passes, since it is the process's and not the answer's."""
    try:
        return target.apply(operation)
    except MemoryError:
        raise
    except Exception as error:
        return Raised(type(error).__name__, str(error))


def look(target: Target) -> Snapshot | Raised:
    """What the target shows, an exception included."""
    try:
        return target.observe()
    except MemoryError:
        raise
    except Exception as error:
        return Raised(type(error).__name__, str(error))


def offers(target: Target, operation: Operation) -> bool:
    """Whether the target can be asked for this operation; reads are always offered."""
    return isinstance(operation, Read) or type(operation) in target.capabilities.operations
