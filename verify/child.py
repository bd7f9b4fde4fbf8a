"""Serves a Python adapter, of a page table or of a manager, over the target protocol, version 1: docs/target-protocol.md.

    python3 verify/child.py module:factory --path DIR [--fault module:NAME]

Run by file path under the user's own interpreter, Python 3.9 or newer, it imports the standard library and the adapter and
nothing of kvproof. What the adapter prints goes to standard error; the protocol has the real standard output to itself.
"""

from __future__ import annotations

import argparse
import importlib
import json
import operator
import os
import sys
import time
from collections.abc import Callable
from typing import Any

VERSION = 1
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "new": ("sinks",),
    "append": ("tokens",),
    "fork": ("to", "at"),
    "trim": ("keep_from",),
    "truncate": ("length",),
    "release": (),
    "read": ("lo", "hi"),
}
"""The arguments of each operation after the request; all but an append's tokens are passed by name."""

MANAGED: dict[str, tuple[str, ...]] = {
    "admit": ("tokens",),
    "append": ("tokens",),
    "commit": (),
    "fork": ("to", "at"),
    "truncate": ("length",),
    "release": (),
}
"""The same of a manager's operations; tokens are passed by position."""

FLUSH_SECONDS = 0.01
"""How long a reply may wait for those that follow: waking the other side for each would cost more than the reply."""

LONGEST_TEXT = 500


class BrokenError(Exception):
    """There is nothing to serve, for a reason that the user can act on."""


def main() -> None:
    """Serve until the other side hangs up."""
    parser = argparse.ArgumentParser(description="Serve a Python adapter over the kvproof target protocol.")
    parser.add_argument("target", help="module:factory")
    parser.add_argument("--path", default=".", help="folder that the modules are imported from")
    parser.add_argument(
        "--fault", metavar="MODULE:NAME", help="call the module's FAULTS[NAME] before the first instance"
    )
    options = parser.parse_args()
    requests, replies = private_streams()
    # The folder of this file is on the path because it is run by path; nothing in it is the adapter's business.
    sys.path[0] = os.path.abspath(options.path)
    factory: Callable[..., Any] = dict
    manager = None
    try:
        factory = find(options.target)
        if options.fault is not None:
            plant(options.fault)
        told = told_of_manager(factory, options.target)
        if told is None:
            hello = {"kvproof": "target", "version": VERSION, **capabilities(factory, options.target)}
        else:
            hello = {"version": VERSION, **told}
            manager = Manager(factory, options.target, told)
    except BrokenError as error:
        hello = {"broken": str(error)}
    serve(requests, replies, hello, factory if manager is None else manager)


def private_streams() -> tuple[int, int]:
    """The protocol's own descriptors (in, out): what the adapter reads or prints must not be taken for it."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, replies


def find(target: str, called: bool = True) -> Any:
    """What module:name names, a factory when it is to be called."""
    module_name, _, factory_name = target.partition(":")
    try:
        found = importlib.import_module(module_name)
    except BaseException as error:
        raise BrokenError(f"cannot import {module_name}: {describe(error)}") from error
    for part in factory_name.split("."):
        if not hasattr(found, part):
            raise BrokenError(f"{module_name} has no {factory_name}")
        found = getattr(found, part)
    if called and not callable(found):
        raise BrokenError(f"{target} is not callable")
    return found


def plant(fault: str) -> None:
    """Change the target as the fault says: FAULTS of its module holds a function by that name."""
    module_name, _, name = fault.partition(":")
    faults = find(f"{module_name}:FAULTS", called=False)
    if not isinstance(faults, dict) or name not in faults:
        known = ", ".join(map(str, faults)) if isinstance(faults, dict) else "no dict"
        raise BrokenError(f"{module_name}.FAULTS has no {name or 'name'}: {known}")
    try:
        faults[name]()
    except BaseException as error:
        raise BrokenError(f"the fault {fault} raised {describe(error)}") from error


def capabilities(factory: Callable[..., Any], target: str) -> dict[str, Any]:
    """What the adapter says of itself, or what its methods say; taken from an instance unless the factory is a class."""
    try:
        known = isinstance(factory, type) and isinstance(getattr(factory, "capabilities", {}), dict)
        adapter = factory if known else factory(4, 2)
        told = getattr(adapter, "capabilities", {})
    except BaseException as error:
        raise BrokenError(f"{target}(4, 2) raised {describe(error)}") from error
    if not isinstance(told, dict):
        raise BrokenError(f"capabilities of {target} is no dict")
    try:
        names = [name for name in ARGUMENTS if hasattr(adapter, name)]
        told = dict(json.loads(json.dumps({"name": target, "operations": names, **told}, default=plain)))
    except (TypeError, ValueError) as error:
        raise BrokenError(f"capabilities of {target} are no JSON: {error}") from error
    wanted = told["operations"] if isinstance(told["operations"], list) else []
    missing = [str(name) for name in [*wanted, "observe"] if not callable(getattr(adapter, str(name), None))]
    missing = [name for name in missing if name in ARGUMENTS or name == "observe"]
    if missing:
        raise BrokenError(f"{target} has no method {', '.join(missing)}")
    return told


def told_of_manager(factory: Any, target: str) -> dict[str, Any] | None:
    """What the adapter of a manager says of itself, on the factory or on its module; None when it is a page table's."""
    told = getattr(factory, "capabilities", None)
    if not isinstance(told, dict):
        told = getattr(sys.modules[target.partition(":")[0]], "capabilities", None)
    if not isinstance(told, dict) or told.get("kvproof") != "manager":
        return None
    offered = [name for name in MANAGED if callable(getattr(factory, name, None))]
    try:
        told = dict(json.loads(json.dumps({"name": target, "operations": offered, **told}, default=plain)))
    except (TypeError, ValueError) as error:
        raise BrokenError(f"capabilities of {target} are no JSON: {error}") from error
    if isinstance(factory, type):
        check_methods(factory, target, told["operations"])
    configurations = told.get("configurations")
    if not isinstance(configurations, list) or not configurations:
        raise BrokenError(f"capabilities of {target} have no list of configurations")
    names = [item.get("name") if isinstance(item, dict) else None for item in configurations]
    wrong = [name for name in names if not isinstance(name, str) or names.count(name) > 1]
    if wrong:
        raise BrokenError(f"configurations of {target} need names, each its own: {wrong[0]!r:.100}")
    return told


