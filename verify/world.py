"""What an exhaustive search needs to know of the world that it searches: the oracle, its alphabet, its check and its keys.

The page table's is verify/page_table_world.py, the managers' verify/managers/world.py.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from spec.operations import Outcome
from verify.refinement import Checked, Difference, Seen

Sc = TypeVar("Sc")
"""A scope: the bounds of the search."""
St = TypeVar("St")
"""A state of the oracle."""
Op = TypeVar("Op")
"""An operation."""
OpIn = TypeVar("OpIn", contravariant=True)
V = TypeVar("V")
"""What a target shows."""


class Copied(Protocol[OpIn]):
    """What a search itself asks of a target: copies, a picture of its state, and notice of what comes."""

    def clone(self) -> Self: ...

    def image(self) -> object: ...

    def foresee(self, operations: Sequence[OpIn], apart: bool) -> None: ...


Ta = TypeVar("Ta", bound=Copied)  # type: ignore[type-arg]  # a bound cannot name another variable
"""A target."""


@dataclass(frozen=True, slots=True)
class World(Generic[Sc, St, Op, Ta, V]):
    """One oracle with all that a search over it needs.

    `offers` is asked only where `everything` does not hold. `check` applies an operation and holds it against the oracle's
    states before and after it; `observe` shows a target in the oracle's state, or says what already differs. A state is
    expanded once per `key`. `reached` are the situations of an operation that changed the oracle's state or ended in `noted`.
    `reads` are asked once in each distinct state and leave the target as it is; `check_read` holds one against the oracle.
    """

    initial: Callable[[Sc], St]
    make: Callable[[Callable[..., Ta], Sc], Ta]
    step: Callable[[St, Op], tuple[St, Outcome]]
    alphabet: Callable[[St, Sc, int], Iterable[Op]]
    everything: Callable[[Ta], bool]
    offers: Callable[[Ta, Op, St], bool]
    not_offered: Callable[[Ta], tuple[str, ...]]
    observe: Callable[[St, Ta], Seen[V] | tuple[Difference, ...]]
    check: Callable[[St, St, Outcome, Op, Ta, Seen[V]], Checked[V]]
    key: Callable[[Sc], Callable[[St, V, Ta], Hashable]]
    reached: Callable[[St, Op, Outcome, St], Iterable[str]]
    noted: Outcome
    reads: Callable[[St, Ta], Sequence[Op]]
    check_read: Callable[[St, Op, Ta], tuple[tuple[Difference, ...], bool]]
