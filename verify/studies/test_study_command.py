"""`python -m impl study`: the files it writes, the same bytes every time, and how it refuses."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from impl.cli import main
from impl.command import CommandError
from impl.exit_codes import ExitCode
from impl.studies.study import Chart, Column, Series, StudyTable
from impl.studies.writing import check_folder, to_csv

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG\r\n\x1a\n"


def study(*arguments: str) -> Result:
    """`python -m impl study` with these arguments, in this process."""
    return CliRunner().invoke(main, ["study", *arguments], env={"COLUMNS": "200"})


def test_a_study_writes_json_csv_svg_and_png_and_the_same_bytes_again(tmp_path: Path) -> None:
    for folder in ("one", "two/deep"):
        done = study("window", "--out", str(tmp_path / folder))
        assert (done.exit_code, "Window 6, 8 pages of 4 rows" in done.output) == (ExitCode.PASS, True)
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two/deep"))
    assert one == two
    charts = [f"window-{chart}.{form}" for chart in ("block-table", "rows") for form in ("png", "svg")]
    assert sorted(one) == sorted([*charts, "window-steps.csv", "window.json"])
    document = json.loads(one["window.json"])
    assert (document["kvproof"], document["study"], document["inputs"]["window"]) == ("study", "window", 6)
    lines = list(csv.reader(one["window-steps.csv"].decode().splitlines()))
    assert [line[3] for line in lines[1:]] == [row[3] for row in document["tables"][0]["rows"]]


def test_a_figure_has_no_date_and_no_letter_that_depends_on_a_font_elsewhere() -> None:
    from impl.studies.drawing import drawn  # matplotlib: every process that collects this file would load it

    lines = Series("rows", (1, 2, 4), (8, 0.5, 3), step=True), Series("others", (1, 2), (5, 6))
    bars = Series("requests", (0, 1), (3, 4)), Series("ran out", (0, 1), (0, 1))
    for chart in (
        Chart("lines", "Lines", "x [rows]", "y [rows]", lines, log_x=True, log_y=True),
        Chart("bars", "Bars", "x [rows]", "y [requests]", bars, "bars", ("a", "b")),
    ):
        files = drawn(chart)
        svg = files["svg"].decode()
        assert re.search("<text|font-family|dc:date", svg) is None
        assert files["png"].startswith(PNG)


def test_a_csv_has_every_digit_and_nothing_for_what_is_not_there() -> None:
    table = StudyTable("t", "T", (Column("a", "rows"), Column("b", digits=1), Column("c")), ((1, 1 / 3, None),))
    assert to_csv(table) == "a [rows],b,c\n1,0.3333333333333333,\n"


def test_a_model_is_given_by_its_layers(tmp_path: Path) -> None:
    model = ("--layers", "2", "--heads", "3", "--head-width", "8", "--element-bytes", "2")
    sizes = ("--chip-bytes", "1MiB", "--weights", "48KiB", "--contexts", "16,64", "--windows", "16,32")
    done = study("serving", *model, *sizes, "--no-figures", "--out", str(tmp_path))
    assert done.exit_code == ExitCode.PASS, done.output
    document = json.loads((tmp_path / "serving.json").read_bytes())
    assert document["inputs"]["token_bytes"] == 2 * 2 * 3 * 8 * 2
    batches = [row[:2] + row[3:] for row in document["tables"][0]["rows"]]
    assert batches[0] == [16, None, 325, 325]  # 999,424 bytes left, 192 a token, 325 pages
    assert batches[3:] == [[64, None, 81, 81], [64, 16, 325, 324], [64, 32, 162, 162]]
    assert not list(tmp_path.glob("*.svg"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("memory", "--pages", "4,0"), "different numbers of 1 .."),
        (("memory", "--pages", "4,4"), "different numbers of 1 .."),
        (("memory", "--pages", "4,x"), "different numbers of 1 .."),
        (("memory", "--pool-rows", "1024"), "has no room for a page of 2048"),
        (("admission", "--pages", "9000"), "has no room for a page of 9000"),
        (("accuracy", "--windows", "256"), "1 .. 255"),
        (("serving", "--chip-bytes", "many"), "a whole number of bytes"),
        (("serving", "--token-bytes", "0.3"), "a whole number of bytes"),
        (("serving", "--weights", "80e9"), "leave no room"),
        (("serving", "--layers", "2"), "--layers, --heads and --head-width together"),
        (
            ("serving", "--layers", "2", "--heads", "2", "--head-width", "2", "--token-bytes", "9"),
            "--token-bytes follows",
        ),
        (("cycles", "--width", "17"), "is not one of '16', '32'"),
        (("window", "--out", "README.md"), "is a file"),
        (("nothing",), "No such command"),
    ],
)
def test_a_wrong_call_is_a_usage_error_that_says_why(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    out = () if "--out" in arguments or len(arguments) == 1 else ("--out", str(tmp_path))
    done = study(*arguments, *out)
    assert done.exit_code == ExitCode.USAGE
    assert says in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sharing", "--pool-pages", "3"), "the pool is too small for this study: pages needed"),
        (("window", "--pool-pages", "1"), "the pool is too small for this study: pages needed"),
        (("serving", "--token-bytes", "1", "--page", "1"), "a pool of 73,000,000,000 pages of 1 rows is not in"),
    ],
)
def test_what_a_study_cannot_do_is_one_clear_error(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = study(*arguments, "--no-figures", "--out", str(tmp_path))
    assert isinstance(done.exception, CommandError)
    assert says in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_place_where_no_folder_can_be_is_said_before_the_study(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="cannot be a folder"):
        check_folder(tmp_path / "file" / "below")


def test_commands_that_draw_nothing_start_without_matplotlib() -> None:
    source = (
        "import sys, impl.bench_cli, impl.decode_cli, impl.studies.studies_cli; sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", source], cwd=ROOT, timeout=60).returncode == 0
