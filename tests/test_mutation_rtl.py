"""The mutants of the RTL: each fits its source, some of them die in each simulator, and nothing else counts as a kill."""

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from impl.exit_codes import ExitCode
from mutants.catalogue import MUTANTS, PROJECT
from mutants.reports.from_rtl import run_of_rtl
from mutants.reports.stryker import check_document, document
from mutants.rtl_catalogue import RTL_BROKEN, RTL_MUTANTS, RTL_NO_OP
from mutants.rtl_engine import RtlPlan, RtlRecord, RtlResult, carry_out_rtl, misfit, verdict_of
from mutants.rtl_mutant import CYCLE, INTEGER, RtlMutant
from mutants.rtl_report import decide_rtl, show_rtl
from mutants.verdicts import Status
from spec.rules import RULES
from verify.chips.judge import Judged
from verify.chips.planted_rtl import DoesNotFitError, Edit, RtlFault, plant, sources_of

EXPECTED = {
    "R1": "CHIP-INT",
    "R2": "CHIP-INT",
    "R3": "CHIP-INT",
    "R4": "CHIP-INT",
    "R5": "CHIP-INT",
    "R6": "CHIP-INT",
    "R7": "CHIP-ISA",
    "R8": "CHIP-INT",
    "R9": "CHIP-INT",
    "R10": "CHIP-INT",
    "R11": "CHIP-INT",
    "R12": "CHIP-ISA",
    "R13": "CHIP-INT",
    "R14": "CHIP-INT",
    "R15": "CHIP-ISA",
    "R16": "CHIP-INT",
    "R17": "CHIP-INT",
    "R18": "CHIP-INT",
    "R19": "CHIP-INT",
    "R20": "CHIP-ISA",
    "R21": "CHIP-ISA",
    "R22": "CHIP-ISA",
    "R23": "CHIP-ISA",
    "R24": "CHIP-ISA",
    "R25": "CHIP-ISA",
    "R26": "CHIP-ISA",
    "R27": "CHIP-ISA",
    "R28": "CHIP-ISA",
    "R29": "CHIP-ISA",
    "R30": "CHIP-ISA",
    "R31": "CHIP-ISA",
    "R32": "CHIP-ISA",
    "R33": "CHIP-ISA",
    "R34": "CHIP-ISA",
    "R35": "CHIP-ISA",
    "R36": "CHIP-ISA",
    "R37": "CHIP-ISA",
    "R38": "CHIP-ISA",
    "R39": "CHIP-ISA",
    "R40": "CHIP-ISA",
    "R41": "CHIP-ISA",
    "R42": "CHIP-INT",
    "R43": "CHIP-ISA",
    "R44": "CHIP-INT",
    "R45": "CHIP-CHASE",
    "R46": "CHIP-CHASE",
    "R47": "CHIP-LOAD",
    "R48": "CHIP-LOAD",
    "R49": "CHIP-LOAD",
    "R50": "CHIP-STORE",
    "R51": "CHIP-RESULT",
    "R52": "CHIP-RESULT",
    "R53": "CHIP-IDLE",
    "R54": "CHIP-IDLE",
    "R55": "CHIP-QUIET",
    "R56": "CHIP-PORTS",
    "R57": "CHIP-PORTS",
    "R58": "CHIP-PORTS",
    "R59": "CHIP-ISA",
    "R60": "CHIP-CYCLE",
    "R61": "CHIP-ISA",
    "R62": "CHIP-ISA",
    "R63": "CHIP-CYCLE",
    "R64": "CHIP-QUIET",
    "R65": "CHIP-ISA",
    "R66": "CHIP-ISA",
    "R67": "CHIP-ISA",
    "R68": "CHIP-CYCLE",
    "R69": "CHIP-CYCLE",
    "R70": "CHIP-CYCLE",
    "R71": "CHIP-CYCLE",
    "R72": "CHIP-CYCLE",
    "R73": "CHIP-CYCLE",
    "R74": "CHIP-GATHER",
    "R75": "CHIP-GATHER",
    "R76": "CHIP-GATHER",
    "R77": "CHIP-GATHER",
    "R78": "CHIP-GATHER",
    "R79": "CHIP-GATHER",
    "R80": "CHIP-GATHER",
    "R81": "CHIP-CYCLE",
    "R82": "CHIP-ERROR",
    "R83": "CHIP-ERROR",
    "R84": "CHIP-ERROR",
    "R85": "CHIP-ERROR",
    "R86": "CHIP-ERROR",
    "R87": "CHIP-ERROR",
    "R88": "CHIP-ERROR",
    "R89": "CHIP-CYCLE",
    "R90": "CHIP-WATCH",
    "R91": "CHIP-CYCLE",
    "R92": "CHIP-WATCH",
    "R93": "CHIP-WATCH",
    "R94": "CHIP-RESET",
    "R95": "CHIP-RESET",
    "R96": "CHIP-RESET",
    "R97": "CHIP-RESET",
    "R98": "CHIP-RESET",
    "R99": "CHIP-RESET",
    "R100": "CHIP-RESET",
    "R101": "CHIP-RESET",
    "R102": "CHIP-RESET",
    "R103": "CHIP-RESET",
    "R104": "CHIP-CYCLE",
}
"""Written down apart from the catalogue; source: docs/chip.md."""

