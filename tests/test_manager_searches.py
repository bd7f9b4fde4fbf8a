"""Each search over managers is given planted faults and must find them; what is known never hides what is not."""

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from spec.groups import Group
from spec.manager import State, Traits, initial, step
from spec.operations import (
    Accepted,
    Admit,
    Append,
    Commit,
    Fork,
    ManagerOperation,
    Outcome,
    Release,
    Truncate,
)
from tests.planted_managers import FAULTS, Fault, HeadFirst, KeepsOneCopy, LeaksOnRelease, Planted
from verify.managers.alphabet import alphabet
from verify.managers.bounds import SCOPES, ManagerScope, committing
from verify.managers.canonical import canonical_key
from verify.managers.configuration import Configuration, from_json, to_json
from verify.managers.facts import facts_of
from verify.managers.findings import describe_failure
from verify.managers.lockstep import replay
from verify.managers.show import report_text
from verify.managers.target import Offer, offers
from verify.managers.values import values
from verify.managers.walks import ManagerTally, search_at_random, walk
from verify.managers.witness import ManagerWitness
from verify.managers.witness import from_json as witness_from_json
from verify.managers.witness import to_json as witness_to_json
from verify.managers.world import ManagerSearch
from verify.refinement import Difference
from verify.targets.prefix import PrefixManager

FULL = Group("full")
FAULTY = committing(8, 2, FULL, Group("window", 5))
THREES = committing(8, 3, FULL, Group("window", 5))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.target.__name__)
def test_a_walk_finds_a_planted_fault_by_its_rule(fault: Fault) -> None:
    traits = THREES if fault.rule == "PT-LEN" else FAULTY
    tally = search_at_random(fault.target, traits, 1, 100)
    assert tally.failure is not None
    assert fault.rule in {difference.rule for difference in tally.failure.differences}
    assert len(tally.failure.operations) <= 8


@pytest.mark.parametrize("kind", [HeadFirst, LeaksOnRelease])
def test_the_exhaustive_search_finds_a_planted_fault_with_a_shortest_witness(kind: type[Planted]) -> None:
    rule = next(fault.rule for fault in FAULTS if fault.target is kind)
    found = ManagerSearch(SCOPES[0], kind).run()
    assert not found.complete
    assert rule in found.broken()
    assert min(len(failure.operations) for failure in found.failures) <= 3


def test_the_search_gives_the_same_counts_over_processes_as_in_one() -> None:
    scope = SCOPES[3]
    found = ManagerSearch(scope, PrefixManager, workers=2).run()
    assert found.complete
    assert (found.states, found.transitions) == (scope.states, scope.transitions)


class OffersNothing(PrefixManager):
    """A manager that offers nothing."""

    offer = Offer("nothing", frozenset())


class OffersNoForks(PrefixManager):
    """A manager without forks."""

    offer = Offer("no forks", frozenset({Admit, Append, Commit, Truncate, Release}), ("counts",))

    def apply(self, operation: ManagerOperation) -> Outcome:
        assert not isinstance(operation, Fork)
        return super().apply(operation)


def test_a_search_that_reaches_nothing_does_not_pass() -> None:
    tally = search_at_random(OffersNothing, FAULTY, 1, 3)
    assert (tally.steps, tally.failure) == (0, None)
    assert tally.never_met() != {}
    found = ManagerSearch(SCOPES[0], OffersNothing).run()
    assert (found.transitions, found.complete) == (0, False)


def test_what_is_not_offered_is_never_asked_for_and_is_named() -> None:
    tally = search_at_random(OffersNoForks, FAULTY, 1, 20)
    assert tally.not_offered == ("Fork",)
    assert "Fork" not in tally.operations
    assert "fork of a trimmed request" not in tally.able
    assert not_forked(ManagerSearch(SCOPES[4], OffersNoForks).run().situations)


def not_forked(situations: Sequence[str] | dict[str, int]) -> bool:
    """Whether no situation is of a fork."""
    return not any("fork" in name for name in situations)


def test_a_tally_can_be_walked_on() -> None:
    whole = search_at_random(PrefixManager, FAULTY, 4, 6)
    parts = ManagerTally(FAULTY, 4)
    for walks in (2, 6):
        search_at_random(PrefixManager, FAULTY, 4, walks, tally=parts)
    assert (parts.walks, parts.operations, parts.situations) == (6, whole.operations, whole.situations)


