"""The report is what a viewer of Stryker reports reads, and the table says the same."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mutants.engine import Plan, Record, carry_out
from mutants.reports.from_record import run_of
from mutants.reports.stryker import check_document, document
from mutants.terminal import progress, show
from tests.toy_cache.catalogue import BROKEN, MUTANTS, NO_OP, PROJECT, in_take

STACK = "tests/toy_cache/stack.py"


def carried_out(*mutants: Any) -> Record:
    record = Record(Plan(PROJECT, mutants, NO_OP, BROKEN))
    carry_out(record, lambda label: None)
    return record


@pytest.fixture(scope="module")
def record() -> Iterator[Record]:
    yield carried_out(*MUTANTS, in_take("survives", "page = self.free.pop()"))


def report_of(record: Record) -> Any:
    """The report as a reader of the file has it."""
    return json.loads(json.dumps(document(run_of(record))))


def printed(record: Record, matrix: bool = False) -> str:
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115 - it records
    show(console, record, matrix)
    return console.export_text()


def test_the_report_keeps_the_schema(record: Record) -> None:
    check_document(report_of(record))


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("schemaVersion",), "1", "schemaVersion"),
        (("files", STACK, "mutants", 0, "status"), "Dead", "status"),
        (("files", STACK, "mutants", 0, "location", "start", "line"), 0, "line"),
        (("files", STACK, "mutants", 0, "mutatorName"), "", "mutatorName"),
        (("files", STACK, "mutants"), [], "mutants"),
        (("files", STACK, "mutants", 0, "id"), "copy", "several mutants of the report are called copy"),
        (("kvproof", "mutants", 0, "outcome"), "dead", "outcome"),
        (("kvproof", "sources", STACK), "?", "sources"),
        (("surprise",), 1, "surprise"),
    ],
    ids=lambda value: str(value) if isinstance(value, tuple) else "",
)
def test_a_report_that_breaks_the_schema_is_rejected(
    record: Record, path: tuple[str | int, ...], value: object, words: str
) -> None:
    report = report_of(record)
    *way, last = path
    inner = report
    for step in way:
        inner = inner[step]
    inner[last] = value
    with pytest.raises(ValueError, match=words):
        check_document(report)


def test_the_report_of_a_broken_run_keeps_the_schema(record: Record) -> None:
    broken = Record(Plan(PROJECT, MUTANTS, NO_OP, NO_OP))
    carry_out(broken, lambda label: None)
    report = report_of(broken)
    check_document(report)
    assert report["kvproof"]["complete"] is False
    assert {mutant["status"] for file in report["files"].values() for mutant in file["mutants"]} == {"Pending"}


def test_the_report_of_families_with_stages_of_their_own_keeps_the_schema() -> None:
    project = replace(PROJECT, family_stages={"aside": ("bindings", "unit")})
    families = Record(Plan(project, (MUTANTS[0], replace(MUTANTS[1], family="aside")), NO_OP, BROKEN))
    carry_out(families, lambda label: None)
    report = report_of(families)
    check_document(report)
    stages = [test["id"] for test in report["testFiles"]["tests.toy_cache.suite"]["tests"] if "/" not in test["id"]]
    assert stages == ["witness", "exhaustive", "unit", "bindings"]
    matrix = printed(families, matrix=True).partition("kill matrix")[2].splitlines()
    cells = {line.split("  ")[0].strip(): line.split() for line in matrix if line}
    assert cells["bottom"][-2:] == ["not", "run"]
    assert cells["copy"][:6] == ["copy", "not", "run", "not", "run", "-"]


def test_each_mutant_has_its_status_place_and_killers(record: Record) -> None:
    (file,) = report_of(record)["files"].values()
    mutants = {mutant["id"]: mutant for mutant in file["mutants"]}
    assert {name: mutant["status"] for name, mutant in mutants.items()} == {
        "bottom": "Killed",
        "copy": "Killed",
        "wrong rule": "Ignored",
        "spins": "Timeout",
        "stale": "RuntimeError",
        "survives": "Survived",
    }
    assert mutants["copy"]["killedBy"] == ["witness/TOY-TAKE"]
    assert mutants["copy"]["coveredBy"] == ["witness"]
    assert mutants["copy"]["location"] == {"start": {"line": 17, "column": 9}, "end": {"line": 18, "column": 26}}
    lines = file["source"].splitlines()
    assert lines[16][8:] == "page = self.free[-1]" and len(lines[17]) == 25
    assert mutants["spins"]["statusReason"].startswith("runaway.cpu: ended by SIGPROF")


def test_the_extension_holds_what_the_schema_has_no_place_for(record: Record) -> None:
    extension: Any = report_of(record)["kvproof"]
    copy = next(mutant for mutant in extension["mutants"] if mutant["id"] == "copy")
    assert (copy["stage"], copy["rules"], copy["caught"]) == ("witness", {"TOY-TAKE": "it differs"}, True)
    assert copy["run"]["stages"][0]["witness"] == {"steps": 2}
    assert "-        del self.free[-1]" in copy["diff"]
    assert extension["versions"]["python"]
    assert len(extension["sources"]["tests/toy_cache/stack.py"]) == 64
    assert [stage["steps"] for stage in extension["original"]["before"]["stages"]] == [2, 4, 2]
    assert extension["complete"] is True


def test_the_table_names_verdict_rules_and_stage(record: Record) -> None:
    rows = {line.split("  ")[0]: line.split() for line in printed(record).splitlines()}
    assert rows["copy"][-4:-1] == ["killed.assertion", "TOY-TAKE", "witness"]
    assert rows["bottom"][-4:-1] == ["killed.assertion", "TOY-ORDER", "unit"]
    assert rows["survives"][-4:-1] == ["survived", "-", "unit"]


def test_the_matrix_shows_what_each_stage_saw(record: Record) -> None:
    matrix = printed(record, matrix=True).partition("kill matrix")[2].splitlines()
    cells = {line.split("  ")[0].strip(): line.split() for line in matrix if line}
    assert cells["bottom"] == ["bottom", "-", "-", "TOY-ORDER"]
    assert cells["copy"] == ["copy", "TOY-TAKE", "not", "run", "not", "run"]


def test_a_pipe_gets_no_progress_bar(tmp_path: Path) -> None:
    with open(tmp_path / "out", "w") as file:
        console = Console(file=file)
        with progress(console, 2) as announce:
            announce("the original")
        assert file.tell() == 0


def test_a_terminal_gets_a_progress_bar(tmp_path: Path) -> None:
    with open(tmp_path / "out", "w+") as file:
        with progress(Console(file=file, force_terminal=True), 2) as announce:
            announce("the original")
            announce("mutant 4")
        file.seek(0)
        assert "mutant 4" in file.read()
