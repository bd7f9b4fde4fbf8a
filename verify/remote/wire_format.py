"""Operations, answers and states as the JSON values of the target protocol, version 1: docs/target-protocol.md.

What comes from a target is taken apart by hand, since a schema validator would cost more than the rest of a check; whatever is
not as documented is a MalformedReplyError that names it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple, get_args

from spec.operations import Accepted, Append, New, Operation, Outcome
from spec.outcomes import ACCEPTED, REFUSED
from verify.target import ALL_OPERATIONS, COUNTS, FREE, Capabilities, Raised, RequestView, Snapshot
from verify.witness import operation_to_json

VERSION = 1
KINDS: Mapping[str, type[Operation]] = {kind.__name__.lower(): kind for kind in get_args(Operation)}
SHOWS = ("counts", "free", "written")
HELLO_KEYS = ("kvproof", "version", "name", "operations", "moves_pages", "sinks", "fork", "shows")
INTEGER: frozenset[type] = frozenset({int})
TOKEN: frozenset[type] = frozenset({int, NoneType})
FLAGS = bytes.maketrans(b"01", b"\x00\x01")
MOST_KEPT = 8192
"""Parsed states kept: within a node of a search most replies are alike."""


class MalformedReplyError(Exception):
    """A line of the target is not what the protocol asks for."""


class Shown(NamedTuple):
    """What a target shows of its state, with flags of the slots that were ever written where it tells them."""

    snapshot: Snapshot
    written: tuple[bytes, ...] | None


class Reply(NamedTuple):
    """An answer an operation, and the state after the last one."""

    answers: tuple[Outcome | Raised, ...]
    state: Shown | Raised


class Hello(NamedTuple):
    """What a target says of itself: its capabilities, and the optional lists that its states show."""

    capabilities: Capabilities
    shows: frozenset[str]


@lru_cache(maxsize=1 << 16)
def operation_text(operation: Operation) -> str:
    """The operation as JSON, without a space."""
    return json.dumps(operation_to_json(operation), separators=(",", ":"))


def hello_line() -> bytes:
    """The message that asks a target who it is."""
    return b'{"do":"hello","version":%d}\n' % VERSION


def run_line(pages: int, page_size: int, operations: Sequence[str]) -> bytes:
    """The message that makes a fresh instance and applies these operations, each as JSON, to it."""
    head = f'{{"do":"run","pages":{pages},"page_size":{page_size},"operations":['
    return f"{head}{','.join(operations)}]}}\n".encode()


def apply_line(operations: Sequence[str]) -> bytes:
    """The message that applies these operations, each as JSON, to the instance at hand."""
    return f'{{"do":"apply","operations":[{",".join(operations)}]}}\n'.encode()


def hello_from_line(line: bytes) -> Hello:
    """What the target says of itself; MalformedReplyError names the key that is unknown, missing or wrong."""
    data = parsed(line)
    if type(data) is dict and isinstance(data.get("broken"), str):
        raise MalformedReplyError(data["broken"])
    if type(data) is not dict or data.get("kvproof") != "target":
        raise MalformedReplyError(f'{short(data)} is no hello: "kvproof" is not "target"')
    for key in data.keys() - set(HELLO_KEYS):
        raise MalformedReplyError(f"hello has an unknown key {short(key)}; the keys are {', '.join(HELLO_KEYS)}")
    if data.get("version") != VERSION:
        raise MalformedReplyError(f"it speaks version {short(data.get('version'))} of the protocol, not {VERSION}")
    name = wanted(data.get("name"), lambda value: type(value) is str and value != "", "name", "a text")
    operations = names(data, "operations", tuple(KINDS))
    shows = names(data, "shows", SHOWS, ("counts", "free"))
    for key in ("moves_pages", "sinks"):
        wanted(data.get(key, False), lambda value: type(value) is bool, key, "true or false")
    forks = data.get("fork", "anywhere")
    wanted(forks, lambda value: value in ("anywhere", "whole"), "fork", '"anywhere" or "whole"')
    kinds = ALL_OPERATIONS & {KINDS[operation] for operation in operations}
    if not {New, Append} <= kinds:
        raise MalformedReplyError('hello offers no "new" or no "append": nothing could be checked')
    return Hello(
        Capabilities(
            name,
            kinds,
            data.get("moves_pages", False),
            data.get("sinks", True),
            forks == "anywhere",
            tuple(text for key, text in (("counts", COUNTS), ("free", FREE)) if key not in shows),
        ),
        frozenset(shows),
    )


def names(data: dict[str, Any], key: str, known: Sequence[str], default: Sequence[str] | None = None) -> Sequence[str]:
    """A list of known names; without it the default, or all that are known."""
    if key not in data:
        return known if default is None else default
    value = wanted(data[key], lambda value: type(value) is list, key, "a list of names")
    for name in value:
        if name not in known:
            raise MalformedReplyError(
                f'"{key}" of hello has an unknown name {short(name)}; it knows {", ".join(known)}'
            )
    return tuple(value)


class ReplyReader:
    """Takes the replies of a target on pools of one size apart; answers and states that came before cost a look-up."""

    def __init__(self, shows: frozenset[str], pages: int, page_size: int) -> None:
        self._shows = shows
        self._pages = pages
        self._page_size = page_size
        self._answers = lru_cache(maxsize=MOST_KEPT)(self._answers_before_state)
        self._state = lru_cache(maxsize=MOST_KEPT)(self._state_of_text)

    def read(self, line: bytes, operations: int) -> Reply:
        """The reply that the line is; MalformedReplyError also when it has not an answer an operation."""
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise MalformedReplyError(f"{short(line)} is no UTF-8: {error.reason}") from None
        # A quote within a JSON string has a backslash before it, so what is found is a key.
        head, found, tail = text.rstrip().partition('"state":')
        reply = None
        if found:
            try:
                reply = Reply(self._answers(head), self._state(tail.removesuffix("}")))
            except (ValueError, RecursionError):
                reply = None  # the keys stand in another order, or the line is malformed
        if reply is None:
            reply = self._whole(text)
        if len(reply.answers) != operations:
            raise MalformedReplyError(f"{len(reply.answers)} answers to {operations} operations: {short(line)}")
        return reply

    def _whole(self, text: str) -> Reply:
        data = parsed(text)
        check_keys("a reply", data, ("answers", "state"))
        return Reply(answers_from_json(data["answers"]), self._state_from_json(data["state"]))

    def _answers_before_state(self, head: str) -> tuple[Outcome | Raised, ...]:
        data = json.loads(f'{head}"state":null}}')
        if type(data) is not dict or data.keys() != {"answers", "state"}:
            raise ValueError("the answers do not stand before the state")
        return answers_from_json(data["answers"])

    def _state_of_text(self, text: str) -> Shown | Raised:
        return self._state_from_json(json.loads(text))

    def _state_from_json(self, data: Any) -> Shown | Raised:
        if type(data) is dict and data.keys() == {"raised"}:
            return raised_from_json(data["raised"])
        shown = self._shows
        check_keys("a state", data, ("requests",), SHOWS)
        for key in SHOWS:
            if (data.get(key) is not None) != (key in shown):
                said = "does not name it" if data.get(key) is not None else "names it"
                raise MalformedReplyError(f'a state has "{key}": {short(data.get(key))}, but "shows" of hello {said}')
        if type(data["requests"]) is not dict:
            raise MalformedReplyError(f'"requests" is no object: {short(data["requests"])}')
        requests = {id_from_text(name): view_from_json(name, item) for name, item in data["requests"].items()}
        counts = tuple(list_of(data["counts"], INTEGER, "counts", "a state")) if "counts" in shown else None
        free = tuple(list_of(data["free"], INTEGER, "free", "a state")) if "free" in shown else None
        written = self._written(data["written"]) if "written" in shown else None
        return Shown(Snapshot(requests, counts, free), written)

    def _written(self, value: Any) -> tuple[bytes, ...]:
        size = self._page_size
        if type(value) is not list or len(value) != self._pages:
            raise MalformedReplyError(f'"written" is no list of {self._pages} texts: {short(value)}')
        for page in value:
            if type(page) is not str or len(page) != size or not set(page) <= {"0", "1"}:
                raise MalformedReplyError(f'"written" has {short(page)}, not {size} characters 0 or 1')
        return tuple([page.encode().translate(FLAGS) for page in value])


def answers_from_json(value: Any) -> tuple[Outcome | Raised, ...]:
    """The answers that JSON values describe."""
    if type(value) is not list:
        raise MalformedReplyError(f'"answers" is no list: {short(value)}')
    return tuple([answer_from_json(item) for item in value])


def answer_from_json(item: Any) -> Outcome | Raised:
    """The answer that JSON values describe; a reason that does not exist is what the target did instead of answering."""
    if type(item) is dict and len(item) == 1:
        ((word, value),) = item.items()
        if word == "accepted":
            return ACCEPTED if value is None else Accepted(tuple(list_of(value, TOKEN, "accepted", "an answer")))
        if word == "refused" and type(value) is str:
            found = REFUSED.get(value)
            return found or Raised("", f"refused with {short(value)}, which is none of {', '.join(REFUSED)}")
        if word == "raised":
            return raised_from_json(value)
    raise MalformedReplyError(f"{short(item)} is no answer")


def raised_from_json(value: Any) -> Raised:
    """What the target raised: a kind and a text."""
    if type(value) is not list or len(value) != 2 or not all(type(part) is str for part in value):
        raise MalformedReplyError(f'"raised" is not a kind and a text: {short(value)}')
    return Raised(value[0] or "an error", value[1])


def view_from_json(name: str, item: Any) -> RequestView:
    """The live request that JSON values describe."""
    where = f"request {short(name)}"
    check_keys(where, item, ("length", "released", "pages", "rows"), ("kept",))
    length, kept = item["length"], item.get("kept")
    if type(length) is not int or (kept is not None and type(kept) is not int):
        raise MalformedReplyError(f'"length" or "kept" of {where} is no integer: {short(item)}')
    released = list_of(item["released"], INTEGER, "released", where)
    if len(released) != 2:
        raise MalformedReplyError(f'"released" of {where} is not a first page and a stop: {short(released)}')
    pages, rows = list_of(item["pages"], INTEGER, "pages", where), list_of(item["rows"], TOKEN, "rows", where)
    return RequestView(length, (released[0], released[1]), tuple(pages), tuple(rows), kept)


def id_from_text(text: str) -> int:
    """The request id that a key stands for."""
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or str(number) != text:
        raise MalformedReplyError(f"{short(text)} is no id of a request")
    return number


def list_of(value: Any, kinds: frozenset[type], key: str, where: str) -> list[Any]:
    """A list whose items are of these types: true is no integer here, and null a row that is no token's."""
    if type(value) is not list or not kinds.issuperset(map(type, value)):
        what = "integers" if kinds is INTEGER else "integers and nulls"
        raise MalformedReplyError(f'"{key}" of {where} is no list of {what}: {short(value)}')
    return value


def check_keys(where: str, data: Any, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """An object with these keys and no other."""
    if type(data) is not dict:
        raise MalformedReplyError(f"{where} is no object: {short(data)}")
    for key in needed:
        if key not in data:
            raise MalformedReplyError(f'{where} has no "{key}": {short(data)}')
    if len(data) > len(needed):
        for key in data.keys() - {*needed, *optional}:
            raise MalformedReplyError(f"{where} has an unknown key {short(key)}")


def wanted(value: Any, fits: Callable[[Any], bool], where: str, what: str) -> Any:
    """The value, when it fits."""
    if not fits(value):
        raise MalformedReplyError(f'"{where}" is not {what}: {short(value)}')
    return value


def parsed(line: bytes | str) -> Any:
    """The JSON value of the line."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MalformedReplyError(f"{short(line)} is no line of JSON: {error}") from None


def short(value: object) -> str:
    """The value in at most a hundred characters."""
    text = value.decode(errors="replace").rstrip("\n") if isinstance(value, bytes) else value
    text = text if isinstance(text, str) and isinstance(value, bytes) else json.dumps(text, default=repr)
    return text if len(text) <= 100 else f"{text[:97]}..."