OF = {mutant.id: mutant for mutant in RTL_MUTANTS}
STALE = replace(OF["R1"], id="stale", before="41'd2 << (sh_i - 6'd1)")
EQUAL = replace(RTL_NO_OP, id="equal", expected=INTEGER)
WRONG_RULE = replace(OF["R2"], id="wrong rule", expected=CYCLE)
SIGNLESS = RtlMutant("signless", "a shift", "ks_rq", "$signed(product_q) >>> sh_q", "product_q >> sh_q", INTEGER)


def test_the_expected_rules_are_those_of_the_definition() -> None:
    assert {mutant.id: mutant.expectation() for mutant in RTL_MUTANTS} == EXPECTED


def test_every_expected_rule_is_a_rule_of_the_chip() -> None:
    named = {rule for mutant in RTL_MUTANTS for rules in mutant.expected for rule in rules}
    assert named <= {rule for rule in RULES if rule.startswith("CHIP-")}
    assert all(mutant.expected for mutant in RTL_MUTANTS)


def test_every_module_of_the_rtl_has_a_mutant() -> None:
    modules = {edit.module for mutant in RTL_MUTANTS for edit in mutant.fault().edits}
    assert modules == {Path(name).stem for name in sources_of() if name.endswith(".v")}


def test_ids_go_up_by_one_and_are_nobody_elses() -> None:
    assert [mutant.id for mutant in RTL_MUTANTS] == [f"R{number}" for number in range(1, len(RTL_MUTANTS) + 1)]
    assert not {mutant.id for mutant in MUTANTS} & {*OF, RTL_NO_OP.id, RTL_BROKEN.id}


@pytest.mark.parametrize("mutant", [*RTL_MUTANTS, RTL_NO_OP, RTL_BROKEN], ids=lambda mutant: mutant.id)
def test_every_mutant_fits_and_changes_something(mutant: RtlMutant) -> None:
    assert misfit(mutant, sources_of()) == ""
    assert all(edit.before != edit.after for edit in mutant.fault().edits)


def carried_out(*mutants: RtlMutant, simulator: str, broken: RtlMutant = RTL_BROKEN) -> RtlRecord:
    record = RtlRecord(RtlPlan(mutants, (simulator,), (), broken=broken))
    carry_out_rtl(record, lambda label: None)
    return record


@pytest.fixture(scope="module")
def in_icarus(icarus: object) -> RtlRecord:
    """A register that is x, what overlapping instructions show, and a reset."""
    return carried_out(OF["R35"], OF["R54"], OF["R95"], simulator="icarus")


@pytest.fixture(scope="module")
def in_verilator(verilator: object) -> RtlRecord:
    """A run without an end, overlapping instructions, walks, TIMEOUT, and whatever is no kill by its rule."""
    mutants = (OF["R40"], OF["R54"], STALE, EQUAL, WRONG_RULE, OF["R75"], OF["R87"], OF["R90"])
    return carried_out(*mutants, simulator="verilator")


def verdicts(record: RtlRecord) -> dict[str, tuple[Status, frozenset[str]]]:
    return {result.mutant.id: (result.verdict.status, frozenset(result.verdict.rules)) for result in record.results}


def test_in_icarus_mutants_die_by_their_rules(in_icarus: RtlRecord) -> None:
    assert decide_rtl(in_icarus).code is ExitCode.PASS
    assert verdicts(in_icarus) == {
        "R35": (Status.KILLED_ASSERTION, frozenset({"CHIP-ISA"})),
        "R54": (Status.KILLED_ASSERTION, frozenset({"CHIP-ISA", "CHIP-IDLE"})),
        "R95": (Status.KILLED_ASSERTION, frozenset({"CHIP-ISA", "CHIP-RESET"})),
    }
    assert "ChipUnknown" in in_icarus.results[0].verdict.rules["CHIP-ISA"]


