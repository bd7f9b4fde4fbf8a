"""The files beside the page of a mutation run: SARIF as code scanning takes it, JUnit, annotations, history, the run folder."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from impl.exit_codes import ExitCode
from mutants.ablation import ABLATIONS, ablation_plan
from mutants.catalogue import BROKEN, MUTANTS, NO_OP, PROJECT
from mutants.cli import cli
from mutants.engine import Plan, Record, Result
from mutants.gate import Decision
from mutants.reports.annotations import annotations
from mutants.reports.data import Attempt, File, JudgedMutant, MutationRun, Outcome, Trial, counts, outcome_of
from mutants.reports.folder import dated, new_folder, run_with, write_reports
from mutants.reports.from_record import run_of
from mutants.reports.from_rtl import run_of_rtl
from mutants.reports.history import HISTORY, append, chart, past_of, read
from mutants.reports.junit import junit
from mutants.reports.sarif import sarif
from mutants.reports.stryker import check_document, document
from mutants.rtl_catalogue import RTL_MUTANTS
from mutants.rtl_engine import RtlPlan, RtlRecord, RtlResult
from mutants.splice import Position
from mutants.verdicts import Status, Verdict

WITNESSES: tuple[dict[str, object], ...] = (
    {"kvproof": "witness", "operations": [{"op": "new"}] * 3},
    {"kvproof": "witness", "operations": [{"op": "new"}] * 2},
)
TRIALS = (
    Trial("witness", "pass", {}, 4, 1.0),
    Trial("exhaustive", "fail", {"PT-LEAK": "oracle: 1; target: 2"}, 9, 2.0, witness=WITNESSES[0]),
    Trial("unit", "fail", {"PT-ROWS": "x"}, 9, 2.0, witness=WITNESSES[1]),
)
KILLED = JudgedMutant(
    id="a1",
    title="a boundary",
    area="generic page table",
    operator="comparison",
    module="impl.page_table",
    function="PageTable.trim",
    path="impl/page_table.py",
    expected=(),
    replacement="a <= b",
    status=Status.KILLED_ASSERTION,
    detail="PT-LEAK; PT-ROWS",
    rules={"PT-LEAK": "oracle: 1; target: 2", "PT-ROWS": "x"},
    stage="exhaustive",
    caught=True,
    start=Position(3, 5),
    end=Position(3, 10),
    diff="--- a\n+++ b\n-a < b\n+a <= b",
    cpu_ms=5.0,
    attempt=Attempt("returned", 5.0, TRIALS),
)
SURVIVED = replace(KILLED, id="b2", status=Status.SURVIVED, detail="passed, \x00", rules={}, caught=False)
MISSING = replace(KILLED, id="c3", operator="", status=None, rules={}, caught=False, start=None, end=None, attempt=None)
WRONG = replace(KILLED, id="d4", caught=False, expected=(("PT-OWN",),))
ACCEPTED = replace(SURVIVED, id="e5", accepted="reason: it only costs time")
SAME = replace(SURVIVED, id="f6", status=Status.EQUIVALENT_BYTECODE)
RUN = MutationRun(
    kind="generic",
    tool="kvproof mutants",
    suite="verify.suite",
    code=ExitCode.FAIL,
    reasons=("mutant b2: survived",),
    complete=True,
    summary=(),
    seconds=2.5,
    seed=None,
    versions={"python": "3.11"},
    files={"impl/page_table.py": File("python", "x = 1\n" * 5)},
    stages=("witness", "exhaustive", "unit"),
    originals={"before": None},
    controls=(),
    mutants=(KILLED, SURVIVED, MISSING, WRONG, ACCEPTED, SAME),
    time="2026-03-01T12:00:00Z",
    revision="abc",
)


def refused(report: Any) -> list[str]:
    """Why code scanning would refuse the document, or tell two of its results for one."""
    faults = [] if report.get("version") == "2.1.0" and "sarif" in report.get("$schema", "") else ["no SARIF 2.1.0"]
    for run in report["runs"]:
        driver = run["tool"]["driver"]
        rules = [rule["id"] for rule in driver["rules"]]
        faults += [f"no {name} of the tool" for name in ("name", "semanticVersion") if not driver.get(name)]
        faults += ["a rule twice"] if len(set(rules)) < len(rules) else []
        for rule in driver["rules"]:
            texts = [rule.get(name, {}).get("text") for name in ("shortDescription", "fullDescription", "help")]
            faults += [] if all(texts) and len(texts[0]) <= 1024 else [f"{rule['id']} has no text"]
        prints = [result.get("partialFingerprints", {}).get("primaryLocationLineHash") for result in run["results"]]
        faults += [] if all(prints) and len(set(prints)) == len(prints) else ["fingerprints"]
        faults += [fault for result in run["results"] for fault in refused_result(result, rules)]
    return faults


def refused_result(result: Any, rules: list[str]) -> list[str]:
    """Why code scanning would refuse one result."""
    faults = [] if rules[result["ruleIndex"]] == result["ruleId"] else ["another rule"]
    faults += [] if result["message"]["text"] else ["no message"]
    faults += [] if result["level"] in ("error", "warning", "note") else ["no level"]
    faults += [] if result["locations"] else ["no place"]
    for location in result["locations"]:
        place = location["physicalLocation"]
        uri, region = place["artifactLocation"]["uri"], place["region"]
        faults += [] if re.fullmatch(r"[\w.-]+(/[\w.-]+)*", uri) else [f"{uri} is not below the root"]
        first = region["startLine"], region.get("startColumn", 1)
        last = region.get("endLine", first[0]), region.get("endColumn", first[1] + 1)
        faults += [] if (1, 1) <= first < last else ["an empty region"]
    return faults


def test_code_scanning_gets_whatever_somebody_must_look_at() -> None:
    report = json.loads(json.dumps(sarif(RUN)))
    assert refused(report) == []
    (run,) = report["runs"]
    assert [result["partialFingerprints"]["kvproofMutant/v1"] for result in run["results"]] == ["b2", "c3", "d4"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["comparison", "generic-page-table"]
    assert run["results"][0]["message"]["text"].endswith("-a < b\n+a <= b")
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 10}
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_a_run_whose_verdicts_mean_nothing_is_no_success_for_code_scanning() -> None:
    report: Any = sarif(replace(RUN, code=ExitCode.BROKEN, complete=False, reasons=("the original fails",)))
    (invocation,) = report["runs"][0]["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "the original fails"


@pytest.mark.parametrize(
    ("way", "value", "fault"),
    [
        (("version",), "2.0.0", "no SARIF 2.1.0"),
        (("runs", 0, "tool", "driver", "name"), "", "no name of the tool"),
        (("runs", 0, "tool", "driver", "rules", 0, "help"), {}, "comparison has no text"),
        (("runs", 0, "tool", "driver", "rules", 1, "id"), "comparison", "a rule twice"),
        (("runs", 0, "results", 0, "partialFingerprints"), {}, "fingerprints"),
        (("runs", 0, "results", 0, "ruleIndex"), 1, "another rule"),
        (("runs", 0, "results", 0, "message", "text"), "", "no message"),
        (("runs", 0, "results", 0, "locations"), [], "no place"),
        (
            ("runs", 0, "results", 0, "locations", 0, "physicalLocation", "artifactLocation", "uri"),
            "/tmp/x.py",
            "/tmp/x.py is not below the root",
        ),
        (
            ("runs", 0, "results", 0, "locations", 0, "physicalLocation", "region", "endColumn"),
            5,
            "an empty region",
        ),
    ],
    ids=lambda value: str(value[-1]) if isinstance(value, tuple) else "",
)
def test_what_code_scanning_would_refuse_is_seen(way: tuple[str | int, ...], value: object, fault: str) -> None:
    report: Any = json.loads(json.dumps(sarif(RUN)))
    inner = report
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = value
    assert fault in refused(report)


def test_junit_has_a_case_for_each_mutant_and_one_for_the_run() -> None:
    suite = ElementTree.fromstring(junit(RUN)).find("testsuite")
    assert suite is not None
    assert {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "mutants generic",
        "tests": "7",
        "failures": "3",
        "errors": "1",
        "skipped": "2",
    }
    verdict, *cases = suite.findall("testcase")
    assert verdict.findtext("failure") == "mutant b2: survived"
    assert [[child.tag for child in case] for case in cases] == [
        [],
        ["failure"],
        ["error"],
        ["failure"],
        ["skipped"],
        ["skipped"],
    ]
    assert cases[0].attrib == {
        "classname": "impl.page_table.PageTable.trim",
        "name": "a1: a boundary",
        "time": "0.005000",
        "file": "impl/page_table.py",
        "line": "3",
    }
    assert (cases[1].findtext("failure") or "").startswith("passed, \ufffd\n--- a")


def test_a_change_is_annotated_and_only_so_often() -> None:
    lines = annotations(RUN)
    assert (
        lines[0]
        == "::error file=impl/page_table.py,title=mutant b2 survived,line=3,endLine=3::a boundary: survived: passed, \x00"
    )
    assert len(lines) == 3
    lines = annotations(replace(RUN, mutants=(replace(SURVIVED, title="50 %\nof\rit", id="x:y,z"),) * 11))
    assert len(lines) == 10
    assert "mutant x%3Ay%2Cz survived" in lines[0] and lines[0].endswith("::50 %25%0Aof%0Dit: survived: passed, \x00")
    assert lines[-1].endswith("2 more mutants to look at are in the report")


def test_the_document_says_what_a_mutant_counts_as() -> None:
    report: Any = json.loads(json.dumps(document(RUN)))
    check_document(report)
    status = {one["id"]: one["status"] for one in report["files"]["impl/page_table.py"]["mutants"]}
    assert status == {
        "a1": "Killed",
        "b2": "Survived",
        "c3": "Pending",
        "d4": "Killed",
        "e5": "Ignored",
        "f6": "Ignored",
    }
    assert report["kvproof"]["counts"] == {outcome.value: 1 for outcome in Outcome}
    assert (report["kvproof"]["planned"], report["kvproof"]["executed"]) == (6, 5)
    assert [one["mutatorName"] for one in report["files"]["impl/page_table.py"]["mutants"]][2] == "generic page table"


def test_every_status_counts_as_something() -> None:
    assert outcome_of(Status.EQUIVALENT_SCOPE, False) is Outcome.SURVIVED
    assert outcome_of(Status.SURVIVED, False, "it only costs time") is Outcome.LEDGER
    assert replace(SAME, operator="").outcome is Outcome.NO_VERDICT
    assert outcome_of(Status.RUNAWAY_CPU, False, "no reason can make this a verdict") is Outcome.NO_VERDICT
    assert {outcome_of(status, caught=False) for status in Status} == set(Outcome) - {Outcome.KILLED, Outcome.LEDGER}


def test_the_shortest_witness_is_the_one_that_is_shown() -> None:
    assert KILLED.witness == WITNESSES[1]
    assert MISSING.witness is None


def test_the_history_keeps_one_line_a_folder_and_survives_a_torn_one(tmp_path: Path) -> None:
    assert read(tmp_path) == []
    first, second = past_of(RUN, "generic-1"), replace(past_of(RUN, "generic-0"), time="2026-02-01T12:00:00Z")
    for past in (replace(first, seconds=1.0), second, first):
        append(tmp_path, past)
    with (tmp_path / HISTORY).open("a") as file:
        file.write('{"folder": "x", "counts": {"dead": 1}}\n[]\n{"folder": "torn')
    assert read(tmp_path) == [second, first]
    assert (first.open, first.verdict) == (3, "fail")
    assert chart([second, first]).count("<title>") == 2
    assert "1 of 6 killed, 3 open, 2.5 s, abc" in chart([first])
    assert 'height="-' not in chart([replace(first, planned=2)])


def test_a_folder_says_when_and_of_which_kind_its_run_was(tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "reports", "generic", 0.0)
    assert folder.is_dir() and re.fullmatch(r"generic-\d{8}T\d{12}Z", folder.name)
    run = dated(replace(RUN, kind="gate"), tmp_path / "since-main-20260301T115959000123Z")
    assert (run.kind, run.time) == ("since-main", "2026-03-01T11:59:59Z")
    assert dated(replace(RUN, time=""), tmp_path / "mine").kind == "generic"


def test_a_decision_and_a_ledger_go_before_the_gate(tmp_path: Path) -> None:
    survived = Result(MUTANTS[0], Verdict(Status.SURVIVED, "passed", {}, "random"), None, None)
    record = Record(Plan(PROJECT, MUTANTS[:1], NO_OP, BROKEN), results=[survived])
    assert run_of(record).code is ExitCode.FAIL
    paths = write_reports(
        tmp_path / "generic-20260301T120000Z", record, Decision(ExitCode.PASS, ()), {"1": "reason: why"}
    )
    assert [path.name for path in paths] == ["report.json", "report.html", "report.sarif", "junit.xml", "index.html"]
    extension = json.loads(paths[0].read_text())["kvproof"]
    assert (extension["exitCode"], extension["counts"]["in the ledger"], extension["kind"]) == (0, 1, "generic")
    assert json.loads(paths[2].read_text())["runs"][0]["results"] == []
    (past,) = read(tmp_path)
    assert (past.folder, past.exit_code, past.planned) == ("generic-20260301T120000Z", 0, 1)


def test_an_ablation_says_what_survives_it() -> None:
    record = Record(ablation_plan(Plan(PROJECT, MUTANTS, NO_OP, BROKEN)))
    rules = {
        mutant.id: {"PT-PAGES": "x"} if mutant.id in ("10", "18") else {"PT-ROWS": "x"}
        for mutant in record.plan.mutants
    }
    record.results += [
        Result(mutant, Verdict(Status.KILLED_ASSERTION, "", rules[mutant.id], "source"), None, None)
        for mutant in record.plan.mutants
    ]
    run = run_with(record)
    assert (run.kind, [row.name for row in run.ablation]) == ("ablation", [one.name for one in ABLATIONS])
    assert run.ablation[1].survivors == ("10", "18") == run.ablation[1].expected
    assert counts(run.mutants)["killed"] == 18
    check_document(document(run))


def test_a_mutant_of_the_rtl_is_killed_when_every_simulator_kills_it() -> None:
    one, other = RTL_MUTANTS[:2]
    dead = Verdict(Status.KILLED_ASSERTION, "x", dict.fromkeys(one.expected[0], "differs"), "icarus")
    results = [
        RtlResult(one, "icarus", dead, 3, 1.0),
        RtlResult(one, "verilator", replace(dead, stage="verilator"), 3, 1.0),
        RtlResult(other, "icarus", dead, 3, 1.0),
        RtlResult(other, "verilator", Verdict(Status.SURVIVED, "passed 3 runs", {}, "verilator"), 3, 1.0),
    ]
    run = run_of_rtl(RtlRecord(RtlPlan((one, other, RTL_MUTANTS[2])), results=results))
    assert [mutant.outcome for mutant in run.mutants] == [Outcome.KILLED, Outcome.SURVIVED, Outcome.NO_VERDICT]
    assert [trial.stage for trial in run.mutants[1].trials] == ["icarus", "verilator"]
    assert run.mutants[0].diff.startswith(f"--- a/rtl/{one.module}.v") and "\n+" in run.mutants[0].diff
    assert refused(sarif(run)) == []
    check_document(document(run))


def test_the_command_writes_everything_below_the_folder(tmp_path: Path) -> None:
    arguments = ["--catalogue", "tests.toy_cache.catalogue", "--only", "copy,wrong rule", "--reports", str(tmp_path)]
    done = CliRunner().invoke(cli, arguments, env={"GITHUB_ACTIONS": "true"}, standalone_mode=False)
    assert done.exception is None and done.return_value == ExitCode.FAIL
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert f"report: {folder / 'report.html'}" in done.output
    assert "::error file=tests/toy_cache/stack.py,title=mutant wrong rule" in done.output
    assert sorted(path.name for path in folder.iterdir()) == ["junit.xml", "report.html", "report.json", "report.sarif"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [HISTORY, "index.html"]


def test_a_place_for_reports_that_cannot_be_is_said_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = CliRunner().invoke(cli, ["--reports", str(tmp_path / "file" / "inside")], standalone_mode=False)
    assert "can be made for reports" in str(done.exception)
