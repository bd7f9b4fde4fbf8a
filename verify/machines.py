"""Random search: a Hypothesis state machine over larger pools, oracle and target in lockstep.

Rules succeed by construction: a drawn number picks among what is legal now, so nothing is filtered away; one rule apart tries
illegal arguments. Request ids are few, so that they are used again.
"""

import contextlib
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import hypothesis
import hypothesis.errors
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from impl.interrupts import interrupt_at_checks, raise_if_interrupted
from spec.operations import Append, Fork, New, Operation, Read, Refused, Release, Trim, Truncate
from spec.page_table import State, initial, released
from verify.explore import Failure, StepsExhausted
from verify.hypothesis_profile import no_constants_of_ours
from verify.lockstep import Lockstep
from verify.situations import ID_USED_AGAIN, reached
from verify.target import Factory, offers

IDS = 7
"""Request ids in play, live or not."""

PICK = st.integers(0, 2**16)


@dataclass(slots=True)
class Tally:
    """What a random search did: operations by name, refusals by reason, situations reached, and its failure, if any."""

    examples: int = 0
    steps: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    situations: Counter[str] = field(default_factory=Counter)
    not_offered: tuple[str, ...] = ()
    seed: int | None = None
    pages: int = 0
    page_size: int = 0
    failure: Failure | None = None

    def add(self, other: "Tally") -> None:
        """Take in another search; its failure becomes this one's."""
        self.examples += other.examples
        self.steps += other.steps
        self.operations += other.operations
        self.refusals += other.refusals
        self.situations += other.situations
        self.not_offered = other.not_offered
        if other.failure is not None:
            self.failure, self.pages, self.page_size = other.failure, other.pages, other.page_size


class BrokenRuleError(AssertionError):
    """The target broke a rule; the tally has the failure."""


