"""What comes over the pipe is taken apart without trust: every line that is not as documented is named."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spec.operations import Accepted, Append, Fork, New, Reason, Refused
from verify.remote.wire_format import (
    KINDS,
    MalformedReplyError,
    Reply,
    ReplyReader,
    Shown,
    hello_from_line,
    operation_text,
    run_line,
)
from verify.target import ALL_OPERATIONS, Raised, RequestView
from verify.witness import operation_from_json

VIEW = {"length": 3, "released": [0, 0], "pages": [0, 1], "rows": [1, None, 3], "kept": 0}
STATE = {"requests": {"7": VIEW}, "counts": [1, 1], "free": []}
DOCUMENT = Path(__file__).parent.parent / "docs" / "target-protocol.md"
HELLO = {"kvproof": "target", "version": 1, "name": "x"}


def read(state: object, answers: object, shows: tuple[str, ...] = ("counts", "free"), operations: int = 1) -> Reply:
    """The reply of a pool of 2 pages of 2 rows."""
    line = json.dumps({"answers": answers, "state": state}).encode()
    return ReplyReader(frozenset(shows), 2, 2).read(line, operations)


def test_a_reply_is_read_whatever_the_order_of_its_keys_and_its_spaces() -> None:
    expected = read(STATE, [{"accepted": [1, None]}])
    assert expected.answers == (Accepted((1, None)),)
    assert isinstance(expected.state, Shown)
    assert expected.state.snapshot.requests == {7: RequestView(3, (0, 0), (0, 1), (1, None, 3), 0)}
    reader = ReplyReader(frozenset({"counts", "free"}), 2, 2)
    turned = json.dumps({"state": STATE, "answers": [{"accepted": [1, None]}]}).encode()
    spaced = json.dumps({"answers": [{"accepted": [1, None]}], "state": STATE}, separators=(" , ", " : ")).encode()
    packed = json.dumps({"answers": [{"accepted": [1, None]}], "state": STATE}, separators=(",", ":")).encode()
    assert [reader.read(line, 1) for line in (turned, spaced, packed, b" " + packed + b"\r")] == [expected] * 4


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        ({"accepted": None}, Accepted()),
        ({"refused": "OutOfPages"}, Refused(Reason.OUT_OF_PAGES)),
        ({"raised": ["KeyError", '"state":']}, Raised("KeyError", '"state":')),
        ({"raised": ["", "x"]}, Raised("an error", "x")),
    ],
)
def test_an_answer_is_one_of_three(answer: object, means: object) -> None:
    assert read(STATE, [answer]).answers == (means,)


def test_a_reason_that_does_not_exist_is_what_the_target_did_instead_of_answering() -> None:
    (answer,) = read(STATE, [{"refused": "Full"}]).answers
    assert isinstance(answer, Raised)
    assert answer.text.startswith('refused with "Full", which is none of UnknownRequest')


def test_lists_that_are_not_shown_are_none_and_flags_of_slots_are_optional() -> None:
    shown = read({"requests": {}, "counts": None}, [{"accepted": None}], shows=()).state
    assert isinstance(shown, Shown)
    assert (shown.snapshot.counts, shown.snapshot.free, shown.written) == (None, None, None)
    shown = read({"requests": {}, "written": ["10", "00"]}, [{"accepted": None}], shows=("written",)).state
    assert isinstance(shown, Shown)
    assert shown.written == (b"\x01\x00", b"\x00\x00")


def with_view(**changes: Any) -> dict[str, Any]:
    """The state with another request."""
    view = {key: value for key, value in (VIEW | changes).items() if value != "gone"}
    return {**STATE, "requests": {"7": view}}


@pytest.mark.parametrize(
    ("state", "answers", "says"),
    [
        (STATE, [], "0 answers to 1 operations"),
        (STATE, {}, '"answers" is no list'),
        (STATE, [{}], "{} is no answer"),
        (STATE, [{"accepted": None, "refused": "OutOfPages"}], "is no answer"),
        (STATE, [{"accepted": True}], '"accepted" of an answer is no list'),
        (STATE, [{"accepted": [1.5]}], '"accepted" of an answer is no list'),
        (STATE, [{"raised": "x"}], '"raised" is not a kind and a text'),
        (None, [{"accepted": None}], "a state is no object"),
        ({**STATE, "cuonts": []}, [{"accepted": None}], 'a state has an unknown key "cuonts"'),
        ({**STATE, "counts": None}, [{"accepted": None}], 'but "shows" of hello names it'),
        ({**STATE, "written": ["11", "11"]}, [{"accepted": None}], 'but "shows" of hello does not name it'),
        ({**STATE, "free": [True]}, [{"accepted": None}], '"free" of a state is no list of integers: [true]'),
        ({**STATE, "counts": "11"}, [{"accepted": None}], '"counts" of a state is no list'),
        ({**STATE, "requests": []}, [{"accepted": None}], '"requests" is no object'),
        ({**STATE, "requests": {"07": VIEW}}, [{"accepted": None}], '"07" is no id of a request'),
        ({**STATE, "requests": {"x": VIEW}}, [{"accepted": None}], '"x" is no id of a request'),
        ({**STATE, "requests": {"7": 1}}, [{"accepted": None}], 'request "7" is no object'),
        (with_view(length="3"), [{"accepted": None}], '"length" or "kept" of request "7" is no integer'),
        (with_view(kept="1"), [{"accepted": None}], '"length" or "kept" of request "7" is no integer'),
        (with_view(length="gone"), [{"accepted": None}], 'request "7" has no "length"'),
        (with_view(rows=[1.0]), [{"accepted": None}], '"rows" of request "7" is no list of integers and nulls'),
        (with_view(pages=None), [{"accepted": None}], '"pages" of request "7" is no list of integers'),
        (with_view(released=[0]), [{"accepted": None}], '"released" of request "7" is not a first page and a stop'),
        (with_view(sinks=1), [{"accepted": None}], 'request "7" has an unknown key "sinks"'),
    ],
)
def test_a_malformed_reply_is_named(state: object, answers: object, says: str) -> None:
    with pytest.raises(MalformedReplyError) as caught:
        read(state, answers)
    assert says in str(caught.value)


@pytest.mark.parametrize("flags", [["1", "11"], ["11"], "11", [11, 11], ["1x", "11"]])
def test_flags_of_slots_that_do_not_fit_the_pool_are_named(flags: object) -> None:
    with pytest.raises(MalformedReplyError, match='"written"'):
        read({"requests": {}, "written": flags}, [{"accepted": None}], shows=("written",))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"oops",
        b"[]",
        b"\xff",
        b"1",
        b"null",
        b'"x"',
        b'{"answers":[]}',
        b'{"state":{}}',
        b"[" * 100_000,
        b"9" * 5000,
    ],
)
def test_a_line_that_is_no_reply_is_named(line: bytes) -> None:
    with pytest.raises(MalformedReplyError):
        ReplyReader(frozenset(), 2, 2).read(line, 0)


def test_hello_has_defaults_for_all_but_a_name() -> None:
    hello = hello_from_line(json.dumps(HELLO).encode())
    assert hello.capabilities.everything
    assert hello.capabilities.operations == ALL_OPERATIONS
    assert hello.shows == {"counts", "free"}
    assert not hello.capabilities.not_observed


def test_hello_says_what_is_offered_and_shown() -> None:
    told = {**HELLO, "operations": ["new", "append", "fork"], "sinks": False, "fork": "whole", "shows": ["free"]}
    offered = hello_from_line(json.dumps(told).encode()).capabilities
    assert offered.operations == {New, Append, Fork}
    left_out = ("Trim", "Truncate", "Release", "Read", "New with sinks", "Fork before the last row")
    assert offered.not_offered() == left_out
    assert offered.not_observed == ("counts",)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kvproof": "cache"}, '"kvproof" is not "target"'),
        ({"version": 2}, "it speaks version 2 of the protocol, not 1"),
        ({"name": ""}, '"name" is not a text'),
        ({"sink": True}, 'unknown key "sink"'),
        ({"operations": ["new", "rollback"]}, 'unknown name "rollback"'),
        ({"operations": ["new"]}, 'no "new" or no "append"'),
        ({"operations": "new"}, '"operations" is not a list of names'),
        ({"sinks": 1}, '"sinks" is not true or false'),
        ({"fork": "some"}, '"fork" is not "anywhere" or "whole"'),
        ({"shows": ["rows"]}, 'unknown name "rows"'),
        ({"broken": "no device"}, "no device"),
    ],
)
def test_a_wrong_hello_is_named(change: dict[str, Any], says: str) -> None:
    with pytest.raises(MalformedReplyError) as caught:
        hello_from_line(json.dumps(HELLO | change).encode())
    assert says in str(caught.value)


def test_messages_are_lines_of_json_in_the_form_of_witnesses() -> None:
    line = run_line(4, 2, [operation_text(New(0, 1)), operation_text(Append(0, (1, 2)))])
    assert line.endswith(b"\n")
    operations = [{"op": "new", "request": 0, "sinks": 1}, {"op": "append", "request": 0, "tokens": [1, 2]}]
    assert json.loads(line) == {"do": "run", "pages": 4, "page_size": 2, "operations": operations}


def test_the_document_shows_what_is_spoken() -> None:
    hello, reply, operations = re.findall(r"```json\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    told = hello_from_line(hello.encode())
    assert told == hello_from_line(json.dumps({**HELLO, "name": "my cache"}).encode())
    answered = ReplyReader(told.shows, 4, 2).read(reply.encode(), 2)
    assert isinstance(answered.state, Shown)
    assert answered.state.snapshot.counts == (1, 1, 0, 0)
    lines = operations.splitlines()
    assert [operation_text(operation_from_json(json.loads(line))) for line in lines] == lines
    assert [json.loads(line)["op"] for line in lines] == list(KINDS)