def check_methods(adapter: Any, target: str, operations: Any) -> None:
    """A method for each operation of a manager that is offered, and observe."""
    names = [name for name in MANAGED if isinstance(operations, list) and name in operations]
    missing = [name for name in [*names, "observe"] if not callable(getattr(adapter, name, None))]
    if missing:
        raise BrokenError(f"{target} has no method {', '.join(missing)}")


class Manager:
    """The instance of a manager that is asked, and how to make a fresh one. Answers and states are made as JSON at once."""

    def __init__(self, factory: Callable[..., Any], target: str, told: dict[str, Any]) -> None:
        self._factory, self._target, self._operations = factory, target, told["operations"]
        self._configurations = {item["name"]: json.dumps(item) for item in told["configurations"]}
        # A state that contains itself ends as a RecursionError, which is an answer; looking for it would cost every other one.
        encoder = json.JSONEncoder(separators=(",", ":"), default=plain, check_circular=False)
        self._encode = encoder.encode
        self._calls: dict[str, Any] = {}
        self._observe: Any = None
        self._failed: str | None = None

    def reply(self, message: dict[str, Any]) -> str:
        """The reply as a line: an answer an operation, and a state an operation or the last one alone."""
        if message["do"] == "run":
            self._begin(message["configuration"])
        each = message["each"]
        answers: list[str] = []
        states: list[str] = []
        for operation in message["operations"]:
            answers.append(self._answer(operation))
            if each:
                states.append(self._state())
        if not each:
            states.append(self._state())
        return f'{{"answers":[{",".join(answers)}],"states":[{",".join(states)}]}}'

    def _begin(self, name: str) -> None:
        """Make a fresh instance; what was raised instead, when it was, answers everything."""
        self._calls, self._observe, self._failed = {}, None, None
        try:
            if name not in self._configurations:
                raise ValueError(f"there is no configuration {name!r:.100}")
            adapter = self._factory(json.loads(self._configurations[name]))
            check_methods(adapter, self._target, self._operations)
            self._calls = {name: getattr(adapter, name, None) for name in MANAGED}
            self._observe = adapter.observe
        except BaseException as error:
            self._failed = self._encode(raised(error))

    def _answer(self, operation: dict[str, Any]) -> str:
        """The adapter's answer to one operation."""
        if self._failed is not None:
            return self._failed
        name = operation["op"]
        try:
            call = self._calls[name]
            if "tokens" in operation:
                said = call(operation["request"], operation["tokens"])
            else:
                said = call(operation["request"], **{key: operation[key] for key in MANAGED[name]})
            if said is None and name != "admit":
                return '{"accepted":null}'
            if isinstance(said, str):
                return self._encode({"refused": said})
            if name == "admit" and said is not None and not isinstance(said, bool):
                return f'{{"accepted":{{"served":{operator.index(said)}}}}}'
        except BaseException as error:
            return self._encode(raised(error))
        wanted = "the number of rows served" if name == "admit" else "None"
        return self._encode(
            raised(TypeError(f"{name} returned {shown_as(said)}, not {wanted} or the name of a reason"))
        )

    def _state(self) -> str:
        """What the adapter shows."""
        if self._failed is not None:
            return self._failed
        try:
            shown = self._observe()
            if not isinstance(shown, dict):
                raise TypeError(f"observe returned {shown_as(shown)}, not a dict")
            return self._encode(shown)
        except BaseException as error:
            return self._encode(raised(error))


