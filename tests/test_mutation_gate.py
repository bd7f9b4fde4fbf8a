"""The gate passes only a complete run in which the original is sound and every mutant dies by its own rule."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from impl.exit_codes import ExitCode
from mutants import catalogue
from mutants.cli import cli
from mutants.engine import Plan, Record, Result, carry_out
from mutants.gate import decide, median_cpu_ms, summary
from mutants.mutant import NINETEENTH, PREFIX_CACHE, Mutant, Project
from mutants.repeat import verdict_key
from mutants.verdicts import Status, Verdict
from mutants.wire import Run
from tests.toy_cache.catalogue import BROKEN, MUTANTS, NO_OP, PROJECT, in_take
from verify.command_line import run_here

ROOT = Path(PROJECT.root)
BOTTOM, COPY, WRONG_RULE, SPINS, STALE = MUTANTS
SURVIVES = in_take("survives", "page = self.free.pop()", "TOY-TAKE")


def carried_out(
    *mutants: Mutant,
    project: Project = PROJECT,
    no_op: Mutant = NO_OP,
    broken: Mutant = BROKEN,
    seed: int | None = None,
    at_least: int = 0,
    family_controls: Mapping[str, tuple[Mutant, Mutant]] | None = None,
) -> Record:
    record = Record(Plan(project, mutants, no_op, broken, at_least, seed, family_controls or {}))
    carry_out(record, lambda label: None)
    return record


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mutants", "--catalogue", "tests.toy_cache.catalogue", *arguments]


def here(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The same command in this process."""
    return run_here(cli, *command(*arguments)[3:])


def test_mutants_that_die_by_their_rules_pass() -> None:
    record = carried_out(BOTTOM, COPY)
    assert decide(record).code is ExitCode.PASS
    assert decide(record).reasons == ()
    assert summary(record) == ["toy 2 of 2"]


@pytest.mark.parametrize(
    ("mutants", "code", "reason"),
    [
        ([BOTTOM, SURVIVES], ExitCode.FAIL, "mutant survives: survived: passed witness, exhaustive, unit"),
        ([WRONG_RULE], ExitCode.FAIL, "mutant wrong rule: killed, but not by its rule: TOY-TAKE instead of TOY-ORDER"),
        ([COPY, replace(COPY, id="again")], ExitCode.FAIL, "mutant again: duplicate: the same instructions as copy"),
        ([STALE], ExitCode.BROKEN, "mutant stale: invalid.apply: 'page = self.free[-2]' matches 0 times"),
        ([SPINS], ExitCode.UNKNOWN, "mutant spins: runaway.cpu: ended by SIGPROF"),
        ([in_take("k", "import os; os.kill(os.getppid(), 9)")], ExitCode.UNKNOWN, "mutant k: harness-error: lost"),
        ([], ExitCode.FAIL, "no mutant has a verdict"),
    ],
)
def test_everything_else_does_not(mutants: Sequence[Mutant], code: ExitCode, reason: str) -> None:
    decision = decide(carried_out(*mutants))
    assert decision.code is code
    assert len(decision.reasons) == 1
    assert decision.reasons[0].startswith(reason)


def test_a_survivor_weighs_more_than_a_stale_mutant_and_that_more_than_an_unknown() -> None:
    assert decide(carried_out(SPINS, STALE, SURVIVES)).code is ExitCode.FAIL
    assert decide(carried_out(SPINS, STALE)).code is ExitCode.BROKEN


@pytest.mark.parametrize(
    ("stage", "problem"),
    [
        ("failing", "the original does not pass stage failing: fail, TOY-ALWAYS: always"),
        ("doubtful", "the original does not pass stage doubtful: unknown, it cannot tell"),
        ("raising", "the original does not pass stage raising: harness-error"),
        ("empty", "stage empty applied no operation, so passing it says nothing"),
        ("unsteady", "stage unsteady is not deterministic"),
    ],
)
def test_an_original_that_is_not_sound_breaks_the_run(stage: str, problem: str) -> None:
    record = carried_out(COPY, project=replace(PROJECT, stages=("witness", stage)))
    assert decide(record).code is ExitCode.BROKEN
    assert record.problems[0].startswith(problem)


def test_a_suite_that_sees_nothing_breaks_the_run() -> None:
    record = carried_out(COPY, project=replace(PROJECT, stages=("blind",)))
    assert decide(record).code is ExitCode.BROKEN
    assert record.problems == ["the broken control must break a rule: survived, passed blind"]
    assert record.results == []


def test_a_no_op_that_dies_breaks_the_run() -> None:
    record = carried_out(COPY, no_op=replace(COPY, id="no-op", expected=()))
    assert decide(record).code is ExitCode.BROKEN
    assert record.problems == ["the no-op control must survive: killed.assertion, TOY-TAKE"]


@pytest.mark.parametrize(
    "control", [STALE, replace(STALE, after="page = self.free[-2]  # the same", before="page = 1")]
)
def test_a_control_that_does_not_apply_breaks_the_run(control: Mutant) -> None:
    assert decide(carried_out(COPY, no_op=control)).code is ExitCode.BROKEN
    assert decide(carried_out(COPY, broken=control)).code is ExitCode.BROKEN


