"""What a target answers and shows, operation by operation, in every reachable state of a scope: two can be laid side by side.

A transcript is complete within its scope and compares nothing itself but with the oracle, past which it does not go: two
programs that differ anywhere in a scope have transcripts that differ, and up to there the same ones. `STAGES` makes one a
stage whose `witness` it is, so that what runs mutants can have the transcript of each.
"""

import hashlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic

from spec.groups import Group
from verify.bounds import Scope
from verify.explore import StepsExhausted
from verify.managers.bounds import FULL, ManagerScope, committing
from verify.managers.world import MANAGERS
from verify.page_table_world import PAGE_TABLES
from verify.refinement import Seen
from verify.stage import StageResult
from verify.targets.prefix import PrefixManager
from verify.targets.shipped import ShippedCache
from verify.world import Op, Sc, St, Ta, V, World

__all__ = ["MANAGER", "PAGE_TABLE", "STAGES", "StepsExhausted", "stages", "transcript"]

PAGE_TABLE, MANAGER = "page table", "manager"

PAGE_TABLE_SCOPES = (
    Scope(2, 1, 2, 2, raw_ids=True, sinks=0),
    Scope(2, 1, 2, 3, sinks=1),
    Scope(2, 2, 2, 3, sinks=1),
    Scope(2, 3, 2, 4, sinks=0),
)
MANAGER_SCOPES = (
    ManagerScope("full", committing(2, 1, FULL), 2, 2, ((0, 0), (0, 1))),
    ManagerScope("full and window 2", committing(4, 1, FULL, Group("window", 2)), 1, 3, ((0, 0, 0),)),
    ManagerScope("window 3", committing(2, 2, Group("window", 3)), 1, 5, ((0, 0, 0, 0, 0),)),
    ManagerScope("chunk 3", committing(2, 2, Group("chunk", 3)), 1, 4, ((0, 0, 0, 0),)),
)
OF: dict[str, tuple[World[Any, Any, Any, Any, Any], Callable[..., Any]]] = {
    PAGE_TABLE: (PAGE_TABLES, ShippedCache),
    MANAGER: (MANAGERS, PrefixManager),
}

Tried = list[list[str]]
"""Operation, outcome or broken rules, and digests of what is shown after it and of the target's image, each as text."""


@dataclass(slots=True)
class _Node(Generic[St, Ta, V]):
    """A state: the oracle's, a target in it, and what it shows."""

    state: St
    target: Ta
    seen: Seen[V]
    depth: int


@dataclass(slots=True)
class Transcript:
    """By state, in the order of discovery: the state and the operation that led to it first, and all that was tried in it."""

    origins: list[list[Any]] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    transitions: int = 0


def transcript(
    world: World[Sc, St, Op, Ta, V], scope: Sc, factory: Callable[..., Ta], budget: int | None = None
) -> Transcript:
    """All that the target does in the scope. Raises StepsExhausted past the budget of transitions."""
    found = Transcript()
    state, target = world.initial(scope), world.make(factory, scope)
    seen = world.observe(state, target)
    found.origins.append([-1, _digest(seen)])
    if not isinstance(seen, Seen):
        return found
    key = world.key(scope)
    known: set[Hashable] = {key(state, seen.snapshot, target)}
    nodes = [_Node(state, target, seen, 0)]
    for index, node in enumerate(nodes):  # grows while it is read
        found.tried.append([])
        _read(world, node, found.tried[-1])
        for operation in world.alphabet(node.state, scope, node.depth):
            if not world.everything(node.target) and not world.offers(node.target, operation, node.state):
                continue
            found.transitions += 1
            if budget is not None and found.transitions > budget:
                raise StepsExhausted(f"more than {budget} operations")
            after = _try(world, node, operation, found.tried[-1])
            if after is not None and (its_key := key(after.state, after.seen.snapshot, after.target)) not in known:
                known.add(its_key)
                nodes.append(after)
                found.origins.append([index, repr(operation)])
    return found


def _try(
    world: World[Any, St, Op, Ta, V], node: _Node[St, Ta, V], operation: Op, tried: Tried
) -> _Node[St, Ta, V] | None:
    """Try one operation on a copy; the state that it leads to, None past the oracle."""
    target = node.target.clone()
    after, expected = world.step(node.state, operation)
    checked = world.check(node.state, after, expected, operation, target, node.seen)
    image = target.image()
    rules = " ".join(sorted({difference.rule for difference in checked.differences}))
    said = str(checked.differences) if checked.differences else repr(checked.snapshot)
    tried.append([repr(operation), rules or repr(expected), _digest(said), _digest(image)])
    if checked.differences:
        return None
    return _Node(after, target, Seen(checked.mapped, checked.snapshot, image), node.depth + 1)


def _read(world: World[Any, St, Op, Ta, V], node: _Node[St, Ta, V], tried: Tried) -> None:
    """Ask every read of the world."""
    for read in world.reads(node.state, node.target):
        differences, _ = world.check_read(node.state, read, node.target)
        tried.append([repr(read), str(differences) if differences else "the oracle's", "", ""])


def _digest(shown: object) -> str:
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def stages(family: str, scopes: Mapping[Any, int]) -> dict[str, Callable[[int | None], StageResult]]:
    """Transcripts of the scopes, each with the rows of a page, as stages of their own."""
    return {f"{family}, {scope}": partial(_stage, family, scope, size) for scope, size in scopes.items()}


def _stage(family: str, scope: Any, page_size: int, budget: int | None) -> StageResult:
    world, factory = OF[family]
    found = transcript(world, scope, factory, budget)
    document: dict[str, object] = {"page_size": page_size, "origins": found.origins, "tried": found.tried}
    return StageResult("pass", {}, document, found.transitions)


STAGES = {
    **stages(PAGE_TABLE, {scope: scope.page_size for scope in PAGE_TABLE_SCOPES}),
    **stages(MANAGER, {scope: scope.traits.page_size for scope in MANAGER_SCOPES}),
}