def shown_as(value: object) -> str:
    """The value's text, bounded, and safe for those that cannot print themselves."""
    try:
        return f"{value!r:.100}"
    except BaseException:
        return f"a {type(value).__name__}"


def serve(requests: int, replies: int, hello: dict[str, Any], factory: Any) -> None:
    """Answer every message in order: of page tables that the factory makes, or of a Manager."""
    encode = json.JSONEncoder(separators=(",", ":"), default=plain).encode
    adapter: Any = None
    unread = b""
    while True:
        chunk = os.read(requests, 1 << 20)
        if not chunk:
            return
        *lines, unread = (unread + chunk).split(b"\n")
        ready = []
        began = time.monotonic()
        for line in lines:
            message = json.loads(line.decode())
            if message["do"] == "hello":
                ready.append(encode(hello))
            elif isinstance(factory, Manager):
                if message["do"] == "run":
                    send(replies, ready)  # so that one instance's end is not taken for another's
                ready.append(factory.reply(message))
            else:
                if message["do"] == "run":
                    adapter = instance(factory, message["pages"], message["page_size"])
                answers = [answer(adapter, operation) for operation in message["operations"]]
                ready.append(reply(encode, answers, state(adapter)))
            if time.monotonic() - began > FLUSH_SECONDS:
                send(replies, ready)
                began = time.monotonic()
        send(replies, ready)


def instance(factory: Callable[..., Any], pages: int, page_size: int) -> Any:
    """A fresh adapter; what the factory raised, when it did."""
    try:
        return factory(pages, page_size)
    except BaseException as error:
        return error


def reply(encode: Callable[[Any], str], answers: list[dict[str, Any]], shown: dict[str, Any]) -> str:
    """The reply as a line; a state that is no JSON is told as what went wrong."""
    try:
        return encode({"answers": answers, "state": shown})
    except BaseException as error:
        shown = raised(error)
    try:
        return encode({"answers": answers, "state": shown})
    except BaseException as error:
        return encode({"answers": [raised(error) for _ in answers], "state": shown})


def send(replies: int, ready: list[str]) -> None:
    """Write all of it, and forget it."""
    data = memoryview("".join([line + "\n" for line in ready]).encode())
    del ready[:]
    while data:
        data = data[os.write(replies, data) :]


def answer(adapter: Any, operation: dict[str, Any]) -> dict[str, Any]:
    """The adapter's answer to one operation."""
    name = operation["op"]
    if isinstance(adapter, BaseException):
        return raised(adapter)
    try:
        call = getattr(adapter, name)
        if name == "append":
            said = call(operation["request"], operation["tokens"])
        else:
            said = call(operation["request"], **{key: operation[key] for key in ARGUMENTS[name]})
        if isinstance(said, str):
            return {"refused": said}
        if name == "read" and said is not None:
            return {"accepted": list(said)}
        if said is None and name != "read":
            return {"accepted": None}
    except BaseException as error:
        return raised(error)
    wanted = "the tokens" if name == "read" else "None"
    return {"raised": ["TypeError", f"{name} returned {said!r:.100}, not {wanted} or the name of a reason"]}


def state(adapter: Any) -> dict[str, Any]:
    """What the adapter shows."""
    if isinstance(adapter, BaseException):
        return raised(adapter)
    try:
        shown = adapter.observe()
        if not isinstance(shown, dict):
            raise TypeError(f"observe returned {shown!r:.100}, not a dict")
        return shown
    except BaseException as error:
        return raised(error)


def raised(error: BaseException) -> dict[str, Any]:
    """The exception as an answer."""
    return {"raised": [type(error).__name__, text_of(error)]}


def describe(error: BaseException) -> str:
    """The exception in one line."""
    return " ".join(f"{type(error).__name__}: {text_of(error)}".split())


def text_of(error: BaseException) -> str:
    """The exception's text, bounded, and safe for those that cannot print themselves."""
    try:
        return str(error)[:LONGEST_TEXT]
    except BaseException:
        return "(its text cannot be had)"


def plain(value: Any) -> Any:
    """An array or number of another library as what JSON knows."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return operator.index(value)


if __name__ == "__main__":
    main()