def test_in_verilator_only_a_kill_by_its_rule_counts(in_verilator: RtlRecord) -> None:
    killed = Status.KILLED_ASSERTION
    found = verdicts(in_verilator)
    assert found["R40"][0] is found["wrong rule"][0] is killed
    assert "ChipTimeout" in in_verilator.results[0].verdict.rules["CHIP-ISA"]
    assert found["R54"] == (killed, frozenset({"CHIP-ISA", "CHIP-IDLE"}))
    assert found["R90"] == (killed, frozenset({"CHIP-ISA", "CHIP-WATCH"}))
    assert found["R87"] == (killed, frozenset({"CHIP-ISA", "CHIP-ERROR"}))
    assert {"CHIP-GATHER", "CHIP-ISA"} <= found["R75"][1]
    assert (found["stale"][0], found["equal"][0]) == (Status.INVALID_APPLY, Status.SURVIVED)
    decision = decide_rtl(in_verilator)
    assert decision.code is ExitCode.FAIL
    assert [reason.partition(" in verilator: ")[::2] for reason in decision.reasons] == [
        ("mutant equal", f"survived: {in_verilator.results[3].verdict.detail}"),
        ("mutant wrong rule", "killed, but not by its rule: CHIP-INT; CHIP-ISA instead of CHIP-CYCLE"),
        ("mutant stale", "invalid.apply: \"41'd2 << (sh_i - 6'd1)\" is in ks_rq.v 0 times"),
    ]


def test_the_original_runs_before_and_after_and_the_controls_between(in_verilator: RtlRecord) -> None:
    before, after = in_verilator.originals["verilator"]
    assert (before.broken, before.lost, before.runs) == ({}, [], after.runs)
    assert [(one.mutant.id, one.verdict.status) for one in in_verilator.controls] == [
        ("R no-op", Status.SURVIVED),
        ("R broken", Status.KILLED_ASSERTION),
    ]


def test_a_stale_mutant_alone_is_broken_input(in_verilator: RtlRecord) -> None:
    stale = [result for result in in_verilator.results if result.mutant is STALE]
    plan = replace(in_verilator.plan, mutants=(STALE,))
    assert decide_rtl(RtlRecord(plan, results=stale)).code is ExitCode.BROKEN


@pytest.mark.usefixtures("icarus")
@pytest.mark.parametrize(
    ("mutant", "problem"),
    [
        (SIGNLESS, "the original does not pass in icarus: CHIP-INT"),
        (replace(SIGNLESS, after="("), "iverilog failed"),
        (replace(SIGNLESS, before="= $signed(product_q)", after="= 1'b1"), "reaches into the place of another fault"),
    ],
    ids=["it changes the original", "it does not build", "it overlaps"],
)
def test_a_mutant_that_spoils_the_build_lets_nothing_be_judged(mutant: RtlMutant, problem: str) -> None:
    record = carried_out(mutant, SIGNLESS, simulator="icarus")
    decision = decide_rtl(record)
    assert decision.code is ExitCode.BROKEN
    assert problem in decision.reasons[0]


def test_a_control_that_breaks_nothing_lets_nothing_be_judged(verilator: object) -> None:
    record = carried_out(OF["R40"], simulator="verilator", broken=replace(RTL_NO_OP, id="R broken"))
    reason = "the R broken control must break a rule in verilator: survived"
    assert (decide_rtl(record).code, decide_rtl(record).reasons[0][: len(reason)]) == (ExitCode.BROKEN, reason)
    assert record.results == []


def test_a_lost_run_is_no_kill_and_takes_none_away() -> None:
    lost = ["a program: the simulator was ended by SIGSEGV"]
    assert verdict_of(Judged(runs=3, lost=lost), "icarus").status is Status.HARNESS_ERROR
    assert verdict_of(Judged(runs=3, lost=lost, out_of_cpu=True), "icarus").status is Status.RUNAWAY_CPU
    assert verdict_of(Judged({"CHIP-ISA": "x"}, 3, 0, lost), "icarus").status is Status.KILLED_ASSERTION
    results = [RtlResult(OF["R1"], "icarus", verdict_of(Judged(runs=3, lost=lost), "icarus"))]
    assert decide_rtl(RtlRecord(RtlPlan((OF["R1"],), ("icarus",)), results=results)).code is ExitCode.UNKNOWN


def test_a_missing_verdict_fails_and_an_interrupt_is_one() -> None:
    assert decide_rtl(RtlRecord(RtlPlan())).code is ExitCode.FAIL
    assert decide_rtl(RtlRecord(RtlPlan(), interrupted=True)).code is ExitCode.INTERRUPTED


