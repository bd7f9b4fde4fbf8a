"""However a mutant behaves, it gets a verdict with a name, and the run goes on to the next."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from mutants.engine import Plan, Record, Result, carry_out
from mutants.mutant import Mutant, Project
from mutants.reports.stryker import STRYKER_STATUS
from mutants.verdicts import INVALID, KILLED, NO_VERDICT, RUNAWAYS, Status, judge_run
from mutants.wire import Run, StageRun
from tests.toy_cache.catalogue import BROKEN, NO_OP, PROJECT, in_take

GARBAGE = """
import os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, b"garbage" + bytes([10]))
    except OSError:
        continue
page = self.free.pop()
"""
UNPRINTABLE = """
class Odd(Exception):
    def __str__(self):
        raise ValueError
raise Odd
"""
FORGED = """
import json, os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, json.dumps({"note": {"stage": "witness", "odd": 1}}).encode() + bytes([10]))
    except OSError:
        continue
page = self.free.pop()
"""
EQUAL = "page = self.free.pop()"

HOSTILE: dict[str, tuple[Mutant, Status, str]] = {
    mutant.id: (mutant, status, stage)
    for mutant, status, stage in (
        (in_take("spins", "while True: pass"), Status.RUNAWAY_CPU, "witness"),
        (
            in_take(
                "spins and swallows", "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
            ),
            Status.RUNAWAY_CPU,
            "witness",
        ),
        (in_take("allocates", "page = len(bytearray(1 << 45))"), Status.RUNAWAY_MEMORY, "witness"),
        (
            in_take("never empties", "page = self.free[-1]; self.free[:] = [0, 1, 2]"),
            Status.RUNAWAY_STEPS,
            "exhaustive",
        ),
        (in_take("raises", "raise ValueError('no page')"), Status.KILLED_CRASH, "witness"),
        (in_take("raises unprintably", UNPRINTABLE), Status.KILLED_CRASH, "witness"),
        (in_take("recurses", "page = self.take()"), Status.KILLED_CRASH, "witness"),
        (in_take("leaves", "import os; os._exit(0)"), Status.KILLED_CRASH, "witness"),
        (in_take("leaves with a code", "import os; os._exit(7)"), Status.KILLED_CRASH, "witness"),
        (in_take("interrupts", "raise KeyboardInterrupt"), Status.KILLED_CRASH, "witness"),
        (in_take("exits", "raise SystemExit"), Status.KILLED_CRASH, "witness"),
        (in_take("kills itself", "import os; os.kill(os.getpid(), 9)"), Status.KILLED_CRASH, "witness"),
        (in_take("segfaults", "import os; os.kill(os.getpid(), 11)"), Status.KILLED_CRASH, "witness"),
        (in_take("kills the server", "import os; os.kill(os.getppid(), 9)"), Status.HARNESS_ERROR, ""),
        (in_take("writes garbage", GARBAGE), Status.HARNESS_ERROR, "unit"),
        (in_take("forges a note", FORGED), Status.HARNESS_ERROR, ""),
        (in_take("prints", "page = self.free.pop(); print('x' * 100_000)"), Status.SURVIVED, "unit"),
        (in_take("does nothing else", EQUAL), Status.SURVIVED, "unit"),
        (
            in_take("adds a comment", "page = self.free[-1]\ndel self.free[-1]  # the top"),
            Status.EQUIVALENT_BYTECODE,
            "",
        ),
        (in_take("does not compile", "return (yield)\nawait self"), Status.INVALID_COMPILE, ""),
        (in_take("does not apply", "pass", before="page = 17"), Status.INVALID_APPLY, ""),
        (in_take("sneaks out", "page = self.free.pop()"), Status.DUPLICATE, ""),
    )
}


def run_all(mutants: tuple[Mutant, ...], project: Project = PROJECT) -> Record:
    record = Record(Plan(project, mutants, NO_OP, BROKEN))
    carry_out(record, lambda label: None)
    return record


@pytest.fixture(scope="module")
def hostile() -> Iterator[dict[str, Result]]:
    """One run over all of them, so that each is followed by another."""
    record = run_all(tuple(mutant for mutant, _, _ in HOSTILE.values()))
    assert record.problems == []
    yield {result.mutant.id: result for result in record.results}


@pytest.mark.parametrize("name", HOSTILE)
def test_every_hostile_mutant_has_its_verdict(hostile: dict[str, Result], name: str) -> None:
    _, status, stage = HOSTILE[name]
    verdict = hostile[name].verdict
    assert (verdict.status, verdict.stage) == (status, stage), verdict


def test_a_runaway_costs_half_a_second_of_cpu_at_most(hostile: dict[str, Result]) -> None:
    assert all(result.cpu_ms < 500 for result in hostile.values())


def test_a_crash_says_type_and_place(hostile: dict[str, Result]) -> None:
    assert hostile["raises"].verdict.detail == "ValueError: no page (stack.py:17 in take)"
    assert hostile["kills itself"].verdict.detail == "SIGKILL"
    assert hostile["leaves with a code"].verdict.detail == "exit 7"


def test_a_mutant_that_breaks_its_import_is_invalid() -> None:
    at_import = Mutant("m", "", "toy", "tests.toy_cache.broken_import", "f", "1", "2")
    project = replace(PROJECT, subject=("tests.toy_cache.stack", "tests.toy_cache.broken_import"))
    assert run_all((at_import,), project).results[0].verdict.status is Status.INVALID_IMPORT


def test_a_suite_without_the_stage_is_invalid() -> None:
    record = run_all((), replace(PROJECT, stages=("witness", "no such stage")))
    assert record.problems == [
        "the original does not run: invalid.collect: tests.toy_cache.suite has no stage no such stage"
    ]


def test_a_checks_own_fault_is_no_kill() -> None:
    record = run_all((), replace(PROJECT, stages=("witness", "raising")))
    assert "the original does not pass stage raising: harness-error, RuntimeError" in record.problems[0]


def test_a_stage_that_doubts_makes_the_verdict_unknown() -> None:
    bottom = in_take("bottom", "page = self.free.pop(0)")
    record = run_all((bottom,), replace(PROJECT, stages=("witness", "doubtful of order")))
    verdict = record.results[0].verdict
    assert (verdict.status, verdict.stage, verdict.detail) == (Status.UNKNOWN, "doubtful of order", "it cannot tell")


def run(outcome: str, ended: str = "returned", **broken: str) -> Run:
    rules = {rule.replace("_", "-"): line for rule, line in broken.items()}
    return Run(ended, "", "", (StageRun("witness", outcome, rules, None, 1, "", 0.0),), 0.0)


def test_an_end_that_does_not_come_again_is_flaky() -> None:
    verdict = judge_run(in_take("m", ""), run("crash"), again=lambda: run("pass"))
    assert (verdict.status, verdict.detail) == (Status.FLAKY, "first killed.crash in witness, then survived in witness")


def test_a_declared_runaway_is_a_kill_when_it_comes_again() -> None:
    mutant = replace(in_take("m", ""), declares_runaway=True)
    spins = run("begun", "runaway.cpu")
    assert judge_run(mutant, spins, again=lambda: spins).status is Status.KILLED_RUNAWAY
    assert judge_run(mutant, spins, again=lambda: run("runaway.steps")).status is Status.KILLED_RUNAWAY
    assert judge_run(mutant, spins, again=lambda: run("pass")).status is Status.FLAKY


def test_wall_time_is_never_a_kill() -> None:
    mutant = replace(in_take("m", ""), declares_runaway=True)
    assert judge_run(mutant, run("begun", "runaway.wall"), again=lambda: run("pass")).status is Status.UNKNOWN


def test_a_guard_of_the_oracle_is_a_kill_of_its_own_kind() -> None:
    assert judge_run(in_take("m", ""), run("spec-guard"), again=lambda: run("pass")).status is Status.KILLED_GUARD


def test_broken_rules_count_even_when_a_later_stage_hangs() -> None:
    first = run("fail", TOY_TAKE="it differs").stages
    verdict = judge_run(
        in_take("m", ""), Run("runaway.cpu", "", "", (*first, *run("begun").stages), 0.0), again=lambda: run("pass")
    )
    assert (verdict.status, verdict.stage) == (Status.KILLED_ASSERTION, "witness")


def test_every_verdict_has_a_word_in_the_report_and_one_meaning() -> None:
    assert set(STRYKER_STATUS) == set(Status)
    groups = (KILLED, INVALID, NO_VERDICT, RUNAWAYS)
    assert sum(map(len, groups)) == len(frozenset().union(*groups))
