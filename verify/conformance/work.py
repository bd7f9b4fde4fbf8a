"""What the workers of a conformance run do: each job asks the target in a child of the worker's own and hands back plain data."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import get_args

from spec.manager import State, Traits
from spec.operations import ManagerOperation
from verify.conformance.known import Classifier, Known
from verify.conformance.report import Deviation, Planted
from verify.conformance.targets import KnownTarget
from verify.explore import StepsExhausted, WorldSearch
from verify.managers.bounds import ManagerScope
from verify.managers.lockstep import replay
from verify.managers.situations import possible
from verify.managers.target import ManagerSnapshot, ManagerTarget
from verify.managers.walks import STEPS, ManagerFailure, ManagerTally, search_at_random
from verify.managers.world import MANAGERS
from verify.remote.children import BrokenTargetError
from verify.remote.choice import environment_of_target
from verify.remote.managers import OFFLINE, ManagerOptions, Managers, manager
from verify.view.manager_sight import group_words
from verify.witness import calls
from verify.world import World

ManagerWorld = World[ManagerScope, State, ManagerOperation, ManagerTarget, ManagerSnapshot]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that can be planted in a target as it runs: its name in the module of faults, and what is wrong in a sentence."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Explored:
    """What an exhaustive search covered, and how it ended: at the known deviation `met`, or at a failure that nobody knows."""

    scope: str
    states: int
    transitions: int
    complete: bool
    situations: Counter[str]
    met: str | None
    failure: ManagerFailure | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Said:
    """What a target says of itself: its name, what it offers in any configuration and what in none, what it does not show; by
    configuration its traits in words, and the situations that it can come into there."""

    name: str
    offered: tuple[str, ...]
    not_offered: tuple[str, ...]
    not_observed: tuple[str, ...]
    traits: dict[str, str]
    able: dict[str, tuple[str, ...]]


_opened: dict[str, Managers] = {}
"""The healthy targets of this process; their children end with it."""

_stack = ExitStack()


@contextmanager
def opened(target: KnownTarget, fault: str | None = None) -> Iterator[Managers]:
    """The target in a child of its own, with a fault when one is named; BrokenTargetError."""
    options = ManagerOptions(
        target.adapter,
        str(target.python),
        str(target.folder),
        fault=None if fault is None else f"{target.faults}:{fault}",
        environment={**OFFLINE, **target.variables},
    )
    with manager(options) as found:
        yield found


def healthy(target: KnownTarget) -> Managers:
    """The target without a fault, opened once in this process; BrokenTargetError."""
    if target.name not in _opened:
        _opened[target.name] = _stack.enter_context(opened(target))
    return _opened[target.name]


def let_go() -> None:
    """End the healthy targets of this process: the next job opens another one."""
    _opened.clear()
    _stack.close()


def say(target: KnownTarget) -> Said:
    """What the target says of itself."""
    hello = healthy(target).hello
    configurations = hello.configurations
    offers = {name: hello.offer(configuration) for name, configuration in configurations.items()}
    offered = {kind for offer in offers.values() for kind in offer.operations}
    return Said(
        hello.name,
        tuple(kind.__name__ for kind in get_args(ManagerOperation) if kind in offered),
        tuple(kind.__name__ for kind in get_args(ManagerOperation) if kind not in offered),
        next(iter(offers.values())).not_observed,
        {name: traits_words(configuration.traits) for name, configuration in configurations.items()},
        {name: possible(configuration.traits, offers[name]) for name, configuration in configurations.items()},
    )


def traits_words(traits: Traits) -> str:
    """The traits in a line."""
    words = [f"{traits.pages} pages of {traits.page_size}", " + ".join(map(group_words, traits.groups))]
    words += [f"prefix, {traits.leaves} computed" if traits.prefix else "no prefix"]
    words += ["commits"] if traits.commits else []
    words += [f"tail {traits.tail}", f"trims {traits.trims}{', recycles' if traits.recycles else ''}"]
    return "; ".join([*words, f"by {traits.granule}", f"forks {traits.forks}"])


def faults_of(target: KnownTarget) -> list[Fault]:
    """The faults that can be planted, as the module of faults has them; BrokenTargetError when it cannot be asked."""
    program = (
        "import importlib, json, sys; sys.path[0] = sys.argv[2]; faults = importlib.import_module(sys.argv[1]).FAULTS; "
        "print('\\n' + json.dumps({name: fault.__doc__ or '' for name, fault in faults.items()}))"
    )
    command = (str(target.python), "-c", program, target.faults, str(target.folder))
    environment = {**environment_of_target(), **OFFLINE, **target.variables}
    done = subprocess.run(command, capture_output=True, text=True, cwd=target.folder, env=environment)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise BrokenTargetError(f"{target.faults}: {last}")
    found = json.loads(done.stdout.splitlines()[-1])
    return [Fault(name, " ".join(sentence.split())) for name, sentence in found.items()]


def try_known(target: KnownTarget, known: Known) -> Deviation:
    """Whether the witness of a known deviation still shows its rules, with its last operation."""
    found = healthy(target)
    configuration = found.hello.configurations.get(known.configuration)
    shown: tuple[str, ...] = ()
    at_end = False
    if configuration is not None:
        run = replay(known.operations, configuration.traits, lambda traits: found.open(configuration))
        shown = tuple(dict.fromkeys(difference.rule for difference in run.differences))
        at_end = run.applied == known.operations
    return Deviation(
        known.name,
        known.rules,
        known.sentence,
        known.configuration,
        tuple(calls(known.operations)),
        at_end and set(shown) == set(known.rules),
        shown,
        0,
    )


def walk(
    target: KnownTarget, name: str, seed: int, first: int, operations: int, known: Sequence[Known]
) -> ManagerTally:
    """Walks of one configuration from number `first` on, until so many operations are checked or one fails as nobody knows."""
    found = healthy(target)
    configuration = found.hello.configurations[name]
    classifier = Classifier(name, found.hello.configurations, known)
    tally = ManagerTally(configuration.traits, seed, walks=first)
    while tally.steps < operations and tally.failure is None:
        search_at_random(
            lambda traits: found.open(configuration),
            configuration.traits,
            seed,
            # Several at once, so that the target works on one while the one before it is checked.
            tally.walks + max(1, (operations - tally.steps) // STEPS),
            avoid=classifier.ending(),
            known=classifier.known,
            tally=tally,
        )
    return tally


def explore(target: KnownTarget, name: str, most: int, known: Sequence[Known]) -> Explored:
    """Search every state of a small scope in the configuration, to the fixpoint or to so many transitions.

    A known deviation ends it as well: past one the oracle and the target are no longer in the same state.
    """
    found = healthy(target)
    configuration = found.hello.configurations[name]
    traits = configuration.traits
    length = max(traits.page_size, *(group.size for group in traits.groups)) + 2
    scope = ManagerScope(name, traits, 2, length, ((0,) * length,))
    classifier = Classifier(name, found.hello.configurations, known)
    search = WorldSearch(without(classifier), scope, lambda traits: found.open(configuration), budget=most)
    with suppress(StepsExhausted):
        search.run()
    coverage = search.found
    failure = min(coverage.failures, key=lambda failure: len(failure.operations), default=None)
    met: str | None = None
    if failure is not None:
        run = replay(failure.operations, traits, lambda traits: found.open(configuration))
        if run.outcome is not None:
            met = classifier.known(failure.differences, run.before, failure.operations[-1], run.outcome)
    return Explored(
        f"2 requests of at most {scope.length} rows",
        coverage.states,
        coverage.transitions,
        coverage.complete,
        Counter(coverage.situations),
        met,
        failure if met is None else None,
        coverage.seconds,
    )


def without(classifier: Classifier) -> ManagerWorld:
    """The managers' world without the operations that cause a deviation which shows only later."""

    def alphabet(state: State, scope: ManagerScope, depth: int) -> Iterator[ManagerOperation]:
        for operation in MANAGERS.alphabet(state, scope, depth):
            if not classifier.causes_one(operation, MANAGERS.step(state, operation)[1]):
                yield operation

    return replace(MANAGERS, alphabet=alphabet) if classifier.causes else MANAGERS