def test_a_walk_is_the_same_every_time_and_written_without_the_manager() -> None:
    offer = PrefixManager.offer
    first, again = (walk(FAULTY, offer, 7, 3)[0] for _ in range(2))
    assert first == again
    assert first != walk(FAULTY, offer, 7, 4)[0]
    assert first != walk(FAULTY, offer, 8, 3)[0]
    run = replay([step.operation for step in first], FAULTY, PrefixManager)
    assert run.differences == ()
    assert run.after == first[-1].after


def test_operations_to_avoid_are_left_out_and_counted() -> None:
    def releases(state: State, operation: ManagerOperation, outcome: Outcome) -> bool:
        return isinstance(operation, Release) and isinstance(outcome, Accepted)

    tally = search_at_random(LeaksOnRelease, FAULTY, 1, 20, avoid=releases)
    assert tally.failure is None
    assert tally.avoided > 20


class TwoFaults(KeepsOneCopy):
    """Publishes no copies, and loses a page of a release."""

    def apply(self, operation: ManagerOperation) -> Outcome:
        shared = self.cache.shared
        before = len(shared.blank)
        outcome = super().apply(operation)
        if isinstance(operation, Release) and len(shared.blank) > before:
            shared.blank.pop()
        return outcome


def one_copy(
    differences: Sequence[Difference], state: State, operation: ManagerOperation, outcome: Outcome
) -> str | None:
    """The known deviation of a manager that publishes no copies."""
    known = {d.rule for d in differences} == {"PRE-PUBLISH"} and isinstance(operation, Commit)
    return "no copies" if known else None


def test_a_known_deviation_is_counted_and_does_not_end_the_search() -> None:
    tally = search_at_random(KeepsOneCopy, FAULTY, 1, 60, known=one_copy)
    assert tally.failure is None
    assert tally.known["no copies"] > 20
    assert tally.walks == 60


def test_a_known_deviation_hides_no_unknown_one() -> None:
    tally = search_at_random(TwoFaults, FAULTY, 1, 60, known=one_copy)
    assert tally.failure is not None
    assert tally.known["no copies"] >= 0
    assert "PT-LEAK" in {difference.rule for difference in tally.failure.differences}
    assert isinstance(tally.failure.operations[-1], Release)


def test_an_unknown_deviation_is_never_shrunk_into_a_known_one() -> None:
    def unless_short(
        differences: Sequence[Difference], state: State, operation: ManagerOperation, outcome: Outcome
    ) -> str | None:
        return "with one request" if len(state.requests) < 2 else None

    tally = search_at_random(LeaksOnRelease, FAULTY, 1, 60, known=unless_short)
    assert tally.failure is not None
    run = replay(tally.failure.operations, FAULTY, LeaksOnRelease)
    assert len(run.before.requests) == 2
    assert len(tally.failure.operations) == 3


def test_a_failure_is_shrunk_to_few_short_operations() -> None:
    tally = search_at_random(LeaksOnRelease, FAULTY, 1, 60)
    assert tally.failure is not None
    admit, release = tally.failure.operations
    assert isinstance(admit, Admit)
    assert len(admit.tokens) == 1
    assert release == Release(admit.request)


def test_a_failure_is_described_and_saved_as_a_witness_that_replays(tmp_path: Path) -> None:
    tally = search_at_random(HeadFirst, FAULTY, 1, 60)
    assert tally.failure is not None
    configuration = Configuration("full and window 5", FAULTY)
    report = describe_failure(tally.failure, configuration, HeadFirst, tmp_path)
    text = report_text(report)
    assert "PRE-EVICT" in text
    assert "release(" in text
    assert "full and window 5: 8 pages of 2 rows; groups: full, window 5" in text
    (file,) = tmp_path.iterdir()
    assert report.witness == str(file)
    saved = witness_from_json(json.loads(file.read_text()))
    assert saved == ManagerWitness(configuration, tally.failure.operations, ("PRE-EVICT",))
    assert replay(saved.operations, saved.configuration.traits, HeadFirst).differences == tally.failure.differences
    healthy = describe_failure(tally.failure, configuration, PrefixManager, None)
    assert "not every time" in healthy.title


CONFIGURATION = Configuration("some", Traits(4, 2, (Group("window", 3, 1), FULL), recycles=True), ("admit", "append"))


def test_a_configuration_travels_as_json() -> None:
    assert from_json(json.loads(json.dumps(to_json(CONFIGURATION)))) == CONFIGURATION
    assert from_json({"pages": 4, "page_size": 2, "groups": [{"kind": "full"}]}).traits == Traits(4, 2, (FULL,))


