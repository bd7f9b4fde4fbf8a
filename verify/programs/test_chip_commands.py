"""`python -m impl decode --chip model` and `python -m impl cycles`: what they print, and how they refuse."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from impl.decode_cycles import CycleFigures, RunFigure, Slope, StepFigure
from impl.exit_codes import ExitCode

ROOT = Path(__file__).resolve().parents[2]
SHORT = ("decode", "--starts", "0", "--steps", "3", "--window", "2")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m impl` with these arguments."""
    command = [sys.executable, "-m", "impl", *arguments]
    environment = {**os.environ, "COLUMNS": "200", "PYTHONPATH": ""}
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, env=environment)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("decode", "--chip", "verilog"), "'verilog' is not one of 'integer', 'model'"),
        (("decode", "--latency", "4"), "--latency is of the chip's memory: it goes with --chip model"),
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


def test_a_pool_that_is_too_small_is_refused_on_the_chip_too() -> None:
    done = run(
        "decode", "--chip", "model", "--starts", "0", "--window", "0", "--steps", "5", "--page", "1", "--pages", "2"
    )
    assert done.returncode == ExitCode.BROKEN
    assert "a pool of 2 pages of 1 rows is too small for this run" in done.stderr


def test_help_teaches_the_exit_codes_and_shows_examples() -> None:
    for command, shown in (("cycles", "python -m impl cycles --latency 20"), ("decode", "--chip model --starts 0")):
        done = run(command, "--help")
        assert done.returncode == ExitCode.PASS
        assert "Exit codes:" in done.stdout and shown in done.stdout


def test_a_decode_in_integers_says_nothing_of_cycles() -> None:
    done = run(*SHORT, "--json", "-")
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


def test_a_decode_on_the_model_gives_the_same_and_its_cycles() -> None:
    """The second and third step attend two rows, so they take the same; a slower memory takes longer."""
    plain, chip = json.loads(run(*SHORT, "--json", "-").stdout), on_model()
    (taken,) = chip["runs"]
    cycles = taken.pop("cycles")
    assert (chip.pop("chip"), chip.pop("latency")) == ("model", 4)
    assert chip == plain
    assert cycles["first"] < cycles["last"]
    assert cycles["total"] == cycles["first"] + 2 * cycles["last"]
    slow = on_model("--latency", "40")
    assert slow["latency"] == 40 and slow["runs"][0]["cycles"]["first"] > cycles["first"]
    shown = " ".join(run(*SHORT, "--chip", "model").stdout.split())
    assert "on the chip's model, latency 4" in shown
    assert all(f"{cycles[name]:,}" in shown for name in ("total", "first", "last"))


def on_model(*options: str) -> dict[str, Any]:
    """The document of the short decode on the model."""
    done = run(*SHORT, "--chip", "model", *options, "--json", "-")
    assert (done.returncode, done.stderr) == (ExitCode.PASS, "")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_cycles_shows_every_step_and_run_beside_the_source_and_passes(tmp_path: Path) -> None:
    path = tmp_path / "cycles.json"
    done = run("cycles", "--json", str(path))
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
    assert "verdict: pass, at n = 8 and 32 up to" in done.stdout
    document = json.loads(path.read_text())
    assert document["verdict"] == "pass"
    assert [(step["width"], step["context"]) for step in document["steps"]] == [
        (width, context) for width in (16, 32) for context in (1, 4, 8, 32)
    ]
    assert [step["port_words"] for step in document["steps"]] == [349, 373, 405, 597, 1193, 1241, 1305, 1689]
    assert all(1 <= step["ratio"] <= 1.25 for step in document["steps"] if step["context"] >= 8)
    assert [slope["port_words"] for slope in document["slopes"]] == [8, 16]
    for taken in document["runs"]:
        steps = taken["cycles_of_steps"]
        assert len(steps) == 32 and sum(steps) == taken["cycles"]
        assert taken["flat"] == (None if taken["window"] is None else True)
        assert taken["window"] is None or len(set(steps[taken["window"] - 1 :])) == 1


STEPS = tuple(StepFigure(16, context, 500, 405, 10) for context in (1, 4, 8, 32))
FIGURES = CycleFigures(4, STEPS, (Slope(16, 8.0, 8),), (RunFigure(16, None, (1, 2, 3)), RunFigure(16, 2, (1, 2, 2))))


def test_the_verdict_is_of_the_ratio_at_8_and_32_and_of_flat_windows() -> None:
    assert FIGURES.passed
    assert [run.flat for run in FIGURES.runs] == [None, True]
    for place, passes in enumerate((True, True, False, False)):
        slow = [replace(step, cycles=507) if index == place else step for index, step in enumerate(STEPS)]
        assert replace(FIGURES, steps=tuple(slow)).passed is passes
    assert not replace(FIGURES, runs=(RunFigure(16, 2, (1, 2, 3)),)).passed
