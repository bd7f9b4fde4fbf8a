"""The prefix cache that ships, held against right values typed from the field cases and from the definition.

N pool pages, P page size, W window counting the query itself; tables, rows and pages are literal.
"""

import pytest

from impl.page_groups import Chunk, Full, Window
from impl.page_table import NO_PAGE, OutOfPages, RowsReleased
from verify.managers.prefix_case import A, B, C, D
from verify.managers.prefix_case import PrefixCase as Case


def test_s3_an_admission_does_not_count_the_idle_pages_that_it_is_served_as_available() -> None:
    case = Case(4, 2)
    case.admit(A, "1234")
    case.release(A)
    case.admit(B, "5678")
    before = case.state
    for _ in range(2):
        with pytest.raises(OutOfPages):
            case.reserve(C, "123459")  # 3 pages, 2 of them served and idle; no other is available
        assert case.state == before
    assert case.counts == [0, 0, 1, 1]
    assert case.available == 2
    case.release(B)
    assert case.admit(C, "12345") == 4
    assert case.table(C)[:2] == [0, 1]
    assert case.rows(C, 0, 5) == [1, 12, 123, 1234, 12345]


def test_s4_the_served_pages_are_held_before_others_are_taken() -> None:
    case = Case(3, 2)
    case.admit(A, "1234")
    case.admit(B, "56")
    case.release(A, B)
    assert case.idle == [1, 0, 2]
    assert case.admit(C, "123456") == 4
    assert case.table(C) == [0, 1, 2]
    assert case.available == 0
    assert case.rows(C, 0, 6) == [1, 12, 123, 1234, 12345, 123456]


def test_s5_a_reused_page_is_found_no_more() -> None:
    case = Case(1, 2)
    case.admit(A, "56")
    case.release(A)
    assert case.published == [(0, 0, "56")]
    assert case.reserve(B, "78") == 0
    assert case.published == []
    case.commit(B)
    assert case.published == [(0, 0, "78")]
    case.release(B)
    assert case.admit(C, "56") == 0
    assert case.rows(C, 0, 2) == [5, 56]


def test_s9_a_rollback_to_where_the_window_reads_rows_that_are_gone_is_refused() -> None:
    case = Case(10, 1, Window(4))
    case.admit(A, "1234567891")
    assert case.table(A) == [*[NO_PAGE] * 7, 7, 8, 9]
    before = case.state
    for length in (9, 8, 7, 1):  # a step at 9 reads the rows 6 to 8
        with pytest.raises(RowsReleased):
            case.cache.truncate(A, length)
        with pytest.raises(RowsReleased):
            case.cache.fork(A, B, length)
    assert case.state == before
    case.cache.truncate(A, 10)
    assert case.state == before
    case.cache.truncate(A, 0)
    assert case.available == 10


def test_s16_writers_of_a_shared_page_have_rows_of_their_own() -> None:
    case = Case(8, 4)
    case.admit(A, "123456")
    case.cache.fork(A, B, 6)
    assert case.counts == [2, 2, 0, 0, 0, 0, 0, 0]
    case.append(A, "7")
    case.append(B, "8")
    assert case.rows(A, 4, 7) == [12345, 123456, 1234567]
    assert case.rows(B, 4, 7) == [12345, 123456, 1234568]
    assert case.rows(A, 0, 4) == case.rows(B, 0, 4) == [1, 12, 123, 1234]
    assert case.table(A)[0] == case.table(B)[0]
    assert case.available == 5


def test_s16d_a_cut_inside_a_shared_page_makes_the_copy_needed_again() -> None:
    case = Case(8, 4)
    case.admit(A, "12345678")
    case.cache.fork(A, B, 8)
    case.cache.truncate(B, 6)
    case.append(B, "9")
    assert case.rows(A, 4, 8) == [12345, 123456, 1234567, 12345678]
    assert case.rows(B, 4, 7) == [12345, 123456, 1234569]
    assert case.available == 5


