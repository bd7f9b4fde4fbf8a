"""The parts of the conformance command: verdicts and reports from data, scripts, known deviations, workers, rates."""

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from impl.exit_codes import ExitCode
from spec.groups import Group
from spec.manager import Traits, initial, step
from spec.operations import Admit, Append, ManagerOperation, Release
from tests.browser import Browser
from verify.conformance import scripts
from verify.conformance.crew import Crew, Job, LostWorkerError
from verify.conformance.investigate import shows
from verify.conformance.known import Classifier, Known
from verify.conformance.markdown import markdown
from verify.conformance.page import report_html
from verify.conformance.rates import RAW_RATE, longest_run
from verify.conformance.report import (
    Broken,
    Capabilities,
    Deviation,
    Finding,
    Planted,
    Rates,
    Searched,
    TargetReport,
    to_json,
    validate,
)
from verify.conformance.scripts import RAISED, Ran, run_script
from verify.managers.configuration import Configuration
from verify.refinement import Difference

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = "</pre><script>alert(1)</script> | `` ``` [x](y) <b>"

FOUND = Finding(
    "toy-PT-LEAK-00000000",
    "finding",
    "",
    "page 2",
    ("admit(0, [0])", "release(0)"),
    (Broken("PT-LEAK", "A page with count zero is on the free list.", "it is", HOSTILE),),
    "toy-PT-LEAK-00000000.py",
    HOSTILE,
    "toy-PT-LEAK-00000000.json",
    "toy-PT-LEAK-00000000.html",
)
DEVIATION = Deviation("a name", ("PT-LEAK",), "It leaks.", "page 2", ("release(0)",), True, ("PT-LEAK",), 3)
PLANTED = Planted("forgets", "It forgets.", True, 12, ("PT-LEAK",), "page 2")
SOUND = TargetReport(
    "toy",
    "Toy serving",
    "1.0",
    "ci",
    1,
    100,
    Capabilities("toy 1.0", ("Admit",), ("Fork",), ()),
    (Searched("page 2", "6 pages of 2", 20, 1000, "2 requests", 30, 400, True, 1.5),),
    {"page evicted": 100},
    ("out of pages in Fork",),
    {"OutOfPages": 7},
    (DEVIATION,),
    (),
    (PLANTED, replace(PLANTED, operations=30), replace(PLANTED, operations=17)),
    Rates(500, 900.0, 3000.0, 4000.0),
    ("a note",),
    12.5,
)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, ExitCode.PASS),
        ({"findings": (FOUND,)}, ExitCode.FAIL),
        ({"findings": (replace(FOUND, status="unknown", why="not again"),)}, ExitCode.UNKNOWN),
        ({"known": (replace(DEVIATION, reproduced=False),)}, ExitCode.FAIL),
        ({"known": (replace(DEVIATION, doubt="its script does not show it"),)}, ExitCode.UNKNOWN),
        ({"planted": (replace(PLANTED, found=False),)}, ExitCode.FAIL),
        ({"planted": (replace(PLANTED, found=False, note="it did not start"),)}, ExitCode.UNKNOWN),
        ({"situations": {"page evicted": 99}}, ExitCode.UNKNOWN),
        ({"situations": {"page evicted": 99}, "findings": (FOUND,)}, ExitCode.FAIL),
        ({"interrupted": True}, ExitCode.UNKNOWN),
        ({"searched": ()}, ExitCode.UNKNOWN),
    ],
)
def test_the_verdict_follows_from_the_report(changed: dict[str, Any], code: ExitCode) -> None:
    report = replace(SOUND, **changed)
    assert report.code == code
    assert bool(report.failures) == (code == ExitCode.FAIL)
    assert (report.failures or report.doubts) == () if code == ExitCode.PASS else report.failures + report.doubts
    data = to_json(report)
    validate(data)
    assert data["verdict"] == report.verdict


