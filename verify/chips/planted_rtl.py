"""Faults planted in a copy of the RTL, all in one build: a plusarg says which one a run has, 0 none.

A fault is text of one or more files and other text in its place: an expression, or whole statements. Each must be there
exactly once, so that a fault that no longer fits its source is an error and never a fault that nobody sees. Where faults
share a place, or one lies within another's, every one is planted there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from verify.chips.simulated import RTL

SELECT = "fault"
"""The plusarg, as in +fault=3."""

MOST_FAULTS = 255
END_OF_PORTS = "\n);\n"
DECLARATION = """
    // Which of the planted faults this run has.
    reg [7:0] planted;
    initial if (!$value$plusargs("{select}=%d", planted)) planted = 8'd0;
"""


class DoesNotFitError(ValueError):
    """A fault's text is not in its file exactly once."""


@dataclass(frozen=True, slots=True)
class Edit:
    """`before` in the file of that module becomes `after`.

    Text that ends with a semicolon is statements, inside a block; `after` may then be empty. Other text is an expression,
    and `after` is as wide and as signed as it: an unsigned one would make its neighbour unsigned, fault or none. Where an
    expression is there more than once, `within` is a longer text around it that is not.
    """

    module: str
    before: str
    after: str
    within: str = ""

    @property
    def of_statements(self) -> bool:
        return self.before.rstrip().endswith(";")


@dataclass(frozen=True, slots=True)
class RtlFault:
    """One mistake: `before` in the file of that module becomes `after`, as in Edit, and so do those in `also`.

    It must break the rule.
    """

    title: str
    module: str
    before: str
    after: str
    rule: str
    within: str = ""
    also: tuple[Edit, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All that changes."""
        return (Edit(self.module, self.before, self.after, self.within), *self.also)


class _Place(NamedTuple):
    """Where a fault changes a file: from this character up to that."""

    start: int
    end: int
    number: int
    edit: Edit


def sources_of(listing: Path = RTL) -> dict[str, str]:
    """The text of each file beside the list of files, by its name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(listing.parent.glob("*.v*"))}


def place_of(edit: Edit, sources: Mapping[str, str]) -> tuple[int, int]:
    """From which character of its module's file to which the edit reaches. Raises DoesNotFitError."""
    name = f"{edit.module}.v"
    if name not in sources:
        raise DoesNotFitError(f"there is no {name}")
    text, start = sources[name], 0
    for part in filter(None, (edit.within, edit.before)):
        found = text.count(part)
        if found != 1:
            raise DoesNotFitError(f"{part!r} is in {name} {found} times")
        start += text.index(part)
        text = part
    return start, start + len(edit.before)


def plant(faults: Sequence[RtlFault], folder: Path, listing: Path = RTL) -> Path:
    """Write the RTL with all of the faults, the n-th (from 1) selected by +fault=n, to the folder; its list of files.

    Raises DoesNotFitError.
    """
    if len(faults) > MOST_FAULTS:
        raise ValueError(f"{len(faults)} faults, of at most {MOST_FAULTS}")
    sources = sources_of(listing)
    places: dict[str, list[_Place]] = {}
    for number, fault in enumerate(faults, start=1):
        for edit in fault.edits:
            try:
                start, end = place_of(edit, sources)
            except DoesNotFitError as error:
                raise DoesNotFitError(f"{fault.title}: {error}") from None
            places.setdefault(f"{edit.module}.v", []).append(_Place(start, end, number, edit))
    for name, found in places.items():
        text = _planted(sources[name], 0, len(sources[name]), found)
        head, end_of_ports, body = text.partition(END_OF_PORTS)
        sources[name] = head + end_of_ports + DECLARATION.format(select=SELECT) + body
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    copied = folder / listing.name
    copied.write_text(listing.read_text(encoding="utf-8"), encoding="utf-8")
    return copied


def _planted(text: str, start: int, end: int, places: Iterable[_Place]) -> str:
    """That part of the text with the faults in it; a fault's other branch has those that lie within its place."""
    left = sorted(places, key=lambda place: (place.start, -place.end, not place.edit.of_statements))
    pieces, at = [], start
    while left:
        first, *left = left
        inside = [place for place in left if place.start < first.end]
        if any(place.end > first.end for place in inside):
            raise DoesNotFitError(f"{first.edit.before!r} reaches into the place of another fault, and not around it")
        left = left[len(inside) :]
        pieces += [text[at : first.start], _choice(first, _planted(text, first.start, first.end, inside))]
        at = first.end
    return "".join([*pieces, text[at:end]])


def _choice(place: _Place, otherwise: str) -> str:
    chosen = f"planted == 8'd{place.number}"
    if place.edit.of_statements:
        return f"if ({chosen}) begin {place.edit.after} end else begin {otherwise} end"
    return f"(({chosen}) ? ({place.edit.after}) : ({otherwise}))"
