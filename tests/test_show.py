"""A walkthrough renders as data only, in the terminal and as one page, and `python -m verify show` says what became of it."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

import impl.rules
import spec.rules
from impl.command import run
from impl.exit_codes import ExitCode
from spec.operations import Append, Fork, New, Operation, Release, Trim
from tests.planted import Leaking, Uncopied
from verify.cli import main
from verify.findings import describe_failure
from verify.lockstep import replay
from verify.show import failure_text
from verify.targets.shipped import ShippedCache
from verify.view.html_page import page_data, page_html
from verify.view.steps import Walkthrough
from verify.view.terminal import render_walkthrough
from verify.view.walkthrough import walk
from verify.view.where_to_read import REFERENCE, where_to_read
from verify.witness import Witness, to_json
from verify.witness_files import save

ROOT = Path(__file__).resolve().parent.parent
FORK = Witness(4, 2, (New(0), Append(0, (1, 2, 3)), Fork(0, 1, 3), Append(1, (4,)), Trim(0, 2)), ("PT-SHARE",))
"""A fork in the middle of a page, an append that has to copy that page, a trim of a shared page."""


def shown(walkthrough: Walkthrough, width: int = 100, numbers: tuple[int, ...] | None = None) -> str:
    """The walkthrough as plain text."""
    console = Console(width=width, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as captured:
        render_walkthrough(console, walkthrough, numbers)
    return captured.get()


def test_every_rule_points_to_a_section_that_exists() -> None:
    headings = re.findall(r"^## (\d+)\. (.+)$", (ROOT / REFERENCE).read_text(encoding="utf-8"), re.MULTILINE)
    sections = {rule: where_to_read(rule) for rule in spec.rules.RULES | impl.rules.RULES}
    assert [rule for rule, place in sections.items() if (str(place.number), place.heading) not in headings] == []
    assert sections["OutOfPages"] == sections["LIFO"] == sections["PT-OWN"]
    assert len({place.number for place in sections.values()}) == 6


def test_a_failure_says_where_to_read_more() -> None:
    witness = Witness(2, 2, (New(0), Append(0, (1,)), Release(0)))
    differences = replay(witness.operations, 2, 2, Leaking).differences
    text = failure_text(describe_failure(witness.operations, differences, 2, 2, Leaking, folder=None))
    assert f"more about PT-LEAK, PT-PAGES: {REFERENCE}, section 2, The page table" in text


def test_the_terminal_shows_a_short_witness_whole_and_fits_100_columns() -> None:
    text = shown(walk(FORK, Uncopied, "w.json"))
    for part in (
        "PT-SHARE, PT-PAGES broken at step 4 of 5",
        "    4  append(1, [4])  <- here",
        "    5  trim(0, keep_from=2)  (not run)",
        "step 0: a fresh pool",
        "step 4: append(1, [4])",
        "* request 1: 3 -> 4 rows",
        "0x2[1 2]  1x2 (oracle x1)![3 4*]",
        "in use: oracle 3, target 2",
        "│ PT-SHARE: A bijection maps",
        "│ request 1 has a page of its own │ page 1 is shared │",
        f"more about PT-SHARE, PT-PAGES: {REFERENCE}, section 2, The page table",
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_page_says_its_place_on_the_free_list_and_what_is_known_of_its_slots() -> None:
    operations = (New(0), Append(0, (1, 2)), Release(0), New(0), Append(0, (5,)))
    text = shown(walk(Witness(1, 2, operations), ShippedCache))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert [line for line in lines if line.startswith(("0 ", "0* 0 at", "0* 1 0.0"))] == [
        "0 0 at 0 - -",
        "0 0 at 0 - -",
        "0* 1 0.0 1* 2*",
        "0* 0 at 0 ~1* ~2*",
        "0 0 at 0 ~1 ~2",
        "0* 1 0.0 5* ~?*",
    ]


def test_the_terminal_shows_the_end_of_a_longer_witness_and_says_how_to_see_the_rest() -> None:
    operations: tuple[Operation, ...] = (New(0), *(Append(0, (token,)) for token in range(1, 10)))
    walkthrough = walk(Witness(8, 2, operations), ShippedCache)
    text = shown(walkthrough)
    assert [line for line in text.splitlines() if line.startswith("step ")] == [
        line for line in text.splitlines() if line.startswith(("step 9:", "step 10:"))
    ]
    assert "steps 0 to 10 can be shown: --step N, --all" in text
    assert "step 3: append(0, [2])" in shown(walkthrough, numbers=(3,))


def test_the_terminal_says_what_it_does_not_draw_and_what_the_target_does_not_show() -> None:
    large = walk(Witness(1000, 1, (New(0), Append(0, tuple(range(1, 401))), Trim(0, 398))), ShippedCache)
    text = shown(large, width=4000)
    assert "(256 of 1000 pages are drawn)" in text
    assert "(256 of 998 are drawn)" in text
    fork = walk(FORK, ShippedCache)
    blind = replace(fork.last, free=(), free_total=None)
    lost = replace(fork.last, unseen="KeyError: '[b]lost[/b]'")
    assert "free list: the target shows none" in shown(replace(fork, steps=(blind,)))
    assert "the target cannot be looked at: KeyError: '[b]lost[/b]'" in shown(replace(fork, steps=(lost,)))


def strings(value: object) -> Iterator[str]:
    """All strings inside JSON values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


