"""The random search over managers: walks of operations, each from a seed that is told, with the whole check after each.

A walk is written from the oracle alone (verify/managers/author.py) and told to the manager before it is asked, so that one
in another process needs one journey a walk. A failure that `known` names is counted and the search goes on with the next
walk; any other is made smaller and ends the search.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from spec.manager import State, Traits, initial
from spec.operations import Accepted, Admit, Fork, ManagerOperation, Outcome, Refused, Release
from verify.explore import FailedRun, StepsExhausted
from verify.managers.author import MOVES, Author, Avoid, Step
from verify.managers.lockstep import ManagerLockstep, replay
from verify.managers.plays import PLAYS
from verify.managers.situations import (
    AFTER_REFUSAL,
    ID_USED_AGAIN,
    RELEASED_AFTER_REFUSAL,
    possible,
    reached,
)
from verify.managers.target import ManagerFactory, ManagerTarget, Offer
from verify.refinement import Difference
from verify.shrink import shrink

STEPS = 50
"""Operations of a walk, about."""
PLAY_CHANCE = 0.15
MOST_SHRINK_SECONDS = 60.0

Known = Callable[[Sequence[Difference], State, ManagerOperation, Outcome], str | None]
"""The name of the known deviation that these differences are, all of them; None when they are anything else.

