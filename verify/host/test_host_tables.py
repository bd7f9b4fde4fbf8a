"""The recorded run of docs/reference.md section 6 and exact page counts, typed and not computed."""

import pytest

from spec import window as oracle
from verify.host.case import HostCase, integers
from verify.host.operations import Admit

FOLLOWED = (0, 3, 2, 13, 4, 7, 6, 1, 8, 11, 10, 5, 12, 15, 14, 9)
"""f(t) = (5 t + 3) mod 16 from 0 on: all 16 tokens, then again."""

RECORDED = (
    (None, (1, 2, 4, 8), 8),
    (8, (1, 2, 2, 2), 3),
    (4, (1, 1, 1, 1), 2),
)
"""W, the pages that the step after 1, 8, 16 finds and those within step 32, the peak after a trim; P = 4."""

PAGES_BEFORE = (
    (None, 4, "0 1111 2222 3333 4444 5555 666"),
    (8, 4, "0 1111 2222 3322 3322 3322 332"),
    (6, 2, "0 11 22 33 33 33 33 33 33 33 33 33 3"),
    (4, 4, "0 1111 2211 2211 2211 2211 221"),
    (3, 1, "0 1 2222 2222 2222 2222 2222 22"),
)
"""W, P, and the pages that steps 1 .. 24 find before their append, a digit each."""


@pytest.mark.parametrize("start", range(16))
@pytest.mark.parametrize(("window", "pages", "peak"), RECORDED)
def test_the_recorded_run_has_its_tokens_and_pages_from_every_start(
    window: int | None, pages: tuple[int, int, int, int], peak: int, start: int
) -> None:
    case = HostCase(8, 4, model="structured-16")
    case.do(Admit(0, (start,), window))
    records = case.advance(0, 32)
    at = FOLLOWED.index(start)
    assert case.tokens(0) == tuple(FOLLOWED[(at + step) % 16] for step in range(33))
    assert (records[0].pages, records[7].pages, records[15].pages, records[31].pages_appended) == pages
    assert case.run.paged.peak_pages == peak


def test_the_rule_that_the_structured_model_follows_is_that_of_the_reference() -> None:
    assert all((5 * token + 3) % 16 == FOLLOWED[(at + 1) % 16] for at, token in enumerate(FOLLOWED))


@pytest.mark.parametrize("model", ["random-1-16", "random-2-32", "structured-16"])
@pytest.mark.parametrize(("window", "page_size", "before"), PAGES_BEFORE)
def test_paged_and_plain_rows_give_the_same_integers_in_exactly_counted_pages(
    window: int | None, page_size: int, before: str, model: str
) -> None:
    """HOST-PLAIN and DEC-INT at each of 24 steps, WIN-1 and WIN-4 as typed, WIN-5 as the largest of the counts."""
    case = HostCase(24, page_size, model=model)
    case.do(Admit(0, (5, 9, 2, 14, 6, 1, 11), window))
    records = case.advance(0, 24)
    assert len({record.logits.tobytes() for record in records}) > 7, "the steps differ"
    counted = [int(digit) for digit in before.replace(" ", "")]
    assert [record.pages_before for record in records] == counted
    assert [record.pages for record in records[:-1]] == counted[1:]
    assert [record.context for record in records] == [min(step, window or step) for step in range(1, 25)]
    if window is not None:
        assert max(record.pages_appended for record in records) == oracle.bound_after_append(window, page_size)
        assert case.run.paged.peak_pages == oracle.bound_after_trim(window, page_size)


def test_a_window_changes_what_the_random_model_decodes() -> None:
    """Without this the runs above could not tell a window from none."""
    decoded = []
    for window in (None, 8, 3, 1):
        case = HostCase(24, 4)
        case.do(Admit(0, (5, 9, 2, 14, 6, 1, 11, 3, 8, 10, 0, 15), window))
        decoded.append(integers(case.advance(0, 24)))
    assert all(one[10:] != other[10:] for one in decoded for other in decoded if one is not other)
