"""What a manager says over the pipe is taken apart without trust: hello, answers and states that are not as documented."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spec.groups import Group
from spec.manager import Traits
from spec.operations import (
    Accepted,
    Admit,
    Append,
    Commit,
    Fork,
    ManagerOperation,
    Reason,
    Refused,
    Release,
    Truncate,
)
from verify.managers.target import ManagerSnapshot, ManagerView
from verify.remote.manager import fitting
from verify.remote.manager_format import (
    LastReader,
    ManagerReply,
    ManagerSteps,
    StateReader,
    StepsReader,
    apply_line,
    operation_text,
    run_line,
)
from verify.remote.manager_hello import KINDS, manager_hello
from verify.remote.wire_format import MalformedReplyError
from verify.target import Raised

DOCUMENT = Path(__file__).parent.parent / "docs" / "target-protocol.md"
TRAITS = Traits(4, 2, (Group("full"), Group("window", 3)), prefix=True)
ALL = ("counts", "free", "published")
VIEW = {"length": 3, "tables": [[0, 1], [None, 2]], "rows": [[7, 8, 9], [None, None, 9]]}
STATE = {"requests": {"7": VIEW}, "counts": [1, 1, 1, 0], "free": [3], "available": 1, "published": [[0, 1, 8]]}
SNAPSHOT = ManagerSnapshot(
    {7: ManagerView(3, ((0, 1), (None, 2)), ((7, 8, 9), (None, None, 9)))}, (1, 1, 1, 0), (3,), 1, ((0, 1, 8),)
)
EMPTY = {"requests": {}, "counts": [0] * 4, "free": [0, 1, 2, 3], "available": 4, "published": []}
HELLO: dict[str, Any] = {
    "kvproof": "manager",
    "version": 1,
    "name": "x",
    "configurations": [{"name": "small", "pages": 4, "page_size": 2, "groups": [{"kind": "full"}]}],
}
CONFIGURATION = HELLO["configurations"][0]


def steps(states: list[Any], answers: list[Any] | None = None, shows: tuple[str, ...] = ALL) -> ManagerSteps:
    """The reply with these states, as the child writes it."""
    given = [{"accepted": None}] * len(states) if answers is None else answers
    line = json.dumps({"answers": given, "states": states}, separators=(",", ":")).encode()
    return StepsReader(StateReader(frozenset(shows), TRAITS)).read(line, len(given))


def test_states_are_read_whatever_the_order_of_their_keys_and_their_spaces() -> None:
    reader = StepsReader(StateReader(frozenset(ALL), TRAITS))
    turned = dict(reversed(STATE.items()))
    two = {**STATE, "requests": {"7": VIEW, "8": {"length": 0, "tables": [[], []], "rows": [[], []]}}}
    both = ManagerSnapshot({**SNAPSHOT.requests, 8: ManagerView(0, ((), ()), ((), ()))}, *parts(SNAPSHOT))
    for separators in ((",", ":"), (", ", ": "), (" , ", " : ")):
        for states, expected in (
            ([STATE, two, STATE], (SNAPSHOT, both, SNAPSHOT)),
            ([turned, two], (SNAPSHOT, both)),
            ([two, turned], (both, SNAPSHOT)),
            ([STATE, {"raised": ["KeyError", ',{"requests":{},']}], (SNAPSHOT, Raised("KeyError", ',{"requests":{},'))),
            ([{"raised": ["", "},"]}, STATE], (Raised("an error", "},"), SNAPSHOT)),
        ):
            answers = [{"raised": ["x", '"states":[{"requests":']}] * len(states)
            for reply in ({"answers": answers, "states": states}, {"states": states, "answers": answers}):
                line = json.dumps(reply, separators=separators).encode()
                found = reader.read(line, len(states))
                assert found.states == expected
                assert found.answers == (Raised("x", '"states":[{"requests":'),) * len(states)


def parts(snapshot: ManagerSnapshot) -> tuple[Any, Any, int, Any]:
    """All but the requests."""
    return snapshot.counts, snapshot.free, snapshot.available, snapshot.published


def test_requests_and_pools_that_came_before_are_the_same_objects() -> None:
    other = {**STATE, "requests": {"7": VIEW, "9": VIEW}}
    first, second, third = steps([STATE, other, {**EMPTY, "requests": {"9": VIEW}}]).states
    assert isinstance(first, ManagerSnapshot)
    assert isinstance(second, ManagerSnapshot)
    assert isinstance(third, ManagerSnapshot)
    assert first.requests[7] is second.requests[7]
    assert first.counts is second.counts
    assert second.requests[9] is third.requests[9]


def test_the_last_state_alone_is_read_where_it_was_asked_for() -> None:
    reader = LastReader(StateReader(frozenset(ALL), TRAITS))
    line = json.dumps({"answers": [{"accepted": None}] * 2, "states": [STATE]}).encode()
    assert reader.read(line, 2) == ManagerReply((Accepted(), Accepted()), SNAPSHOT)
    for states in ([], [STATE, STATE]):
        line = json.dumps({"answers": [{"accepted": None}] * 2, "states": states}).encode()
        with pytest.raises(MalformedReplyError, match="instead of the last"):
            reader.read(line, 2)


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        ({"accepted": None}, Accepted()),
        ({"accepted": {"served": 2}}, Accepted(served=2)),
        ({"refused": "OutOfPages"}, Refused(Reason.OUT_OF_PAGES)),
        ({"raised": ["KeyError", "x"]}, Raised("KeyError", "x")),
    ],
)
def test_an_answer_is_one_of_four(answer: object, means: object) -> None:
    assert steps([STATE], [answer]).answers == (means,)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"refused": "Full"}, 'refused with "Full", which is none of UnknownRequest'),
        ({"accepted": 2}, '"accepted" of an answer is neither null nor the rows served: 2'),
        ({"accepted": {"served": True}}, '"accepted" of an answer is neither null nor the rows served'),
        ({"accepted": {"served": 1, "hits": 1}}, '"accepted" of an answer is neither null nor the rows served'),
        ({"accepted": [1]}, '"accepted" of an answer is neither null nor the rows served: [1]'),
        ({}, "{} is no answer"),
        (None, "null is no answer"),
        ({"accepted": None, "refused": "OutOfPages"}, "is no answer"),
        ({"raised": "x"}, '"raised" is not a kind and a text: "x"'),
    ],
)
def test_an_answer_that_is_none_is_told_in_its_place(answer: object, says: str) -> None:
    found = steps([STATE, STATE], [answer, {"accepted": None}])
    assert found.answers[1] == Accepted()
    assert isinstance(found.answers[0], Raised)
    assert says in found.answers[0].text
    assert not found.answers[0].lost


def test_only_an_admission_says_how_many_rows_were_served() -> None:
    refused, raised = Refused(Reason.OUT_OF_PAGES), Raised("x", "y")
    for answer in (refused, raised):
        assert fitting(Admit(0, (1,)), answer) is fitting(Release(0), answer) is answer
    assert fitting(Admit(0, (1,)), Accepted(served=0)) == Accepted(served=0)
    assert fitting(Admit(0, (1,)), Accepted()) == Raised("", "admit was accepted, not with how many rows were served")
    assert fitting(Release(0), Accepted(served=2)) == Raised("", "release was accepted, with 2 rows served")


def with_view(**changes: Any) -> dict[str, Any]:
    """The state with another request."""
    view = {key: value for key, value in (VIEW | changes).items() if value != "gone"}
    return {**STATE, "requests": {"7": view}}


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (None, "a state is no object: null"),
        ({**STATE, "cuonts": []}, 'a state has an unknown key "cuonts"'),
        ({"requests": {}}, 'a state has no "available"'),
        ({key: value for key, value in STATE.items() if key != "requests"}, 'a state has no "requests"'),
        ({**STATE, "counts": None}, 'a state has "counts": null, but "shows" of hello names it'),
        ({**STATE, "counts": [1, 1]}, '"counts" of a state has 2 entries, not one a page, 4'),
        ({**STATE, "counts": "1110"}, '"counts" of a state is no list of integers'),
        ({**STATE, "free": [True]}, '"free" of a state is no list of integers: [true]'),
        ({**STATE, "free": [4]}, '"free" of a state has page 4, of a pool of 4'),
        ({**STATE, "available": None}, '"available" of a state is no integer: null'),
        ({**STATE, "available": True}, '"available" of a state is no integer: true'),
        ({**STATE, "published": {}}, '"published" of a state is no list: {}'),
        ({**STATE, "published": [0]}, '"published" of a state is no list of integers: 0'),
        (
            {**STATE, "published": [[0, 1]]},
            '"published" of a state has [0, 1], not a page, a group below 2 and a value',
        ),
        ({**STATE, "published": [[0, 2, 1]]}, '"published" of a state has [0, 2, 1], not a page, a group below 2'),
        ({**STATE, "published": [[-1, 0, 1]]}, '"published" of a state has page -1, of a pool of 4'),
        ({**STATE, "requests": []}, '"requests" is no object: []'),
        ({**STATE, "requests": {"07": VIEW}}, '"07" is no id of a request'),
        ({**STATE, "requests": {"7": 1}}, 'request "7" is no object: 1'),
        (with_view(length=None), '"length" of request "7" is no integer: null'),
        (with_view(length="gone"), 'request "7" has no "length"'),
        (with_view(kept=1), 'request "7" has an unknown key "kept"'),
        (with_view(tables=[[0, 1]]), '"tables" of request "7" is not a list a group, 2: [[0, 1]]'),
        (with_view(tables=[[0, 1], 2]), '"tables" of request "7" is no list of integers and nulls: 2'),
        (with_view(tables=[[0, 1], [4]]), '"tables" of request "7" has page 4, of a pool of 4'),
        (with_view(tables={"0": {"1": 2}}), '"tables" of request "7" is not a list a group, 2: {"0": {"1": 2}}'),
        (with_view(rows=[[1.0], []]), '"rows" of request "7" is no list of integers and nulls: [1.0]'),
        (with_view(rows=[[], [], []]), '"rows" of request "7" is not a list a group, 2'),
        ({"raised": ["x"]}, '"raised" is not a kind and a text: ["x"]'),
    ],
)
def test_a_state_that_is_none_is_told_in_its_place(state: object, says: str) -> None:
    found = steps([STATE, state, EMPTY]).states
    assert found[0] == SNAPSHOT
    assert found[2] == ManagerSnapshot({}, (0,) * 4, (0, 1, 2, 3), 4, ())
    assert isinstance(found[1], Raised)
    assert says in found[1].text
    assert not found[1].lost
    assert steps([state]).states == found[1:2]


def test_lists_that_are_not_shown_are_null_or_absent() -> None:
    shown = {**STATE, "counts": None, "published": None}
    del shown["free"]
    (found,) = steps([shown], shows=()).states
    assert found == ManagerSnapshot(SNAPSHOT.requests, None, None, 1, None)
    (found,) = steps([STATE], shows=()).states
    assert found == Raised("", 'a state has "counts": [1, 1, 1, 0], but "shows" of hello does not name it')


REPLY = json.dumps({"answers": [{"accepted": None}], "states": [STATE]}, separators=(",", ":"))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (REPLY[:-1], "is no line of JSON"),
        (REPLY.replace('"free":[3]', '"free":[3'), "is no line of JSON"),
        (REPLY.replace("}},", "},"), "is no line of JSON"),
        (REPLY[:-1] + ',"more":1}', 'a reply has an unknown key "more"'),
        (REPLY[:-1] + ',"more":[]}', 'a reply has an unknown key "more"'),
        (REPLY.replace('"states"', '"state"'), 'a reply has no "states"'),
        (REPLY.replace('"answers"', '"answer"'), 'a reply has no "answers"'),
        ('{"answers":[],"states":[{"requests":{}}]}', "0 answers and 1 states to 1 operations"),
        ('{"answers":[{}],"states":[]}', "1 answers and 0 states to 1 operations"),
        ('{"answers":{},"states":[]}', '"answers" is no list: {}'),
        ('{"answers":[{}],"states":{}}', '"states" is no list: {}'),
        ("", "is no line of JSON"),
        ("oops", "is no line of JSON"),
        ("[]", "a reply is no object: []"),
        ("[" * 100_000, "is no line of JSON"),
        ('{"answers":[],"states":[{"requests":' + "[" * 100_000 + "]}", "is no line of JSON"),
    ],
)
def test_a_line_that_is_no_reply_is_named(line: str, says: str) -> None:
    with pytest.raises(MalformedReplyError) as caught:
        StepsReader(StateReader(frozenset(ALL), TRAITS)).read(line.encode(), 1)
    assert says in str(caught.value)


def test_a_line_that_is_no_text_is_named() -> None:
    with pytest.raises(MalformedReplyError, match="is no UTF-8"):
        StepsReader(StateReader(frozenset(ALL), TRAITS)).read(b"\xff", 1)


def told(change: dict[str, Any]) -> bytes:
    """The hello with other keys."""
    return json.dumps(HELLO | change).encode()


def configured(**changes: Any) -> dict[str, Any]:
    """The hello's keys with another configuration."""
    return {"configurations": [{key: value for key, value in (CONFIGURATION | changes).items() if value != "gone"}]}


