"""Exactly the known mutants survive when rules are left out, and what is not known is never taken for a survivor."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.console import Console

from impl.exit_codes import ExitCode
from impl.rules import RULES as OURS
from mutants.ablation import (
    ABLATIONS,
    CRASH,
    OTHERS,
    STORIES,
    ablation_document,
    ablation_plan,
    by_group,
    decide_ablation,
    survivors,
)
from mutants.catalogue import BROKEN, MUTANTS, NO_OP, PROJECT
from mutants.cli import cli
from mutants.engine import Plan, Record, Result
from mutants.terminal import show_ablation
from mutants.verdicts import Status, Verdict
from spec.rules import RULES
from verify.command_line import run_here
from verify.source.rules import GROUPS, SENTENCES

ROOT = Path(PROJECT.root)
PLAN = ablation_plan(Plan(PROJECT, MUTANTS, NO_OP, BROKEN))
SURVIVORS = {
    "every rule": [],
    "without exact pages": ["10", "18"],
    "without scratch recomputation and exact integers": ["13"],
    "without all of these": ["10", "13", "18"],
}
"""Source: docs/reference.md section 3, written down apart from the engine's own list."""

SEEN = {"10": ("PT-PAGES",), "13": ("DEC-FLOAT", "DEC-ERROR"), "18": ("WIN-4",)}
"""What the three break; every other made-up mutant breaks a rule of no group."""


def recorded(seen: Mapping[str, tuple[str, ...]] = SEEN, others: Mapping[str, Status] | None = None) -> Record:
    """A record in which each mutant broke these rules, except those that have another verdict and no rules."""
    record = Record(PLAN)
    for mutant in PLAN.mutants:
        rules = seen.get(mutant.id, ("PT-ROWS",))
        verdict = Verdict(Status.KILLED_ASSERTION, "", dict.fromkeys(rules, "it differs"), "source")
        if others and mutant.id in others:
            verdict = Verdict(others[mutant.id], "why", {}, "source")
        record.results.append(Result(mutant, verdict, None, None))
    return record


def test_the_expected_survivors_are_those_of_the_reference() -> None:
    assert {one.name: sorted(one.survivors, key=int) for one in ABLATIONS} == SURVIVORS


def test_the_eighteen_go_through_the_source_suite_alone() -> None:
    assert [mutant.id for mutant in PLAN.mutants] == [str(number) for number in range(1, 19)]
    assert PLAN.stages() == ("source",)


def test_every_rule_of_a_group_has_a_sentence() -> None:
    known = RULES.keys() | OURS.keys() | SENTENCES.keys()
    assert {rule for rules in GROUPS.values() for rule in rules} <= known
    assert not SENTENCES.keys() & (RULES.keys() | OURS.keys())
    assert {rule for rule, _ in STORIES.values()} <= {rule for rules in GROUPS.values() for rule in rules}


def test_a_mutant_survives_when_none_of_its_broken_rules_is_left() -> None:
    record = recorded()
    assert {one.name: survivors(record, one) for one in ABLATIONS} == SURVIVORS
    assert decide_ablation(record).code is ExitCode.PASS
    assert decide_ablation(record).reasons == ()


def test_the_order_of_execution_does_not_matter() -> None:
    record = recorded()
    record.results.reverse()
    assert survivors(record, ABLATIONS[-1]) == ["10", "13", "18"]


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (SEEN | {"10": ("PT-PAGES", "PT-ROWS")}, "without exact pages: 18 survive, not 10, 18"),
        (SEEN | {"17": ("WIN-4",)}, "without exact pages: 10, 17, 18 survive, not 10, 18"),
        (SEEN | {"13": ("DEC-FLOAT", "SRC-CLOSE")}, "without scratch recomputation and exact integers: none survive"),
    ],
)
def test_other_survivors_fail(seen: Mapping[str, tuple[str, ...]], reason: str) -> None:
    decision = decide_ablation(recorded(seen))
    assert decision.code is ExitCode.FAIL
    assert any(line.startswith(reason) for line in decision.reasons)


def test_a_survivor_of_every_rule_fails() -> None:
    reasons = decide_ablation(recorded(others={"7": Status.SURVIVED})).reasons
    assert reasons[0] == "every rule: 7 survive, not none"


