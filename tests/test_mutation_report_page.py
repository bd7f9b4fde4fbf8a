"""The page of a mutation run, looked at in headless Chromium: survivors first, filters, a diff, a witness step by step.

With KVPROOF_PICTURES=docs the picture of the documents is written again.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.catalogue import BROKEN, FAMILY_CONTROLS, MUTANTS, NO_OP, PROJECT
from mutants.engine import Plan, Record, carry_out
from mutants.mutant import PAGE_TABLE, PREFIX_CACHE, Mutant, any_of
from mutants.reports.data import Ablated
from mutants.reports.folder import run_with, write_reports
from mutants.reports.from_record import run_of
from mutants.reports.history import append, past_of
from mutants.reports.page import calls, report_html
from mutants.reports.steps import steps_of
from tests.browser import Browser

ROOT = Path(__file__).resolve().parent.parent
OF = {mutant.id: mutant for mutant in MUTANTS}
SURVIVOR = replace(NO_OP, id="planted", title="another spelling of the same step", family=PAGE_TABLE)
STALE = replace(OF["2"], id="stale", before="self.counts[page] == 2")
SAME = replace(NO_OP, id="same", family=PAGE_TABLE, after=NO_OP.before, operator="respelling")
OTHER_RULE = replace(OF["7"], id="7'", expected=any_of("PT-LEAK"))
CHOSEN: tuple[Mutant, ...] = (OF["1"], OF["4"], OF["6"], OF["19a"], OF["P1"], SAME, OTHER_RULE, STALE, SURVIVOR)
STAGES = replace(PROJECT, stages=("witness", "unit"), family_stages={PREFIX_CACHE: ("prefix witness",)})
FOLDER = "gate-20260301T120000Z"


@pytest.fixture(scope="module")
def record() -> Record:
    """A few of the named mutants, a survivor, and one of everything else that a reader may meet."""
    record = Record(Plan(STAGES, CHOSEN, NO_OP, BROKEN, family_controls=FAMILY_CONTROLS))
    carry_out(record, lambda label: None)
    return record


@pytest.fixture(scope="module")
def folder(record: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run's folder, after twelve other runs."""
    reports = tmp_path_factory.mktemp("reports")
    past = past_of(replace(run_with(record), time=""), "")
    for number in range(12):
        found = {**past.counts, "survived": number % 3, "killed": 6 - number % 3}
        append(reports, replace(past, folder=f"gate-{number}", time=f"2026-02-{number + 10}T12:00:00Z", counts=found))
    write_reports(reports / FOLDER, record)
    return reports / FOLDER


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with Browser() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Browser]:
    """The report; afterwards the page must have asked for nothing, said nothing and not failed."""
    browser.said.clear()
    browser.resize(1280, 900)
    browser.open(folder / "report.html")
    yield browser
    assert browser.said == []


def ids(page: Browser) -> list[str]:
    """The mutants that are shown, in order."""
    return page.texts("#mutants .id")


def choose(page: Browser, name: str, value: str) -> None:
    """Give a filter this value, as its control would."""
    field = f"document.querySelector('[name={name}]')"
    page.value(f"{field}.value = {json.dumps(value)}; {field}.dispatchEvent(new Event('input', {{bubbles: true}}))")


def test_what_somebody_must_look_at_comes_first(page: Browser) -> None:
    assert ids(page) == ["planted", "stale", "7'", "1", "4", "6", "19a", "P1", "same"]
    assert page.text("h1") == "gate: fail, 5 of 9 mutants killed, 3 to look at"
    assert "2026-03-01T12:00:00Z" in page.text("header p") and "planned 9 = executed 9" in page.text("header p")
    assert page.texts(".tile b") == ["1", "1", "1", "0", "5", "1"]
    assert page.texts("#mutants .sign")[:4] == ["✗ survived", "? no verdict", "≠ killed by another rule", "✓ killed"]
    assert page.text("#mutants .title") == SURVIVOR.title
    assert page.value("document.querySelectorAll('svg.history g').length") == 13
    assert "The run before: 9 planned, 4 to look at" in page.text("#summary .dim")


