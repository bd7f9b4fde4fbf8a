"""The report is what a viewer of Stryker reports reads, and the table says the same."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from mutants.engine import Plan, Record, carry_out
from mutants.report import document
from mutants.terminal import progress, show
from tests.toy_cache.catalogue import BROKEN, MUTANTS, NO_OP, PROJECT, in_take

POSITION = {
    "type": "object",
    "required": ["line", "column"],
    "properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}},
}
TEXTS = {"type": "array", "items": {"type": "string"}}
MUTANT = {
    "type": "object",
    "required": ["id", "mutatorName", "location", "status"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "mutatorName": {"type": "string"},
        "description": {"type": "string"},
        "replacement": {"type": "string"},
        "location": {
            "type": "object",
            "required": ["start", "end"],
            "properties": {"start": POSITION, "end": POSITION},
        },
        "status": {
            "enum": [
                "Killed",
                "Survived",
                "NoCoverage",
                "CompileError",
                "RuntimeError",
                "Timeout",
                "Ignored",
                "Pending",
            ]
        },
        "statusReason": {"type": "string"},
        "duration": {"type": "number", "minimum": 0},
        "coveredBy": TEXTS,
        "killedBy": TEXTS,
    },
}
STRYKER: dict[str, Any] = {
    "type": "object",
    "required": ["schemaVersion", "thresholds", "files"],
    "properties": {
        "schemaVersion": {"const": "2"},
        "thresholds": {
            "type": "object",
            "required": ["high", "low"],
            "properties": {
                "high": {"type": "integer", "minimum": 0, "maximum": 100},
                "low": {"type": "integer", "minimum": 0, "maximum": 100},
            },
        },
        "framework": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "dependencies": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
        "files": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "type": "object",
                "required": ["language", "source", "mutants"],
                "additionalProperties": False,
                "properties": {
                    "language": {"type": "string"},
                    "source": {"type": "string"},
                    "mutants": {"type": "array", "uniqueItems": True, "minItems": 1, "items": MUTANT},
                },
            },
        },
        "testFiles": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["tests"],
                "properties": {
                    "tests": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["id", "name"],
                            "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
                        },
                    }
                },
            },
        },
    },
}
"""The parts of the report schema, version 2, that a report here uses."""


def carried_out(*mutants: Any) -> Record:
    record = Record(Plan(PROJECT, mutants, NO_OP, BROKEN))
    carry_out(record, lambda label: None)
    return record


@pytest.fixture(scope="module")
def record() -> Iterator[Record]:
    yield carried_out(*MUTANTS, in_take("survives", "page = self.free.pop()"))


def printed(record: Record, matrix: bool = False) -> str:
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115 - it records
    show(console, record, matrix)
    return console.export_text()


def test_the_report_keeps_the_schema(record: Record) -> None:
    jsonschema.validate(json.loads(json.dumps(document(record))), STRYKER)


def test_the_report_of_a_broken_run_keeps_the_schema(record: Record) -> None:
    broken = Record(Plan(PROJECT, MUTANTS, NO_OP, NO_OP))
    carry_out(broken, lambda label: None)
    report = json.loads(json.dumps(document(broken)))
    jsonschema.validate(report, STRYKER)
    assert report["kvproof"]["complete"] is False
    assert {mutant["status"] for file in report["files"].values() for mutant in file["mutants"]} == {"Pending"}


def test_the_report_of_families_with_stages_of_their_own_keeps_the_schema() -> None:
    project = replace(PROJECT, family_stages={"aside": ("bindings", "unit")})
    families = Record(Plan(project, (MUTANTS[0], replace(MUTANTS[1], family="aside")), NO_OP, BROKEN))
    carry_out(families, lambda label: None)
    report = json.loads(json.dumps(document(families)))
    jsonschema.validate(report, STRYKER)
    stages = [test["id"] for test in report["testFiles"]["tests.toy_cache.suite"]["tests"] if "/" not in test["id"]]
    assert stages == ["witness", "exhaustive", "unit", "bindings"]
    matrix = printed(families, matrix=True).partition("kill matrix")[2].splitlines()
    cells = {line.split("  ")[0].strip(): line.split() for line in matrix if line}
    assert cells["bottom"][-2:] == ["not", "run"]
    assert cells["copy"][:6] == ["copy", "not", "run", "not", "run", "-"]


def test_each_mutant_has_its_status_place_and_killers(record: Record) -> None:
    (file,) = document(record)["files"].values()  # type: ignore[attr-defined]
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
    extension: Any = document(record)["kvproof"]
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
