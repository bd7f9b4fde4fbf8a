"""Prompts in chunks with a trim after each: the pages that they need, and the integers, which are those of single tokens."""

import pytest

from impl.decoder import IntegerDecoder
from impl.host import Host
from impl.model_files import load
from verify.host.case import HostCase
from verify.host.lockstep import paged_store
from verify.host.operations import Admit, Advance
from verify.host.recorder import Call, RecordingDecoder

LONG = tuple(token * 7 % 16 for token in range(23))


def decodes(chunk: int, window: int | None, sinks: int, margin: int, page_size: int) -> list[Call]:
    """Every decode of a long prompt in chunks and of 6 steps behind it."""
    decoder = RecordingDecoder(IntegerDecoder(load("random-1-16")))
    host = Host(decoder, paged_store(32, page_size, decoder.width))
    host.admit(0, LONG, window, sinks, margin, chunk)
    while host.rows(0) < len(LONG) + 6:
        host.step(0)
    return decoder.calls


def integers(call: Call) -> tuple[object, ...]:
    """All that goes into a decode and comes out."""
    arrays = call.keys, call.values, call.step.logits, call.step.key, call.step.value
    return call.token, call.step.token, *(array.tobytes() for array in arrays)


@pytest.mark.parametrize("chunk", [2, 3, 5, 23, 99])
@pytest.mark.parametrize(
    ("window", "sinks", "margin"), [(None, 0, 0), (1, 0, 0), (2, 0, 1), (4, 0, 0), (6, 2, 0), (7, 1, 3)]
)
def test_a_chunk_decodes_what_its_tokens_decode_one_by_one(
    window: int | None, sinks: int, margin: int, chunk: int
) -> None:
    alone = [integers(call) for call in decodes(1, window, sinks, margin, 3)]
    assert len(alone) == len(LONG) + 6
    assert [integers(call) for call in decodes(chunk, window, sinks, margin, 3)] == alone


def test_s19_a_prompt_in_chunks_of_4_under_a_window_of_4_needs_3_pages_of_3_rows() -> None:
    case = HostCase(3, 3)
    case.do(Admit(0, LONG, window=4, chunk=4, expected=len(LONG) + 9))
    records = case.advance(0, 6 + 9)
    assert [len(record.fed) for record in records] == [4, 4, 4, 4, 4, 3] + [1] * 9
    assert max(record.pages_appended for record in records) == 3 == case.run.state.cache.pages
    assert case.run.paged.peak_pages == 2


def test_s19_one_page_fewer_admits_nothing_and_refuses_the_chunk_that_needs_it() -> None:
    case = HostCase(2, 3)
    case.refuse(Admit(0, LONG, window=4, chunk=4, expected=len(LONG)), "NotAdmitted")
    assert case.run.paged.requests() == ()
    case.do(Admit(0, LONG, window=4, chunk=4))
    case.advance(0, 1)
    case.refuse(Advance(0), "OutOfPages")
    assert (case.rows(0), case.held(0)) == (4, 2)


@pytest.mark.parametrize("page_size", [1, 2, 3, 4])
@pytest.mark.parametrize("window", [1, 2, 4, 6])
def test_s19_the_pages_of_a_chunk_stay_within_their_bound_and_reach_it(window: int, page_size: int) -> None:
    """ceil((W + c - 2) / P) + 1 for each c; reached by some c, since not every chunk lies as badly as it can."""
    reached = []
    for chunk in (1, 2, 3, 4, 5, 7):
        case = HostCase(32, page_size)
        case.do(Admit(0, LONG, window, chunk=chunk))
        records = case.advance(0, -(-len(LONG) // chunk))
        most = max(record.pages_appended for record in records)
        bound = -(-(window + chunk - 2) // page_size) + 1
        assert most <= bound
        reached.append(most == bound)
    assert any(reached)


def test_the_trim_follows_each_chunk() -> None:
    case = HostCase(8, 2)
    case.do(Admit(0, LONG[:9], window=3, chunk=4))
    first, second, third = case.advance(0, 3)
    assert (first.pages_before, first.pages_appended, first.pages) == (0, 2, 1), "rows 2 and 3 are read next"
    assert (second.pages_before, second.pages_appended, second.pages) == (1, 3, 1)
    assert (third.pages_before, third.pages_appended, third.pages) == (1, 2, 2), "row 7 is read next, and row 8"
    assert [record.step for record in (first, second, third)] == [4, 8, 9]
    assert [record.context for record in (first, second, third)] == [3, 3, 3]