def test_filters_narrow_the_mutants_and_can_be_cleared(page: Browser) -> None:
    for name, value, due in (
        ("status", "survived", ["planted"]),
        ("module", "impl.shared_pages", ["P1"]),
        ("rule", "LIFO", ["19a"]),
        ("area", PREFIX_CACHE, ["P1"]),
        ("text", "COPY_LAST shared", ["4", "6"]),
        ("text", "nothing is like this", []),
    ):
        choose(page, name, value)
        assert ids(page) == due, value
        page.click("#filters [type=reset]")
    choose(page, "area", PAGE_TABLE)
    choose(page, "rule", "PT-PAGES")
    assert ids(page) == ["1", "4"]
    assert page.text("#shown") == "2 of 9 mutants"
    page.click("#filters [type=reset]")
    page.click(".tile.is-no-verdict")
    assert ids(page) == ["stale"]
    assert page.value("document.querySelector('.tile.is-no-verdict').getAttribute('aria-pressed')") == "true"
    page.click(".tile.is-no-verdict")
    assert len(ids(page)) == len(CHOSEN)


def test_a_mutant_opens_with_its_diff_its_rules_and_its_stages(page: Browser) -> None:
    page.click("[data-mutant='4']")
    assert page.texts(".diff .removed") == ["-    copy = self._copy_last_page(table)\n"]
    assert page.texts(".diff .added") == ["+    pass\n"]
    assert "impl/page_table.py:" in page.text(".details h3")
    assert page.texts(".details .rule b") == ["PT-PAGES", "PT-ROWS", "PT-SHARE"]
    assert page.texts(".differed")[2] == "oracle: request 1 has a page of its own; target: page 0 is shared"
    assert page.texts(".decided th") == ["witness ← decided"]
    assert "PT-ROWS and PT-SHARE" in page.text("dl.facts")
    page.click("[data-mutant='4']")
    assert page.texts(".details") == []
    page.click("[data-mutant=stale]")
    assert "matches 0 times" in page.text(".details") and "No change could be made" in page.text(".details")


@pytest.mark.parametrize(("mutant", "rule"), [("4", "PT-SHARE"), ("P1", "PRE-PUBLISH")])
def test_a_witness_opens_step_by_step_on_the_mutant(page: Browser, mutant: str, rule: str) -> None:
    page.click(f"[data-mutant={json.dumps(mutant)}]")
    assert page.text(".witness pre").splitlines()[0].startswith(("new(", "admit("))
    page.click(".witness .steps")
    inside = "document.querySelector('iframe').contentDocument"
    drawn = f"{inside}.querySelector('.rule') ? done(true) : setTimeout(look, 20)"
    assert page.value(f"new Promise((done) => {{ const look = () => {drawn}; look(); }})")
    assert rule in page.value(f"[...{inside}.querySelectorAll('.rule h4 b')].map((e) => e.textContent)")
    number = page.value(f"{inside}.querySelector('#place').textContent")
    page.value(f"{inside}.querySelector('#back').click()")
    assert page.value(f"{inside}.querySelector('#place').textContent") != number
    page.click(".witness .steps")
    assert page.value("document.querySelectorAll('iframe').length") == 0


def test_keys_move_open_and_search(page: Browser) -> None:
    focused = "document.activeElement.dataset.mutant"
    for key, due in (("j", "planted"), ("j", "stale"), ("ArrowDown", "7'"), ("k", "stale"), ("ArrowUp", "planted")):
        page.press(key)
        assert page.value(focused) == due
    page.press("/")
    assert page.value("document.activeElement.name") == "text"
    page.press("j")
    assert page.value("document.activeElement.value") == "j"


def test_the_matrix_shows_what_each_stage_saw(page: Browser) -> None:
    page.click("#matrix summary")
    page.value("new Promise((done) => setTimeout(done, 50))")
    assert page.texts("#matrix .group") == ["witness", "unit", "prefix witness"]
    titles = "[...document.querySelectorAll('#matrix td.broken')].map((cell) => cell.title)"
    assert "19a, unit, LIFO: broken" in page.value(titles)
    assert not [title for title in page.value(titles) if title.startswith(("planted", "same", "stale"))]
    page.click("#matrix tbody tr:first-child button")
    assert page.value("document.activeElement.dataset.mutant") == "planted"
    assert page.text("#mutants .details h3").startswith("CHANGE")


def test_the_address_names_a_mutant(browser: Browser, folder: Path) -> None:
    browser.open(folder / "report.html", "#mutant=19a")
    assert "LIFO" in browser.text(".details")


