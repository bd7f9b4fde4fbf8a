"""Every operation that the exhaustive searches offer in a state, illegal arguments included.

For a request of n rows (0 when unknown): Append of 0..2P+1 rows within the length limit, Fork, Trim and Truncate at every
position from -1 to n+1, Release, and New with every number of sinks; a fork's destination is every live id, itself
included, and an unknown one where the scope has room.
"""

from collections.abc import Iterator
from functools import lru_cache

from spec.operations import Append, Fork, New, Operation, Release, Trim, Truncate
from spec.page_table import State
from verify.bounds import Scope


def alphabet(state: State, scope: Scope, depth: int) -> Iterator[Operation]:
    """The operations offered in the state; appended tokens are new on every path of this depth."""
    ids = ids_in_play(state, scope)
    first = 1 + depth * scope.most_rows
    for request in ids:
        found = state.requests.get(request)
        yield from own_operations(request, len(found.rows) if found else 0, scope, first)
        yield from fork_operations(request, len(found.rows) if found else 0, ids, scope.requests)


def ids_in_play(state: State, scope: Scope) -> tuple[int, ...]:
    """Live ids and unknown ones: with renaming the smallest unused id stands for all, raw ids are all tried.

    The id `scope.requests` is never brought to life, so that an unknown id exists when all others live.
    """
    unused = [request for request in range(scope.requests + 1) if request not in state.requests]
    return (*sorted(state.requests), *(unused if scope.raw_ids else unused[:1]))


@lru_cache(maxsize=4096)
def own_operations(request: int, length: int, scope: Scope, first: int) -> tuple[Operation, ...]:
    """The operations on one request, forks apart; appended rows take the tokens from `first` on."""
    operations: list[Operation] = []
    if request < scope.requests:
        operations += [New(request, sinks) for sinks in range(scope.most_sinks + 1)]
    for k in range(scope.most_rows + 1):
        if length + k <= scope.length:
            operations.append(Append(request, tuple(range(first, first + k))))
    for position in range(-1, length + 2):
        operations.append(Trim(request, position))
        operations.append(Truncate(request, position))
    operations.append(Release(request))
    return tuple(operations)


@lru_cache(maxsize=4096)
def fork_operations(request: int, length: int, ids: tuple[int, ...], requests: int) -> tuple[Operation, ...]:
    """The forks of one request to every id in play that may live."""
    return tuple(Fork(request, to, at) for to in ids if to < requests for at in range(-1, length + 2))
