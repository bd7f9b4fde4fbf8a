"""Answers and states of managers as the JSON values of the target protocol, version 1: docs/target-protocol.md, Managers.

What a manager says is taken apart without trust. A line that is no reply is a MalformedReplyError, which loses the child; an
answer or a state that is not as documented is what the manager did instead, Raised with the key named, and the child goes on.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from spec.manager import Traits
from spec.operations import Accepted, Admit, Append, Commit, Fork, ManagerOperation, Outcome, Release, Truncate
from spec.outcomes import ACCEPTED
from verify.managers.target import COUNTS, FREE, PUBLISHED, ManagerSnapshot, ManagerView, Rows, Table
from verify.remote.wire_format import (
    INTEGER,
    TOKEN,
    MalformedReplyError,
    answer_from_json,
    check_keys,
    id_from_text,
    list_of,
    parsed,
    raised_from_json,
    short,
)
from verify.target import Raised

SHOWS = (COUNTS, FREE, PUBLISHED)
MOST_KEPT = 8192
"""Parsed states and requests kept: from one operation to the next most requests stay as they are."""

NEXT_STATE, NEXT_REQUEST = ',{"requests":', "},"
"""Where states and requests are parted. Within a JSON string quotes have a backslash before them, and a part that is no JSON
value on its own has the whole line read again."""


class ManagerReply(NamedTuple):
    """An answer an operation, and the state after the last one."""

    answers: tuple[Outcome | Raised, ...]
    state: ManagerSnapshot | Raised


class ManagerSteps(NamedTuple):
    """An answer and a state an operation."""

    answers: tuple[Outcome | Raised, ...]
    states: tuple[ManagerSnapshot | Raised, ...]


@lru_cache(maxsize=1 << 16)
def operation_text(operation: ManagerOperation) -> str:
    """The operation as JSON, without a space, with the names of spec/operations.py."""
    match operation:
        case Admit(request, tokens):
            return f'{{"op":"admit","request":{request},"tokens":[{",".join(map(str, tokens))}]}}'
        case Append(request, tokens):
            return f'{{"op":"append","request":{request},"tokens":[{",".join(map(str, tokens))}]}}'
        case Commit(request):
            return f'{{"op":"commit","request":{request}}}'
        case Fork(request, to, at):
            return f'{{"op":"fork","request":{request},"to":{to},"at":{at}}}'
        case Truncate(request, length):
            return f'{{"op":"truncate","request":{request},"length":{length}}}'
        case Release(request):
            return f'{{"op":"release","request":{request}}}'


def run_line(configuration: str, operations: Sequence[str], each: bool) -> bytes:
    """The message that makes a fresh instance of a configuration and applies these operations, each as JSON, to it."""
    head = f'{{"do":"run","configuration":{json.dumps(configuration)},"each":{json.dumps(each)},"operations":['
    return f"{head}{','.join(operations)}]}}\n".encode()


def apply_line(operations: Sequence[str], each: bool) -> bytes:
    """The message that applies these operations, each as JSON, to the instance at hand."""
    return f'{{"do":"apply","each":{json.dumps(each)},"operations":[{",".join(operations)}]}}\n'.encode()


class StateReader:
    """Takes states of a manager with these traits apart; states and requests that came before cost a look-up."""

    def __init__(self, shows: frozenset[str], traits: Traits) -> None:
        self._shows = shows
        self._pages, self._groups = traits.pages, len(traits.groups)
        self.of_text = lru_cache(maxsize=MOST_KEPT)(self._of_text)
        self._request = lru_cache(maxsize=MOST_KEPT)(self._request_of_text)
        self._pool = lru_cache(maxsize=MOST_KEPT)(self._pool_of_text)

    def from_json(self, data: Any) -> ManagerSnapshot | Raised:
        """The state that JSON values describe; MalformedReplyError."""
        if type(data) is dict and data.keys() == {"raised"}:
            return raised_from_json(data["raised"])
        check_keys("a state", data, ("requests", "available"), SHOWS)
        if type(data["requests"]) is not dict:
            raise MalformedReplyError(f'"requests" is no object: {short(data["requests"])}')
        requests = {id_from_text(name): self._view(name, item) for name, item in data["requests"].items()}
        return ManagerSnapshot(requests, *self._pool_from_json(data))

    def told(self, data: Any) -> ManagerSnapshot | Raised:
        """The state that JSON values describe, or what is wrong with them."""
        try:
            return self.from_json(data)
        except MalformedReplyError as error:
            return Raised("", str(error))

    def _of_text(self, text: str) -> ManagerSnapshot | Raised:
        """The state that this text is, without `{"requests":` before it; ValueError when it is no JSON."""
        try:
            if text.startswith("{},"):
                return ManagerSnapshot({}, *self._pool("{" + text[3:]))
            inner, found, rest = text.partition("}},")
            if found and inner.startswith("{"):
                # No object is inside of a request, so that the first two closing brackets end the requests.
                items = [self._request(item) for item in inner[1:].split(NEXT_REQUEST)]
                requests = dict(items)
                if len(requests) == len(items):
                    return ManagerSnapshot(requests, *self._pool("{" + rest))
        except (ValueError, RecursionError):
            pass  # not in this form, or malformed
        except MalformedReplyError as error:
            return Raised("", str(error))
        return self.told(json.loads('{"requests":' + text))

    def _request_of_text(self, text: str) -> tuple[int, ManagerView]:
        """The id and the view of a request's item in the object of requests, without its last bracket."""
        data = json.loads(f"{{{text}}}}}")
        if len(data) != 1:
            raise ValueError("more than one request")
        ((name, item),) = data.items()
        return id_from_text(name), self._view(name, item)

    def _pool_of_text(self, text: str) -> tuple[Any, Any, int, Any]:
        """The fields of a snapshot after its requests, of an object that lacks these."""
        data = json.loads(text)
        check_keys("a state", data, ("available",), SHOWS)
        return self._pool_from_json(data)

    def _pool_from_json(self, data: dict[str, Any]) -> tuple[Any, Any, int, Any]:
        shown = self._shows
        for key in SHOWS:
            if (data.get(key) is not None) != (key in shown):
                said = "does not name it" if data.get(key) is not None else "names it"
                raise MalformedReplyError(f'a state has "{key}": {short(data.get(key))}, but "shows" of hello {said}')
        if type(data["available"]) is not int:
            raise MalformedReplyError(f'"available" of a state is no integer: {short(data["available"])}')
        counts = tuple(list_of(data["counts"], INTEGER, "counts", "a state")) if COUNTS in shown else None
        if counts is not None and len(counts) != self._pages:
            raise MalformedReplyError(f'"counts" of a state has {len(counts)} entries, not one a page, {self._pages}')
        free = tuple(list_of(data["free"], INTEGER, "free", "a state")) if FREE in shown else None
        self._check_pages(free or (), "free", "a state")
        published = self._published(data["published"]) if PUBLISHED in shown else None
        return counts, free, data["available"], published

    def _published(self, value: Any) -> tuple[tuple[int, int, int], ...]:
        if type(value) is not list:
            raise MalformedReplyError(f'"published" of a state is no list: {short(value)}')
        found = [tuple(list_of(item, INTEGER, "published", "a state")) for item in value]
        for item in found:
            if len(item) != 3 or not 0 <= item[1] < self._groups:
                what = f"a page, a group below {self._groups} and a value"
                raise MalformedReplyError(f'"published" of a state has {short(item)}, not {what}')
        self._check_pages([item[0] for item in found], "published", "a state")
        return tuple(found)

    def _view(self, name: str, item: Any) -> ManagerView:
        """The live request that JSON values describe."""
        where = f"request {short(name)}"
        check_keys(where, item, ("length", "tables", "rows"))
        if type(item["length"]) is not int:
            raise MalformedReplyError(f'"length" of {where} is no integer: {short(item["length"])}')
        tables = self._lists(item["tables"], "tables", where)
        for table in tables:
            self._check_pages([page for page in table if page is not None], "tables", where)
        return ManagerView(item["length"], tables, self._lists(item["rows"], "rows", where))

    def _lists(self, value: Any, key: str, where: str) -> tuple[Table | Rows, ...]:
        """A list of integers and nulls a group."""
        if type(value) is not list or len(value) != self._groups:
            raise MalformedReplyError(f'"{key}" of {where} is not a list a group, {self._groups}: {short(value)}')
        return tuple([tuple(list_of(items, TOKEN, key, where)) for items in value])

    def _check_pages(self, pages: Sequence[int], key: str, where: str) -> None:
        if pages and (min(pages) < 0 or max(pages) >= self._pages):
            wrong = next(page for page in pages if not 0 <= page < self._pages)
            raise MalformedReplyError(f'"{key}" of {where} has page {wrong}, of a pool of {self._pages}')


