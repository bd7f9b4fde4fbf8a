"""What a run keeps: an interrupted run loses nothing and resumes, and a known verdict is taken only while nothing has changed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from impl.command import CommandError
from mutants.client import Source
from mutants.engine import Plan, Record, carry_out
from mutants.farm.cache import Cache
from mutants.farm.farm import Farm
from mutants.farm.folder import REPORT, RESULTS, RunFolder, to_resume
from mutants.farm.job import Finding
from mutants.farm.surroundings import Surroundings, everywhere
from mutants.mutant import Mutant
from mutants.verdicts import Status, Verdict
from mutants.wire import Run, StageRun
from tests.test_mutation_server import alive
from tests.toy_cache.catalogue import BROKEN, MUTANTS, NO_OP, PROJECT, in_take

SURVIVES = in_take("survives", "page = self.free.pop()", "TOY-TAKE")
STAGES = (StageRun("witness", "fail", {"TOY-TAKE": "it differs"}, {"steps": 2}, 2, "", 0.001),)
FOUND = Finding(
    "a",
    Verdict(Status.KILLED_ASSERTION, "TOY-TAKE", {"TOY-TAKE": "it differs"}, "witness"),
    Run("returned", "", "", STAGES, 0.01),
)


def carried_out(farm: Farm, mutants: Sequence[Mutant] = (*MUTANTS[:4], SURVIVES)) -> Record:
    record = Record(Plan(PROJECT, tuple(mutants), NO_OP, BROKEN))
    carry_out(record, lambda label: None, farm)
    assert record.problems == []
    return record


def verdicts(record: Record) -> dict[str, Verdict]:
    return {result.mutant.id: result.verdict for result in record.results}


def known(record: Record) -> set[str]:
    return {result.mutant.id for result in record.results if result.known}


def test_a_finding_survives_its_journey() -> None:
    assert Finding.of_json(json.loads(json.dumps(FOUND.as_json()))) == FOUND


def test_a_torn_line_is_no_finding_and_is_cut_off(tmp_path: Path) -> None:
    folder = RunFolder.begun("toy", "a plan", tmp_path)
    folder.keep([FOUND, replace(FOUND, id="b")])
    results = folder.path / RESULTS
    whole = results.read_bytes()
    for torn in (b'{"id": "c", "verd', json.dumps(replace(FOUND, id="c").as_json()).encode()):
        results.write_bytes(whole + b"[]\n" + torn)
        again = RunFolder.resumed(to_resume("toy", tmp_path), "a plan")
        assert [finding.id for finding in again.known()] == ["a", "b"]
        again.keep([replace(FOUND, id="d")])
        assert [finding.id for finding in again.known()] == ["a", "b", "d"]


def test_only_an_unfinished_run_of_the_same_plan_can_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no interrupted run of kind toy"):
        to_resume("toy", tmp_path)
    folder = RunFolder.begun("toy", "a plan", tmp_path)
    with pytest.raises(CommandError, match="other mutants, stages or sources"):
        RunFolder.resumed(folder.path, "another plan")
    with pytest.raises(CommandError, match="no run that can be resumed"):
        RunFolder.resumed(tmp_path, "a plan")
    (folder.path / REPORT).write_text("{}")
    with pytest.raises(CommandError, match="no interrupted run"):
        to_resume("toy", tmp_path)


CHOSEN = ("--executor", "process", "--workers", "2", "--no-cache", "--only", "bottom,copy,wrong rule,spins")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_has_lost_no_verdict(how: signal.Signals, tmp_path: Path) -> None:
    run = subprocess.Popen(command(*CHOSEN), cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (had := lines(tmp_path)) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    below = descendants(run.pid)
    run.send_signal(how)
    assert run.wait(timeout=30) == (130 if how is signal.SIGINT else -how)
    assert 1 <= len(had) < 3
    assert below
    while any(map(alive, below)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(alive, below))
    if how is signal.SIGKILL:
        again = subprocess.run(
            command(*CHOSEN, "--resume"), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
        )
        assert again.returncode == 1, again.stderr
        assert lines(tmp_path)[: len(had)] == had
        assert sorted(json.loads(line)["id"] for line in lines(tmp_path)) == ["bottom", "copy", "spins"]
        (report,) = tmp_path.glob(f"reports/gate-*/{REPORT}")
        said = json.loads(report.read_text())["kvproof"]
        assert (said["complete"], len(said["mutants"])) == (True, 4)


def descendants(pid: int) -> list[int]:
    below = [
        int(child) for place in Path(f"/proc/{pid}/task").glob("*/children") for child in place.read_text().split()
    ]
    return below + [further for child in below for further in descendants(child)]


def lines(folder: Path) -> list[str]:
    return [line for path in folder.glob(f"reports/gate-*/{RESULTS}") for line in path.read_text().splitlines()]


def command(*arguments: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "mutants",
        "--catalogue",
        "tests.toy_cache.catalogue",
        "--json",
        "report.json",
        *arguments,
    ]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": PROJECT.root}


def test_a_second_run_takes_every_final_verdict_from_the_cache(tmp_path: Path) -> None:
    first, second = (carried_out(Farm(cache=Cache(tmp_path / "verdicts"))) for _ in range(2))
    assert verdicts(first) == verdicts(second)
    assert (known(first), known(second)) == (set(), {"bottom", "copy", "survives"})
    assert verdicts(first)["spins"].status is Status.RUNAWAY_CPU
    original = [record.before.cpu_seconds for record in (first, second) if record.before]
    assert original[0] != original[1]  # one verdict was not known, so the original ran
    finals = (*MUTANTS[:2], SURVIVES)
    third, fourth = (carried_out(Farm(cache=Cache(tmp_path / "verdicts")), finals) for _ in range(2))
    assert (third.before, third.after) == (fourth.before, fourth.after) == (second.after, second.after)
    assert [result.verdict for result in fourth.controls] == [result.verdict for result in first.controls]
    other_rule = replace(MUTANTS[1], expected=(frozenset({"TOY-ORDER"}),))
    assert known(carried_out(Farm(cache=Cache(tmp_path / "verdicts")), [other_rule])) == set()


def test_a_file_that_is_no_cache_is_begun_anew(tmp_path: Path) -> None:
    place = tmp_path / "verdicts"
    place.write_bytes(b"no database at all" * 1000)
    assert Cache(place).costs() == {}
    assert known(carried_out(Farm(cache=Cache(place)), MUTANTS[:1])) == set()
    assert "bottom" in Cache(place).costs()


def test_what_a_verdict_rests_on_changes_with_sources_data_and_libraries(tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    project = replace(PROJECT, root=str(tmp_path), subject=("checks.subject",), checks=("checks",))

    def seen(text: str = "", numpy: str = "2", stage: str = "one") -> str:
        places = {"one": "checks.one", "two": "checks.two"}
        sources = {name: Source(f"{name}.py", text, frozenset({"numpy"})) for name in ("checks.one", "checks.suite")}
        sources["checks.two"] = Source("checks.two.py", "", frozenset({"checks.deep.names", "checks.deep"}))
        sources["checks.deep"] = Source("checks.deep.py", text)
        sources["checks.suite"] = Source("checks.suite.py", "")
        around = Surroundings(everywhere(project), "checks.suite", sources, places, {"numpy": numpy, "python": "3"})
        return around.seen_by((stage,), "checks.subject")

    found = [seen(), seen("changed"), seen(numpy="3"), seen(stage="two"), seen("changed", stage="two")]
    assert seen(numpy="3", stage="two") == found[3]  # which imports no numpy
    (tmp_path / "checks" / "witness.json").write_text("{}")
    found.append(seen())
    assert len(set(found)) == 6
    (tmp_path / "checks" / "__pycache__").mkdir()
    (tmp_path / "checks" / "__pycache__" / "subject.pyc").write_bytes(b"stale")
    assert seen() == found[-1]
