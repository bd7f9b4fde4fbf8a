"""The pinned counts of the exhaustive search, reproduced by a counter that was written apart from it."""

from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor

import pytest

from tests import second_counter
from tests.second_counter import Operation, Table, count
from verify.bounds import PROFILES, Scope

SMALLEST = (2, 1, 2, 3)
FEWEST_TRANSITIONS = 250_000


def pinned_scopes(config: pytest.Config) -> tuple[Scope, ...]:
    """The scopes of the profile; of ci when only tests/ is run, which has no such option."""
    return PROFILES[config.getoption("--profile", default="ci")].scopes


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `scope` the scopes of the profile."""
    if "scope" in metafunc.fixturenames:
        metafunc.parametrize("scope", pinned_scopes(metafunc.config), ids=str)


@pytest.fixture(scope="module")
def counting(pytestconfig: pytest.Config) -> Iterator[dict[Scope, Future[tuple[int, int]]]]:
    """The counts of all scopes, under way on every core."""
    with ProcessPoolExecutor() as pool:
        yield {scope: pool.submit(count_scope, scope) for scope in pinned_scopes(pytestconfig)}
        pool.shutdown(cancel_futures=True)


def count_scope(scope: Scope) -> tuple[int, int]:
    """States and transitions of the scope by the second counter."""
    return count(
        scope.pages, scope.page_size, scope.requests, scope.length, raw_ids=scope.raw_ids, max_sinks=scope.most_sinks
    )


def test_the_second_counter_finds_the_pinned_counts(
    scope: Scope, counting: dict[Scope, Future[tuple[int, int]]]
) -> None:
    assert counting[scope].result() == (scope.states, scope.transitions)


def test_the_ci_scopes_are_many_and_of_every_kind() -> None:
    scopes = PROFILES["ci"].scopes
    assert sum(scope.transitions or 0 for scope in scopes) >= FEWEST_TRANSITIONS
    assert len(set(scopes)) >= 4
    assert {1, 2} <= {scope.page_size for scope in scopes}
    assert {2, 3} <= {scope.requests for scope in scopes}
    assert any(scope.raw_ids for scope in scopes)


def test_the_oracle_key_alone_gives_the_figure_of_the_definitions() -> None:
    states, _ = count(4, 2, 3, 4, oracle_only=True, max_sinks=0)
    assert states == 466


@pytest.mark.parametrize("missing", ["new", "append", "fork", "trim", "truncate", "release"])
def test_an_operation_that_is_never_tried_shows_in_the_counts(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    states, transitions = count(*SMALLEST)
    offered = second_counter.offered

    def without(table: Table, page_size: int, length: int, sinks: int, raw_ids: bool) -> Iterator[Operation]:
        every = offered(table, page_size, length, sinks, raw_ids)
        return (operation for operation in every if operation[0] != missing)

    monkeypatch.setattr(second_counter, "offered", without)
    fewer_states, fewer_transitions = count(*SMALLEST)
    assert fewer_transitions < transitions
    # A fork and a release reach what a truncation does: without the transitions nobody would miss it.
    assert fewer_states < states or (missing == "truncate" and fewer_states == states)


def test_states_merged_by_a_poorer_key_show_in_the_counts() -> None:
    states, transitions = count(*SMALLEST)
    poorer = count(*SMALLEST, oracle_only=True)
    assert poorer[0] < states
    assert poorer[1] < transitions
    assert count(*SMALLEST, raw_ids=True)[0] > states