def find_fault(
    target: KnownTarget, fault: Fault, seed: int, most: int, known: Sequence[Known], names: Sequence[str]
) -> Planted:
    """Look for a planted fault in walks of one configuration after the other, until it is found or so many are checked.

    The walks are those that the healthy target passed, in the configurations `names` in which it has shown nothing new: a
    difference is the fault's.
    """
    let_go()  # a framework takes much memory, and the healthy one has been asked
    with opened(target, fault.name) as found:
        configurations = found.hello.configurations
        tallies = {name: ManagerTally(configurations[name].traits, seed) for name in names}
        classifiers = {name: Classifier(name, configurations, known) for name in names}
        while True:
            for name, tally in tallies.items():

                def make(traits: object, name: str = name) -> ManagerTarget:
                    return found.open(name)

                search_at_random(
                    make,
                    tally.traits,
                    seed,
                    tally.walks + 1,
                    avoid=classifiers[name].ending(),
                    known=classifiers[name].known,
                    shrinking=False,
                    tally=tally,
                )
                operations = sum(other.steps for other in tallies.values())
                if tally.failure is not None:
                    rules = tuple(dict.fromkeys(difference.rule for difference in tally.failure.differences))
                    return Planted(fault.name, fault.sentence, True, operations, rules, name)
                if operations >= most:
                    return Planted(fault.name, fault.sentence, False, operations, (), "")