class StepsReader:
    """Takes replies with a state an operation apart."""

    def __init__(self, states: StateReader) -> None:
        self._states = states

    def read(self, line: bytes, operations: int) -> ManagerSteps:
        """The reply that the line is; MalformedReplyError also when it has not an answer and a state an operation."""
        answers, states = split(line, self._states)
        if len(answers) != operations or len(states) != operations:
            told = f"{len(answers)} answers and {len(states)} states to {operations} operations"
            raise MalformedReplyError(f"{told}: {short(line)}")
        return ManagerSteps(answers, states)


class LastReader:
    """Takes replies with the state after the last operation alone apart."""

    def __init__(self, states: StateReader) -> None:
        self._states = states

    def read(self, line: bytes, operations: int) -> ManagerReply:
        """The reply that the line is; MalformedReplyError also when it has not an answer an operation and one state."""
        answers, states = split(line, self._states)
        if len(answers) != operations or len(states) != 1:
            told = f"{len(answers)} answers to {operations} operations, and {len(states)} states instead of the last"
            raise MalformedReplyError(f"{told}: {short(line)}")
        return ManagerReply(answers, states[0])


def split(
    line: bytes, states: StateReader
) -> tuple[tuple[Outcome | Raised, ...], tuple[ManagerSnapshot | Raised, ...]]:
    """The answers and the states of a reply; MalformedReplyError when it is none."""
    try:
        text = line.decode().rstrip()
    except UnicodeDecodeError as error:
        raise MalformedReplyError(f"{short(line)} is no UTF-8: {error.reason}") from None
    head, found, tail = text.partition('"states":[')
    if found and tail.startswith('{"requests":') and tail.endswith("]}"):
        try:
            data = json.loads(head + '"states":0}')
            if data.keys() == {"answers", "states"}:
                parts = tail[12:-2].split(NEXT_STATE)
                return answers_of(data["answers"]), tuple([states.of_text(part) for part in parts])
        except (ValueError, RecursionError):
            pass  # the keys stand in another order, or the line is malformed
    data = parsed(text)
    check_keys("a reply", data, ("answers", "states"))
    if type(data["states"]) is not list:
        raise MalformedReplyError(f'"states" is no list: {short(data["states"])}')
    return answers_of(data["answers"]), tuple([states.told(item) for item in data["states"]])


def answers_of(value: Any) -> tuple[Outcome | Raised, ...]:
    """The answers that JSON values describe, or what is wrong with each."""
    if type(value) is not list:
        raise MalformedReplyError(f'"answers" is no list: {short(value)}')
    return tuple([answer_of(item) for item in value])


def answer_of(item: Any) -> Outcome | Raised:
    """The answer that JSON values describe, or what is wrong with them."""
    if type(item) is dict and len(item) == 1 and "accepted" in item:
        value = item["accepted"]
        if value is None:
            return ACCEPTED
        if type(value) is dict and value.keys() == {"served"} and type(value["served"]) is int:
            return Accepted(served=value["served"])
        return Raised("", f'"accepted" of an answer is neither null nor the rows served: {short(value)}')
    try:
        return answer_from_json(item)
    except MalformedReplyError as error:
        return Raised("", str(error))
