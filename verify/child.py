"""Serves a Python adapter over the target protocol, version 1: docs/target-protocol.md.

    python3 verify/child.py module:factory --path DIR

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

FLUSH_SECONDS = 0.01
"""How long a reply may wait for those that follow: waking the other side for each would cost more than the reply."""

LONGEST_TEXT = 500


class BrokenError(Exception):
    """There is nothing to serve, for a reason that the user can act on."""


def main() -> None:
    """Serve until the other side hangs up."""
    parser = argparse.ArgumentParser(description="Serve a Python adapter over the kvproof target protocol.")
    parser.add_argument("target", help="module:factory")
    parser.add_argument("--path", default=".", help="folder that the module is imported from")
    options = parser.parse_args()
    requests, replies = private_streams()
    # The folder of this file is on the path because it is run by path; nothing in it is the adapter's business.
    sys.path[0] = os.path.abspath(options.path)
    factory: Callable[..., Any] = dict
    try:
        factory = find(options.target)
        hello = {"kvproof": "target", "version": VERSION, **capabilities(factory, options.target)}
    except BrokenError as error:
        hello = {"broken": str(error)}
    serve(requests, replies, hello, factory)


def private_streams() -> tuple[int, int]:
    """The protocol's own descriptors (in, out): what the adapter reads or prints must not be taken for it."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, replies


def find(target: str) -> Callable[..., Any]:
    """The factory that module:factory names."""
    module_name, _, factory_name = target.partition(":")
    try:
        found = importlib.import_module(module_name)
    except BaseException as error:
        raise BrokenError(f"cannot import {module_name}: {describe(error)}") from error
    for part in factory_name.split("."):
        if not hasattr(found, part):
            raise BrokenError(f"{module_name} has no {factory_name}")
        found = getattr(found, part)
    if not callable(found):
        raise BrokenError(f"{target} is not callable")
    return found


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


def serve(requests: int, replies: int, hello: dict[str, Any], factory: Callable[..., Any]) -> None:
    """Answer every message in order."""
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