def test_a_published_page_is_copied_before_its_only_holder_writes_it() -> None:
    case = Case(4, 4)
    case.admit(A, "12345678")
    case.cache.truncate(A, 6)
    case.append(A, "9")
    assert case.table(A) == [0, 2]
    assert case.idle == [1]
    assert case.rows(A, 4, 7) == [12345, 123456, 1234569]
    assert case.admit(B, "123456781") == 8
    assert case.table(B) == [0, 1, 3]
    assert case.rows(B, 4, 8) == [12345, 123456, 1234567, 12345678]


def test_s19_a_prompt_in_chunks_runs_at_its_peak_and_one_page_less_is_refused() -> None:
    case = Case(3, 3, Window(4))
    case.admit(A, "1234")
    for tokens in ("5678", "1234", "5678"):
        case.append(A, tokens)
    assert case.table(A) == [NO_PAGE] * 4 + case.table(A)[4:]
    assert case.rows(A, 13, 16) == [12345678123456, 123456781234567, 1234567812345678]
    tight = Case(2, 3, Window(4))
    tight.admit(A, "1234")
    before = tight.state
    with pytest.raises(OutOfPages):
        tight.append(A, "5678")
    assert tight.state == before


def test_s28_an_append_needs_the_pages_that_its_rows_start() -> None:
    case = Case(4, 2)
    case.admit(A, "1")
    case.append(A, "2345")
    assert len(case.table(A)) == 3
    assert case.available == 1


def test_a_page_is_found_under_its_whole_prefix_alone() -> None:
    case = Case(8, 2)
    case.admit(A, "1234")
    assert case.published == [(0, 0, "12"), (1, 0, "1234")]
    assert case.admit(B, "34123") == 0
    assert case.admit(C, "56349") == 0
    assert case.rows(C, 2, 4) == [563, 5634]


def test_keys_of_one_hash_are_told_apart_by_their_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("impl.prefix_index.chained_hash", lambda parent, tokens: 7)
    case = Case(12, 2)
    case.admit(A, "1234")
    assert case.reserve(B, "12569") == 2
    assert case.reserve(C, "56341") == 0
    assert case.reserve(D, "12345") == 4
    case.commit(B)
    assert case.published == [(0, 0, "12"), (1, 0, "1234"), (2, 0, "1256")]
    case.release(A, B, C, D)
    assert case.reserve(A, "12561") == 4
    assert case.rows(A, 2, 4) == [125, 1256]


def test_a_prefix_without_its_first_pages_is_another_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("impl.prefix_index.chained_hash", lambda parent, tokens: 7)
    case = Case(8, 2)
    case.admit(A, "1212")
    assert case.reserve(B, "129") == 2
    assert case.reserve(C, "1299") == 2
    assert case.reserve(D, "12129") == 4


def test_copies_of_one_prefix_serve_one_after_the_other() -> None:
    case = Case(4, 2)
    assert (case.reserve(A, "1234"), case.reserve(B, "1234")) == (0, 0)
    case.commit(A)
    case.commit(B)
    assert case.published == [(0, 0, "12"), (1, 0, "1234"), (2, 0, "12"), (3, 0, "1234")]
    case.cache.fork(A, D, 0)
    case.release(A)
    assert case.reserve(C, "123") == 2
    assert case.table(C) == [0, 1]  # the first copy of the head serves, and the tail is reused
    assert case.published == [(0, 0, "12"), (2, 0, "12"), (3, 0, "1234")]
    case.release(C)
    assert case.reserve(C, "999") == 0
    assert case.published == [(2, 0, "12"), (3, 0, "1234")]
    case.release(C)
    assert case.admit(C, "12345") == 4
    assert case.table(C)[:2] == [2, 3]


def test_pages_are_published_by_the_commit_and_not_before() -> None:
    case = Case(8, 2)
    case.reserve(A, "1234")
    assert case.published == []
    assert case.reserve(B, "12345") == 0
    case.commit(A)
    case.cache.append(A, [5, 6])
    assert case.published == [(0, 0, "12"), (1, 0, "1234")]
    case.release(B)
    assert case.reserve(B, "1234567") == 4
    case.release(B)
    case.commit(A)
    assert case.published == [(0, 0, "12"), (1, 0, "1234"), (5, 0, "123456")]
    before = case.state
    case.commit(A)  # nothing is reserved
    assert case.state == before


