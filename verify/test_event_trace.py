"""`python -m impl trace --json` against the literal tables of docs/reference.md section 2."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from verify.literals import EVENT_TRACE_A

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the command writes."""
    path = tmp_path_factory.mktemp("trace") / "trace.json"
    subprocess.run(
        [sys.executable, "-m", "impl", "trace", "--json", str(path)], cwd=ROOT, check=True, capture_output=True
    )
    found = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_event_trace_a_equals_the_literal_table(document: dict[str, Any]) -> None:
    window = document["window"]
    assert (window["pages"], window["page_size"], window["window"]) == (8, 4, 6)
    shown = [(tuple(s["rows_read"]), tuple(s["table"]), s["dropped"], tuple(s["free"])) for s in window["steps"]]
    assert shown == [(tuple(range(lo, hi)), table, dropped, free) for (lo, hi), table, dropped, free in EVENT_TRACE_A]
    assert [step["step"] for step in window["steps"]] == list(range(1, 15))


def test_the_fork_example_equals_the_literal_table(document: dict[str, Any]) -> None:
    rows = list(range(10))
    fork = document["fork"]
    assert (fork["pages"], fork["page_size"]) == (8, 4)
    assert [(e["tables"], e["counts"], e["rows_of_a"], e["free"]) for e in fork["events"]] == [
        ({"A": [0, 1, 2]}, {"0": 1, "1": 1, "2": 1}, rows, [3, 4, 5, 6, 7]),
        ({"A": [0, 1, 2], "B": [0, 1, 2]}, {"0": 2, "1": 2, "2": 2}, rows, [3, 4, 5, 6, 7]),
        ({"A": [0, 1, 2], "B": [0, 1, 3]}, {"0": 2, "1": 2, "2": 1, "3": 1}, rows, [4, 5, 6, 7]),
        ({"A": [0, 1, 2]}, {"0": 1, "1": 1, "2": 1}, rows, [3, 4, 5, 6, 7]),
    ]


def test_the_seventh_append_to_three_pages_of_two_is_refused_and_the_length_stays_six(document: dict[str, Any]) -> None:
    exhaustion = document["exhaustion"]
    assert (exhaustion["pages"], exhaustion["page_size"]) == (3, 2)
    assert [(e["append"], e["outcome"], e["length"], e["table"], e["free"]) for e in exhaustion["events"]] == [
        (1, "accepted", 1, [0], [1, 2]),
        (2, "accepted", 2, [0], [1, 2]),
        (3, "accepted", 3, [0, 1], [2]),
        (4, "accepted", 4, [0, 1], [2]),
        (5, "accepted", 5, [0, 1, 2], []),
        (6, "accepted", 6, [0, 1, 2], []),
        (7, "OutOfPages", 6, [0, 1, 2], []),
    ]
