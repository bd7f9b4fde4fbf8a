"""Faults planted in a copy of the RTL, all in one build: a plusarg says which one a run has, 0 none.

A fault is an expression of one file and another in its place. It must be there exactly once, so that a fault that no longer
fits its source is an error and never a fault that nobody sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from verify.chips.simulated import RTL

SELECT = "fault"
"""The plusarg, as in +fault=3."""

END_OF_PORTS = "\n);\n"
DECLARATION = """
    // Which of the planted faults this run has.
    reg [7:0] planted;
    initial if (!$value$plusargs("{select}=%d", planted)) planted = 8'd0;
"""


class DoesNotFitError(ValueError):
    """A fault's expression is not in its file exactly once."""


@dataclass(frozen=True, slots=True)
class RtlFault:
    """One mistake: `before` in the file of that module becomes `after`, and must break the rule."""

    title: str
    module: str
    before: str
    after: str
    rule: str


def plant(faults: Sequence[RtlFault], folder: Path, listing: Path = RTL) -> Path:
    """Write the RTL with all of the faults, the n-th (from 1) selected by +fault=n, to the folder; its list of files.

    Raises DoesNotFitError.
    """
    sources = {path.name: path.read_text(encoding="utf-8") for path in sorted(listing.parent.glob("*.v*"))}
    for number, fault in enumerate(faults, start=1):
        name = f"{fault.module}.v"
        found = sources[name].count(fault.before)
        if found != 1:
            raise DoesNotFitError(f"{fault.title}: {fault.before!r} is in {name} {found} times")
        choice = f"((planted == 8'd{number}) ? ({fault.after}) : ({fault.before}))"
        sources[name] = sources[name].replace(fault.before, choice)
    for name in {f"{fault.module}.v" for fault in faults}:
        head, end, body = sources[name].partition(END_OF_PORTS)
        sources[name] = head + end + DECLARATION.format(select=SELECT) + body
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    copied = folder / listing.name
    copied.write_text(listing.read_text(encoding="utf-8"), encoding="utf-8")
    return copied
