"""The walk through a manager's witness: groups, published pages and rows of other prefixes, as data and on the page."""

from collections.abc import Callable
from pathlib import Path

from spec.groups import Group
from spec.manager import Traits
from spec.operations import Admit, Append, Commit, ManagerOperation, Release
from tests.browser import Browser
from tests.oracle_manager import OracleManager
from verify.managers.configuration import Configuration
from verify.managers.target import ManagerSnapshot, ManagerTarget, ManagerView
from verify.managers.values import value
from verify.managers.witness import ManagerWitness
from verify.view.html_page import page_html
from verify.view.manager_walkthrough import walk_manager
from verify.view.steps import Owner, Pair, Walkthrough

TRAITS = Traits(8, 2, (Group("full"), Group("window", 3)), prefix=True, commits=True)
OPERATIONS: tuple[ManagerOperation, ...] = (
    Admit(0, (5, 6, 7)),
    Commit(0),
    Append(0, (8, 9)),
    Commit(0),
    Admit(1, (5, 6, 7)),
    Release(0),
)


class Forgetful(OracleManager):
    """Reads the rows of request 1 as those of another prefix, and a row as nobody's."""

    def observe(self) -> ManagerSnapshot:
        shown = super().observe()
        if 1 not in shown.requests:
            return shown
        view = shown.requests[1]
        rows = (value((7,)), 12345, *view.rows[0][2:])
        wrong = ManagerView(view.length, view.tables, (rows, *view.rows[1:]))
        return ManagerSnapshot({**shown.requests, 1: wrong}, shown.counts, shown.free, shown.available, shown.published)


def walked(make: Callable[[Traits], ManagerTarget], operations: tuple[ManagerOperation, ...]) -> Walkthrough:
    """The walk through these operations."""
    witness = ManagerWitness(Configuration("full and window", TRAITS), operations)
    return walk_manager(witness, lambda: make(TRAITS), "witness.json", options=" --target toy")


def test_every_group_of_a_request_has_its_own_table() -> None:
    walkthrough = walked(OracleManager, OPERATIONS)
    assert walkthrough.broken == ()
    full, window = walkthrough.steps[4].requests
    assert (full.part, window.part) == ("g0 full", "g1 window 3")
    assert [page.released for page in full.table] == [False, False, False]
    assert [page.released for page in window.table] == [True, False, False]
    assert [[row.target for row in page.rows] for page in full.table] == [["5", "6"], ["7", "8"], ["9"]]
    assert not any(row.oracle != row.target for page in window.table for row in page.rows)


def test_rows_that_wait_for_their_commit_are_told_from_written_ones() -> None:
    rows = walked(OracleManager, OPERATIONS).steps[1].requests[0].table[0].rows
    assert [(row.oracle, row.target) for row in rows] == [("reserved", "reserved")] * 2


def test_a_published_page_says_its_prefix_and_an_owner_its_group() -> None:
    step = walked(OracleManager, OPERATIONS).steps[4]
    notes = {page.note for page in step.pool if page.note}
    assert notes >= {"published: [5 6], group 0", "published: [5 6 7 8], group 0", "published: [5 6 7 8], group 1"}
    (first,) = [page for page in step.pool if page.note == "published: [5 6], group 0"]
    assert first.owners == (Owner(0, 0, "g0 full"),)


def test_an_operation_is_told_in_sentences() -> None:
    steps = walked(OracleManager, OPERATIONS).steps
    assert "request 1 begins: 3 rows" in steps[5].changes
    assert "request 0 ends" in steps[6].changes
    assert any("published: [5 6 7 8], group 1" in line for line in steps[4].changes)
    assert steps[5].outcome == Pair("accepted, 2 tokens served", "accepted, 2 tokens served")


def test_a_wrong_row_is_shown_by_the_prefix_that_it_is_of() -> None:
    before: tuple[ManagerOperation, ...] = (Admit(0, (7,)), Commit(0), Admit(1, (5, 6, 7)), Commit(1))
    last = walked(Forgetful, before).last
    assert "PT-ROWS" in [item.rule for item in last.broken]
    (full,) = [request for request in last.requests if request.request == 1 and request.part == "g0 full"]
    assert [(row.oracle, row.target) for row in full.table[0].rows] == [("5", "[7]"), ("6", "?")]
    assert full.wrong and full.table[0].wrong


def test_the_page_shows_groups_and_prefixes(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page_html(walked(OracleManager, OPERATIONS)))
    with Browser() as browser:
        browser.open(file, "#step=4")
        assert browser.texts("#requests .who .fact")[:2] == ["g0 full", "5 rows"]
        assert "published: [5 6 7 8], group 1" in browser.texts("#pool .note")
        title = "document.querySelector('#pool .tag').title"
        assert browser.value(title) == "request 0, logical page 2, g1 window 3"
        assert browser.text("#replay") == (
            "Replay it: python -m verify conformance --witness witness.json --target toy"
        )
        assert browser.said == []