def test_hello_has_defaults_for_all_but_a_name_and_configurations() -> None:
    hello = manager_hello(told({}))
    (configuration,) = hello.configurations.values()
    assert configuration.traits == Traits(4, 2, (Group("full"),))
    offer = hello.offer(configuration)
    assert offer.operations == {Admit, Append, Fork, Truncate, Release}
    assert offer.not_observed == ()


def test_hello_says_what_is_offered_shown_and_configured() -> None:
    groups = [{"kind": "full"}, {"kind": "window", "size": 4, "sinks": 1, "keeps": 1}, {"kind": "chunk", "size": 4}]
    traits = {"prefix": True, "leaves": 2, "commits": True, "tail": "copied", "trims": "before", "granule": "row"}
    changes = configured(groups=groups, **traits, forks="sinks", operations=["admit", "commit", "fork"])
    hello = manager_hello(told({"shows": ["free"], "operations": ["admit", "append", "commit"], **changes}))
    (configuration,) = hello.configurations.values()
    expected = (Group("full"), Group("window", 4, 1, 1), Group("chunk", 4))
    assert configuration.traits == Traits(4, 2, expected, True, 2, True, "copied", "before", False, "row", "sinks")
    offer = hello.offer(configuration)
    assert offer.operations == {Admit, Commit}
    assert offer.not_offered() == ("Append", "Fork", "Truncate", "Release")
    assert offer.not_observed == ("counts", "published")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kvproof": "target"}, '"kvproof" is not "manager"'),
        ({"version": 2}, "it speaks version 2 of the protocol, not 1"),
        ({"name": ""}, '"name" is not a text'),
        ({"pages": 4}, 'hello has an unknown key "pages"'),
        ({"operations": ["admit", "new"]}, 'unknown name "new"'),
        ({"operations": ["append"]}, 'configuration "small" offers no "admit": nothing could be checked'),
        ({"shows": ["written"]}, 'unknown name "written"'),
        ({"shows": "counts"}, '"shows" is not a list of names'),
        ({"configurations": []}, '"configurations" is not a list'),
        ({"configurations": {}}, '"configurations" is not a list'),
        ({"configurations": [1]}, "a configuration has no name: 1"),
        ({"configurations": [CONFIGURATION] * 2}, 'two configurations are called "small"'),
        (configured(name=3), "a configuration has no name"),
        (configured(pages="gone"), 'configuration "small" has no "pages"'),
        (configured(window=4), 'configuration "small" has an unknown key "window"'),
        (configured(pages=4.0), '"pages" of configuration "small" is not an integer: 4.0'),
        (configured(leaves=True), '"leaves" of configuration "small" is not an integer: true'),
        (configured(prefix=1), '"prefix" of configuration "small" is not true or false: 1'),
        (configured(page_size=0), 'configuration "small": not the traits of a manager'),
        (configured(tail="torn"), 'configuration "small": not the traits of a manager'),
        (configured(trims=[]), 'configuration "small": not the traits of a manager'),
        (configured(groups=[]), '"groups" of configuration "small" is no list of groups: []'),
        (configured(groups=["full"]), 'a group of configuration "small" is no object: "full"'),
        (configured(groups=[{"size": 1}]), 'a group of configuration "small" has no "kind"'),
        (
            configured(groups=[{"kind": "full", "rows": 1}]),
            'a group of configuration "small" has an unknown key "rows"',
        ),
        (configured(groups=[{"kind": "window", "size": "4"}]), "has a size that is no integer"),
        (configured(groups=[{"kind": "window", "size": 0}]), 'configuration "small": not a group'),
        (configured(groups=[{"kind": ["full"]}]), 'configuration "small": '),
        (configured(operations=["admit", "read"]), 'unknown name "read"'),
        (configured(operations=["append"]), 'offers no "admit"'),
        ({"operations": ["admit"], **configured(commits=True)}, 'offers no "commit"'),
        ({"broken": "no device"}, "no device"),
    ],
)
def test_a_wrong_hello_is_named(change: dict[str, Any], says: str) -> None:
    with pytest.raises(MalformedReplyError) as caught:
        manager_hello(told(change))
    assert says in str(caught.value)