def test_what_comes_from_outside_is_text(browser: Browser, record: Record, tmp_path: Path) -> None:
    words = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{data}} $& \u2028"
    run = run_of(record)
    hostile = tuple(
        replace(one, title=words, area=words, detail=words, rules={words: words}, diff=f"+{words}")
        for one in run.mutants
    )
    row = Ablated(words, (), (words,), ())
    run = replace(run, kind=words, reasons=(words,), mutants=hostile, ablation=(row,), versions={words: words})
    steps = steps_of(record, run_of(replace(record, plan=replace(record.plan, mutants=(OF["4"],)))))
    steps["4"]["target"] = steps["4"]["steps"][-1]["call"] = words
    browser.said.clear()
    (tmp_path / "page.html").write_text(report_html(run, steps, []), encoding="utf-8")
    browser.open(tmp_path / "page.html", "#mutant=4")
    browser.click(".witness .steps")
    browser.value("new Promise((done) => setTimeout(done, 300))")
    inside = "document.querySelector('iframe').contentDocument"
    assert browser.value(f"{inside}.querySelector('#call').textContent") == words
    assert browser.value("document.querySelector('#mutants .title').textContent") == words
    for whole in ("document", inside):
        assert browser.value(f"{whole}.querySelectorAll('img, script:not(#data)').length") == 1
    assert browser.said == []


def test_thousands_are_drawn_as_they_are_looked_at(browser: Browser, record: Record, tmp_path: Path) -> None:
    run = run_of(record)
    many = tuple(replace(run.mutants[number % 9], id=f"{number:08x}") for number in range(3_000))
    (tmp_path / "page.html").write_text(report_html(replace(run, mutants=many), {}, []), encoding="utf-8")
    browser.open(tmp_path / "page.html")
    assert browser.text("#shown") == "3000 of 3000 mutants"
    assert browser.value("document.querySelectorAll('#mutants li').length") == 200
    assert browser.text("#more") == "Show 200 more of 2800"
    browser.click("#more")
    assert browser.value("document.querySelectorAll('#mutants li').length") >= 400
    choose(browser, "text", f"{2_990:08x}")
    assert ids(browser) == [f"{2_990:08x}"]


@pytest.mark.parametrize("width", [360, 1280, 2000])
def test_the_page_fits_its_window_light_and_dark(page: Browser, tmp_path: Path, width: int) -> None:
    page.click("[data-mutant='4']")
    shots = []
    for dark in (False, True):
        page.resize(width, 900, dark)
        assert page.value("document.documentElement.scrollWidth") <= width
        page.screenshot(tmp_path / "shot.png")
        shots.append((tmp_path / "shot.png").read_bytes())
    assert min(map(len, shots)) > 5_000
    assert shots[0] != shots[1]


def test_every_control_has_a_name(page: Browser) -> None:
    page.click("[data-mutant='4']")
    page.ask("Accessibility.enable")
    kinds = ("button", "combobox", "searchbox", "region", "image", "search")
    nodes = [
        (node["role"]["value"], node["name"]["value"])
        for node in page.ask("Accessibility.getFullAXTree")["nodes"]
        if not node["ignored"] and node["role"]["value"] in kinds
    ]
    assert [node for node in nodes if not node[1] and node[0] != "search"] == []
    assert {("combobox", "Outcome"), ("searchbox", "Text"), ("region", "Mutants")} <= set(nodes)


def test_the_index_leads_to_the_report(browser: Browser, folder: Path) -> None:
    browser.said.clear()
    browser.open(folder.parent / "index.html")
    assert browser.text("h1") == "13 mutation runs"
    first = browser.text("tbody tr:first-child").split()
    assert first[:4] == ["2026-03-01T12:00:00Z", "gate", "fail", "3"]
    links = browser.value(
        "[...document.querySelectorAll('tbody tr:first-child a')].map((link) => link.getAttribute('href'))"
    )
    assert links == [f"{FOLDER}/{name}" for name in ("report.html", "report.json", "report.sarif", "junit.xml")]
    assert browser.texts("tbody tr:last-child td")[-1] == "gone"
    assert browser.said == []


def test_the_picture_of_the_documents_can_be_made(page: Browser, tmp_path: Path) -> None:
    page.resize(1280, 1360)
    page.click("[data-mutant='4']")
    page.value("scrollTo(0, 0)")
    place = ROOT / "docs" if os.environ.get("KVPROOF_PICTURES") == "docs" else tmp_path
    page.screenshot(place / "mutation-report.png")
    assert (place / "mutation-report.png").read_bytes().startswith(b"\x89PNG")


def test_a_witness_reads_as_calls() -> None:
    operations = [{"op": "append", "request": 0, "tokens": [1, 2]}, {"op": "fork", "request": 0, "to": 1, "at": 1}]
    assert calls({"operations": operations}) == ["append(0, [1, 2])", "fork(0, to=1, at=1)"]
    assert calls({"steps": 2}) == ["{'steps': 2}"]
    assert calls(None) == []
