"""The managers' world: their oracle, alphabet, check and keys, as the exhaustive search of verify/explore.py takes them."""

from collections.abc import Callable, Hashable

from spec.manager import State, initial, step
from spec.operations import ManagerOperation
from spec.outcomes import OUT_OF_PAGES
from verify.explore import Progress, WorldSearch
from verify.managers.alphabet import alphabet
from verify.managers.bounds import ManagerScope
from verify.managers.canonical import canonical_key
from verify.managers.lockstep import begin
from verify.managers.refinement import ManagerSeen, check_operation
from verify.managers.situations import reached
from verify.managers.target import ManagerFactory, ManagerSnapshot, ManagerTarget, offers
from verify.refinement import Difference, Seen
from verify.world import World


def observe(state: State, target: ManagerTarget) -> ManagerSeen | tuple[Difference, ...]:
    """What the manager shows in this state, with its image, or what already differs."""
    seen = begin(state, target)
    return seen if isinstance(seen, tuple) else Seen(seen.mapped, seen.snapshot, target.image())


def key(_scope: ManagerScope) -> Callable[[State, ManagerSnapshot, ManagerTarget], Hashable]:
    """The key of a state up to renaming."""
    return lambda state, _snapshot, _target: canonical_key(state)


MANAGERS: World[ManagerScope, State, ManagerOperation, ManagerTarget, ManagerSnapshot] = World(
    initial=lambda scope: initial(scope.traits),
    make=lambda factory, scope: factory(scope.traits),
    step=step,
    alphabet=alphabet,
    everything=lambda _: False,
    offers=lambda target, operation, _: offers(target.offer, target.traits, operation),
    not_offered=lambda target: target.offer.not_offered(),
    observe=observe,
    check=check_operation,
    key=key,
    reached=reached,
    noted=OUT_OF_PAGES,
    reads=lambda _state, _target: [],
    check_read=lambda _state, _read, _target: ((), False),
)


class ManagerSearch(WorldSearch[ManagerScope, State, ManagerOperation, ManagerTarget, ManagerSnapshot]):
    """One exhaustive search over a manager."""

    def __init__(
        self,
        scope: ManagerScope,
        factory: ManagerFactory,
        workers: int = 1,
        budget: int | None = None,
        progress: Progress[ManagerScope, ManagerOperation] | None = None,
    ) -> None:
        super().__init__(MANAGERS, scope, factory, workers, budget, progress)
