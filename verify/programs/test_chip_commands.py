"""`python -m impl decode --chip model` and `python -m impl cycles`: what they print, and how they refuse."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from impl.chip_forms import Form
from impl.cli import main
from impl.decode_cycles import CycleFigures, RunFigure, Slope, StepFigure
from impl.exit_codes import ExitCode
from verify.command_line import ROOT, WIDE, run_here

SHORT = ("decode", "--starts", "0", "--steps", "3", "--window", "2")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m impl` with these arguments, in this process."""
    return run_here(main, *arguments)


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "impl", *arguments]
    environment = {**os.environ, **WIDE, "PYTHONPATH": ""}
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, env=environment)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("decode", "--chip", "verilog"), "'verilog' is not one of 'integer', 'model'"),
        (("decode", "--latency", "4"), "--latency is of the chip: it goes with --chip model"),
        (("decode", "--form", "resident"), "--form is of the chip: it goes with --chip model"),
        (
            ("decode", "--chip", "model", "--form", "stream"),
            "'stream' is not one of 'host-gather', 'chip-gather', 'resident'",
        ),
        (
            ("decode", "--chip", "model", "--form", "chip-gather", "--sinks", "1"),
            "--sinks does not go with --form chip-gather",
        ),
        (("decode", "--chip", "model", "--form", "resident", "--page", "3"), "1, 2, 4, 8, 16, 32, 64, 128 rows, not 3"),
        (("decode", "--chip", "model", "--form", "chip-gather", "--pages", "300"), "and the chip has 8192"),
        (("decode", "--chip", "integer", "--latency", "4"), "it goes with --chip model"),
        (("decode", "--chip", "model", "--latency", "0"), "0 is not in the range"),
        (("decode", "--chip", "model", "--latency", "many"), "'many' is not a valid integer"),
        (("decode", "--chip", "model", "--window", "256", "--steps", "256"), "at most 255 rows"),
        (("cycles", "--latency", "0"), "0 is not in the range"),
        (("cycles", "--latency", "1001"), "1001 is not in the range"),
        (("cycles", "extra"), "unexpected extra argument"),
    ],
)
def test_a_wrong_call_is_a_usage_error_that_points_to_help(arguments: tuple[str, ...], says: str) -> None:
    done = run(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert says in done.stderr
    assert "--help" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_place_that_cannot_be_written_is_said_before_the_run() -> None:
    done = run("cycles", "--json", "no/such/folder.json")
    assert done.returncode == ExitCode.BROKEN
    assert (
        done.stderr
        == "error: nothing can be written to 'no/such/folder.json': choose a file in a folder that is there\n"
    )


@pytest.mark.parametrize("form", Form)
def test_a_pool_that_is_too_small_is_refused_on_the_chip_too(form: Form) -> None:
    small = ("--window", "0", "--steps", "5", "--page", "1", "--pages", "2")
    done = run("decode", "--chip", "model", "--form", form.value, "--starts", "0", *small)
    assert done.returncode == ExitCode.BROKEN
    assert "a pool of 2 pages of 1 rows is too small for this run" in done.stderr


def test_help_teaches_the_exit_codes_and_shows_examples() -> None:
    for command, shown in (("cycles", "python -m impl cycles --latency 20"), ("decode", "--chip model --starts 0")):
        done = run(command, "--help")
        assert done.returncode == ExitCode.PASS
        assert "Exit codes:" in done.stdout and shown in done.stdout


def test_a_decode_in_integers_says_nothing_of_cycles() -> None:
    done = started(*SHORT, "--json", "-")
    assert done.returncode == ExitCode.PASS
    assert json.loads(done.stdout) == {
        "model": "structured-16",
        "window": 2,
        "sinks": 0,
        "page_size": 4,
        "pages": 1,
        "steps": 3,
        "runs": [{"start": 0, "tokens": [0, 3, 2, 13], "departed": None, "pages_after": {"1": 1}, "peak_pages": 1}],
        "verdict": "pass",
    }
    assert "cycles" not in run(*SHORT).stdout


@pytest.mark.parametrize("form", [None, *Form])
def test_a_decode_on_the_model_gives_the_same_and_its_cycles(form: Form | None) -> None:
    """The second and third step attend two rows, so they take the same; a slower memory takes longer."""
    options = () if form is None else ("--form", form.value)
    plain, chip = json.loads(run(*SHORT, "--json", "-").stdout), on_model(*options)
    (taken,) = chip["runs"]
    cycles = taken.pop("cycles")
    assert (chip.pop("chip"), chip.pop("latency"), chip.pop("form")) == ("model", 4, form or "host-gather")
    assert chip == plain
    assert cycles["first"] < cycles["last"]
    assert cycles["total"] == cycles["first"] + 2 * cycles["last"]
    slow = on_model("--latency", "40", *options)
    assert slow["latency"] == 40 and slow["runs"][0]["cycles"]["first"] > cycles["first"]
    shown = " ".join(run(*SHORT, "--chip", "model", *options).stdout.split())
    assert f"on the chip's model, {form or 'host-gather'}, latency 4" in shown
    assert all(f"{cycles[name]:,}" in shown for name in ("total", "first", "last"))


def on_model(*options: str) -> dict[str, Any]:
    """The document of the short decode on the model."""
    done = run(*SHORT, "--chip", "model", *options, "--json", "-")
    assert (done.returncode, done.stderr) == (ExitCode.PASS, "")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_cycles_shows_every_step_and_run_beside_the_source_and_passes(tmp_path: Path) -> None:
    path = tmp_path / "cycles.json"
    done = started("cycles", "--json", str(path))
    assert done.returncode == ExitCode.PASS
    for text in (
        "7,000",
        "7,259",
        "7,615",
        "9,751",
        "268,346",
        "241,286",
        "231,792",
        "32 bits",
        "4 int8 a word",
        "unknown",
    ):
        assert text in done.stdout
    assert "verdict: pass, all 4 limits kept, and steady once the window is full" in done.stdout
    document = json.loads(path.read_text())
    assert document["verdict"] == "pass"
    shapes = [(width, form) for width in (16, 32) for form in ("host-gather", "chip-gather", "resident")]
    assert [(step["width"], step["form"], step["context"]) for step in document["steps"]] == [
        (*shape, context) for shape in shapes for context in (1, 4, 8, 32)
    ]
    assert [step["port_words"] for step in document["steps"]] == [
        *(349, 373, 405, 597, 349, 375, 409, 613, 29, 55, 89, 293),
        *(1193, 1241, 1305, 1689, 1193, 1243, 1309, 1705, 41, 91, 157, 553),
    ]
    assert all(step["ratio"] >= 1 for step in document["steps"])
    assert all(
        step["ratio"] <= 1.1 for step in document["steps"] if step["form"] != "resident" and step["context"] >= 8
    )
    kept = {
        (step["width"], step["context"]): step["cycles"] for step in document["steps"] if step["form"] == "resident"
    }
    assert kept[16, 1] <= 200 and kept[16, 32] <= 400
    assert [slope["port_words"] for slope in document["slopes"]] == [8, 8.5, 8.5, 16, 16.5, 16.5]
    assert all(slope["cycles"] <= 8.6 for slope in document["slopes"] if slope["width"] == 16)
    assert [(taken["width"], taken["form"], taken["window"]) for taken in document["runs"]] == [
        (*shape, window) for shape in shapes for window in (None, 8, 4)
    ]
    for taken in document["runs"]:
        steps, window = taken["cycles_of_steps"], taken["window"]
        assert len(steps) == 32 and sum(steps) == taken["cycles"]
        assert taken["steady"] == (None if window is None else True)
        if window is not None:
            assert steps[window - 1 + 4 :] == steps[window - 1 : -4]
        if window is not None and taken["form"] == "host-gather":
            assert len(set(steps[window - 1 :])) == 1


def figures(steps: int = 445, resident: tuple[int, int] = (200, 400), slope: float = 8.6) -> CycleFigures:
    """Figures of which those that are judged are these, and the others are beyond every limit."""
    found = [
        StepFigure(form, width, context, steps if context in (8, 32) else 9999, 405, 10)
        for form in (Form.HOST_GATHER, Form.CHIP_GATHER)
        for width in (16, 32)
        for context in (1, 4, 8, 32)
    ]
    found += [
        StepFigure(Form.RESIDENT, 16, context, cycles, 1, 10)
        for context, cycles in ((1, resident[0]), (4, 9999), (8, 9999), (32, resident[1]))
    ]
    found += [StepFigure(Form.RESIDENT, 32, context, 9999, 1, 10) for context in (1, 4, 8, 32)]
    slopes = [Slope(form, width, slope if width == 16 else 99.0, 8.0) for form in Form for width in (16, 32)]
    runs = (RunFigure(Form.HOST_GATHER, 16, None, (1, 2, 3)), RunFigure(Form.HOST_GATHER, 16, 2, (1, 2, 2)))
    return CycleFigures(4, tuple(found), tuple(slopes), runs)


def test_the_verdict_is_of_the_limits_and_of_steady_windows() -> None:
    assert figures().passed
    assert [(judged.figure, judged.most) for judged in figures().judged] == [
        (445 / 405, 1.1),
        (200, 200),
        (400, 400),
        (8.6, 8.6),
    ]
    for slow in (figures(446), figures(resident=(201, 400)), figures(resident=(200, 401)), figures(slope=8.61)):
        assert not slow.passed
    one = figures()
    for place, step in enumerate(one.steps):
        beyond = replace(step, cycles=446)
        steps = (*one.steps[:place], beyond, *one.steps[place + 1 :])
        streamed = step.form is not Form.RESIDENT and step.context in (8, 32)
        kept = step.form is Form.RESIDENT and step.width == 16 and step.context in (1, 32)
        assert replace(one, steps=steps).passed is not (streamed or kept)
    assert not replace(figures(), runs=(RunFigure(Form.HOST_GATHER, 16, 2, (1, 2, 3)),)).passed


def test_where_the_chip_gathers_steps_repeat_as_pages_do() -> None:
    steady = (1, 5, 6, 7, 8, 5, 6, 7, 8, 5)
    for form, expected in ((Form.HOST_GATHER, False), (Form.CHIP_GATHER, True), (Form.RESIDENT, True)):
        assert RunFigure(form, 16, 2, steady).steady is expected
        assert RunFigure(form, 16, 1, steady).steady is False
        assert RunFigure(form, 16, None, steady).steady is None
