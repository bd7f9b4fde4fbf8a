"""Lock-step refutes what the oracle lets pass, is evidence only where it shows the change, and never a proof."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from mutants.client import ForkServer
from mutants.equivalence.all_paths import REFUTED, UNKNOWN
from mutants.equivalence.lock_step import (
    FAMILIES,
    SCOPE,
    TRANSCRIPTS,
    NoEvidence,
    Walked,
    baseline,
    evidence,
    first_difference,
    plant,
    walk,
)
from mutants.mutant import Project
from mutants.splice import Position
from mutants.wire import Run
from tests import small_transcripts
from verify import transcript

ROOT = Path(__file__).resolve().parent.parent
TABLE = "impl.page_table"
SOURCE = (ROOT / "impl" / "page_table.py").read_text(encoding="utf-8")
PROJECT = Project(str(ROOT), checks=("verify", "tests"), suite="tests.small_transcripts")


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer(PROJECT, [TABLE]) as running:
        yield running


@pytest.fixture(scope="module")
def original(server: ForkServer) -> Run:
    return baseline(server, tuple(small_transcripts.STAGES))


def place_of(text: str) -> Position:
    """Where the text, which stands in the page table once, begins."""
    assert SOURCE.count(text) == 1, f"{text!r} stands {SOURCE.count(text)} times in the page table"
    head = SOURCE[: SOURCE.index(text)]
    return Position(head.count("\n") + 1, len(head) - head.rfind("\n"))


def changed(before: str, after: str) -> tuple[CodeType, CodeType]:
    """The page table with the change, and with an error in its place."""
    planted = plant(SOURCE, "page_table.py", place_of(before))
    return compile(SOURCE.replace(before, after), "page_table.py", "exec"), planted


def walked(server: ForkServer, original: Run, before: str, after: str) -> Walked:
    return walk(server, original, TABLE, *changed(before, after))


def test_an_equivalent_mutant_has_evidence_in_the_scopes_that_show_it(server: ForkServer, original: Run) -> None:
    came = walked(server, original, "lo >= held", "lo >= gone")
    assert came.verdict == SCOPE
    assert set(came.scopes) <= set(small_transcripts.STAGES) and len(came.scopes) >= 3


def test_what_the_oracle_lets_pass_is_refuted_by_the_operations_that_show_it(server: ForkServer, original: Run) -> None:
    came = walked(server, original, "reversed(table.pages[kept:])", "table.pages[kept:]")
    assert came.verdict == REFUTED
    assert "Truncate" in came.detail and "the mutant shows another state" in came.detail


def test_what_does_not_show_is_no_refutation_and_no_evidence(server: ForkServer, original: Run) -> None:
    came = walked(
        server,
        original,
        "table.sinks, table.sink_pages, length, dropped, shared",
        "9, table.sink_pages, length, dropped, shared",
    )
    assert came == Walked(UNKNOWN, "it answers and shows the same, and holds something else")


def test_a_broken_rule_is_a_difference(server: ForkServer, original: Run) -> None:
    came = walked(server, original, "self.free.append(page)", "pass")
    assert came.verdict == REFUTED and "PT-LEAK" in came.detail


def test_a_branch_that_no_scope_enters_has_no_evidence(server: ForkServer, original: Run) -> None:
    came = walked(server, original, 'f"a pool needs at least', 'f"a pool wants at least')
    assert came.verdict == UNKNOWN and "equal in 0 scopes" in came.detail


def test_a_mutant_that_ends_its_process_is_unknown(server: ForkServer, original: Run) -> None:
    came = walked(server, original, "logical += 1", "__import__('os')._exit(0)")
    assert came.verdict == UNKNOWN and "not whole" in came.detail


@pytest.mark.parametrize(
    "text", ["sinks: int = 0) -> None:", "NO_PAGE = -1", '"dropped", "last"', "@property", "k: int = 1"]
)
def test_a_default_argument_and_all_else_outside_of_bodies_has_no_evidence(text: str) -> None:
    with pytest.raises(NoEvidence):
        plant(SOURCE, "page_table.py", place_of(text))


def test_the_error_stands_before_the_smallest_statement_around_the_change() -> None:
    source = "def f(a):\n    if a:\n        return 1\n    elif a > 2:\n        b = 3\n    return b\n"
    ast.parse(source)
    scope: dict[str, Any] = {}
    exec(plant(source, "f.py", Position(4, 12)), scope)
    assert scope["f"](1) == 1
    with pytest.raises(AssertionError, match="planted"):
        scope["f"](0)


def documents(*page_sizes: int) -> dict[str, dict[str, Any]]:
    return {f"scope {number}": {"page_size": size} for number, size in enumerate(page_sizes)}


def test_no_evidence_goes_without_pages_of_one_row_or_with_fewer_than_three_scopes() -> None:
    assert evidence(documents(2, 2, 3)).verdict == UNKNOWN
    assert evidence(documents(1, 2)).verdict == UNKNOWN
    assert evidence(documents(1, 2, 2)) == Walked(
        SCOPE, "the same transcripts in 3 scopes", ("scope 0", "scope 1", "scope 2")
    )


def test_transcripts_that_end_at_different_states_differ() -> None:
    short = {"origins": [[-1, ""]], "tried": [[["New", "accepted", "a"]]]}
    long: dict[str, Any] = {
        "origins": [[-1, ""], [0, "New"]],
        "tried": [[["New", "accepted", "a"]], [["New", "refused", "b"]]],
    }
    other = {"origins": long["origins"], "tried": [long["tried"][0], [["New", "accepted", "b"]]]}
    assert first_difference(short, short) is None
    assert first_difference(short, long) == "one of them begins elsewhere, or shows more states"
    assert first_difference(long, other) == "after New New the original answers refused, the mutant accepted"


@pytest.mark.parametrize("family", sorted(set(FAMILIES.values())))
def test_every_family_has_scopes_enough_with_pages_of_one_row_among_them(family: str) -> None:
    assert transcript.__name__ == TRANSCRIPTS
    assert sum(name.startswith(f"{family}, ") for name in transcript.STAGES) >= 3
    scopes = transcript.PAGE_TABLE_SCOPES if family == transcript.PAGE_TABLE else ()
    sizes = {scope.page_size for scope in scopes} or {scope.traits.page_size for scope in transcript.MANAGER_SCOPES}
    assert 1 in sizes and len(sizes) > 1
