"""Managers behind the pipe: an honest one is told as it is, and what a hostile one does is told at its operation."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from spec.manager import available, initial, step
from spec.operations import Accepted, Admit, Append, ManagerOperation, Reason, Refused, Release
from verify.managers.target import ManagerSnapshot, ManagerView, attempt, look
from verify.remote.manager import RemoteManager, Step
from verify.remote.managers import ManagerOptions, manager
from verify.target import FarError, Raised

Start = Callable[..., RemoteManager]

WALK: tuple[ManagerOperation, ...] = (
    Admit(0, (1, 2, 3)),
    Append(0, (4,)),
    Admit(1, (1, 2)),
    Append(1, (9,)),
    Append(0, (5,)),
    Release(1),
    Append(0, (5,)),
    Release(7),
    Admit(0, (1,)),
    Append(0, ()),
    Release(0),
)
"""On 4 pages of 2 rows: the fifth operation finds no page."""


@pytest.fixture
def start(hostile_managers: Path) -> Iterator[Start]:
    """Starts a manager in its small configuration; its processes end with the test."""
    with ExitStack() as running:

        def started(name: str, **options: Any) -> RemoteManager:
            given = ManagerOptions(f"hostile:{name}", path=str(hostile_managers), **options)
            return running.enter_context(manager(given)).open("small")

        yield started


def value(*tokens: int) -> int:
    """The value of the row of the last of these."""
    return crc32(bytes(tokens)) * 256 + len(tokens)


def shape(steps: list[Step]) -> list[tuple[object, object]]:
    """Answers, and which requests of what length are there, or the text of what was raised."""
    return [
        (
            answer.text if isinstance(answer, Raised) else answer,
            state.text if isinstance(state, Raised) else {key: view.length for key, view in state.requests.items()},
        )
        for answer, state in steps
    ]


def test_a_walk_is_answered_and_shown_an_operation_after_the_other(start: Start) -> None:
    steps = start("Little").run(WALK)
    assert len(steps) == len(WALK)
    assert steps[0] == (
        Accepted(served=0),
        ManagerSnapshot(
            {0: ManagerView(3, ((0, 1),), ((value(1), value(1, 2), value(1, 2, 3)),))}, (1, 1, 0, 0), (2, 3), 2, ()
        ),
    )
    state = initial(start("Little").traits)
    for operation, (answer, shown) in zip(WALK, steps, strict=True):
        state, expected = step(state, operation)
        assert answer == expected
        assert isinstance(shown, ManagerSnapshot)
        assert shown.available == available(state)
        assert {key: view.length for key, view in shown.requests.items()} == {
            key: len(request.tokens) for key, request in state.requests.items()
        }
    assert [answer for answer, _ in steps if isinstance(answer, Refused)] == [
        Refused(reason)
        for reason in (
            Reason.OUT_OF_PAGES,
            Reason.UNKNOWN_REQUEST,
            Reason.DUPLICATE_REQUEST,
            Reason.BAD_ARGUMENT,
        )
    ]


def test_a_walk_of_many_messages_is_told_whole_and_always_of_a_fresh_instance(start: Start) -> None:
    target = start("Little")
    whole = target.run(WALK * 40)
    assert len(whole) == 40 * len(WALK)
    assert whole[: len(WALK)] == target.run(WALK) == target.run(WALK)
    assert target.run(()) == []


def test_what_a_manager_prints_does_not_matter(start: Start) -> None:
    assert start("Noisy").run(WALK) == start("Little").run(WALK)


STATES = {
    "Keyless": 'request "1" has no "rows"',
    "Keyed": 'a state has an unknown key "cuonts"',
    "Typed": '"length" of request "1" is no integer: 2.0',
    "Elsewhere": '"tables" of request "1" has page 9, of a pool of 4',
    "Grouped": '"tables" of request "1" is not a list a group, 1: [[2',
    "Listed": "TypeError: observe returned ['requests', 'counts', 'free', 'available', 'published'], not a dict",
    "Unshowable": "TypeError: 'object' object cannot be interpreted as an integer",
    "Endless": "RecursionError: maximum recursion depth exceeded while encoding a JSON object",
    "Wordless": "LookupError: no block table",
    "Half": 'a state has "counts": null, but "shows" of hello names it',
}


@pytest.mark.parametrize("name", STATES)
def test_a_state_that_is_not_as_documented_is_told_where_it_was_shown_and_the_child_goes_on(
    name: str, start: Start
) -> None:
    steps = start(name).run(WALK)
    healthy = start("Little").run(WALK)
    assert [answer for answer, _ in steps] == [answer for answer, _ in healthy]
    assert steps[:2] == healthy[:2]
    assert steps[5:] == healthy[5:]
    for _, state in steps[2:5]:
        assert isinstance(state, Raised)
        assert not state.lost
        assert state.text.startswith(STATES[name])


ANSWERS = {
    "Countless": (2, "TypeError: admit returned None, not the number of rows served or the name of a reason"),
    "True_": (0, "TypeError: admit returned True, not the number of rows served or the name of a reason"),
    "Wordy": (1, "TypeError: append returned 7, not None or the name of a reason"),
    "Unnamed": (4, 'refused with "Full", which is none of UnknownRequest, DuplicateRequest'),
    "Raises": (5, "KeyError: 'no block'"),
    "Exits": (5, "SystemExit: 3"),
    "Picky": (0, "ValueError: at least 9 pages"),
    "forgetful": (0, "BrokenError: hostile:forgetful has no method observe"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_is_none_is_told_at_its_operation(name: str, start: Start) -> None:
    where, said = ANSWERS[name]
    steps = start(name).run(WALK)
    assert len(steps) == len(WALK)
    assert all(not isinstance(answer, Raised) for answer, _ in steps[:where])
    answer = steps[where][0]
    assert isinstance(answer, Raised)
    assert not answer.lost
    assert answer.text.startswith(said)


LOSSES = {
    "Dies": "its process ended with exit status 7; its last words: bad block table",
    "Spins": "no reply in 0.5 s of CPU time",
    "Sleeps": "no reply in 1 s, most of them spent waiting",
    "Talks": "it sent a line of more than 16777216 bytes",
    "Garbles": '"oops" is no line of JSON',
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_lost_child_is_an_answer_at_the_operation_over_which_it_was_lost(
    name: str, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "Sleeps":
        monkeypatch.setattr("verify.remote.managers.WALL_FOR_CPU", 2)
    target = start(name, seconds=0.5)
    healthy = start("Little").run(WALK)
    for _ in range(2):
        steps = target.run(WALK)
        assert steps[:5] == healthy[:5]
        assert len(steps) == 6
        lost = steps[5][0]
        assert steps[5] == (lost, lost)
        assert isinstance(lost, Raised)
        assert lost.lost
        assert lost.text.startswith(LOSSES[name])


def test_a_loss_that_does_not_come_again_is_told_at_the_end(start: Start) -> None:
    target = start("Grudging")
    steps = target.run(WALK)
    assert shape(steps[:-1]) == shape(start("Little").run(WALK)[:-1])
    assert shape(steps[-1:]) == [("its process ended with exit status 9",) * 2]


def test_a_walk_is_not_blamed_for_the_loss_of_the_one_that_was_told_after_it(hostile_managers: Path) -> None:
    with manager(ManagerOptions("hostile:Grudging", path=str(hostile_managers))) as managers:
        first, second = managers.open("small"), managers.open("small")
        quiet = WALK[:5]
        first.foresee(quiet, apart=False)
        second.foresee(WALK, apart=False)
        assert shape(asked(first, quiet)) == shape(managers.open("small").run(quiet))
        with pytest.raises(FarError, match="exit status 9"):
            for operation in WALK:
                second.apply(operation)


COMMAND = """while read line; do case "$line" in
*hello*) echo '{"kvproof":"manager","version":1,"name":"x","operations":["admit"],"shows":[],"configurations":[
{"name":"none","pages":0,"page_size":1,"groups":[{"kind":"full"}]}]}' | tr -d '\\n'; echo;;
*'"operations":[]'*) echo '{"answers":[],"states":[{"requests":{},"available":0}]}';;
*admit*) echo '{"answers":[{"refused":"OutOfPages"}],"states":[]}';;
esac; done
"""


def test_a_command_that_shows_too_few_states_is_lost_there(tmp_path: Path) -> None:
    (tmp_path / "manager.sh").write_text(COMMAND)
    with manager(ManagerOptions(f"stdio:sh {tmp_path / 'manager.sh'}")) as managers:
        target = managers.open("none")
        assert look(target) == ManagerSnapshot({}, None, None, 0, None)
        assert target.offer.not_observed == ("counts", "free", "published")
        ((answer, state),) = target.run([Admit(0, (1,)), Admit(1, (1,))])
    assert isinstance(answer, Raised)
    assert answer == state
    assert answer.lost
    assert answer.text.startswith("1 answers and 0 states to 1 operations")


def test_a_copy_is_asked_on_a_fresh_instance_and_walks_do_not_disturb_it(start: Start) -> None:
    target = start("Little")
    for operation in WALK[:3]:
        target.apply(operation)
    copy = target.clone()
    assert copy.apply(Release(0)) == Accepted()
    assert set(copy.observe().requests) == {1}
    target.run(WALK)
    assert target.apply(Append(0, (5,))) == Accepted()
    assert target.observe().requests[0].length == 5
    assert target.clone().observe() == target.observe()
    assert target.image() == target.clone().image() != copy.image()


def test_what_was_foreseen_is_answered_as_if_it_had_not_been(start: Start) -> None:
    target = start("Little")
    target.apply(Admit(0, (1, 2, 3)))
    tries: list[ManagerOperation] = [Append(0, (2,)), Admit(1, (1,)), Release(7), Append(0, ()), Admit(0, (2,))]
    alone = [attempt(target.clone(), operation) for operation in tries]
    shown = []
    for foreseen in (False, True):
        if foreseen:
            target.foresee(tries, apart=True)
        copies = [target.clone() for _ in tries]
        assert [attempt(copy, operation) for copy, operation in zip(copies, tries, strict=True)] == alone
        shown.append([look(copy) for copy in copies])
    assert shown[0] == shown[1]
    target.foresee(tries[2:], apart=False)
    assert [attempt(target, operation) for operation in tries[2:]] == alone[2:]
    assert target.observe() == target.clone().observe()


def asked(target: RemoteManager, operations: Sequence[ManagerOperation]) -> list[Step]:
    """The steps of these operations, one after the other, up to a loss."""
    steps: list[Step] = []
    for operation in operations:
        steps.append((attempt(target, operation), look(target)))
        if isinstance(steps[-1][0], Raised) and steps[-1][0].lost:
            break
    return steps


@pytest.mark.parametrize("name", ["Little", "Raises", "Dies", "Keyless", "Countless"])
def test_a_walk_that_was_foreseen_is_the_walk_and_belongs_to_the_path(name: str, start: Start) -> None:
    whole = start(name).run(WALK)
    for before in (0, 2):
        for live in (True, False):
            target = start(name)
            assert asked(target, WALK[:before]) == whole[:before]
            if not live:
                start(name)
                target.clone().observe()
                target.run(WALK[:1])
            target.foresee(WALK[before:], apart=False)
            assert asked(target, WALK[before:5]) == whole[before:5]
            copy = target.clone()
            assert asked(target, WALK[5:]) == whole[5:]
            assert asked(copy, WALK[5:]) == whole[5:]


def test_a_loss_is_not_blamed_on_the_fresh_instance_when_the_child_reads_both_at_once(start: Start) -> None:
    target = start("Dies")
    whole = target.run(WALK)
    first = start("Dies")
    assert first.observe().requests == {}
    connection = first._children._connection
    assert connection is not None
    os.kill(connection._child.pid, signal.SIGSTOP)
    fresh = RemoteManager(first._children, first.configuration)
    fresh.foresee(WALK, apart=False)
    os.kill(connection._child.pid, signal.SIGCONT)
    assert asked(fresh, WALK) == whole


def test_another_operation_than_was_foreseen_is_asked_where_the_target_stands(start: Start) -> None:
    target = start("Little")
    target.foresee(WALK, apart=False)
    steps = asked(target, WALK[:2])
    assert target.apply(Release(0)) == Accepted()
    assert target.observe().requests == {}
    assert steps == start("Little").run(WALK[:2])


def test_a_walk_from_a_path_that_is_answered_otherwise_is_told_so(start: Start) -> None:
    target = start("Fickle")
    assert asked(target, (Admit(0, (1,)), Append(0, (2,))))[1][0] == Refused(Reason.OUT_OF_PAGES)
    target = target.clone()
    target.run(())
    target.foresee([Release(0)], apart=False)
    said = "on another fresh instance, operation 1 of the path is refused, OutOfPages, and was accepted, 0 served"
    assert attempt(target, Release(0)) == Raised("", said)


@pytest.mark.parametrize(("name", "said"), [("Dies", "exit status 7"), ("Raises", "KeyError: 'no block'")])
def test_what_is_foreseen_to_go_wrong_is_told_at_its_operation(name: str, said: str, start: Start) -> None:
    target = start(name)
    target.apply(Admit(0, (1, 2, 3)))
    target.foresee([Append(0, (4,)), Release(0)], apart=True)
    assert attempt(target.clone(), Append(0, (4,))) == Accepted()
    answer = attempt(target.clone(), Release(0))
    assert isinstance(answer, Raised)
    assert said in answer.text


def test_a_copy_that_is_answered_otherwise_on_its_way_is_told_so(start: Start) -> None:
    target = start("Fickle")
    target.apply(Admit(0, (1,)))
    said = "on another fresh instance, operation 1 of the path is refused, OutOfPages, and was accepted, 0 served"
    assert attempt(target.clone(), Release(0)) == Raised("", said)


LEAST_RATE = 3_000
"""Operations a second of the manager in Python and this side together: a loaded machine does not decide."""


def test_a_walk_is_fast(start: Start) -> None:
    target = start("Little")
    walk = WALK * 100
    target.run(walk)
    begun, used = time.monotonic(), time.process_time()
    steps = target.run(walk[1:])
    assert len(steps) == len(walk) - 1
    assert time.process_time() - used < (len(walk) - 1) / LEAST_RATE
    assert time.monotonic() - begun < 60