@pytest.mark.parametrize("status", [Status.FLAKY, Status.HARNESS_ERROR, Status.RUNAWAY_CPU, Status.INVALID_APPLY])
@pytest.mark.parametrize("name", ["3", "13"])
def test_a_mutant_without_a_verdict_makes_the_ablation_unknown(status: Status, name: str) -> None:
    record = recorded(others={name: status})
    decision = decide_ablation(record)
    assert decision.code is ExitCode.UNKNOWN
    assert decision.reasons == (f"mutant {name}: no verdict, {status}: why",)
    assert name not in survivors(record, ABLATIONS[-1])


def test_a_missing_mutant_makes_the_ablation_unknown() -> None:
    record = recorded()
    del record.results[4]
    assert decide_ablation(record).reasons == ("mutant 5: no verdict, it did not run",)
    assert decide_ablation(record).code is decide_ablation(Record(PLAN)).code is ExitCode.UNKNOWN


@pytest.mark.parametrize("status", [Status.KILLED_CRASH, Status.KILLED_GUARD])
def test_a_crash_counts_as_a_rule_that_no_ablation_leaves_out(status: Status) -> None:
    record = recorded(others={"10": status})
    assert survivors(record, ABLATIONS[-1]) == ["13", "18"]
    assert decide_ablation(record).code is ExitCode.FAIL
    assert by_group({CRASH})[OTHERS] == [CRASH]


def test_an_interrupted_or_unsound_run_is_not_judged() -> None:
    interrupted, unsound = recorded(), recorded()
    interrupted.interrupted = True
    unsound.problems.append("the original does not pass stage source")
    assert decide_ablation(interrupted).code is ExitCode.INTERRUPTED
    assert decide_ablation(unsound).code is ExitCode.BROKEN


def test_the_tables_name_catchers_survivors_and_the_reason() -> None:
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115 - it records
    show_ablation(console, recorded(others={"5": Status.FLAKY}))
    lines = [line.split() for line in console.export_text().splitlines()]
    assert ["13", "-", "DEC-FLOAT", "DEC-ERROR", "-"] in lines
    assert ["5", "unknown", "unknown", "unknown", "unknown"] in lines
    assert ["without", "exact", "pages", "10,", "18", "10,", "18"] in lines
    assert [" ".join(line[:2]) for line in lines if line[:1] == ["mutant"]] == [
        "mutant 10:",
        "mutant 13:",
        "mutant 18:",
        "mutant 5:",
    ]


@pytest.mark.parametrize("option", [["--only", "13"], ["--matrix"], ["--attribution"]])
def test_the_ablation_runs_all_or_nothing(option: list[str]) -> None:
    ended = run_here(cli, "--ablation", *option)
    assert ended.returncode == ExitCode.USAGE, ended.stderr


def test_a_catalogue_without_a_source_suite_is_broken() -> None:
    ended = run_here(cli, "--ablation", "--catalogue", "tests.toy_cache.catalogue")
    assert ended.returncode == ExitCode.BROKEN
    assert "tests.toy_cache.suite has no stage source" in " ".join(ended.stdout.split())


def test_exactly_the_known_mutants_survive(tmp_path: Path) -> None:
    ended = command("--ablation", "--json", str(tmp_path / "ablation.json"))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = json.loads((tmp_path / "ablation.json").read_text())
    assert {one["name"]: one["survivors"] for one in report["ablations"]} == SURVIVORS
    mutants = {one["id"]: one for one in report["mutants"]}
    assert len(mutants) == 18
    assert mutants["13"]["byGroup"] == {
        "exact pages": [],
        "scratch recomputation": ["DEC-FLOAT"],
        "exact integers": ["DEC-ERROR"],
        OTHERS: [],
    }
    assert "13.4% in the mean" in mutants["13"]["rules"]["DEC-ERROR"]
    assert (report["exitCode"], report["reasons"]) == (0, [])


def test_the_document_says_what_the_decision_says() -> None:
    document = ablation_document(recorded(others={"2": Status.UNKNOWN}))
    assert (document["exitCode"], document["reasons"]) == (3, ["mutant 2: no verdict, unknown: why"])


def command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "mutants", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