@pytest.mark.parametrize(
    "change",
    [
        {"groups": [{"kind": "ring"}]},
        {"groups": [{"kind": "full", "width": 2}]},
        {"groups": []},
        {"groups": 3},
        {"pages": None},
        {"colour": 1},
        {"operations": "admit"},
        {"trims": "never"},
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json({**to_json(CONFIGURATION), **change})


GOOD_WITNESS = witness_to_json(
    ManagerWitness(CONFIGURATION, (Admit(0, (1, 255)), Commit(0), Fork(0, 1, 1)), ("PT-OWN",))
)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"kvproof": "witness"},
        {"operations": [{"op": "new", "request": 0}]},
        {"operations": [{"op": "admit", "request": 0, "tokens": [256]}]},
        {"operations": [{"op": "commit"}]},
        {"configuration": {}},
    ],
)
def test_a_malformed_witness_is_refused(change: dict[str, object]) -> None:
    assert witness_from_json(GOOD_WITNESS).operations[-1] == Fork(0, 1, 1)
    with pytest.raises(ValueError, match=r"."):
        witness_from_json({**GOOD_WITNESS, **change})


def test_facts_are_the_oracles() -> None:
    traits = committing(8, 2, FULL, Group("window", 3))
    tokens = (1, 2, 3, 4, 5)
    state, _ = step(initial(traits), Admit(0, tokens))
    before, _ = step(state, Commit(0))
    operation = Admit(1, (*tokens[:4], 9))
    after, outcome = step(before, operation)
    told = values(tokens)
    facts = facts_of(before, after, outcome)
    assert (facts.outcome, facts.served, facts.available, facts.published) == ("accepted", 4, 1, 4)
    assert facts.length == {0: 5, 1: 5}
    assert facts.held == {0: ((True,) * 3, (False, True, True)), 1: ((True,) * 3, (False, True, True))}
    whole, window = facts.rows[0]
    assert whole == tuple(enumerate(told))
    assert window == ((3, told[3]), (4, told[4]))
    assert facts.rows[1] == (tuple(enumerate(told[:4])), ((2, told[2]), (3, told[3])))
    refused = facts_of(after, *step(after, Append(0, (1,) * 9)))
    assert (refused.outcome, refused.served) == ("OutOfPages", None)


def test_keys_are_equal_under_renaming_and_tell_the_order_of_reuse_apart() -> None:
    traits = committing(6, 1, FULL)

    def key(*operations: ManagerOperation) -> object:
        state = initial(traits)
        for operation in operations:
            state, outcome = step(state, operation)
            assert isinstance(outcome, Accepted)
        return canonical_key(state)

    def two(first: int, second: int, *ends: int) -> object:
        started = (Admit(first, (0, 0)), Admit(second, (0, 1)), Commit(first), Commit(second))
        return key(*started, *map(Release, ends))

    assert two(0, 1) == two(1, 0)
    assert two(0, 1, 0) == two(1, 0, 1)
    assert two(0, 1, 0, 1) != two(0, 1, 1, 0)
    assert two(0, 1) != key(Admit(0, (0, 0)), Commit(0), Admit(1, (0, 1)), Commit(1))
    assert key(Admit(0, (0,)), Fork(0, 1, 0)) == key(Admit(1, (0,)), Fork(1, 0, 0))


@pytest.mark.parametrize("scope", [SCOPES[0], SCOPES[4]], ids=str)
def test_a_second_counter_written_apart_counts_the_same_states(scope: ManagerScope) -> None:
    states, transitions = counted(scope)
    assert (states, transitions) == (scope.states, scope.transitions)


def counted(scope: ManagerScope) -> tuple[int, int]:
    """States and transitions of the oracle alone, with another key: the least of the names of every order of requests."""
    start = initial(scope.traits)
    seen, frontier, transitions = {plain_key(start)}, [start], 0
    while frontier:
        state = frontier.pop()
        for operation in alphabet(state, scope, 0):
            if not offers(Offer("all"), scope.traits, operation):
                continue
            transitions += 1
            after, _ = step(state, operation)
            if (key := plain_key(after)) not in seen:
                seen.add(key)
                frontier.append(after)
    return len(seen), transitions


def plain_key(state: State) -> str:
    """The state in words, of every order of its requests the one that comes first."""
    told = []
    for order in permutations(state.requests.values()):
        names: dict[int | None, str] = {None: "-"}
        words = []
        for request in order:
            entries = [names.setdefault(cell, str(len(names))) for table in request.tables for cell in table]
            words.append(f"{request.tokens} {request.written} {request.low} {entries}")
        idle = [names.setdefault(cell, str(len(names))) for cell in state.idle]
        index = sorted(f"{key}: {[names[cell] for cell in cells]}" for key, cells in state.index.cells.items())
        told.append(f"{words} {idle} {index}")
    return min(told)