def test_a_broken_control_must_break_a_rule_and_not_only_crash() -> None:
    record = carried_out(COPY, broken=in_take("broken", "raise ValueError"))
    assert record.problems[0].startswith("the broken control must break a rule: killed.crash")


def aside(mutant: Mutant) -> Mutant:
    """The mutant in a family with stages of its own."""
    return replace(mutant, id=f"{mutant.id} aside", family="aside")


ASIDE = replace(PROJECT, family_stages={"aside": ("bindings", "unit")})
ASIDE_NO_OP = replace(aside(NO_OP), after="page = self.free.pop(-1)")
ASIDE_BROKEN = replace(aside(BROKEN), after="page = 1")
ASIDE_CONTROLS = {"aside": (ASIDE_NO_OP, ASIDE_BROKEN), "absent": (STALE, STALE)}


def test_the_controls_of_a_family_run_through_its_stages_when_a_mutant_does() -> None:
    def controls(record: Record) -> list[tuple[str, list[str]]]:
        return [(one.mutant.id, [s.stage for s in one.run.stages] if one.run else []) for one in record.controls]

    general = [("no-op", ["witness", "exhaustive", "unit"]), ("broken", ["witness"])]
    without = carried_out(BOTTOM, project=ASIDE, family_controls=ASIDE_CONTROLS)
    assert controls(without) == general
    beside = carried_out(aside(COPY), project=ASIDE, family_controls=ASIDE_CONTROLS)
    assert beside.problems == []
    assert controls(beside) == [*general, *((f"{name} aside", ["bindings", "unit"]) for name in ("no-op", "broken"))]
    assert [plan.units() - len(plan.mutants) for plan in (without.plan, beside.plan)] == [4, 6]


@pytest.mark.parametrize(
    ("pair", "problem"),
    [
        ((aside(BOTTOM), ASIDE_BROKEN), "the bottom aside control must survive: killed.assertion"),
        ((ASIDE_NO_OP, replace(ASIDE_NO_OP, id="idle")), "the idle control must break a rule: duplicate"),
        ((ASIDE_NO_OP, aside(STALE)), "the stale aside control must break a rule: invalid.apply"),
    ],
)
def test_controls_of_a_family_that_are_not_as_they_must_be_break_the_run(
    pair: tuple[Mutant, Mutant], problem: str
) -> None:
    record = carried_out(aside(COPY), project=ASIDE, family_controls={"aside": pair})
    assert decide(record).code is ExitCode.BROKEN
    assert record.problems[0].startswith(problem)
    assert record.results == []


def test_a_missing_verdict_fails() -> None:
    record = carried_out(BOTTOM, COPY)
    del record.results[0]
    assert decide(record).reasons == ("planned and executed differ: 1 of 2 mutants have a verdict",)


def test_both_rules_of_a_mutant_must_break() -> None:
    both = replace(COPY, expected=(frozenset({"TOY-TAKE", "TOY-ORDER"}),))
    either = replace(COPY, expected=(frozenset({"TOY-TAKE"}), frozenset({"TOY-ORDER"})))
    assert decide(carried_out(both)).code is ExitCode.FAIL
    assert decide(carried_out(either)).code is ExitCode.PASS


def test_stages_after_the_expected_rule_are_skipped_unless_asked_for() -> None:
    def stages(record: Record) -> list[str]:
        run = record.results[0].run
        return [stage.stage for stage in run.stages] if run else []

    assert stages(carried_out(COPY)) == ["witness"]
    assert stages(carried_out(COPY, at_least=2)) == ["witness", "exhaustive"]
    assert stages(carried_out(BOTTOM)) == ["witness", "exhaustive", "unit"]


def test_a_mutant_goes_through_the_stages_of_its_family_and_the_original_through_all_that_some_mutant_reaches() -> None:
    def stages(run: Run | None) -> list[str]:
        return [stage.stage for stage in run.stages] if run else []

    project = replace(PROJECT, family_stages={**ASIDE.family_stages, "unreached": ("failing",)})
    ordered = replace(aside(COPY), expected=(frozenset({"TOY-ORDER"}),))
    for at_least in (0, 5):
        record = carried_out(ordered, BOTTOM, project=project, at_least=at_least)
        everything = ["witness", "exhaustive", "unit", "bindings"]
        assert [stages(record.before), stages(record.after)] == [everything, everything]
        assert [stages(result.run) for result in record.results] == [["bindings", "unit"], everything[:3]]
        assert stages(record.controls[0].run) == everything[:3]


def test_families_are_counted_one_by_one_and_together() -> None:
    record = carried_out(replace(COPY, family="aside"), BOTTOM, replace(SURVIVES, family="aside"))
    assert summary(record) == ["aside 1 of 2", "toy 1 of 1", "2 of 3"]