def test_the_median_is_over_the_faults_that_were_found() -> None:
    assert SOUND.median_operations == 17
    assert replace(SOUND, planted=(*SOUND.planted, replace(PLANTED, found=False))).median_operations == 17
    assert replace(SOUND, planted=()).median_operations is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("verdict"),
        lambda data: data.update(verdict="good"),
        lambda data: data["findings"][0].update(status="maybe"),
        lambda data: data["findings"][0].update(broken=[]),
        lambda data: data["situations"].update(eviction=-1),
        lambda data: data.update(more=1),
        lambda data: data["rates"].pop("ratio"),
    ],
)
def test_a_hand_broken_report_does_not_fit_the_schema(spoil: Callable[[dict[str, Any]], None]) -> None:
    data = to_json(replace(SOUND, findings=(FOUND,)))
    validate(data)
    spoil(data)
    with pytest.raises(ValueError, match="at "):
        validate(data)


def test_nothing_that_a_target_says_becomes_markup() -> None:
    report = replace(SOUND, findings=(FOUND,), notes=(HOSTILE,))
    assert "<script>" not in report_html(report)
    text = markdown(report)
    assert "````\n" + HOSTILE in text
    assert "\\<b\\>" in text and "\\| \\`\\`" in text


def test_the_page_of_a_report_opens_and_shows_what_was_found(tmp_path: Path) -> None:
    file = tmp_path / "toy.html"
    file.write_text(report_html(replace(SOUND, findings=(FOUND,))))
    with Browser() as browser:
        browser.open(file)
        assert browser.text("h1") == "Toy serving 1.0: fail"
        assert "PT-LEAK broken: toy-PT-LEAK-00000000" in browser.text("header")
        assert HOSTILE in browser.texts("pre")
        assert {"Findings", "Known deviations", "Planted faults"} <= set(browser.texts("h3"))
        assert browser.said == []


@pytest.mark.parametrize(
    ("text", "shown", "ended"),
    [
        ("raise SystemExit(1)", True, "exit code 1"),
        ("import sys; sys.exit(0)", False, "exit code 0"),
        ("print('all is well')", False, "exit code 0"),
        ("raise SystemExit(2)", False, "exit code 2"),
        ("1 / 0", False, "it raised"),
        ("import os; os.kill(os.getpid(), 11)", False, "killed by SIGSEGV"),
        ("while True: pass", False, "killed by SIGXCPU"),
        ("import time; time.sleep(60)", False, "no end within 3 s"),
        ("bytearray(1 << 40)", False, "it raised"),
    ],
)
def test_only_a_script_that_says_so_shows_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, shown: bool, ended: str
) -> None:
    monkeypatch.setattr(scripts, "CPU_SECONDS", 1)
    monkeypatch.setattr(scripts, "WALL_SECONDS", 3.0 if "sleep" in text else 60.0)
    file = tmp_path / "script.py"
    file.write_text(text)
    ran = run_script(Path(sys.executable), file, {})
    assert (ran.shows, ran.ended) == (shown, ended)


def test_a_script_runs_away_from_this_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    file = tmp_path / "script.py"
    file.write_text("import os, sys\nprint(os.environ['GIVEN'], os.listdir())\nimport verify\n")
    ran = run_script(Path(sys.executable), file, {"GIVEN": "this"})
    assert ran.ended == "it raised"
    assert "this []" in ran.says and "No module named 'verify'" in ran.says


def test_a_script_that_raises_what_the_target_raised_shows_it() -> None:
    raised = Ran(RAISED, "it raised", "Traceback\n  line\nserving.core.PoolError: no such page")
    differs = Difference("PT-TOTAL", "accepted", "raised PoolError: no such page")
    assert shows(raised, [differs])
    assert not shows(raised, [replace(differs, target="raised KeyError: 3")])
    assert not shows(Ran(None, "killed by SIGSEGV", "PoolError: x"), [differs])


TRAITS = Traits(4, 2, (Group("full"),))
HERE = {"page 2": Configuration("page 2", TRAITS), "other": Configuration("other", replace(TRAITS, page_size=1))}
WITNESS: tuple[ManagerOperation, ...] = (Admit(0, (0,) * 9), Admit(0, (0,)), Release(0))
KNOWN = Known("toy", "1.0", "leak", ("PT-LEAK", "PT-PAGES"), "It leaks.", "page 2", WITNESS)


