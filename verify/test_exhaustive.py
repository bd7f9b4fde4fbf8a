"""Every reachable state of the small scopes, and every small state that satisfies the invariants."""

from collections.abc import Callable

import pytest

from verify.bounds import Profile, Scope
from verify.explore import Exploration, Search, StepsExhausted
from verify.findings import describe_failure, shortest
from verify.induction import induction
from verify.remote.choice import Choice
from verify.show import failure_text
from verify.situations import (
    ID_USED_AGAIN,
    SHARED_PAGE_WRITTEN,
    SITUATIONS,
    TRIM_AROUND_SINKS,
    TRUNCATE_INTO_SHARED,
    possible,
)
from verify.summary import Summary
from verify.targets.shipped import ShippedCache

INSIDE_PAGES = {SHARED_PAGE_WRITTEN, TRUNCATE_INTO_SHARED}
"""Situations that need a page of more than one row."""


@pytest.mark.any_target
def test_every_reachable_state_refines_the_oracle(
    scope: Scope, choice: Choice, workers: int, summary: Summary, progress_line: Callable[[str], None]
) -> None:
    def show(found: Exploration, frontier: int) -> None:
        progress_line(f"{scope}: depth {found.depth}, {found.states:,} states, {found.transitions:,} transitions")

    search = Search(scope, choice.factory, workers, choice.steps, progress=show)
    summary.explorations.append(search.found)
    try:
        found = search.run()
    except StepsExhausted as end:
        pytest.fail(f"unknown: {end}", pytrace=False)
    if found.failures:
        failure = shortest(found, choice.factory)
        report = describe_failure(
            failure.operations,
            failure.differences,
            scope.pages,
            scope.page_size,
            choice.factory,
            spelling=choice.spelling,
        )
        pytest.fail(f"broken rules: {', '.join(found.broken())}\n{failure_text(report)}", pytrace=False)
    assert found.complete
    assert choice.far or (found.states, found.transitions) == (scope.states, scope.transitions)
    assert reachable(scope) & set(possible(choice.capabilities)) <= set(found.situations)


def reachable(scope: Scope) -> set[str]:
    """The situations that the scope has room for: a trim around sinks takes a page of sinks and another full one."""
    absent = {ID_USED_AGAIN} | (INSIDE_PAGES if scope.page_size == 1 else set())
    if not scope.most_sinks or scope.length < 2 * scope.page_size:
        absent.add(TRIM_AROUND_SINKS)
    return set(SITUATIONS) - absent


def test_every_operation_keeps_the_invariants_from_any_state_that_has_them(
    induction_scope: Scope, summary: Summary
) -> None:
    found = induction(induction_scope, ShippedCache.planted)
    summary.inductions.append(found)
    assert not found.broken, "\n".join(f"{rule}: {where}" for rule, where in found.broken.items())
    assert (found.states, found.transitions) == (induction_scope.states, induction_scope.transitions)


def test_the_scopes_cover_page_size_one_and_raw_ids(profile: Profile) -> None:
    assert any(scope.page_size == 1 for scope in profile.scopes)
    assert profile.name == "dev" or any(scope.raw_ids for scope in profile.scopes)
