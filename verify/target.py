"""The target protocol: what a search may ask of an implementation, and what it sees of it.

A target is driven by the operations of spec/operations.py and observed from outside. An adapter reports what the
implementation really does: it never repairs, guesses or hides, and it asks the oracle nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, ParamSpec, Protocol, Self, TypeVar, get_args

from spec.operations import Fork, New, Operation, Outcome
from spec.page_table import State

P = ParamSpec("P")
T = TypeVar("T")

ALL_OPERATIONS: frozenset[type[Operation]] = frozenset(get_args(Operation))
COUNTS, FREE = "counts", "the free list"


# Named tuples, here and below: a search makes one a request and transition, and a frozen dataclass costs three times as much.
class RequestView(NamedTuple):
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


class Snapshot(NamedTuple):
    """The whole visible state: live requests, one reference count a physical page, free pages in the target's order.

    None stands for counts or a free list that the target cannot show.
    """

    requests: Mapping[int, RequestView]
    counts: tuple[int, ...] | None
    free: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a target offers; a search asks for nothing else and says what it left out.

    Without `sinks` requests start with none, and without `forks_anywhere` a fork takes all rows of its source.
    `not_observed` names what its snapshots leave out.
    """

    name: str
    operations: frozenset[type[Operation]] = ALL_OPERATIONS
    moves_pages: bool = False
    sinks: bool = True
    forks_anywhere: bool = True
    not_observed: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether every operation is offered with any argument."""
        return self.operations == ALL_OPERATIONS and self.sinks and self.forks_anywhere

    def not_offered(self) -> tuple[str, ...]:
        """What the target does not offer, in the vocabulary's order."""
        missing = [kind.__name__ for kind in get_args(Operation) if kind not in self.operations]
        missing += [] if self.sinks or New not in self.operations else ["New with sinks"]
        missing += [] if self.forks_anywhere or Fork not in self.operations else ["Fork before the last row"]
        return tuple(missing)


class Target(Protocol):
    """An implementation under check.

    `apply` returns Accepted or Refused; any exception out of it, or out of `observe`, breaks PT-TOTAL. Equal `image`s
    promise equal snapshots: it is a cheap, complete picture of the state, compared and never hashed. `written` has, for
    each physical page, flags that tell which of its slots were ever written; a target that cannot tell returns None.
    `foresee` tells a target that is far away what it will be asked next, so that all of it can travel at once: each
    operation of a copy of its own (`apart`), or one after the other of this target. It changes nothing.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    def apply(self, operation: Operation) -> Outcome: ...

    def observe(self) -> Snapshot: ...

    def image(self) -> object: ...

    def written(self) -> tuple[bytes, ...] | None: ...

    def clone(self) -> Self: ...

    def foresee(self, operations: Sequence[Operation], apart: bool) -> None: ...


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
    """The target raised instead of answering: the exception's name and text, a text alone when it was no exception.

    `lost` says that its process is gone with it: asking it more of the kind costs a new process each time.
    """

    kind: str
    message: str
    lost: bool = False

    @property
    def text(self) -> str:
        """Both in one line."""
        return f"{self.kind}: {self.message}" if self.kind else self.message


class FarError(Exception):
    """A target in another process did not answer as it should; `raised` says what it did instead."""

    def __init__(self, raised: Raised) -> None:
        super().__init__(raised.text)
        self.raised = raised


def answered(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | Raised:
    """What the call returns, an exception included; a MemoryError passes, since it is the process's and not the answer's."""
    try:
        return call(*args, **kwargs)
    except Exception as error:
        return said_instead(error)


def attempt(target: Target, operation: Operation) -> Outcome | Raised:
    """What the target answers, an exception included."""
    try:  # not `answered`, whose passing on of arguments would cost a search as much as the answer
        return target.apply(operation)
    except Exception as error:
        return said_instead(error)


def look(target: Target) -> Snapshot | Raised:
    """What the target shows, an exception included."""
    try:
        return target.observe()
    except Exception as error:
        return said_instead(error)


def said_instead(error: Exception) -> Raised:
    """The exception as an answer; a MemoryError is raised again."""
    if isinstance(error, MemoryError):
        raise error
    return error.raised if isinstance(error, FarError) else Raised(type(error).__name__, str(error))


def offers(target: Target, operation: Operation, state: State) -> bool:
    """Whether the target can be asked for this operation when the oracle stands in `state`."""
    offered = target.capabilities
    if offered.everything:
        return True
    if type(operation) not in offered.operations:
        return False
    match operation:
        case New(_, sinks):
            return offered.sinks or sinks == 0
        case Fork(request, _, at):
            source = state.requests.get(request)
            return offered.forks_anywhere or at == (len(source.rows) if source else 0)
    return True
