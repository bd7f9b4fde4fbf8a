"""Targets that raise, hang, corrupt their state, allocate without end or end the process: a named end each."""

import pytest

from tests.planted import Corrupt, Greedy, Hanging, Quitting, Raising, Sleeping
from verify.bounds import Scope
from verify.explore import Search
from verify.sandbox import Ended, Limits, run_limited
from verify.targets.shipped import ShippedCache

SCOPE = Scope(2, 2, 2, 3, sinks=0)
LIMITS = Limits(cpu_seconds=2.0, memory_bytes=512 << 20, wall_seconds=60.0)


def explored(target: type[ShippedCache], limits: Limits = LIMITS) -> Ended:
    """How an exhaustive search of the target ends under the limits."""
    return run_limited(lambda: sorted(Search(SCOPE, target).run().broken()), limits)


@pytest.mark.parametrize(
    ("target", "rules"), [(Raising, ["PT-TOTAL", "UnknownRequest"]), (Corrupt, ["PT-FREE", "PT-PAGES"])]
)
def test_a_target_that_raises_or_corrupts_is_a_difference(target: type[ShippedCache], rules: list[str]) -> None:
    ended = explored(target)
    assert ended.kind == "returned"
    assert ended.value == rules


@pytest.mark.parametrize(("target", "kind"), [(Hanging, "runaway.cpu"), (Greedy, "runaway.memory"), (Quitting, "died")])
def test_a_target_that_never_answers_has_a_named_end(target: type[ShippedCache], kind: str) -> None:
    ended = explored(target)
    assert ended.kind == kind
    assert "Traceback" not in ended.detail


def test_a_target_that_sleeps_ends_at_the_wall_clock() -> None:
    assert explored(Sleeping, Limits(cpu_seconds=2.0, memory_bytes=512 << 20, wall_seconds=1.5)).kind == "runaway.wall"


def test_a_healthy_target_returns_under_the_same_limits() -> None:
    ended = explored(ShippedCache, Limits(cpu_seconds=30.0, memory_bytes=512 << 20, wall_seconds=120.0))
    assert (ended.kind, ended.value) == ("returned", [])
