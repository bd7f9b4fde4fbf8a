"""The page of a walkthrough, looked at in headless Chromium: the right step, keys that move, marks where something is wrong."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spec.operations import Append, Fork, New, Operation, Release, Trim
from tests.browser import INSTALL, Browser, chromium
from tests.planted import Overwriting, Uncopied
from verify.targets.shipped import ShippedCache
from verify.view.html_page import page_html
from verify.view.steps import Walkthrough
from verify.view.walkthrough import walk
from verify.witness import Witness

OPERATIONS: tuple[Operation, ...] = (
    New(0),
    Append(0, (1, 2, 3)),
    Fork(0, 1, 3),
    Append(0, ()),
    Append(1, (4,)),
    Trim(0, 2),
    Release(1),
)
WITNESS = Witness(6, 2, OPERATIONS, ("PT-SHARE",))
LAST = len(OPERATIONS)

Show = Callable[..., Browser]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with Browser() as opened:
        yield opened


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """Opens the page of a walkthrough; afterwards the page must have asked for nothing, said nothing and not failed."""

    def opened(walkthrough: Walkthrough, fragment: str = "") -> Browser:
        path = tmp_path / "page.html"
        path.write_text(page_html(walkthrough), encoding="utf-8")
        browser.open(path, fragment)
        return browser

    browser.said.clear()
    browser.resize(1280, 900)
    yield opened
    assert browser.said == []


def place(page: Browser) -> tuple[str, str, str]:
    """Where a reader stands by the bar, by the marked step in the list and by the address."""
    marked = page.text("#steps [aria-current=step] .number")
    return page.text("#place"), marked, str(page.value("location.hash"))


def at(number: int) -> tuple[str, str, str]:
    """`place` at this step."""
    return f"Step {number} of {LAST}", str(number), f"#step={number}"


def test_a_failure_opens_where_it_fails_and_says_all_about_it(show: Show) -> None:
    page = show(walk(WITNESS, Uncopied, "reports/w.json"))
    assert page.text("h1") == "PT-SHARE, PT-PAGES broken at step 5 of 7"
    assert page.text("#facts") == "the shipped KV cache · 6 pages of 2 rows · reports/w.json · saved for PT-SHARE"
    assert page.text("#call") == "append(1, [4])"
    assert page.texts(".rule h4 b") == ["PT-SHARE", "PT-PAGES"]
    assert "docs/reference.md, section 2, The page table" in page.text(".rule")
    assert page.texts(".page.wrong .head b") == ["page 1"]
    assert page.texts(".logical.wrong .backing") == ["page 1 \u00d72, oracle \u00d71"] * 2
    assert page.texts("main > :not(#legend) .cell.changed") == ["4", "4"]
    assert page.texts("#steps .not-run .text") == ["trim(0, keep_from=2)", "release(1)"]
    assert page.texts("#steps .broken .number") == ["5"]


def test_a_passing_witness_opens_at_its_beginning_and_marks_nothing_wrong(show: Show) -> None:
    page = show(walk(WITNESS, ShippedCache))
    assert page.text("h1") == "no difference in 7 operations"
    assert place(page)[:2] == at(0)[:2]
    for number in range(LAST + 1):
        assert page.text("#place") == at(number)[0]
        assert (
            page.value(
                "document.querySelectorAll('main > :not(#legend) .wrong, main > :not(#legend) .wrong-text').length"
            )
            == 0
        )
        page.press("ArrowRight")


def test_the_address_names_a_step(show: Show) -> None:
    page = show(walk(WITNESS, ShippedCache), "#step=3")
    assert place(page) == at(3)
    assert page.text("#call") == "fork(0, to=1, at=3)"
    assert page.text("#changes li") == "request 1 begins: 3 rows, pages 0 1"
    assert page.texts(".page .count") == ["count 2", "count 2"]
    assert page.texts(".page .tag") == ["r0·0", "r1·0", "r0·1", "r1·1"]
    assert page.texts("#free .cell") == ["5", "4", "3", "2"]
    page.value("location.hash = '#step=5'; new Promise((done) => setTimeout(done, 50))")
    assert place(page) == at(5)
    assert show(walk(WITNESS, ShippedCache), "#step=99").text("#place") == at(LAST)[0]
    assert show(walk(WITNESS, ShippedCache), "#step=x").text("#place") == at(0)[0]


def test_keys_move_between_steps(show: Show) -> None:
    page = show(walk(WITNESS, ShippedCache), "#step=3")
    for key, number in (
        ("ArrowRight", 4),
        ("j", 5),
        ("k", 4),
        ("ArrowLeft", 3),
        ("End", LAST),
        ("ArrowRight", LAST),
        ("Home", 0),
        ("k", 0),
        ("j", 1),
        ("x", 1),
    ):
        page.press(key)
        assert place(page) == at(number), key
    assert "Step 1: new(0, sinks=0). No rule is broken." in page.text("#status")
    assert page.value("document.querySelector('#status').getAttribute('aria-live')") == "polite"


def test_keys_in_the_calls_stay_there(show: Show) -> None:
    page = show(walk(WITNESS, ShippedCache), "#step=3")
    page.click("#calls")
    page.press("Home")
    assert place(page) == at(3)


def test_steps_buttons_and_slider_move_too(show: Show) -> None:
    page = show(walk(WITNESS, ShippedCache), "#step=6")
    page.click("#next")
    assert place(page) == at(LAST)
    assert page.value("document.querySelector('#next').disabled")
    page.click("#steps li:nth-child(3) button")
    assert place(page) == at(2)
    page.press("ArrowDown")
    assert place(page) == at(3)
    page.press("ArrowUp")
    page.press("ArrowUp")
    assert place(page) == at(1)
    page.value("document.querySelector('#slider').focus()")
    page.press("ArrowRight")
    assert place(page) == at(2)
    page.click("#back")
    assert place(page) == at(1)


def test_each_slot_and_row_looks_like_what_it_is(show: Show) -> None:
    page = show(walk(WITNESS, ShippedCache), f"#step={LAST}")
    assert page.text("#answer") == "The oracle: accepted · the target: accepted"
    assert page.texts("#pool .cell.live") == ["3"]
    assert page.texts("#pool .cell.stale") == ["1", "2", "3", "4"]
    assert page.texts("#pool .idle") == ["pages 3 to 5: free, never written"]
    assert page.texts("#requests .released .index") == ["0"]
    refused = show(walk(WITNESS, ShippedCache), "#step=4")
    assert "refused, BadArgument" in refused.text("#answer")
    assert refused.text("#changes p") == "Nothing that can be seen."
    wrong = show(walk(WITNESS, Overwriting))
    assert wrong.texts("#requests .cell.wrong") == ["?oracle 3"]


def test_the_calls_are_ready_to_copy(show: Show) -> None:
    page = show(walk(WITNESS, Uncopied, "w.json", options=" --target mine:make"))
    calls = page.value("document.querySelector('#calls').value")
    assert calls.splitlines() == list(walk(WITNESS, Uncopied).calls)
    page.click("#copy")
    page.value("new Promise((done) => setTimeout(done, 100))")
    assert page.text("#copied") in ("copied", "selected: press Ctrl+C")
    assert page.text("#replay") == "Replay it: python -m verify replay w.json --target mine:make"


def test_hostile_names_are_text_on_the_page(show: Show) -> None:
    name = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028&amp;"
    walkthrough = walk(WITNESS, Uncopied, name)
    walkthrough = replace(walkthrough, target=name, steps=tuple(replace(step, call=name) for step in walkthrough.steps))
    page = show(walkthrough)
    assert page.value("document.querySelector('#call').textContent") == name
    assert page.value("document.querySelector('#facts').textContent").count(name) == 2
    assert page.value("document.querySelectorAll('img, script:not(#data)').length") == 1


def test_every_control_has_a_name_and_the_list_says_where_one_stands(show: Show) -> None:
    page = show(walk(WITNESS, Uncopied))
    page.ask("Accessibility.enable")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    controls = [
        (node["role"]["value"], node["name"]["value"])
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in ("button", "slider", "textbox", "navigation", "region")
    ]
    assert [control for control in controls if not control[1]] == []
    assert {("slider", "Step"), ("navigation", "Steps"), ("region", "Pool"), ("region", "Broken rules")} <= set(
        controls
    )
    assert page.value("document.querySelectorAll('[aria-current=step]').length") == 1


@pytest.mark.parametrize(("width", "height"), [(360, 740), (800, 600), (1280, 900), (2200, 1200)])
def test_the_page_fits_its_window_light_and_dark(show: Show, tmp_path: Path, width: int, height: int) -> None:
    page = show(walk(WITNESS, Uncopied, "reports/witnesses/PT-SHARE-PT-PAGES-30dd3e98.json"))
    shots = []
    for dark in (False, True):
        page.resize(width, height, dark)
        assert page.value("document.documentElement.scrollWidth") <= width
        page.screenshot(tmp_path / "shot.png")
        shots.append((tmp_path / "shot.png").read_bytes())
    assert min(map(len, shots)) > 5_000
    assert shots[0] != shots[1]


def test_a_long_run_on_a_large_pool_stays_in_hand(show: Show) -> None:
    operations: list[Operation] = [New(0), New(1)]
    operations += [Append(step % 2, (step, step + 1000)) for step in range(1, 300)]
    page = show(walk(Witness(200, 8, tuple(operations)), ShippedCache), "#step=250")
    assert page.value("document.querySelectorAll('#steps button').length") == 302
    assert page.text("#place") == "Step 250 of 301"
    box = page.value("document.querySelector('[aria-current]').getBoundingClientRect().toJSON()")
    assert 0 <= box["top"] <= box["bottom"] <= 900
    assert page.texts(".pages:not(details *) .page.changed .head b") == ["page 61"]
    assert "which this step left alone" in page.text("#pool summary")
    page.press("Home")
    assert page.texts("#pool .idle") == ["pages 0 to 199: free, never written"]


def test_without_chromium_the_test_fails_and_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(pytest.fail.Exception, match=INSTALL):
        chromium()
