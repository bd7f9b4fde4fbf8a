"""How the target of a run is spelled: the options that name it again, and operations as its plain calls, ready to paste."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spec.operations import Operation
from verify.remote.wire_format import operation_text, run_line
from verify.witness import call

Paste = Callable[[Sequence[Operation], int, int], tuple[str, ...]]
"""Lines that do these operations on a fresh target of (pages, page_size) and show its state after them."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """`options` name the target on a command line of ours, with a space before them; empty for the cache that ships."""

    options: str
    paste: Paste


def shipped_calls(operations: Sequence[Operation], pages: int, page_size: int) -> tuple[str, ...]:
    """Lines of Python for the adapter of the cache that ships, run in the checkout."""
    return (
        "from spec.operations import *",
        f"from verify.targets.shipped import ShippedCache; target = ShippedCache({pages}, {page_size})",
        *(f"target.apply({operation!r})" for operation in operations),
        "print(target.observe())",
    )


SHIPPED = Spelling("", shipped_calls)


def python_calls(python: str, folder: str, module: str, factory: str) -> Paste:
    """Lines of Python for an adapter, run in its folder under its interpreter."""
    first = factory.partition(".")[0]

    def paste(operations: Sequence[Operation], pages: int, page_size: int) -> tuple[str, ...]:
        return (
            f"# {python}, in {folder}",
            f"from {module} import {first}; target = {factory}({pages}, {page_size})",
            *(f"target.{call(operation)}" for operation in operations),
            "print(target.observe())",
        )

    return paste


def stdio_calls(folder: str, command: str) -> Paste:
    """One shell command that pipes the message into the target's command."""

    def paste(operations: Sequence[Operation], pages: int, page_size: int) -> tuple[str, ...]:
        line = run_line(pages, page_size, [operation_text(operation) for operation in operations])
        return (f"cd {shlex.quote(folder)}; printf '%s\\n' {shlex.quote(line.decode().rstrip())} | {command}",)

    return paste