def test_the_report_is_one_that_a_viewer_reads(in_verilator: RtlRecord) -> None:
    report = json.loads(json.dumps(document(run_of_rtl(in_verilator))))
    check_document(report)
    status = {one["id"]: one["status"] for file in report["files"].values() for one in file["mutants"]}
    assert status == {
        "R40": "Killed",
        "R54": "Killed",
        "stale": "RuntimeError",
        "equal": "Survived",
        "wrong rule": "Killed",
        "R75": "Killed",
        "R87": "Killed",
        "R90": "Killed",
    }
    place = next(one for one in report["files"]["rtl/ks_seq.v"]["mutants"] if one["id"] == "R40")["location"]
    line = report["files"]["rtl/ks_seq.v"]["source"].splitlines()[place["start"]["line"] - 1]
    assert line[place["start"]["column"] - 1 : place["end"]["column"] - 1] == OF["R40"].before
    assert report["kvproof"]["exitCode"] == ExitCode.FAIL


def test_the_table_says_the_same(in_verilator: RtlRecord) -> None:
    out = Console(width=250, record=True, file=io.StringIO())
    show_rtl(out, in_verilator)
    text = out.export_text()
    assert "verilator 5 of 8, median" in text
    assert "verdict: fail" in text


def toy(folder: Path, body: str) -> Path:
    """A list of one file: a module with that body."""
    folder.mkdir()
    (folder / "toy.v").write_text(f"module toy (\n    input wire clk\n);\n{body}\nendmodule\n")
    (folder / "files.f").write_text("toy.v\n")
    return folder / "files.f"


def planted(tmp_path: Path, body: str, *edits: Edit) -> str:
    """The body with these edits as faults 1, 2, ..., on one line."""
    listing = toy(tmp_path / "before", body)
    faults = [RtlFault("toy", edit.module, edit.before, edit.after, "", edit.within) for edit in edits]
    text = (plant(faults, tmp_path / "after", listing).parent / "toy.v").read_text()
    return " ".join(text.partition("planted = 8'd0;\n")[2].removesuffix("endmodule\n").split())


@pytest.mark.parametrize(
    ("body", "edits", "due"),
    [
        ("x = a + b;", [("a + b", "a")], "x = ((planted == 8'd1) ? (a) : (a + b));"),
        ("x <= a;", [("x <= a;", "")], "if (planted == 8'd1) begin end else begin x <= a; end"),
        (
            "x = a + b;",
            [("a", "c"), ("a + b", "d")],
            "x = ((planted == 8'd2) ? (d) : (((planted == 8'd1) ? (c) : (a)) + b));",
        ),
        ("x = a;", [("a", "c"), ("a", "d")], "x = ((planted == 8'd1) ? (c) : (((planted == 8'd2) ? (d) : (a))));"),
        ("x = a; y = a;", [("a", "c", "y = a")], "x = a; y = ((planted == 8'd1) ? (c) : (a));"),
    ],
    ids=["an expression", "a statement", "one within another", "two in one place", "one of two"],
)
def test_what_is_planted(tmp_path: Path, body: str, edits: list[tuple[str, ...]], due: str) -> None:
    assert planted(tmp_path, body, *(Edit("toy", *edit) for edit in edits)) == due


@pytest.mark.parametrize(
    "edits", [[("a + b", "0"), ("b + c", "0")], [("z", "0")], [("+", "-")], [("a", "0", "z")]], ids=str
)
def test_what_does_not_fit_is_not_planted(tmp_path: Path, edits: list[tuple[str, ...]]) -> None:
    with pytest.raises(DoesNotFitError):
        planted(tmp_path, "x = a + b + c;", *(Edit("toy", *edit) for edit in edits))


def test_a_module_that_is_not_there_does_not_fit() -> None:
    assert misfit(replace(STALE, module="ks_gone"), sources_of()) == "there is no ks_gone.v"


def ended(*arguments: str, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and standard error of the command."""
    command = [sys.executable, "-m", "mutants", *arguments]
    done = subprocess.run(command, cwd=PROJECT.root, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rtl", "--matrix"), "no matrix"),
        (("--simulator", "icarus"), "--simulator is for --rtl"),
        (("--rtl", "--only", "R1,R999"), "no mutant 'R999'"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(arguments: tuple[str, ...], words: str) -> None:
    code, said = ended(*arguments)
    assert code == ExitCode.USAGE
    assert words in said


def test_without_a_simulator_nothing_is_known(tmp_path: Path) -> None:
    code, said = ended("--rtl", "--only", "R1", environment={"PATH": str(tmp_path)})
    assert code == ExitCode.UNKNOWN
    assert "is not on PATH" in said
