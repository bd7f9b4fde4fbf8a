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

from impl.interrupts import one_interrupt
from spec.operations import Operation, Outcome, Read, Refused
from spec.page_table import OUT_OF_PAGES, State, initial, step
from verify.alphabet import alphabet
from verify.bounds import Scope
from verify.canonical import canonical_key, raw_key
from verify.refinement import Difference, Seen, check_operation, check_state, outcome_differences, unseen
from verify.sandbox import die_with
from verify.situations import reached
from verify.target import Factory, Raised, Target, attempt, look, offers

FORK_FROM = 64
"""Frontier size from which a depth is spread over processes; below it, starting them costs more than it saves."""


class StepsExhausted(BaseException):
    """The step budget ran out before the search ended.

    Not an Exception: neither a target nor Hypothesis may take it for a failure of the target.
    """


@dataclass(frozen=True, slots=True)
class Failure:
    """The operations that lead to a difference, shortest first found, and every rule that the last one breaks."""

    operations: tuple[Operation, ...]
    differences: tuple[Difference, ...]


@dataclass(slots=True)
class Exploration:
    """What a search covered. `complete` says that the fixpoint was reached without a difference, and that anything was tried."""

    scope: Scope
    states: int = 0
    transitions: int = 0
    refused: int = 0
    reads: int = 0
    depth: int = 0
    situations: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
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


Progress = Callable[[Exploration, int], None]
"""Called now and then with the search so far and the number of states still to expand at this depth."""


@dataclass(slots=True)
class Node:
    """A distinct state: the oracle's, the target in it, and what is known of the target."""

    state: State
    target: Target
    seen: Seen
    origin: "Node | None"
    operation: Operation | None

    def path(self) -> tuple[Operation, ...]:
        """The operations that lead here from the start."""
        operations: list[Operation] = []
        node = self
        while node.origin is not None and node.operation is not None:
            operations.append(node.operation)
            node = node.origin
        return tuple(reversed(operations))


@dataclass(slots=True)
class Expansion:
    """What expanding a run of nodes found; new states as (key, index of the node, operation), so that it can travel.

    A failure has the operations that lead from its node to the difference. `lost` says that the target's process is gone.
    """

    transitions: int = 0
    refused: int = 0
    reads: int = 0
    situations: Counter[str] = field(default_factory=Counter)
    fresh: dict[Hashable, tuple[int, Operation]] = field(default_factory=dict)
    failures: list[tuple[int, tuple[Operation, ...], tuple[Difference, ...]]] = field(default_factory=list)
    lost: bool = False


