"""Every reachable state of the small scopes of managers, on the prefix cache that ships."""

from collections.abc import Callable

import pytest

from spec.operations import ManagerOperation
from verify.explore import Coverage
from verify.managers.bounds import SCOPES, ManagerScope
from verify.managers.configuration import Configuration
from verify.managers.findings import describe_failure
from verify.managers.show import report_text
from verify.managers.situations import (
    EVICTED,
    FULL_PAGES,
    HIT_OF_IDLE,
    HIT_OF_LIVE,
    NO_PAGE_TO_ADMIT,
    NO_PAGE_TO_APPEND,
    REFUSED_BESIDE_HITS,
    TWO_COPIES,
)
from verify.managers.world import ManagerSearch
from verify.summary import Summary
from verify.targets.prefix import PrefixManager


@pytest.mark.parametrize("small", SCOPES, ids=str)
def test_every_reachable_state_refines_the_oracle(
    small: ManagerScope, workers: int, summary: Summary, progress_line: Callable[[str], None]
) -> None:
    def show(found: Coverage[ManagerScope, ManagerOperation], frontier: int) -> None:
        progress_line(f"{small}: depth {found.depth}, {found.states:,} states, {found.transitions:,} transitions")

    search = ManagerSearch(small, PrefixManager, workers, progress=show)
    summary.manager_explorations.append(search.found)
    found = search.run()
    if found.failures:
        failure = min(found.failures, key=lambda failure: len(failure.operations))
        report = describe_failure(failure, Configuration(small.name, small.traits), PrefixManager)
        pytest.fail(f"broken rules: {', '.join(found.broken())}\n{report_text(report)}", pytrace=False)
    assert found.complete
    assert (found.states, found.transitions) == (small.states, small.transitions)
    core = {FULL_PAGES, NO_PAGE_TO_ADMIT, NO_PAGE_TO_APPEND, HIT_OF_IDLE, HIT_OF_LIVE, EVICTED, TWO_COPIES}
    assert core | {REFUSED_BESIDE_HITS} <= set(found.situations)


def test_the_scopes_cover_every_group_kind_sinks_several_groups_and_page_size_one() -> None:
    groups = [group for scope in SCOPES for group in scope.traits.groups]
    assert {group.kind for group in groups} == {"full", "window", "chunk"}
    assert any(group.sinks for group in groups)
    assert any(len(scope.traits.groups) > 1 for scope in SCOPES)
    assert {scope.traits.page_size for scope in SCOPES} >= {1, 2}
