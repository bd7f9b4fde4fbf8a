"""Our own operation-list shrinker: a list that breaks a rule is made smaller for as long as it still breaks it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from spec.operations import Admit, Append, ManagerOperation, Operation

Op = TypeVar("Op", bound=Operation | ManagerOperation)


def shrink(operations: Sequence[Op], breaks: Callable[[Sequence[Op]], bool], most_tries: int = 2000) -> tuple[Op, ...]:
    """A smaller list that still breaks; no single removal or shortening of it does, unless `most_tries` ran out first."""
    best = tuple(operations)
    tries = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in candidates(best):
            tries += 1
            if tries > most_tries:
                return best
            if breaks(candidate):
                best, smaller = candidate, True
                break
    return best


def candidates(operations: tuple[Op, ...]) -> Iterator[tuple[Op, ...]]:
    """Smaller lists, the boldest first: without a run of operations, with fewer rows appended or admitted."""
    size = len(operations) // 2
    while size:
        for at in range(len(operations) - size, -1, -1):
            yield operations[:at] + operations[at + size :]
        size //= 2
    for at, operation in enumerate(operations):
        if isinstance(operation, Append | Admit) and len(operation.tokens) > 1:
            for keep in (len(operation.tokens) // 2, len(operation.tokens) - 1):
                yield (*operations[:at], replace(operation, tokens=operation.tokens[:keep]), *operations[at + 1 :])