def test_an_admission_computes_at_least_its_last_token() -> None:
    case = Case(4, 2)
    case.admit(A, "1234")
    assert case.admit(B, "1234") == 2
    assert case.admit(C, "12") == 0


def test_blank_pages_are_reused_first_then_idle_ones_tail_before_head() -> None:
    case = Case(5, 1)
    case.admit(A, "123")
    case.admit(B, "4")
    case.release(A, B)
    assert case.idle == [2, 1, 0, 3]
    case.admit(C, "56")
    assert case.table(C) == [4, 2]
    assert case.reserve(D, "123") == 2
    assert case.table(D) == [0, 1, 3]


def test_an_admission_serves_what_every_group_finds() -> None:
    case = Case(10, 2, Full(), Window(4))
    case.admit(A, "12345678")
    assert case.table(A, 1) == [NO_PAGE, NO_PAGE, 6, 7]
    assert case.idle == [5, 4]
    case.release(A)
    assert case.idle == [5, 4, 3, 2, 1, 0, 7, 6]
    assert case.reserve(B, "123456789") == 8
    assert [case.table(B, 0), case.table(B, 1)] == [[0, 1, 2, 3, 8], [NO_PAGE, NO_PAGE, 6, 7, 9]]
    case.commit(B)
    assert case.rows(B, 6, 9, 1) == [1234567, 12345678, 123456789]


@pytest.mark.parametrize(("tokens", "served"), [("12349", 0), ("1234567", 0), ("123456789", 8)])
def test_a_page_that_one_group_lost_serves_only_prefixes_that_do_not_read_it(tokens: str, served: int) -> None:
    case = Case(10, 2, Full(), Window(4))
    case.admit(A, "12345678")
    case.release(A)
    case.reserve(B, "9999")
    assert sorted(case.table(B, 0) + case.table(B, 1)) == [4, 5, 8, 9]  # 4 and 5 were the window's pages of 12 and 34
    case.release(B)
    assert case.reserve(C, tokens) == served


def test_sinks_stay_and_serve() -> None:
    case = Case(16, 1, Window(4, sinks=1))
    case.admit(A, "12345678")
    assert case.table(A) == [0, *[NO_PAGE] * 5, 6, 7]
    before = case.state
    for at in (2, 5, 6, 7):
        with pytest.raises(RowsReleased):
            case.cache.fork(A, B, at)
    assert case.state == before
    case.cache.fork(A, B, 1)
    case.append(B, "9")
    assert (case.rows(B, 0, 2), case.rows(A, 0, 1), case.rows(A, 6, 8)) == ([1, 19], [1], [1234567, 12345678])
    case.release(A, B)
    assert case.reserve(C, "123456789") == 8
    assert case.table(C) == [0, *[NO_PAGE] * 5, 6, 7, 9]


def test_a_chunk_that_begins_needs_no_page() -> None:
    case = Case(8, 2, Full(), Chunk(4))
    case.admit(A, "123456")
    assert case.table(A, 1) == [NO_PAGE, NO_PAGE, 5]
    case.release(A)
    case.admit(B, "99")
    case.admit(C, "12349")
    assert [case.table(C, 0)[:2], case.table(C, 1)[:2]] == [[0, 1], [NO_PAGE, NO_PAGE]]
    assert case.rows(C, 4, 5, 1) == [12349]


def test_a_group_that_reads_no_past_row_is_never_served() -> None:
    case = Case(14, 1, Full(), Window(1))
    case.admit(A, "123")
    assert case.published == [(0, 0, "1"), (1, 0, "12"), (2, 0, "123")]
    assert case.table(A, 1) == [NO_PAGE] * 3
    assert case.admit(B, "1234") == 0