def test_the_eighteen_are_counted_together_and_the_other_families_apart() -> None:
    record = Record(Plan(catalogue.PROJECT, catalogue.MUTANTS, catalogue.NO_OP, catalogue.BROKEN))
    for mutant in reversed(catalogue.MUTANTS):
        verdict = Verdict(Status.KILLED_ASSERTION, "", dict.fromkeys(mutant.expected[0], ""), "")
        record.results.append(Result(mutant, verdict, None, None))
    apart = "nineteenth (a) killed by LIFO, (b) killed by PT-ROWS"
    eighteen = ["page table 12 of 12", "window 2 of 2", "host 4 of 4", "18 of 18"]
    assert summary(record) == [*eighteen, apart, "on the chip 6 of 6", "prefix cache 8 of 8"]
    record.results = [result for result in record.results if result.mutant.id not in ("13", "P3")]
    seventeen = ["page table 12 of 12", "window 1 of 2", "host 4 of 4", "17 of 18"]
    assert summary(record) == [*seventeen, apart, "on the chip 6 of 6", "prefix cache 7 of 8"]
    record.results = [result for result in record.results if result.mutant.family == PREFIX_CACHE]
    assert summary(record) == ["prefix cache 7 of 8"]


def test_verdicts_do_not_depend_on_the_order() -> None:
    hostile = (*MUTANTS, SURVIVES, in_take("leaves", "import os; os._exit(7)"))
    runs = [carried_out(*hostile, seed=seed) for seed in (None, 1, 2)]
    verdicts = [{result.mutant.id: verdict_key(result) for result in run.results} for run in runs]
    assert [result.mutant.id for result in runs[1].results] != [result.mutant.id for result in runs[2].results]
    assert verdicts[0] == verdicts[1] == verdicts[2]


def test_the_readings_of_the_nineteenth_stand_apart() -> None:
    first, second = (
        replace(mutant, id=f"19{letter}", family=NINETEENTH) for mutant, letter in ((BOTTOM, "a"), (SPINS, "b"))
    )
    record = carried_out(second, COPY, first)
    readings, toy = sorted(summary(record))
    assert toy == "toy 1 of 1"
    assert readings.startswith("nineteenth (a) killed by TOY-ORDER, (b) runaway.cpu: ended by SIGPROF")


def test_the_median_of_no_results_is_nought() -> None:
    assert median_cpu_ms([]) == 0.0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--only", "bottom,copy"], 0),
        (["--only", "toy"], 1),
        (["--only", "wrong rule"], 1),
        (["--only", "17"], 2),
        (["--only", ""], 2),
        (["--only", "spins"], 3),
        (["--only", "stale"], 4),
        (["--catalogue", "tests.toy_cache.no_such_catalogue"], 4),
        (["--catalogue", "tests.toy_cache.stack"], 4),
    ],
)
def test_the_exit_code_is_that_of_the_one_table(arguments: list[str], code: int, tmp_path: Path) -> None:
    ended = here("--json", str(tmp_path / "report.json"), *arguments)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
    assert (tmp_path / "report.json").exists() == (code in (0, 1, 3) or "stale" in arguments)


def test_a_report_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "no such folder" / "report.json"
    ended = here("--only", "copy", "--json", str(path))
    assert (ended.returncode, len(ended.stderr.splitlines())) == (4, 1)


def test_an_interrupted_run_ends_with_a_summary_and_says_that_it_is_incomplete(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    gate = subprocess.Popen(
        command("--only", "copy,spins", "--shuffle", "0", "--json", str(path)),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not any(spins(process) for process in below_servers(gate.pid)):
        assert gate.poll() is None and time.monotonic() < deadline, "no mutant has spun"
        time.sleep(0.005)
    gate.send_signal(signal.SIGINT)
    out, _ = gate.communicate(timeout=20)
    assert gate.returncode == 130
    assert "interrupted: " in out
    report = json.loads(path.read_text())
    assert report["kvproof"]["complete"] is False
    assert report["kvproof"]["exitCode"] == 130
    assert "Pending" in {mutant["status"] for file in report["files"].values() for mutant in file["mutants"]}
    assert list(tmp_path.iterdir()) == [path]


def spins(pid: int) -> bool:
    """Whether the process has used a tenth of a second of CPU in user mode and begun no process of its own."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return int(fields[11]) / os.sysconf("SC_CLK_TCK") >= 0.1 and not children(pid)


def below_servers(engine: int) -> list[int]:
    """Every process that a server of the engine's has begun, or one beside it has."""
    found = [child for server in children(engine) for child in children(server)]
    for process in found:
        found += children(process)
    return found


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def test_the_gate_repeated_in_shuffled_order_says_whether_verdicts_agree() -> None:
    ended = subprocess.run(
        [
            *command()[:3],
            "repeat",
            "--catalogue",
            "tests.toy_cache.catalogue",
            "--only",
            "bottom,copy",
            "--runs",
            "3",
            "--load",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert (ended.returncode, len(lines)) == (0, 4)
    assert lines[0].startswith("run  1: pass, 2 of 2 caught, seed 0, median")
    assert lines[3].startswith("3 runs: identical verdicts; CPU a mutant: least")
