"""The conformance command from end to end, on a serving system of one file in a child process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from impl.command import CommandError
from impl.exit_codes import ExitCode
from verify.conformance import cli, known, profiles, setup_cli
from verify.conformance.profiles import Profile
from verify.conformance.report import validate
from verify.conformance.targets import KnownTarget, Recipe

ROOT = Path(__file__).resolve().parent.parent
TOY = "tests.toy_serving"
LITTLE = Profile("dev", operations=150, each=1, rounds=1, transitions=300, fault_operations=2_000, rate_walks=1)
LEAK = """
[[deviation]]
target = "toy"
version = "1.0"
name = "a request of three pages gives back two"
rules = ["PT-LEAK", "PT-PAGES"]
sentence = "Releasing a request of exactly three pages loses its first."
configuration = "page 2"
also = ["page 1"]
operations = [{ op = "admit", request = 0, tokens = [0, 0, 0, 0, 0] }, { op = "release", request = 0 }]
"""


def toy(factory: str = "honest", faults: str = "faults", script: str = "script", name: str = "toy") -> KnownTarget:
    """The toy as a target, run by this interpreter."""
    recipe = Recipe(Path("pins.txt"), "1", 0)
    return KnownTarget(
        name,
        "Toy serving",
        "1.0",
        recipe,
        f"{TOY}.adapter:{factory}",
        f"{TOY}.{faults}",
        f"{TOY}.{script}",
        interpreter=Path(sys.executable),
    )


@dataclass
class Ended:
    """How a command ended, and the report of the toy when there is one."""

    code: int
    output: str
    report: dict[str, Any]
    folder: Path


Check = Callable[..., Ended]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Check:
    """Runs the command on these targets, with what is known of them."""

    def run(*targets: KnownTarget, listed: str = "", options: tuple[str, ...] = ("--no-faults",)) -> Ended:
        table = {target.name: target for target in targets}
        file, folder = tmp_path / "known.toml", tmp_path / "reports"
        file.write_text(listed)
        monkeypatch.setattr(cli, "TARGETS", table)
        monkeypatch.setitem(profiles.PROFILES, "dev", LITTLE)
        arguments = ["--profile", "dev", "--known", str(file), "--report", str(folder), *options]
        ended = CliRunner().invoke(cli.conformance, arguments, standalone_mode=False)
        code = ended.return_value
        if ended.exception is not None:
            if not isinstance(ended.exception, CommandError):
                raise ended.exception
            code = ended.exception.code
        report = folder / "toy.json"
        data = json.loads(report.read_text()) if report.exists() else {}
        return Ended(int(code), ended.output, data, folder)

    return run


def test_an_honest_target_passes_and_every_fault_is_found(check: Check) -> None:
    ended = check(toy(), options=())
    assert ended.code == ExitCode.PASS, ended.output
    assert "verdict: pass, toy pass" in ended.output
    assert [(fault["name"], fault["found"]) for fault in ended.report["planted"]] == [
        ("loses_a_page", True),
        ("takes_the_last_page", True),
    ]
    assert ended.report["planted"][0]["sentence"] == "A request of three pages gives back two."
    assert 0 < ended.report["median_operations"] <= LITTLE.fault_operations
    assert ended.report["operations"] >= 300
    assert all(part["operations"] >= LITTLE.operations for part in ended.report["searched"])
    assert ended.report["transitions"] > 0


def test_the_report_says_what_was_done_and_what_was_not_offered(check: Check) -> None:
    report = check(toy()).report
    validate(report)
    assert report["capabilities"] == {
        "says": "toy serving 1.0",
        "offered": ["Admit", "Append", "Release"],
        "not_offered": ["Commit", "Fork", "Truncate"],
        "not_observed": [],
    }
    assert report["situations"]["out of pages in Admit"] > 0
    assert "out of pages in Fork" in report["situations_not_offered"]
    rates = report["rates"]
    assert rates["operations"] > 0 and rates["checked"] > 0 and rates["calls"] > rates["raw"] > 0
    assert rates["ratio"] == pytest.approx(rates["checked"] / rates["raw"])


def test_a_known_deviation_is_reported_as_known_every_time(check: Check) -> None:
    ended = check(toy("leaky"), listed=LEAK)
    assert ended.code == ExitCode.PASS, ended.output
    (found,) = ended.report["known"]
    assert found["reproduced"] and found["met"] > 0 and found["doubt"] == ""
    script = subprocess.run([sys.executable, ended.folder / found["script"]], capture_output=True, text=True)
    assert script.returncode == 1
    assert "PT-LEAK" in (ended.folder / found["page"]).read_text()
    assert "Releasing a request of exactly three pages loses its first." in ended.output
    for suffix in ("md", "html"):
        assert "loses its first" in (ended.folder / f"toy.{suffix}").read_text()


def test_a_known_deviation_that_its_script_does_not_show_is_a_doubt(check: Check) -> None:
    ended = check(toy("leaky", script="blind_script"), listed=LEAK)
    assert ended.code == ExitCode.UNKNOWN
    assert ended.report["why"] == ["its script does not show it (exit code 0): a request of three pages gives back two"]


def test_a_known_deviation_that_is_gone_fails(check: Check) -> None:
    ended = check(toy(), listed=LEAK)
    assert ended.code == ExitCode.FAIL
    assert ended.report["why"] == ["a known deviation is gone: a request of three pages gives back two"]


def test_a_known_deviation_that_breaks_other_rules_than_listed_fails(check: Check) -> None:
    ended = check(toy("leaky"), listed=LEAK.replace('"PT-LEAK", ', '"PT-LEAK", "PT-ROWS", '))
    assert ended.code == ExitCode.FAIL
    assert "gone, its witness shows PT-PAGES, PT-LEAK" in ended.output


def test_a_deviation_of_another_version_is_not_known_of_this_one(check: Check) -> None:
    ended = check(replace(toy("leaky"), version="1.1"), listed=LEAK)
    assert ended.code == ExitCode.FAIL
    assert ended.report["known"] == [] and ended.report["findings"] != []


def test_a_deviation_in_a_configuration_that_is_not_listed_is_new(check: Check) -> None:
    ended = check(toy("leaky"), listed=LEAK.replace('also = ["page 1"]', ""))
    assert ended.code == ExitCode.FAIL
    assert {found["configuration"] for found in ended.report["findings"]} == {"page 1"}


def test_a_walk_ends_with_the_cause_of_a_deviation_that_shows_only_later(check: Check) -> None:
    ended = check(toy("leaky"), listed=LEAK + "ends = 1\n")
    assert ended.report["findings"] == []
    assert ended.report["known"][0]["reproduced"] and ended.report["known"][0]["met"] == 0
    assert ended.code == ExitCode.UNKNOWN
    assert any("met less than 1 times: out of pages in Append" in why for why in ended.report["why"])


def test_a_difference_that_its_script_shows_is_a_finding(check: Check) -> None:
    ended = check(toy("leaky"))
    assert ended.code == ExitCode.FAIL
    found = ended.report["findings"][0]
    assert found["status"] == "finding"
    assert "PT-LEAK" in [item["rule"] for item in found["broken"]]
    assert found["calls"][-1].startswith("release(")
    assert "expected" in found["says"]
    script = subprocess.run([sys.executable, ended.folder / found["script"]], capture_output=True, text=True)
    assert script.returncode == 1
    assert json.loads((ended.folder / found["witness"]).read_text())["kvproof"] == "manager witness"
    assert "PT-LEAK" in (ended.folder / found["page"]).read_text()
    for link in (found["script"], found["page"]):
        assert f'href="{link}"' in (ended.folder / "toy.html").read_text()


def test_a_difference_that_its_script_does_not_show_is_unknown_and_no_finding(check: Check) -> None:
    ended = check(toy("leaky", script="blind_script"))
    assert ended.code == ExitCode.UNKNOWN
    assert {found["status"] for found in ended.report["findings"]} == {"unknown"}
    assert "its script does not show it (exit code 0)" in ended.report["why"][0]
    assert ended.report["verdict"] == "unknown"


def test_a_planted_fault_that_is_not_found_fails(check: Check) -> None:
    ended = check(toy(faults="blind_faults"), options=())
    assert ended.code == ExitCode.FAIL
    assert "a planted fault was not found: does_nothing" in ended.output


def test_a_fault_is_not_found_by_what_the_healthy_target_does(check: Check) -> None:
    ended = check(toy("leaky", faults="blind_faults"), options=())
    assert ended.report["planted"] == []
    assert "no fault was planted" in ended.output


def test_what_an_earlier_run_found_is_not_left_in_the_folder(check: Check) -> None:
    ended = check(toy("leaky"))
    assert list(ended.folder.glob("toy-*.py")) != []
    assert check(toy()).code == ExitCode.PASS
    assert list(ended.folder.glob("toy-*")) == []


def missing(target: KnownTarget) -> KnownTarget:
    """The target without its interpreter."""
    return replace(target, interpreter=Path("no") / "python")


def test_a_missing_target_is_said_and_the_others_decide(check: Check) -> None:
    ended = check(toy(), missing(toy(name="other")))
    assert ended.code == ExitCode.PASS
    assert "other is not installed: python -m verify targets other" in ended.output


def test_a_missing_target_is_no_verdict_when_all_are_required(check: Check) -> None:
    ended = check(toy(), missing(toy(name="other")), options=("--require-all",))
    assert ended.code == ExitCode.UNKNOWN
    assert ended.report == {}


def test_no_target_at_all_is_no_verdict(check: Check) -> None:
    assert check(missing(toy())).code == ExitCode.UNKNOWN


def test_a_target_that_does_not_start_is_broken(check: Check) -> None:
    ended = check(toy("nothing"))
    assert ended.code == ExitCode.BROKEN


def test_a_target_that_raises_at_once_is_a_difference(check: Check) -> None:
    ended = check(toy("broken"))
    assert ended.report["findings"] != []
    assert ended.code in (ExitCode.FAIL, ExitCode.UNKNOWN)


@pytest.mark.parametrize(
    "listed",
    [
        "[[deviation]",
        "[[deviation]]\ntarget = 3\n",
        LEAK.replace("rules", "rule"),
        LEAK.replace('op = "release"', 'op = "let go"'),
        LEAK + "ends = 3\n",
        LEAK + LEAK,
        LEAK.replace('also = ["page 1"]', 'also = ["page 3"]'),
    ],
)
def test_a_malformed_list_of_known_deviations_is_a_broken_input(check: Check, listed: str) -> None:
    assert check(toy(), listed=listed).code == ExitCode.BROKEN


def test_a_witness_is_replayed_step_by_step(check: Check) -> None:
    ended = check(toy("leaky"))
    witness = ended.folder / ended.report["findings"][0]["witness"]
    again = check(toy("leaky"), options=("--witness", str(witness)))
    assert again.code == ExitCode.FAIL
    assert "PT-LEAK" in again.output and "<- here" in again.output
    assert check(toy(), options=("--witness", str(witness))).code == ExitCode.PASS


def test_a_file_that_is_no_witness_is_a_broken_input(check: Check, tmp_path: Path) -> None:
    file = tmp_path / "witness.json"
    file.write_text("{}")
    assert check(toy(), options=("--witness", str(file))).code == ExitCode.BROKEN


def test_reports_that_cannot_be_written_are_said_before_the_run(check: Check, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert check(toy(), options=("--report", str(tmp_path / "file" / "reports"))).code == ExitCode.BROKEN


def test_an_interrupt_ends_with_130_and_a_report_of_what_was_done(tmp_path: Path) -> None:
    program = """
import sys
from impl.command import run
from tests.test_conformance import toy
from verify.conformance import cli
cli.TARGETS = {"toy": toy("slow")}
run(cli.conformance)
"""
    command = [sys.executable, "-c", program, "--profile", "dev", "--report", str(tmp_path), "--no-faults"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Its first worker says that the run has begun, which on a busy machine takes as long as it takes.
    while process.poll() is None and not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text():
        time.sleep(0.02)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED, err
    assert "it was interrupted" in out
    report = json.loads((tmp_path / "toy.json").read_text())
    assert report["interrupted"] and report["verdict"] == "unknown"
    validate(report)


def test_both_commands_teach_with_examples_and_exit_codes() -> None:
    for command in (cli.conformance, setup_cli.set_up_targets):
        ended = CliRunner().invoke(command, ["--help"])
        assert "Examples:" in ended.output and "Exit codes:" in ended.output


def test_the_checked_in_list_of_known_deviations_is_well_formed() -> None:
    assert all(item.sentence.endswith(".") for item in known.load_known())
    assert os.access(known.KNOWN_FILE, os.R_OK)
