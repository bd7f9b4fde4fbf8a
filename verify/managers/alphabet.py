"""Every operation that the exhaustive searches offer a manager in a state, illegal arguments included.

The tokens of every request are the beginning of one of the scope's texts, which together are a tree: prompts agree up to where
their texts part. For a request of n rows (0 when unknown): Admit of 0..L rows of each text, Append of 0..2P+1 rows along each
text that goes on from there, Commit, Fork and Truncate at every position from -1 to n+1, and Release. A fork's destination is
every live id, itself included, and an unknown one where the scope has room.
"""

from collections.abc import Iterator
from functools import lru_cache

from spec.manager import State
from spec.operations import Admit, Append, Commit, Fork, ManagerOperation, Release, Truncate
from verify.managers.bounds import ManagerScope

Tokens = tuple[int, ...]


def alphabet(state: State, scope: ManagerScope, _depth: int) -> Iterator[ManagerOperation]:
    """The operations offered in the state."""
    live = tuple(sorted(state.requests))
    unused = next(request for request in range(scope.requests + 1) if request not in state.requests)
    ids = (*live, unused)
    for request in ids:
        found = state.requests.get(request)
        yield from own_operations(request, found.tokens if found else None, scope)
        yield from fork_operations(request, len(found.tokens) if found else 0, ids, scope.requests)


@lru_cache(maxsize=4096)
def own_operations(request: int, tokens: Tokens | None, scope: ManagerScope) -> tuple[ManagerOperation, ...]:
    """The operations on one request, forks apart; `tokens` are None when it does not live."""
    operations: list[ManagerOperation] = []
    now = tokens or ()
    if tokens is not None:
        operations.append(Admit(request, scope.texts[0][:1]))
    elif request < scope.requests:
        prompts = {text[:length]: None for text in scope.texts for length in range(scope.length + 1)}
        operations += [Admit(request, prompt) for prompt in prompts]
    most = min(scope.most_rows, scope.length - len(now))
    texts = [text for text in scope.texts if text[: len(now)] == now]
    more = {text[len(now) : len(now) + count]: None for text in texts for count in range(most + 1)}
    operations += [Append(request, rows) for rows in more]
    operations.append(Commit(request))
    operations += [Truncate(request, position) for position in range(-1, len(now) + 2)]
    operations.append(Release(request))
    return tuple(operations)


@lru_cache(maxsize=4096)
def fork_operations(request: int, length: int, ids: tuple[int, ...], requests: int) -> tuple[ManagerOperation, ...]:
    """The forks of one request to every id in play that may live."""
    return tuple(Fork(request, to, at) for to in ids if to < requests for at in range(-1, length + 2))
