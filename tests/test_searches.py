"""Each search is given planted faults and must find them, and none where there is none."""

from pathlib import Path

import pytest

from spec.operations import Append, Fork, New, Operation, Outcome, Read, Release, Trim, Truncate
from tests.planted import Corrupt, DependsOnIds, Leaking, Overwriting, Raising, StaleSlots, Uncounted
from verify.bounds import Scope
from verify.explore import FORK_FROM, Search, StepsExhausted
from verify.findings import describe_failure, shrunk
from verify.induction import induction
from verify.lockstep import replay
from verify.machines import search_at_random
from verify.show import failure_text
from verify.situations import possible
from verify.summary import situation_lines
from verify.target import ALL_OPERATIONS, Capabilities
from verify.targets.shipped import ShippedCache
from verify.witness_files import load

TINY = Scope(2, 2, 2, 3, sinks=1)
FAULTS = [
    (Leaking, "PT-LEAK"),
    (Uncounted, "PT-OWN"),
    (Overwriting, "PT-ROWS"),
    (Raising, "PT-TOTAL"),
    (Corrupt, "PT-FREE"),
]


@pytest.mark.parametrize(("target", "rule"), FAULTS)
def test_the_exhaustive_search_finds_a_planted_fault_by_its_rule(target: type[ShippedCache], rule: str) -> None:
    found = Search(TINY, target).run()
    assert not found.complete
    assert rule in found.broken()


@pytest.mark.parametrize(("target", "rule"), FAULTS)
def test_the_random_search_finds_a_planted_fault_by_its_rule(target: type[ShippedCache], rule: str) -> None:
    tally = search_at_random(target, 60, 40, shrinking=False)
    assert tally.failure is not None
    assert rule in {difference.rule for difference in tally.failure.differences}


@pytest.mark.parametrize(("target", "rule"), FAULTS)
def test_the_enumeration_of_all_small_states_finds_a_planted_fault_by_its_rule(
    target: type[ShippedCache], rule: str
) -> None:
    assert rule in induction(Scope(2, 2, 2, 3, sinks=0), target.planted).broken


def test_the_witness_of_the_exhaustive_search_is_a_shortest_one() -> None:
    found = Search(TINY, Leaking).run()
    assert min(len(failure.operations) for failure in found.failures) == 3
    kinds = {tuple(type(operation) for operation in failure.operations) for failure in found.failures}
    assert kinds == {(New, Append, Release)}


def test_every_failure_found_at_one_depth_is_reported() -> None:
    found = Search(TINY, Raising).run()
    assert set(found.broken()) == {"PT-TOTAL", "UnknownRequest"}


def test_a_fault_that_depends_on_a_page_id_is_found() -> None:
    assert "PT-FREE" in Search(Scope(3, 2, 2, 4, raw_ids=True, sinks=0), DependsOnIds).run().broken()


def test_a_fault_that_needs_a_stale_page_is_found() -> None:
    assert "PT-ROWS" in Search(Scope(3, 2, 2, 4, sinks=0), StaleSlots).run().broken()


def test_the_search_gives_the_same_counts_over_processes_as_in_one() -> None:
    scope = Scope(3, 1, 2, 3)
    alone, spread = Search(scope, ShippedCache).run(), Search(scope, ShippedCache, workers=3).run()
    assert alone.complete
    assert spread.complete
    assert (alone.states, alone.transitions, alone.refused) == (spread.states, spread.transitions, spread.refused)
    assert alone.situations == spread.situations


def test_a_fault_is_found_over_processes_with_the_same_rules() -> None:
    scope = Scope(3, 2, 2, 4, sinks=0)
    alone, spread = Search(scope, StaleSlots).run(), Search(scope, StaleSlots, workers=2).run()
    assert set(alone.broken()) == set(spread.broken())
    assert alone.failures[0].operations == spread.failures[0].operations


def test_a_budget_of_steps_ends_the_search() -> None:
    with pytest.raises(StepsExhausted):
        Search(TINY, ShippedCache, budget=100).run()
    with pytest.raises(StepsExhausted):
        search_at_random(ShippedCache, 10, 50, budget=20)


def test_a_budget_is_that_of_all_processes_together() -> None:
    spread = Search(Scope(3, 2, 2, 4, sinks=0), ShippedCache, workers=2)
    frontier = spread.start()
    while len(frontier) < FORK_FROM:
        frontier = spread.deepen(frontier)
    before = spread.found.transitions
    spread.deepen(frontier)
    spread.found.transitions, spread.budget = before, spread.found.transitions - 1
    with pytest.raises(StepsExhausted):
        spread.deepen(frontier)


def test_a_failure_is_told_although_the_budget_runs_out_behind_it() -> None:
    whole = Search(TINY, Leaking).run()
    found = Search(TINY, Leaking, budget=whole.transitions - 1).run()
    assert not found.complete
    assert "PT-LEAK" in found.broken()


class WithoutForks(ShippedCache):
    """A cache that offers no fork."""

    capabilities = Capabilities("no forks", frozenset({New, Append, Trim, Truncate, Release, Read}))

    def apply(self, operation: Operation) -> Outcome:
        assert not isinstance(operation, Fork)
        return super().apply(operation)


def test_an_operation_that_is_not_offered_is_never_asked_for_and_is_named() -> None:
    found = Search(TINY, WithoutForks).run()
    assert found.complete
    assert found.transitions > 5_000
    assert found.depth > 5
    assert found.not_offered == ("Fork",)
    assert search_at_random(WithoutForks, 20, 30).not_offered == ("Fork",)


class WithoutAnything(ShippedCache):
    """A cache that offers nothing."""

    capabilities = Capabilities("nothing", frozenset())


def test_a_search_that_could_try_nothing_is_not_complete() -> None:
    found = Search(TINY, WithoutAnything).run()
    assert (found.transitions, found.complete, found.failures) == (0, False, [])


def test_a_found_failure_is_shrunk_described_and_saved_as_a_witness_that_replays(tmp_path: Path) -> None:
    tally = search_at_random(Leaking, 60, 40, shrinking=False)
    assert tally.failure is not None
    small = shrunk(tally.failure.operations, tally.pages, tally.page_size, Leaking)
    assert [type(operation) for operation in small] == [New, Append, Release]
    differences = replay(small, tally.pages, tally.page_size, Leaking).differences
    report = describe_failure(small, differences, tally.pages, tally.page_size, Leaking, folder=tmp_path)
    text = failure_text(report)
    assert report.witness is not None
    witness = load(Path(report.witness))
    assert replay(witness.operations, witness.pages, witness.page_size, Leaking).differences == differences
    assert "append(" in text
    assert "PT-LEAK" in text


def test_a_place_that_cannot_be_written_costs_the_witness_and_not_the_report(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file where a folder should be")
    operations = (New(0), Append(0, (1,)), Release(0))
    differences = replay(operations, 2, 2, Leaking).differences
    report = describe_failure(operations, differences, 2, 2, Leaking, folder=tmp_path / "reports")
    assert report.witness is None
    assert "cannot be written" in report.title
    assert "PT-LEAK" in failure_text(report)


def test_only_what_a_target_can_come_into_is_said_to_be_missed() -> None:
    able = possible(Capabilities("no fork, no trim", ALL_OPERATIONS - {Fork, Trim}))
    assert situation_lines({"full pool": 2}, able)[-1] == "  never met: refused k-row append, id used again"