def embedded_json(page: str) -> object:
    """The data that a page carries."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_a_page_needs_nothing_but_itself() -> None:
    page = page_html(walk(FORK, Uncopied, "w.json"))
    code = re.sub(r"^\s*//.*$", "", page, flags=re.MULTILINE)
    for outside in ("//", "src=", "href=", "url(", "@import", "fetch(", "XMLHttpRequest", "import(", "innerHTML"):
        assert outside not in code, outside
    assert "default-src 'none'" in page
    assert not re.search(r"\{\{\w+\}\}", page)


HOSTILE = "</script><script>alert(1)</script>\u2028{{script}}<!--&amp;\"'\x00\ud800"


def test_hostile_names_stay_text() -> None:
    walkthrough = replace(walk(FORK, Uncopied), target=HOSTILE, source=HOSTILE, calls=(HOSTILE,) * 5)
    page = page_html(walkthrough)
    assert page.count("<script") == page.count("</script>") == 2
    assert "\u2028" not in page
    assert list(strings(embedded_json(page))).count(HOSTILE) == 7
    assert embedded_json(page) == json.loads(json.dumps(page_data(walkthrough)))


def test_a_page_writes_what_stays_alike_once() -> None:
    operations: tuple[Operation, ...] = (New(0), *(Append(0, (token,)) for token in range(1, 50)))
    data = page_data(walk(Witness(200, 8, operations), ShippedCache))
    assert [len(step["pool"]) for step in data["steps"]] == [200] * 51
    assert len(data["pool"]) < 200 + 51 * 4


class Done(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Runs `python -m verify show` with arguments, in this process."""
    monkeypatch.setenv("COLUMNS", "100")

    def show(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            run(main, ["show", *arguments])
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return show


@pytest.fixture
def witness_file(tmp_path: Path) -> Path:
    """A witness on disk."""
    path = tmp_path / "witness.json"
    save(path, FORK)
    return path


def test_the_command_shows_a_witness_and_writes_its_page(
    command: Callable[..., Done], witness_file: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page [b].html"
    done = command(str(witness_file), "--html", str(page), "--last")
    assert done.code == ExitCode.PASS
    assert "verdict: pass, no difference in 5 operations" in done.stdout
    assert "step 5: trim(0, keep_from=2)" in done.stdout
    assert "step 4: append" not in done.stdout
    assert f"all steps on a page: {page}" in done.stdout.replace("\n", "")
    assert embedded_json(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"kvproof": "witness", "version": 1, "pages": 2}', "is no witness"),
        (json.dumps({**to_json(FORK), "version": 9}), "version"),
        ("not JSON", "is no witness"),
    ],
)
def test_a_bad_witness_is_one_line_and_no_page(
    command: Callable[..., Done], tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "witness.json").write_text(text)
    done = command(str(tmp_path / "witness.json"), "--html", str(tmp_path / "page.html"))
    assert done.code == ExitCode.BROKEN
    assert done.stdout == ""
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("place", ["no/such/folder/page.html", "witness.json/page.html", "folder"])
def test_a_place_that_cannot_be_written_is_one_line_and_nothing_is_left(
    command: Callable[..., Done], witness_file: Path, tmp_path: Path, place: str
) -> None:
    (tmp_path / "folder").mkdir()
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    done = command(str(witness_file), "--html", str(tmp_path / place))
    assert done.code == ExitCode.BROKEN
    assert done.stdout == ""
    assert str(tmp_path / place) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--step", "6"), "There is no step 6; steps 0 to 5 can be shown."),
        (("--step", "1", "--last"), "exclude each other"),
        (("--all", "--last"), "exclude each other"),
        (("--step", "-1"), "--step"),
    ],
)
def test_a_step_that_is_not_there_is_a_usage_error(
    command: Callable[..., Done], witness_file: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = command(str(witness_file), *arguments)
    assert done.code == ExitCode.USAGE
    assert says in done.stderr


def test_a_witness_without_operations_is_no_pass(command: Callable[..., Done], tmp_path: Path) -> None:
    save(tmp_path / "witness.json", Witness(2, 2, ()))
    done = command(str(tmp_path / "witness.json"))
    assert done.code == ExitCode.UNKNOWN
    assert "verdict: unknown, no operation could be applied" in done.stdout
