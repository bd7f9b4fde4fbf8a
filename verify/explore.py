"""Exhaustive search: breadth first over every reachable joint state of oracle and target in a scope, to the fixpoint.

Within its scope the search is complete, and a failure comes with a shortest operation list. Rules are checked on every
transition, before the seen states are looked up. After the first difference the search finishes that depth and stops; the
broken rules are the union over it. A target whose process is lost ends the search at once: every further try could cost
another one.
"""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, Generic

from impl.interrupts import one_interrupt
from spec.operations import Operation, Outcome, Refused
from spec.page_table import State
from verify.bounds import Scope
from verify.page_table_world import PAGE_TABLES
from verify.refinement import Difference, Seen
from verify.sandbox import die_with
from verify.target import Factory, Snapshot, Target
from verify.world import Op, Sc, St, Ta, V, World

FORK_FROM = 64
"""Frontier size from which a depth is spread over processes; below it, starting them costs more than it saves."""


class StepsExhausted(BaseException):
    """The step budget ran out before the search ended.

    Not an Exception: neither a target nor Hypothesis may take it for a failure of the target.
    """


@dataclass(frozen=True)  # a call of the alias below sets an attribute, which a frozen class with slots does not survive
class FailedRun(Generic[Op]):
    """The operations that lead to a difference, shortest first found, and every rule that the last one breaks."""

    operations: tuple[Op, ...]
    differences: tuple[Difference, ...]


@dataclass(slots=True)
class Coverage(Generic[Sc, Op]):
    """What a search covered. `complete` says that the fixpoint was reached without a difference, and that anything was tried."""

    scope: Sc
    states: int = 0
    transitions: int = 0
    refused: int = 0
    reads: int = 0
    depth: int = 0
    situations: Counter[str] = field(default_factory=Counter)
    failures: list[FailedRun[Op]] = field(default_factory=list)
    complete: bool = False
    seconds: float = 0.0
    not_offered: tuple[str, ...] = ()

    def broken(self) -> dict[str, Difference]:
        """Each broken rule with the first difference that showed it."""
        found: dict[str, Difference] = {}
        for failure in self.failures:
            for difference in failure.differences:
                found.setdefault(difference.rule, difference)
        return found


Failure = FailedRun[Operation]
"""A failure of a page table."""

Exploration = Coverage[Scope, Operation]
"""What a search over page tables covered."""

Progress = Callable[[Coverage[Sc, Op], int], None]
"""Called now and then with the search so far and the number of states still to expand at this depth."""


@dataclass(slots=True)
class Node(Generic[St, Op, Ta, V]):
    """A distinct state: the oracle's, the target in it, and what is known of the target."""

    state: St
    target: Ta
    seen: Seen[V]
    origin: "Node[St, Op, Ta, V] | None"
    operation: Op | None

    def path(self) -> tuple[Op, ...]:
        """The operations that lead here from the start."""
        operations: list[Op] = []
        node = self
        while node.origin is not None and node.operation is not None:
            operations.append(node.operation)
            node = node.origin
        return tuple(reversed(operations))


@dataclass(slots=True)
class Expansion(Generic[Op]):
    """What expanding a run of nodes found; new states as (key, index of the node, operation), so that it can travel.

    A failure has the operations that lead from its node to the difference. `lost` says that the target's process is gone.
    """

    transitions: int = 0
    refused: int = 0
    reads: int = 0
    situations: Counter[str] = field(default_factory=Counter)
    fresh: dict[Hashable, tuple[int, Op]] = field(default_factory=dict)
    failures: list[tuple[int, tuple[Op, ...], tuple[Difference, ...]]] = field(default_factory=list)
    lost: bool = False