@pytest.mark.parametrize(
    ("rules", "operation", "name", "known"),
    [
        (("PT-LEAK",), Release(0), "page 2", "leak"),
        (("PT-LEAK", "PT-PAGES"), Release(0), "page 2", "leak"),
        (("PT-LEAK", "PT-ROWS"), Release(0), "page 2", None),
        (("PT-LEAK",), Release(7), "page 2", None),
        (("PT-LEAK",), Append(0, (1,)), "page 2", None),
        (("PT-LEAK",), Release(0), "other", None),
    ],
)
def test_a_difference_is_known_only_when_nothing_about_it_is_new(
    rules: tuple[str, ...], operation: ManagerOperation, name: str, known: str | None
) -> None:
    before, _ = step(initial(TRAITS), Admit(0, (0,)))
    _, outcome = step(before, operation)
    classifier = Classifier(name, HERE, [KNOWN])
    assert classifier.known([Difference(rule, "", "") for rule in rules], before, operation, outcome) == known
    assert not classifier.ending()(before, operation, outcome)


def test_a_walk_ends_with_what_is_like_the_cause_and_nothing_later_is_known() -> None:
    classifier = Classifier("other", HERE, [replace(KNOWN, ends=1, also=("other",))])
    state = initial(HERE["other"].traits)
    refused, accepted = Admit(1, (0,) * 9), Admit(1, (0,))
    avoid = classifier.ending()
    asked = [(operation, step(state, operation)[1]) for operation in (accepted, refused, accepted, refused)]
    assert [avoid(state, *pair) for pair in asked] == [False, False, True, True]
    assert [classifier.causes_one(*pair) for pair in asked] == [False, True, False, True]
    after, outcome = step(state, accepted)
    assert classifier.known([Difference("PT-LEAK", "", "")], after, Release(1), outcome) is None


def test_the_last_operation_of_a_witness_can_be_both_the_cause_and_what_shows_it() -> None:
    classifier = Classifier("page 2", HERE, [replace(KNOWN, ends=3)])
    state, _ = step(initial(TRAITS), Admit(0, (0,)))
    _, outcome = step(state, Release(0))
    assert classifier.causes_one(Release(0), outcome)
    assert classifier.known([Difference("PT-LEAK", "", "")], state, Release(0), outcome) == "leak"


def twice(number: int) -> int:
    """Twice the number; ValueError for 3, KeyError for 4, and 5 ends the process."""
    if number == 3:
        raise ValueError("three")
    if number == 4:
        raise KeyError("four")
    if number == 5:
        os._exit(1)
    return 2 * number


def test_workers_do_all_jobs_and_those_that_are_added_meanwhile() -> None:
    jobs = deque(Job(f"{number}", twice, (number,)) for number in (1, 2))
    done = {}
    with Crew(2) as crew:
        for job, result in crew.results(jobs):
            done[job.name] = result
            if job.name == "1":
                jobs.append(Job("9", twice, (9,)))
    assert done == {"1": 2, "2": 4, "9": 18}


@pytest.mark.parametrize(("number", "error"), [(3, ValueError), (4, LostWorkerError), (5, LostWorkerError)])
def test_what_a_job_raises_ends_the_run(number: int, error: type[Exception]) -> None:
    with Crew(1, (ValueError,)) as crew, pytest.raises(error):
        list(crew.results(deque([Job("job", twice, (number,))])))


def test_the_raw_rate_is_measured_in_the_interpreter_of_the_target() -> None:
    configuration = {"name": "page 2", "pages": 6, "page_size": 2, "groups": [{"kind": "full"}]}
    operations = [{"op": "admit", "request": 0, "tokens": [0, 1]}, {"op": "release", "request": 0}]
    command = (sys.executable, str(RAW_RATE), "tests.toy_serving.adapter:honest", "--path", str(ROOT))
    runs = json.dumps([[configuration, operations], [configuration, operations]])
    done = subprocess.run(command, input=runs, capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout)
    assert measured["operations"] == 4
    assert measured["calls"] > 0 and measured["raw"] > 0


def test_rates_are_measured_over_the_longest_run_of_walks_that_were_followed_to_their_end() -> None:
    assert longest_run([]) == longest_run([False]) == (0, 0)
    assert longest_run([True, False, True, True, False]) == (2, 4)
    assert longest_run([True, True, False, True, True]) == (0, 2)
    assert longest_run([False, True, True, True]) == (1, 4)