class Search:
    """One exhaustive search; `run` returns what it covered.

    Past the budget of transitions it raises StepsExhausted, unless it has a failure to return.
    """

    def __init__(
        self,
        scope: Scope,
        factory: Factory,
        workers: int = 1,
        budget: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.scope = scope
        self.factory = factory
        self.workers = workers
        self.budget = budget
        self.progress = progress
        self.key = raw_key if scope.raw_ids else canonical_key
        self.found = Exploration(scope)
        self.keys: set[Hashable] = set()

    def run(self) -> Exploration:
        """Search to the fixpoint, or to the end of the first depth with a difference."""
        started = time.perf_counter()
        frontier = self.start()
        while frontier and not self.found.failures:
            frontier = self.deepen(frontier)
            self.found.seconds = time.perf_counter() - started
        self.found.complete = bool(self.found.transitions) and not self.found.failures
        return self.found

    def start(self) -> list[Node]:
        """The initial state, checked; no node when it already differs."""
        state = initial(self.scope.pages, self.scope.page_size)
        target = self.factory(self.scope.pages, self.scope.page_size)
        self.found.not_offered = target.capabilities.not_offered()
        snapshot = look(target)
        if isinstance(snapshot, Raised):
            self.found.failures.append(Failure((), (unseen(snapshot),)))
            return []
        differences: list[Difference] = []
        mapped = check_state(state, snapshot, differences)
        if differences:
            self.found.failures.append(Failure((), tuple(differences)))
            return []
        self.keys.add(self.key(state, snapshot, target.written()))
        self.found.states = 1
        return [Node(state, target, Seen(mapped, snapshot, target.image()), None, None)]

    def deepen(self, frontier: list[Node]) -> list[Node]:
        """Expand every node of one depth and return the nodes of the next."""
        depth = self.found.depth
        following: list[Node] = []
        for expansion, nodes in self.expansions(frontier, depth):
            self.found.transitions += expansion.transitions
            self.found.refused += expansion.refused
            self.found.reads += expansion.reads
            self.found.situations.update(expansion.situations)
            for index, operations, differences in expansion.failures:
                self.found.failures.append(Failure((*nodes[index].path(), *operations), differences))
            if self.spent(self.found.transitions):
                if self.found.failures:
                    break
                raise StepsExhausted(f"more than {self.budget} transitions in {self.scope}")
            for key, (index, operation) in expansion.fresh.items():
                if key not in self.keys:
                    self.keys.add(key)
                    node = successor(nodes[index], operation)
                    if isinstance(node, Failure):
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

    def expansions(self, frontier: list[Node], depth: int) -> Iterator[tuple[Expansion, list[Node]]]:
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

    def expand(self, nodes: Sequence[Node], depth: int) -> Expansion:
        """Try the whole alphabet in each node."""
        out = Expansion()
        for index, node in enumerate(nodes):
            read_everything(index, node, out)
            self.expand_node(index, node, depth, out)
            if out.lost:
                break
            if self.spent(self.found.transitions + out.transitions):
                break  # `deepen` comes to the same sum, and says what follows
        return out

    def spent(self, transitions: int) -> bool:
        """Whether so many are past the budget."""
        return self.budget is not None and transitions > self.budget

    def expand_node(self, index: int, node: Node, depth: int, out: Expansion) -> None:
        """Try the whole alphabet in one node. Refused operations share one copy of the target for as long as it is unchanged."""
        state, seen = node.state, node.seen
        every = node.target.capabilities.everything
        tries: list[tuple[Operation, State, Outcome]] = []
        changing: list[Operation] = []
        refused: list[Operation] = []
        for operation in alphabet(state, self.scope, depth):
            if every or offers(node.target, operation, state):
                after, expected = step(state, operation)
                tries.append((operation, after, expected))
                (refused if type(expected) is Refused else changing).append(operation)
        scratch = node.target.clone()
        scratch.foresee(refused, apart=False)
        node.target.foresee(changing, apart=True)
        asked: list[Operation] = []
        for operation, after, expected in tries:
            out.transitions += 1
            led: tuple[Operation, ...] = (operation,)
            if type(expected) is Refused:
                out.refused += 1
                asked.append(operation)
                checked = check_operation(after, expected, operation, scratch, seen)
                if checked.differences and len(asked) > 1:
                    # What an earlier one spoilt unseen must not be left out of the witness.
                    alone = check_operation(after, expected, operation, node.target.clone(), seen)
                    led = led if alone.differences else tuple(asked)
                if checked.moved:
                    scratch, asked = node.target.clone(), []
            else:
                target = node.target.clone()
                checked = check_operation(after, expected, operation, target, seen)
                if not checked.differences:
                    key = self.key(after, checked.snapshot, target.written())
                    if key not in self.keys and key not in out.fresh:
                        out.fresh[key] = (index, operation)
            if checked.differences:
                out.failures.append((index, led, checked.differences))
                out.lost = out.lost or checked.lost
                if out.lost:
                    return
            if after is not state or expected is OUT_OF_PAGES:
                for situation in reached(state, operation, expected, after):
                    out.situations[situation] += 1


def read_everything(index: int, node: Node, out: Expansion) -> None:
    """Read every range of rows of every request, illegal and released ones included; reads leave the target as it is."""
    state, target = node.state, node.target
    reads = list(every_read(state)) if Read in target.capabilities.operations else []
    target.foresee(reads, apart=False)
    for read in reads:
        expected = step(state, read)[1]
        answer = attempt(target, read)
        out.reads += 1
        if answer != expected:
            out.failures.append((index, (read,), tuple(outcome_differences(expected, answer))))
            out.lost = out.lost or (isinstance(answer, Raised) and answer.lost)
            if out.lost:
                return
    if target.image() != node.seen.image:
        out.failures.append(
            (index, tuple(reads), (Difference("PT-REFUSE", "reads change nothing", "the state changed"),))
        )


def every_read(state: State) -> Iterator[Read]:
    """Every range of rows of every request, and of an unknown one."""
    unknown = max(state.requests, default=-1) + 1
    for request in (*state.requests, unknown):
        truth = state.requests.get(request)
        end = len(truth.rows) + 1 if truth else 1
        for lo in range(-1, end + 1):
            for hi in range(lo - 1, end + 1):
                yield Read(request, lo, hi)


def successor(node: Node, operation: Operation) -> Node | Failure:
    """The node that the operation leads to; a failure when the target, asked again, no longer does what it did."""
    state, expected = step(node.state, operation)
    target = node.target.clone()
    checked = check_operation(state, expected, operation, target, node.seen)
    if checked.differences:
        return Failure((*node.path(), operation), checked.differences)
    return Node(state, target, Seen(checked.mapped, checked.snapshot, target.image()), node, operation)


_inherited: list[tuple[Search, list[list[Node]], int]] = []


def inherit(search: Search, slices: list[list[Node]], depth: int, parent: int) -> None:
    """Start a worker: it keeps what it was forked with, leaves Ctrl-C to the parent, and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)
    _inherited.append((search, slices, depth))


def expand_inherited(number: int) -> Expansion:
    """Expand one slice in a worker."""
    search, slices, depth = _inherited[-1]
    return search.expand(slices[number], depth)