class CacheMachine(RuleBasedStateMachine):
    """One example: a pool of a drawn size and a run of operations on it."""

    factory: Factory
    tally: Tally
    budget: int | None = None

    pages: int
    page_size: int
    run: Lockstep
    operations: list[Operation]
    ended: set[int]
    token: int

    @initialize(pages=st.integers(2, 24), page_size=st.integers(1, 4))
    def start(self, pages: int, page_size: int) -> None:
        self.pages, self.page_size = pages, page_size
        target = type(self).factory(pages, page_size)
        self.run = Lockstep(target, initial(pages, page_size))
        self.operations = []
        self.ended = set()
        self.token = 0
        self.tally.examples += 1
        self.tally.not_offered = target.capabilities.not_offered()
        if self.run.differences:
            self.fail(Failure((), tuple(self.run.differences)))

    @rule(pick=PICK, sinks=st.integers(0, 5))
    def new(self, pick: int, sinks: int) -> None:
        self.apply(New(self.unused(pick), self.sinks(sinks)))

    @rule(pick=PICK, k=st.integers(1, 9))
    def append(self, pick: int, k: int) -> None:
        self.apply(Append(self.live(pick), self.tokens(k)))

    @rule(pick=PICK, spare=st.integers(0, 3))
    def append_up_to_the_last_page(self, pick: int, spare: int) -> None:
        state = self.run.state
        rows = (state.pages - state.used) * self.page_size
        self.apply(Append(self.live(pick), self.tokens(max(1, rows - spare))))

    @rule(pick=PICK, beyond=st.integers(1, 9))
    def append_too_much(self, pick: int, beyond: int) -> None:
        state = self.run.state
        self.apply(Append(self.live(pick), self.tokens((state.pages - state.used + 1) * self.page_size + beyond)))

    @rule(pick=PICK, to=PICK, at=PICK)
    def fork(self, pick: int, to: int, at: int) -> None:
        source = self.live(pick)
        anywhere = self.run.target.capabilities.forks_anywhere
        self.apply(Fork(source, self.unused(to), self.position(source, at) if anywhere else self.length(source)))

    @rule(pick=PICK, to=PICK, writer=st.booleans())
    def fork_and_write_the_shared_page(self, pick: int, to: int, writer: bool) -> None:
        source, child = self.live(pick), self.unused(to)
        self.apply(Append(source, self.tokens(1)))
        self.apply(Fork(source, child, self.length(source)))
        if self.page_size > 1 and self.length(source) % self.page_size == 0:
            self.apply(Truncate(source, self.length(source) - 1))
        self.apply(Append(source if writer else child, self.tokens(1)))

    @rule(pick=PICK, keep_from=PICK)
    def trim(self, pick: int, keep_from: int) -> None:
        request = self.live(pick)
        self.apply(Trim(request, keep_from % (self.length(request) + 1)))

    @rule(pick=PICK)
    def trim_a_full_table_to_nothing(self, pick: int) -> None:
        request = self.live(pick)
        missing = -self.length(request) % self.page_size
        if missing:
            self.apply(Append(request, self.tokens(missing)))
        self.apply(Trim(request, self.length(request)))

    @rule(pick=PICK, length=PICK)
    def truncate(self, pick: int, length: int) -> None:
        request = self.live(pick)
        self.apply(Truncate(request, self.position(request, length)))

    @rule(pick=PICK)
    def release(self, pick: int) -> None:
        self.apply(Release(self.live(pick)))

    @rule(pick=PICK, lo=PICK, hi=PICK)
    def read(self, pick: int, lo: int, hi: int) -> None:
        request = self.live(pick)
        start = lo % (self.length(request) + 1)
        self.apply(Read(request, start, start + hi % (self.length(request) - start + 1)))

    @rule(
        kind=st.integers(0, 6),
        request=st.integers(0, IDS),
        to=st.integers(0, IDS),
        x=st.integers(-2, 30),
        y=st.integers(-2, 30),
    )
    def anything(self, kind: int, request: int, to: int, x: int, y: int) -> None:
        choices: Sequence[Operation] = (
            New(request, x),
            Append(request, self.tokens(max(0, x))),
            Fork(request, to, x),
            Trim(request, x),
            Truncate(request, x),
            Release(request) if x == y else Read(request, y, x),
            Read(request, x, y),
        )
        self.apply(choices[kind])

    def fail(self, failure: Failure) -> NoReturn:
        """Keep the failure, the latest being the most shrunk, and end the example."""
        self.tally.failure, self.tally.pages, self.tally.page_size = failure, self.pages, self.page_size
        raise BrokenRuleError(", ".join(sorted({difference.rule for difference in failure.differences})))

    def live(self, pick: int) -> int:
        """A live request, started and filled with a few rows when none lives."""
        if not self.run.state.requests:
            self.apply(New(pick % IDS, self.sinks(pick % 3)))
            self.apply(Append(pick % IDS, self.tokens(1 + pick % self.page_size)))
        live = sorted(self.run.state.requests)
        return live[pick % len(live)] if live else pick % IDS

    def sinks(self, pick: int) -> int:
        """So many sinks, none where the target has none."""
        return pick if self.run.target.capabilities.sinks else 0

    def unused(self, pick: int) -> int:
        """An id that is not live; a live one when all are."""
        free = [request for request in range(IDS) if request not in self.run.state.requests]
        return free[pick % len(free)] if free else pick % IDS

    def length(self, request: int) -> int:
        """Rows of the request, 0 when it is unknown."""
        found = self.run.state.requests.get(request)
        return len(found.rows) if found else 0

    def position(self, request: int, pick: int) -> int:
        """A row number at which the request can be forked or cut."""
        found = self.run.state.requests.get(request)
        if found is None:
            return 0
        first, stop = released(found, self.page_size)
        lower = first * self.page_size + 1 if stop else 0
        legal: list[int] = [*range(lower), *range(stop * self.page_size, len(found.rows) + 1)]
        return legal[pick % len(legal)]

    def tokens(self, k: int) -> tuple[int, ...]:
        """k tokens that no row has had."""
        first = self.token + 1
        self.token += k
        return tuple(range(first, first + k))

    def apply(self, operation: Operation) -> None:
        """Apply the operation on both sides, count it, and stop at a difference."""
        if not offers(self.run.target, operation, self.run.state):
            return
        raise_if_interrupted()
        before: State = self.run.state
        self.operations.append(operation)
        tally = self.tally
        tally.steps += 1
        if self.budget is not None and tally.steps > self.budget:
            raise StepsExhausted(f"more than {self.budget} operations")
        differences = self.run.apply(operation)
        if differences:
            self.fail(Failure(tuple(self.operations), differences))
        outcome = self.run.outcome
        assert outcome is not None
        tally.operations[type(operation).__name__] += 1
        tally.situations.update(reached(before, operation, outcome, self.run.state))
        if isinstance(outcome, Refused):
            tally.refusals[outcome.reason.value] += 1
            return
        started = operation.to if isinstance(operation, Fork) else operation.request
        if isinstance(operation, New | Fork) and started in self.ended:
            tally.situations[ID_USED_AGAIN] += 1
        if isinstance(operation, Release):
            self.ended.add(operation.request)


def search_at_random(
    target: Factory,
    examples: int,
    steps: int,
    shrinking: bool = True,
    budget: int | None = None,
    tally: Tally | None = None,
) -> Tally:
    """Run the machine and fill the tally, whose seed says which examples; without one they are the same every time.

    StepsExhausted past the budget of operations.
    """
    tally = tally or Tally()
    seed = tally.seed

    class Machine(CacheMachine):
        pass

    Machine.factory = staticmethod(target)
    Machine.tally, Machine.budget = tally, budget
    phases = (Phase.generate, Phase.shrink) if shrinking else (Phase.generate,)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=seed is None,
        database=None,
        deadline=None,
        phases=phases,
        # A loaded machine must never decide a verdict.
        suppress_health_check=[HealthCheck.too_slow],
        report_multiple_bugs=False,
        print_blob=False,
    )
    machine = Machine if seed is None else hypothesis.seed(seed)(Machine)
    # A target that does not do the same twice makes Hypothesis give up; what it broke before stands. Hypothesis prints the
    # failing example in its own words, and ours come from the tally.
    with (
        interrupt_at_checks(),
        no_constants_of_ours(),
        contextlib.suppress(BrokenRuleError),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        try:
            run_state_machine_as_test(machine, settings=chosen)
        except hypothesis.errors.HypothesisException:
            if tally.failure is None:
                raise
    return tally
