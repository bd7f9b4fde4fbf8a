"""Random search over hosts: a Hypothesis state machine, both hosts and the definition in lockstep, poison now and then.

Rules succeed by construction: a drawn number picks among what is legal now; one rule apart tries illegal arguments.
"""

import contextlib
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from impl.interrupts import interrupt_at_checks, raise_if_interrupted
from verify.host.lockstep import SHIPPED, HostLockstep, Parts
from verify.host.operations import Admit, Advance, End, ForkRequest, HostOperation, Rollback
from verify.host.oracle import cut_refusal, lacks_pages
from verify.host.poison import PATTERNS, overwrite
from verify.host.situations import History
from verify.hypothesis_profile import no_constants_of_ours
from verify.refinement import Difference

IDS = 6
"""Request ids in play, live or not."""

MODELS = ("random-1-16", "structured-16")
TOKENS = 16

PICK = st.integers(0, 2**16)
TOKEN = st.integers(0, TOKENS - 1)
NO_OR_A_TOKEN = st.one_of(st.none(), TOKEN)
PROMPT = st.builds(
    lambda pick, rows: tuple((pick // 3**row + row * row) % TOKENS for row in range(rows)), PICK, st.integers(1, 12)
)


@dataclass(frozen=True, slots=True)
class HostFailure:
    """The operations of a failing example, the last one with these differences, and where it ran."""

    setting: str
    operations: tuple[HostOperation | str, ...]
    differences: tuple[Difference, ...]


@dataclass(slots=True)
class HostTally:
    """What a random search over hosts did; its failure, if any, is the most shrunk."""

    examples: int = 0
    steps: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    situations: Counter[str] = field(default_factory=Counter)
    failure: HostFailure | None = None


class BrokenHostError(AssertionError):
    """A host broke a rule; the tally has the failure."""


class HostMachine(RuleBasedStateMachine):
    """One example: hosts over a small pool and a run of operations on them."""

    tally: HostTally
    parts: Parts

    run: HostLockstep
    setting: str
    operations: list[HostOperation | str]
    history: History

    @initialize(model=st.sampled_from(MODELS), pages=st.integers(3, 14), page_size=st.integers(1, 4), pad=TOKEN)
    def start(self, model: str, pages: int, page_size: int, pad: int) -> None:
        self.setting = f"{model}, {pages} pages of {page_size} rows, pad token {pad}"
        self.run = HostLockstep(model, pages, page_size, pad, self.parts)
        self.operations = []
        self.history = History()
        self.tally.examples += 1

    @rule(
        pick=PICK,
        prompt=PROMPT,
        window=st.one_of(st.none(), st.integers(1, 8)),
        sinks=st.integers(0, 4),
        margin=st.integers(0, 5),
        chunk=st.sampled_from((1, 2, 3, 12, 12)),
    )
    def admit(
        self, pick: int, prompt: tuple[int, ...], window: int | None, sinks: int, margin: int, chunk: int
    ) -> None:
        request = self.unused(pick)
        self.apply(Admit(request, prompt, window, sinks % (window or 5), margin, chunk))
        self.apply(Advance(request))

    @rule(
        pick=PICK,
        window=st.sampled_from((1, 1, 2, 3, 4, 5)),
        sinks=st.sampled_from((0, 0, 1, 2, 3)),
        margin=st.integers(0, 4),
    )
    def admit_and_advance_until_trimmed(self, pick: int, window: int, sinks: int, margin: int) -> None:
        request = self.unused(pick)
        self.apply(Admit(request, (pick % TOKENS, 3, 9), window + sinks, sinks, margin, 1 + pick % 3))
        for _ in range(window + sinks + margin + self.run.state.cache.page_size + 2):
            if not lacks_pages(self.run.state, request):
                self.apply(Advance(request))
        self.refused_cuts(request, self.unused(pick + 1), None)

    @rule(pick=PICK, window=st.integers(1, 5), beyond=st.integers(1, 3))
    def admit_a_chunk_that_does_not_fit(self, pick: int, window: int, beyond: int) -> None:
        request, cache = self.unused(pick), self.run.state.cache
        rows = (cache.pages - cache.used) * cache.page_size + beyond
        self.apply(Admit(request, tuple(token % TOKENS for token in range(rows)), window, chunk=rows))
        self.apply(Advance(request))

    @rule(
        pick=PICK,
        prompt=PROMPT,
        window=st.one_of(st.none(), st.integers(1, 8)),
        sinks=st.integers(0, 4),
        margin=st.integers(0, 3),
        chunk=st.integers(1, 5),
    )
    def admit_expecting_less_and_less(
        self, pick: int, prompt: tuple[int, ...], window: int | None, sinks: int, margin: int, chunk: int
    ) -> None:
        request = self.unused(pick)
        for more in (30, 9, 4, 2, 0):
            if request not in self.run.state.requests:
                expected = len(prompt) + more
                self.apply(Admit(request, prompt, window, sinks % (window or 5), margin, chunk, expected))

    @rule(pick=PICK, times=st.integers(1, 5))
    def advance(self, pick: int, times: int) -> None:
        for _ in range(times):
            self.apply(Advance(self.able(pick)))

    @rule(rounds=st.integers(1, 3))
    def advance_each_in_turn(self, rounds: int) -> None:
        for _ in range(rounds):
            for request in sorted(self.run.state.requests):
                if not lacks_pages(self.run.state, request):
                    self.apply(Advance(request))

    @rule(pick=PICK, beyond=st.booleans())
    def advance_until_refused_and_try_again_with_room(self, pick: int, beyond: bool) -> None:
        request = self.able(pick)
        for _ in range(20):
            if lacks_pages(self.run.state, request):
                break
            self.apply(Advance(request))
        self.apply(Advance(request))
        if beyond:
            for other in sorted(self.run.state.requests):
                if lacks_pages(self.run.state, request) and other != request:
                    self.apply(End(other))
            self.apply(Advance(request))

    @rule(pick=PICK, to=PICK, at=PICK, token=NO_OR_A_TOKEN)
    def fork(self, pick: int, to: int, at: int, token: int | None) -> None:
        child, source = self.unused(to), self.live(pick)
        self.apply(ForkRequest(source, child, self.legal_cut(source, at), token))
        for _ in range(3):
            if child in self.run.state.requests and not lacks_pages(self.run.state, child):
                self.apply(Advance(child))
        if child in self.run.state.requests:
            self.apply(Rollback(child, self.legal_cut(child, to)))

    @rule(pick=PICK, to=PICK, token=NO_OR_A_TOKEN, padded=st.integers(0, 2), child_first=st.booleans())
    def fork_now_and_advance_both(self, pick: int, to: int, token: int | None, padded: bool, child_first: bool) -> None:
        child, source = self.unused(to), self.able(pick)
        self.apply(Advance(source))
        self.apply(ForkRequest(source, child, None, token, padded))
        for request in (child, source) if child_first else (source, child):
            self.apply(Advance(request))

    @rule(pick=PICK, window=st.one_of(st.none(), st.integers(1, 6)), chunk=st.integers(1, 3), padded=st.booleans())
    def fork_in_the_prompt_and_advance_both(self, pick: int, window: int | None, chunk: int, padded: bool) -> None:
        source = self.unused(pick)
        self.apply(Admit(source, (7, 1, 12, 4, 9, 2, 14), window, chunk=chunk))
        self.apply(Advance(source))
        child = self.unused(pick + 1)
        if source in self.run.state.requests:
            self.apply(ForkRequest(source, child, padded=padded))
            self.apply(Advance(child))
            self.apply(Advance(source))

    @rule(pick=PICK, rows=PICK, token=NO_OR_A_TOKEN)
    def rollback(self, pick: int, rows: int, token: int | None) -> None:
        request = self.live(pick)
        self.apply(Rollback(request, self.legal_cut(request, rows), token))

    @rule(pick=PICK, token=NO_OR_A_TOKEN, times=st.integers(1, 4))
    def advance_and_roll_back(self, pick: int, token: int | None, times: int) -> None:
        request = self.able(pick)
        for _ in range(times):
            if not lacks_pages(self.run.state, request):
                self.apply(Advance(request))
        self.apply(Rollback(request, self.legal_cut(request, -1), token))
        self.apply(Rollback(request, self.legal_cut(request, -2), token))

    @rule(pick=PICK, token=NO_OR_A_TOKEN, to=PICK)
    def cut_where_rows_are_gone(self, pick: int, token: int | None, to: int) -> None:
        child, request = self.unused(to), self.live(pick)
        self.refused_cuts(request, child, token)

    @rule(pick=PICK)
    def end(self, pick: int) -> None:
        self.apply(End(self.live(pick)))

    @rule(pattern=st.sampled_from(sorted(PATTERNS)))
    def poison(self, pattern: str) -> None:
        self.operations.append(f"poison({pattern})")
        self.tally.operations["poison"] += 1
        self.history.poisoned = True
        overwrite(self.run, pattern)

    @rule(
        kind=st.integers(0, 6),
        request=st.integers(0, IDS),
        to=st.integers(0, IDS),
        x=st.integers(-2, 20),
        y=st.integers(-2, 20),
    )
    def anything(self, kind: int, request: int, to: int, x: int, y: int) -> None:
        choices: Sequence[HostOperation] = (
            Admit(self.unused(request), (1,) * max(0, y), x, to, x, to, x),
            Admit(self.unused(request), (x, 3), None, max(0, y), to, 1 + to),
            Admit(self.unused(request), (to, 3), 4, 1, *((min(x, 0), 2) if y % 2 else (2, min(x, 1)))),
            ForkRequest(request, to, x, y if x % 2 else None),
            ForkRequest(request, to, None if x % 2 else x, y, padded=True),
            Rollback(request, x, y),
            Advance(request) if x > 0 else End(request),
        )
        self.apply(choices[kind])

    def live(self, pick: int) -> int:
        """A live request, started and advanced a little when none lives."""
        if not self.run.state.requests:
            request = pick % IDS
            self.apply(Admit(request, tuple(pick * k % TOKENS for k in range(1, 4)), 2 + pick % 2, chunk=1 + pick % 3))
            self.apply(Advance(request))
        live = sorted(self.run.state.requests)
        return live[pick % len(live)]

    def able(self, pick: int) -> int:
        """A live request whose next step finds its pages; others are ended to make room."""
        while True:
            first = self.live(pick)
            able = [request for request in sorted(self.run.state.requests) if not lacks_pages(self.run.state, request)]
            if able:
                return able[pick % len(able)]
            self.apply(End(first))

    def unused(self, pick: int) -> int:
        """An id that is not live; a request is ended when all are."""
        free = [request for request in range(IDS) if request not in self.run.state.requests]
        if free:
            return free[pick % len(free)]
        self.apply(End(pick % IDS))
        return pick % IDS

    def rows(self, request: int) -> int:
        """Rows of the request, 0 when it is unknown."""
        return self.run.state.rows(request) if request in self.run.state.requests else 0

    def legal_cut(self, request: int, pick: int) -> int:
        """A number of rows at which the request can be forked or cut."""
        state = self.run.state
        legal = [rows for rows in range(self.rows(request) + 1) if cut_refusal(state, request, rows) is None]
        return legal[pick % len(legal)]

    def refused_cuts(self, request: int, child: int, token: int | None) -> None:
        """Try to cut the request, if it is live, at the last rows where rows are gone that its next step would read."""
        state = self.run.state
        for rows in [at for at in range(self.rows(request)) if cut_refusal(state, request, at) is not None][-3:]:
            self.apply(Rollback(request, rows, token))
            self.apply(ForkRequest(request, child, rows, token))

    def apply(self, operation: HostOperation) -> None:
        """Apply the operation on all sides, count it, and stop at a difference."""
        raise_if_interrupted()
        before, tally = self.run.state, self.tally
        self.operations.append(operation)
        tally.steps += 1
        differences = self.run.apply(operation)
        if differences:
            tally.failure = HostFailure(self.setting, tuple(self.operations), tuple(differences))
            raise BrokenHostError(", ".join(sorted({difference.rule for difference in differences})))
        tally.operations[type(operation).__name__] += 1
        tally.situations.update(self.history.reached(before, operation, self.run.expected, self.run.state))
        if self.run.expected.refusal:
            tally.refusals[self.run.expected.refusal] += 1


def search_hosts_at_random(examples: int, steps: int, parts: Parts = SHIPPED, shrinking: bool = True) -> HostTally:
    """Run the machine, the same examples every time."""
    tally = HostTally()

    class Machine(HostMachine):
        pass

    Machine.tally, Machine.parts = tally, parts
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink) if shrinking else (Phase.generate,),
        # A loaded machine must never decide a verdict.
        suppress_health_check=[HealthCheck.too_slow],
        report_multiple_bugs=False,
        print_blob=False,
    )
    # Hypothesis prints the failing example in its own words, and ours come from the tally.
    with (
        interrupt_at_checks(),
        no_constants_of_ours(),
        contextlib.suppress(BrokenHostError),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        run_state_machine_as_test(Machine, settings=chosen)
    return tally
