"""A page table in C behind the pipe: the healthy one reaches what our own reaches, and every planted fault is found."""

import resource
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.c_target.build import build
from verify.bounds import SINKS, SMALL, WIDE, Scope
from verify.explore import Exploration, Search
from verify.findings import shortest, shrunk
from verify.lockstep import replay
from verify.machines import search_at_random
from verify.remote.choice import Choice, TargetOptions, chosen

SCOPE = Scope(3, 2, 2, 4, sinks=0)
LEAST_RATE = 5_000
"""Transitions a second of CPU time, of both processes: a loaded machine does not decide."""

Start = Callable[..., Choice]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs are built."""
    return tmp_path_factory.mktemp("c")


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Builds and starts a variant; its processes end with the test."""
    with ExitStack() as running:

        def started(fault: str | None = None, seconds: float | None = None, workers: int = 1) -> Choice:
            program = build(folder, fault)
            return running.enter_context(chosen(TargetOptions(target=f"stdio:{program}", seconds=seconds), workers))

        yield started


def cpu_seconds() -> float:
    """CPU time of this process and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def test_the_healthy_one_reaches_the_pinned_states_of_our_own_fast_enough(folder: Path) -> None:
    begun = cpu_seconds()
    with chosen(TargetOptions(target=f"stdio:{build(folder)}")) as choice:
        found = Search(SINKS, choice.factory).run()
    assert found.complete
    assert (found.states, found.transitions) == (SINKS.states, SINKS.transitions)
    assert found.transitions / (cpu_seconds() - begun) > LEAST_RATE


def test_over_processes_it_reaches_the_pinned_states_too(start: Start) -> None:
    scope = SMALL[1]
    found = Search(scope, start(workers=2).factory, workers=2).run()
    assert found.complete
    assert (found.states, found.transitions) == (scope.states, scope.transitions)


def test_random_operations_on_larger_pools_find_nothing_in_it(start: Start) -> None:
    assert search_at_random(start().factory, 30, 40).failure is None


FAULTS = {
    "LEAK": "PT-LEAK",
    "FORK_UNCOUNTED": "PT-OWN",
    "COPY_FORGOTTEN": "PT-ROWS",
    "COPY_KEEPS_STALE": "PT-ROWS",
    "TRIM_OFF_BY_ONE": "PT-HOLE",
    "EXHAUSTION_UNREPORTED": "OutOfPages",
    "ABORTS": "PT-TOTAL",
    "GARBAGE": "PT-TOTAL",
    "FLOODS": "PT-TOTAL",
    "ENDLESS": "PT-TOTAL",
}
SAID = {
    "ABORTS": "its process ended by SIGABRT",
    "GARBAGE": "is no line of JSON",
    "FLOODS": "a line of more than",
    "ENDLESS": "no reply in 0.3 s of CPU time",
}
"""What is said of a process that is lost."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_with_a_witness_that_shows_it_again(fault: str, start: Start) -> None:
    choice = start(fault, seconds=0.3 if fault == "ENDLESS" else None)
    found = Search(SCOPE, choice.factory).run()
    rule = FAULTS[fault]
    assert rule in found.broken()
    assert SAID.get(fault, "") in found.broken()[rule].target
    assert len(shortest(found, choice.factory).operations) == found.depth
    for failure in found.failures[:5]:
        again = replay(failure.operations, SCOPE.pages, SCOPE.page_size, choice.factory)
        assert {difference.rule for difference in again.differences} == {item.rule for item in failure.differences}
        assert len(again.applied) == len(failure.operations)


@pytest.mark.parametrize("fault", ["ABORTS", "COPY_KEEPS_STALE"])
def test_workers_find_what_one_process_finds(fault: str, start: Start) -> None:
    def broken(workers: int) -> Exploration:
        return Search(WIDE[0], start(fault, workers=workers).factory, workers=workers).run()

    alone, spread = broken(1), broken(2)
    assert set(alone.broken()) == set(spread.broken())
    assert alone.depth == spread.depth


def test_a_child_that_waits_for_ever_is_given_up(start: Start) -> None:
    choice = start("SLEEPS", seconds=0.03)
    found = Search(SCOPE, choice.factory).run()
    assert "most of them spent waiting" in found.broken()["PT-TOTAL"].target


def test_what_a_random_search_finds_is_made_smaller_by_our_own_shrinker(start: Start) -> None:
    choice = start("COPY_FORGOTTEN")
    tally = search_at_random(choice.factory, 60, 40, shrinking=False)
    assert tally.failure is not None
    small = shrunk(tally.failure.operations, tally.pages, tally.page_size, choice.factory)
    assert len(small) <= 6 < len(tally.failure.operations)
    assert replay(small, tally.pages, tally.page_size, choice.factory).differences