Takes the differences, the oracle's state before the operation, the operation, and the oracle's answer.
"""

ManagerFailure = FailedRun[ManagerOperation]


@dataclass(slots=True)
class ManagerTally:
    """What a random search over managers did.

    `operations` by kind, `refusals` by reason, `situations` met, `known` failures by name, `avoided` operations that were
    left out. `able` are the situations that were possible, `name` is that of the configuration. Of a failure, `failed_walk`
    is the number of its walk.
    """

    traits: Traits
    seed: int
    walks: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    situations: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    able: tuple[str, ...] = ()
    avoided: int = 0
    seconds: float = 0.0
    not_offered: tuple[str, ...] = ()
    name: str = ""
    failure: ManagerFailure | None = None
    failed_walk: int | None = None

    @property
    def steps(self) -> int:
        """Operations in all."""
        return self.operations.total()

    def never_met(self, each: int = 1) -> dict[str, int]:
        """The situations that were possible and met less often than that, with how often."""
        return {name: self.situations[name] for name in self.able if self.situations[name] < each}


def walk(
    traits: Traits, offer: Offer, seed: int, number: int, length: int = STEPS, avoid: Avoid | None = None
) -> tuple[list[Step], int]:
    """The steps of one walk, the same every time, and how many operations were avoided."""
    author = Author(traits, offer, Random(f"{seed}/{number}"), avoid)
    random = author.random
    weights, moves = zip(*MOVES, strict=True)
    play_weights, plays = zip(*PLAYS, strict=True)
    for _ in range(3 * length):
        if len(author.steps) >= length:
            break
        if random.random() < PLAY_CHANCE:
            random.choices(plays, play_weights)[0](author)
        elif len(author.state.requests) > 3 and random.random() < 0.3:
            author.release()
        else:
            random.choices(moves, weights)[0](author)
    return author.steps, author.avoided


def search_at_random(
    factory: ManagerFactory,
    traits: Traits,
    seed: int,
    walks: int,
    length: int = STEPS,
    avoid: Avoid | None = None,
    known: Known | None = None,
    shrinking: bool = True,
    budget: int | None = None,
    tally: ManagerTally | None = None,
) -> ManagerTally:
    """Run walks `tally.walks` and on until there are so many or one fails otherwise than known.

    Raises StepsExhausted past the budget of operations.
    """
    tally = tally or ManagerTally(traits, seed)
    started = time.perf_counter() - tally.seconds
    told: Told | None = None
    while tally.walks < walks and tally.failure is None:
        number = tally.walks
        now = told or tell(factory, traits, seed, number, length, avoid)
        # Told before the present one is followed: a manager in another process works on it meanwhile.
        told = tell(factory, traits, seed, number + 1, length, avoid) if number + 1 < walks else None
        tally.walks += 1
        tally.able, tally.not_offered = possible(traits, now.target.offer), now.target.offer.not_offered()
        tally.avoided += now.avoided
        run = ManagerLockstep(now.target, initial(traits))
        failure = ManagerFailure((), run.differences) if run.differences else follow(run, now.steps, tally, known)
        if failure is not None:
            tally.failed_walk = number
            tally.failure = shrunk(failure, traits, factory, known) if shrinking else failure
        tally.seconds = time.perf_counter() - started
        if budget is not None and tally.steps > budget and tally.failure is None:
            raise StepsExhausted(f"more than {budget} operations")
    return tally


@dataclass(frozen=True, slots=True)
class Told:
    """A walk, how many operations were avoided on it, and a fresh manager that has been told of it."""

    target: ManagerTarget
    steps: list[Step]
    avoided: int


def tell(factory: ManagerFactory, traits: Traits, seed: int, number: int, length: int, avoid: Avoid | None) -> Told:
    """The walk of this number, told to a fresh manager."""
    target = factory(traits)
    steps, avoided = walk(traits, target.offer, seed, number, length, avoid)
    target.foresee([step.operation for step in steps], apart=False)
    return Told(target, steps, avoided)


def follow(
    run: ManagerLockstep, steps: Sequence[Step], tally: ManagerTally, known: Known | None
) -> ManagerFailure | None:
    """Walk these steps with the manager; the failure that is not known, None when there is none."""
    history = History()
    for number, step in enumerate(steps):
        operation, before, outcome, after = step.operation, step.before, step.outcome, step.after
        differences = run.follow(operation, after, outcome)
        tally.operations[type(operation).__name__] += 1
        if differences:
            name = known(differences, before, operation, outcome) if known else None
            if name is None:
                return ManagerFailure(tuple(step.operation for step in steps[: number + 1]), differences)
            tally.known[name] += 1
            return None
        situations = tally.situations
        if type(outcome) is Refused:
            tally.refusals[outcome.reason.value] += 1
        for situation in reached(before, operation, outcome, after):
            situations[situation] += 1
        for situation in history.add(operation, outcome, after):
            situations[situation] += 1
    return None


class History:
    """What came before: which ids ended, and whether the last operations were a refusal and releases."""

    def __init__(self) -> None:
        self.ended: set[int] = set()
        self.refused = False
        self.releasing = False

    def add(self, operation: ManagerOperation, outcome: Outcome, after: State) -> list[str]:
        """Take in an operation; the situations that it meets by what came before."""
        if not isinstance(outcome, Accepted):
            self.refused = self.releasing = True
            return []
        found = [AFTER_REFUSAL] if self.refused else []
        started = operation.to if isinstance(operation, Fork) else operation.request
        if isinstance(operation, Admit | Fork) and started in self.ended:
            found.append(ID_USED_AGAIN)
        if isinstance(operation, Release):
            self.ended.add(operation.request)
            if self.releasing and not after.requests:
                found.append(RELEASED_AFTER_REFUSAL)
                self.releasing = False
        else:
            self.releasing = False
        self.refused = False
        return found


def shrunk(
    failure: ManagerFailure, traits: Traits, factory: ManagerFactory, known: Known | None = None
) -> ManagerFailure:
    """A smaller failure that breaks one of the rules that this one breaks, and is not known either.

    How far it is made smaller, not whether it breaks, may depend on time: each try on a far manager takes some. It is the
    failure itself when that does not come again on a fresh manager.
    """
    rules = {difference.rule for difference in failure.differences}
    deadline = time.monotonic() + MOST_SHRINK_SECONDS

    def breaks(operations: Sequence[ManagerOperation]) -> bool:
        return time.monotonic() <= deadline and fails(operations, traits, factory, rules, known)

    if not breaks(failure.operations):
        return failure
    operations = shrink(failure.operations, breaks)
    return ManagerFailure(operations, replay(operations, traits, factory).differences or failure.differences)


def fails(
    operations: Sequence[ManagerOperation],
    traits: Traits,
    factory: ManagerFactory,
    rules: set[str],
    known: Known | None,
) -> bool:
    """Whether the operations break one of the rules, with their last one and not as known."""
    again = replay(operations, traits, factory)
    if not any(difference.rule in rules for difference in again.differences):
        return False
    if known is None or again.outcome is None:
        return True
    return known(again.differences, again.before, again.applied[-1], again.outcome) is None