class WorldSearch(Generic[Sc, St, Op, Ta, V]):
    """One exhaustive search over a world; `run` returns what it covered.

    Past the budget of transitions it raises StepsExhausted, unless it has a failure to return.
    """

    def __init__(
        self,
        world: World[Sc, St, Op, Ta, V],
        scope: Sc,
        factory: Callable[..., Ta],
        workers: int = 1,
        budget: int | None = None,
        progress: Progress[Sc, Op] | None = None,
    ) -> None:
        self.world = world
        self.scope = scope
        self.factory = factory
        self.workers = workers
        self.budget = budget
        self.progress = progress
        self.key = world.key(scope)
        self.found: Coverage[Sc, Op] = Coverage(scope)
        self.keys: set[Hashable] = set()

    def run(self) -> Coverage[Sc, Op]:
        """Search to the fixpoint, or to the end of the first depth with a difference."""
        started = time.perf_counter()
        frontier = self.start()
        while frontier and not self.found.failures:
            frontier = self.deepen(frontier)
            self.found.seconds = time.perf_counter() - started
        self.found.complete = bool(self.found.transitions) and not self.found.failures
        return self.found

    def start(self) -> list[Node[St, Op, Ta, V]]:
        """The initial state, checked; no node when it already differs."""
        state = self.world.initial(self.scope)
        target = self.world.make(self.factory, self.scope)
        self.found.not_offered = self.world.not_offered(target)
        seen = self.world.observe(state, target)
        if isinstance(seen, tuple):
            self.found.failures.append(FailedRun((), seen))
            return []
        self.keys.add(self.key(state, seen.snapshot, target))
        self.found.states = 1
        return [Node(state, target, seen, None, None)]

    def deepen(self, frontier: list[Node[St, Op, Ta, V]]) -> list[Node[St, Op, Ta, V]]:
        """Expand every node of one depth and return the nodes of the next."""
        depth = self.found.depth
        following: list[Node[St, Op, Ta, V]] = []
        for expansion, nodes in self.expansions(frontier, depth):
            self.found.transitions += expansion.transitions
            self.found.refused += expansion.refused
            self.found.reads += expansion.reads
            self.found.situations.update(expansion.situations)
            for index, operations, differences in expansion.failures:
                self.found.failures.append(FailedRun((*nodes[index].path(), *operations), differences))
            if self.spent(self.found.transitions):
                if self.found.failures:
                    break
                raise StepsExhausted(f"more than {self.budget} transitions in {self.scope}")
            for key, (index, operation) in expansion.fresh.items():
                if key not in self.keys:
                    self.keys.add(key)
                    node = self.successor(nodes[index], operation)
                    if isinstance(node, FailedRun):
                        self.found.failures.append(node)
                    else:
                        following.append(node)
            if self.progress:
                self.progress(self.found, len(frontier))
            if expansion.lost:
                break
        self.found.depth += 1
        self.found.states += len(following)
        return following

    def expansions(
        self, frontier: list[Node[St, Op, Ta, V]], depth: int
    ) -> Iterator[tuple[Expansion[Op], list[Node[St, Op, Ta, V]]]]:
        """The expansion of each slice of the frontier, in order; over processes where that pays."""
        alone = self.workers == 1 or len(frontier) < FORK_FROM
        size = FORK_FROM if alone else max(8, min(FORK_FROM, -(-len(frontier) // (self.workers * 4))))
        slices = [frontier[at : at + size] for at in range(0, len(frontier), size)]
        if alone:
            yield from ((self.expand(nodes, depth), nodes) for nodes in slices)
            return
        # A forked worker inherits the nodes, targets included, so only keys and operations travel.
        fork, arguments = get_context("fork"), (self, slices, depth, os.getpid())
        with one_interrupt(), ProcessPoolExecutor(self.workers, fork, inherit, arguments) as pool:
            pending = [pool.submit(expand_inherited, number) for number in range(len(slices))]
            try:
                for nodes in slices:
                    yield pending.pop(0).result(), nodes
            finally:
                for future in pending:  # those that no worker has begun, when the search ends before them
                    future.cancel()

    def expand(self, nodes: Sequence[Node[St, Op, Ta, V]], depth: int) -> Expansion[Op]:
        """Try the whole alphabet in each node."""
        out: Expansion[Op] = Expansion()
        for index, node in enumerate(nodes):
            self.read_everything(index, node, out)
            self.expand_node(index, node, depth, out)
            if out.lost:
                break
            if self.spent(self.found.transitions + out.transitions):
                break  # `deepen` comes to the same sum, and says what follows
        return out

    def spent(self, transitions: int) -> bool:
        """Whether so many are past the budget."""
        return self.budget is not None and transitions > self.budget

    def expand_node(self, index: int, node: Node[St, Op, Ta, V], depth: int, out: Expansion[Op]) -> None:
        """Try the whole alphabet in one node. What changes nothing shares one copy of the target for as long as that is so."""
        state, seen, world = node.state, node.seen, self.world
        step, check, offers = world.step, world.check, world.offers
        every = world.everything(node.target)
        tries: list[tuple[Op, St, Outcome]] = []
        changing: list[Op] = []
        still: list[Op] = []
        for operation in world.alphabet(state, self.scope, depth):
            if every or offers(node.target, operation, state):
                after, expected = step(state, operation)
                tries.append((operation, after, expected))
                (still if after is state else changing).append(operation)
        scratch = node.target.clone()
        scratch.foresee(still, apart=False)
        node.target.foresee(changing, apart=True)
        asked: list[Op] = []
        for operation, after, expected in tries:
            out.transitions += 1
            out.refused += type(expected) is Refused
            led: tuple[Op, ...] = (operation,)
            target = scratch if after is state else node.target.clone()
            checked = check(state, after, expected, operation, target, seen)
            if target is scratch:
                asked.append(operation)
                moved = checked.moved
                if len(asked) > 1 and (moved or checked.differences):
                    # What an earlier one spoilt unseen must not be left out of the witness, nor be taken for this one's doing.
                    target = node.target.clone()
                    alone = check(state, after, expected, operation, target, seen)
                    if not checked.differences:
                        checked = alone
                    elif not alone.differences:
                        led = tuple(asked)
                if moved:
                    scratch, asked = node.target.clone(), []
            if checked.differences:
                out.failures.append((index, led, checked.differences))
                out.lost = out.lost or checked.lost
                if out.lost:
                    return
            elif checked.moved:
                key = self.key(after, checked.snapshot, target)
                if key not in self.keys and key not in out.fresh:
                    out.fresh[key] = (index, operation)
            if after is not state or expected is world.noted:
                for situation in world.reached(state, operation, expected, after):
                    out.situations[situation] += 1

    def read_everything(self, index: int, node: Node[St, Op, Ta, V], out: Expansion[Op]) -> None:
        """Ask every read that the world has in a state, illegal ones included; reads leave the target as it is."""
        state, target = node.state, node.target
        reads = self.world.reads(state, target)
        target.foresee(reads, apart=False)
        for read in reads:
            differences, lost = self.world.check_read(state, read, target)
            out.reads += 1
            if differences:
                out.failures.append((index, (read,), differences))
                out.lost = out.lost or lost
                if out.lost:
                    return
        if target.image() != node.seen.image:
            out.failures.append(
                (index, tuple(reads), (Difference("PT-REFUSE", "reads change nothing", "the state changed"),))
            )

    def successor(self, node: Node[St, Op, Ta, V], operation: Op) -> Node[St, Op, Ta, V] | FailedRun[Op]:
        """The node that the operation leads to; a failure when the target, asked again, no longer does what it did."""
        state, expected = self.world.step(node.state, operation)
        target = node.target.clone()
        checked = self.world.check(node.state, state, expected, operation, target, node.seen)
        if checked.differences:
            return FailedRun((*node.path(), operation), checked.differences)
        return Node(state, target, Seen(checked.mapped, checked.snapshot, target.image()), node, operation)


class Search(WorldSearch[Scope, State, Operation, Target, Snapshot]):
    """One exhaustive search over a page table."""

    def __init__(
        self,
        scope: Scope,
        factory: Factory,
        workers: int = 1,
        budget: int | None = None,
        progress: Progress[Scope, Operation] | None = None,
    ) -> None:
        super().__init__(PAGE_TABLES, scope, factory, workers, budget, progress)


Inherited = WorldSearch[Any, Any, Any, Any, Any]

_inherited: list[tuple[Inherited, list[list[Node[Any, Any, Any, Any]]], int]] = []


def inherit(search: Inherited, slices: list[list[Node[Any, Any, Any, Any]]], depth: int, parent: int) -> None:
    """Start a worker: it keeps what it was forked with, leaves Ctrl-C to the parent, and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)
    _inherited.append((search, slices, depth))


def expand_inherited(number: int) -> Expansion[Any]:
    """Expand one slice in a worker."""
    search, slices, depth = _inherited[-1]
    return search.expand(slices[number], depth)
