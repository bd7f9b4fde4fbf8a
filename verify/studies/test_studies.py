"""The studies find what docs/reference.md section 8 requires, to the digit, and the documents say what they print."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl.studies.accuracy import AccuracyInputs, accuracy_findings
from impl.studies.admission import AdmissionInputs, admission_findings
from impl.studies.cycles import CyclesInputs, cycles_findings
from impl.studies.memory import MemoryInputs, memory_findings
from impl.studies.pages import PagesInputs, pages_findings
from impl.studies.request_lengths import request_lengths
from impl.studies.self_check import self_check_findings
from impl.studies.serving import ServingInputs, bytes_a_token, requests_held, serving_findings
from impl.studies.sharing import SharingInputs, sharing_findings
from impl.studies.study import Findings
from impl.studies.window import WindowInputs, window_findings
from impl.studies.writing import to_json
from verify.studies.documents import differences

ROOT = Path(__file__).resolve().parents[2]

STUDIES: dict[str, Callable[[Callable[[str, int, int], None]], Findings]] = {
    "memory": lambda tell: memory_findings(MemoryInputs(), tell),
    "sharing": lambda tell: sharing_findings(SharingInputs(), tell),
    "pages": lambda tell: pages_findings(PagesInputs(), tell),
    "admission": lambda tell: admission_findings(AdmissionInputs(), tell),
    "accuracy": lambda tell: accuracy_findings(AccuracyInputs(), tell),
    "cycles": lambda tell: cycles_findings(CyclesInputs(), tell),
    "serving": lambda tell: serving_findings(ServingInputs(), tell),
    "window": lambda tell: window_findings(WindowInputs(), tell),
    "self-check": self_check_findings,
}

SCHEMES = (
    ("contiguous, reserve 2,048", 4, 1022, 8192, 87.5),
    ("page 1", 34, 7852, 7852, 0.0),
    ("page 4", 34, 7852, 7916, 0.8),
    ("page 16", 34, 7852, 8112, 3.2),
    ("page 64", 27, 7308, 8128, 10.1),
    ("page 256", 20, 5267, 7680, 31.4),
)
"""Scheme, requests held, rows used, rows reserved, percent wasted."""

PROMPTS = (
    (96, 16, 72, 30, 58, 0, 30, 0),
    (96, 40, 32, 18, 44, 8, 11, 0),
    (100, 16, 72, 30, 58, 8, 31, 0),
    (100, 40, 32, 18, 44, 8, 11, 0),
    (250, 16, 152, 47, 69, 8, 40, 0),
    (250, 40, 64, 22, 66, 8, 15, 0),
)
"""Prompt, page, pages when copied, when forked, percent saved, copies, pages of a padded fork, its copies."""

BATCHES = (
    (2048, 0.5, 135, 0.5, 135),
    (8192, 2.0, 33, 1.0, 67),
    (32768, 8.0, 8, 1.0, 67),
    (131072, 32.0, 2, 1.0, 67),
)
"""Context, GiB a request, batch, and both with a window of 4,096."""

PUBLISHED = {1: 7000, 4: 7259, 8: 7615, 9: 7734, 12: 7971, 16: 8327, 24: 9039, 32: 9751}


@pytest.fixture(scope="module")
def found() -> dict[str, Findings]:
    """Every study with its defaults, once for all tests."""
    return {name: study(lambda _what, done, of: _within(done, of)) for name, study in STUDIES.items()}


def _within(done: int, of: int) -> None:
    assert 0 < done <= of


def rows(found: dict[str, Findings], study: str, table: str) -> list[Any]:
    """The rows of a table as its JSON has them."""
    (wanted,) = (each for each in to_json(found[study])["tables"] if each["name"] == table)
    return list(wanted["rows"])


def test_the_memory_table_is_that_of_the_reference(found: dict[str, Findings]) -> None:
    assert tuple((*row[:4], round(row[4], 1)) for row in rows(found, "memory", "schemes")) == SCHEMES
    ((requests, mean, median, longest),) = rows(found, "memory", "lengths")
    assert (requests, round(mean), median, longest) == (400, 274, 194, 1884)


def test_the_sharing_table_is_that_of_the_reference_padded_forks_included(found: dict[str, Findings]) -> None:
    assert tuple((*row[:4], round(row[4]), *row[5:8]) for row in rows(found, "sharing", "prompts")) == PROMPTS


def test_the_page_sizes_reserve_what_the_reference_says(found: dict[str, Findings]) -> None:
    reserved = [(row[0], row[1], row[4]) for row in rows(found, "pages", "sizes")]
    assert reserved == [(1, 7, 8), (2, 8, 5), (8, 8, 2), (16, 16, 2)]


def test_the_serving_table_is_that_of_the_reference_and_a_page_table_holds_as_many(found: dict[str, Findings]) -> None:
    table = rows(found, "serving", "batches")
    assert all(by_arithmetic == held for *_, by_arithmetic, held in table)
    windowed = {row[0]: row[2:4] for row in table if row[1] == 4096}
    assert tuple((row[0], *row[2:4], *windowed[row[0]]) for row in table if row[1] is None) == BATCHES
    assert bytes_a_token(32, 32, 128, 1) == ServingInputs().token_bytes == 256 * 1024


def test_a_page_table_holds_fewer_requests_than_arithmetic_where_pages_are_partly_used() -> None:
    assert requests_held(10, 16, 20, None) == 5  # 160 rows, but 2 pages each
    assert requests_held(10, 16, 100, 20) == 4  # 2 pages each in the end, and a third on the way there


def test_accuracy_falls_with_the_window_and_full_width_is_exact(found: dict[str, Findings]) -> None:
    table = rows(found, "accuracy", "windows")
    assert [row[0] for row in table] == [2, 4, 8, 16, 24]
    for same, error in ((3, 5), (6, 8)):  # in floats, in integers
        agreed, errors = [row[same] for row in table], [row[error] for row in table]
        assert agreed == sorted(agreed)
        assert errors == sorted(errors, reverse=True)
        assert len(set(agreed)) == len(set(errors)) == len(table)
        assert (agreed[-1], errors[-1]) == (1152, 0.0)
    assert all(row[2] == 1152 for row in table)


def test_admission_is_what_integers_without_a_cache_give(found: dict[str, Findings]) -> None:
    expected = {"its own": None}
    for name, page_size, held, ran_out, first, _reserved, left in rows(found, "admission", "expectations"):
        length = expected.get(name, int(name.replace(",", "")) if name not in expected else None)
        assert (held, ran_out, first) == rounds(8192 // page_size, page_size, length, leave=False)
        assert (held, left) == rounds(8192 // page_size, page_size, length, leave=True)[:2]
    by_mean = [row[2:4] for row in rows(found, "admission", "expectations") if row[0] == "274"]
    assert [tuple(row) for row in by_mean] == [(28, 0), (25, 0)]


def rounds(pool: int, page_size: int, expected: int | None, leave: bool) -> tuple[int, int, int | None]:
    """Requests admitted, how many met an empty pool, and when the first did, by counting pages."""
    lengths = request_lengths(400, 2048, 11)
    needs = [-(-(expected or length) // page_size) for length in lengths]
    held = next(count for count in range(400) if sum(needs[: count + 1]) > pool)
    free, number = pool, 0
    growing = dict.fromkeys(range(held), 0)
    unlucky: list[int] = []
    while growing:
        number += 1
        for request, grown in list(growing.items()):
            pages = -(-grown // page_size)
            if grown % page_size == 0 and free == 0:
                unlucky.append(number)
                free += pages
                del growing[request]
                continue
            free -= grown % page_size == 0
            growing[request] = grown + 1
            if grown + 1 == lengths[request]:
                free += -(-(grown + 1) // page_size) if leave else 0
                del growing[request]
    return held, len(unlucky), min(unlucky, default=None)


def test_cycles_stand_beside_the_published_ones_and_are_flat_once_a_window_is_full(found: dict[str, Findings]) -> None:
    table = rows(found, "cycles", "steps")
    for at, window in enumerate((None, 8, 4)):
        ours = [row[1 + at] for row in table]
        assert [row[4 + at] for row in table] == [PUBLISHED.get(min(step, window or step)) for step in range(1, 33)]
        assert ours[: window or 32] == sorted(set(ours))
    saved = [(row[1], row[4], round(row[5])) for row in rows(found, "cycles", "runs")[:3]]
    assert saved == [(None, 268346, 0), (8, 241286, 10), (4, 231792, 14)]


def test_the_picture_of_the_pool_has_a_hole_at_the_front_and_page_0_used_again(found: dict[str, Findings]) -> None:
    picture = to_json(found["window"])["charts"][0]
    table = [box["text"] for box in picture["boxes"] if box["x"] == 0]
    assert table == ["-", "-", "page 2", "page 0"]
    pool = [box["text"] for box in picture["boxes"] if box["x"] > 0]
    assert pool[:12] == ["12", "13", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]
    assert set(pool[12:]) == {""}
    assert len(picture["arrows"]) == 2


def test_every_axis_of_every_chart_has_its_unit(found: dict[str, Findings]) -> None:
    charts = [chart for each in found.values() for chart in to_json(each)["charts"]]
    axes = [chart[axis] for chart in charts for axis in ("x_label", "y_label") if chart[axis] or "boxes" not in chart]
    assert len(charts) >= 7
    assert [label for label in axes if not label.endswith("]")] == []


@pytest.mark.parametrize("name", ["docs/studies.md", "docs/self-check.md"])
def test_a_document_says_what_the_studies_print(found: dict[str, Findings], name: str) -> None:
    assert differences((ROOT / name).read_text(encoding="utf-8"), list(found.values())) == []