OPERATIONS: tuple[ManagerOperation, ...] = (
    Admit(0, (0, 1, 1)),
    Append(0, (2,)),
    Commit(0),
    Fork(0, 1, 2),
    Truncate(0, 1),
    Release(0),
)


def test_messages_are_lines_of_json_with_the_names_of_the_vocabulary() -> None:
    texts = [operation_text(operation) for operation in OPERATIONS]
    operations = [json.loads(text) for text in texts]
    for operation, values in zip(OPERATIONS, operations, strict=True):
        rest = {name: tuple(value) if name == "tokens" else value for name, value in values.items() if name != "op"}
        made: Any = KINDS[values["op"]]
        assert made(**rest) == operation
    line = run_line('a "b"', texts, each=True)
    assert line.endswith(b"\n")
    assert json.loads(line) == {"do": "run", "configuration": 'a "b"', "each": True, "operations": operations}
    assert json.loads(apply_line(texts[:1], each=False)) == {"do": "apply", "each": False, "operations": operations[:1]}


def test_the_document_shows_what_is_spoken() -> None:
    section = DOCUMENT.read_text(encoding="utf-8").partition("## Managers")[2]
    hello, reply, operations = re.findall(r"```jsonl\n(.*?)```", section, re.DOTALL)
    found = manager_hello(hello.encode())
    (configuration,) = found.configurations.values()
    plain = Traits(configuration.traits.pages, configuration.traits.page_size, configuration.traits.groups)
    assert configuration.traits == plain
    assert found.offer(configuration).not_observed == ()
    steps = StepsReader(StateReader(found.shows, configuration.traits)).read(reply.encode(), 2)
    assert steps.answers == (Accepted(served=0), Refused(Reason.UNKNOWN_REQUEST))
    assert all(isinstance(state, ManagerSnapshot) for state in steps.states)
    assert operations.splitlines() == [operation_text(operation) for operation in OPERATIONS]
