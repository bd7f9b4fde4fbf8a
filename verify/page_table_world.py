"""The page table's world: its oracle, alphabet, check, keys and reads, as the exhaustive search takes them."""

from collections.abc import Callable, Hashable
from functools import lru_cache

from spec.operations import Operation, Read
from spec.outcomes import OUT_OF_PAGES
from spec.page_table import State, initial, step
from verify.alphabet import alphabet
from verify.bounds import Scope
from verify.canonical import canonical_key, raw_key
from verify.refinement import (
    Difference,
    Seen,
    check_operation,
    check_state,
    outcome_differences,
    unseen,
)
from verify.situations import reached
from verify.target import Raised, Snapshot, Target, attempt, look, offers
from verify.world import World


def observe(state: State, target: Target) -> Seen[Snapshot] | tuple[Difference, ...]:
    """What the target shows in this state, or what already differs."""
    snapshot = look(target)
    if isinstance(snapshot, Raised):
        return (unseen(snapshot),)
    differences: list[Difference] = []
    mapped = check_state(state, snapshot, differences)
    return tuple(differences) if differences else Seen(mapped, snapshot, target.image())


def key(scope: Scope) -> Callable[[State, Snapshot, Target], Hashable]:
    """The key of this scope: ids as they stand, or up to renaming."""
    found = raw_key if scope.raw_ids else canonical_key
    return lambda state, snapshot, target: found(state, snapshot, target.written())


def reads(state: State, target: Target) -> list[Operation]:
    """Every range of rows of every request, and of an unknown one, where the target offers reads."""
    if Read not in target.capabilities.operations:
        return []
    asked: list[Operation] = []
    for request, truth in state.requests.items():
        asked += ranges(request, len(truth.rows))
    asked += ranges(max(state.requests, default=-1) + 1, 0)
    return asked


@lru_cache(maxsize=4096)
def ranges(request: int, length: int) -> tuple[Read, ...]:
    """Every range from a row before the first to a row behind the last, empty and turned round ones included."""
    end = length + 1
    return tuple(Read(request, lo, hi) for lo in range(-1, end + 1) for hi in range(lo - 1, end + 1))


def check_read(state: State, read: Operation, target: Target) -> tuple[tuple[Difference, ...], bool]:
    """What a read returns otherwise than it should, and whether the target's process is lost."""
    expected = step(state, read)[1]
    answer = attempt(target, read)
    if answer is expected or answer == expected:
        return (), False
    return tuple(outcome_differences(expected, answer)), isinstance(answer, Raised) and answer.lost


PAGE_TABLES: World[Scope, State, Operation, Target, Snapshot] = World(
    initial=lambda scope: initial(scope.pages, scope.page_size),
    make=lambda factory, scope: factory(scope.pages, scope.page_size),
    step=step,
    alphabet=alphabet,
    everything=lambda target: target.capabilities.everything,
    offers=offers,
    not_offered=lambda target: target.capabilities.not_offered(),
    observe=observe,
    check=check_operation,
    key=key,
    reached=reached,
    noted=OUT_OF_PAGES,
    reads=reads,
    check_read=check_read,
)
