"""When two witnesses are of one finding, and which of them is the shorter: the shape and the rank of a witness as JSON values.

A shape has the operations of a shrunk witness in order, with requests by letters as they come up and without rows, numbers and
sizes: the same fault met in another pool, or with other ids, has the same shape.
"""

import json
from collections.abc import Mapping
from typing import Any

Rank = tuple[bool, int, int, int, str]


def shape(witness: Mapping[str, Any]) -> str:
    """The shape: "new a; append a; fork a b"; of a program the names of its instructions, start by start."""
    if "starts" in witness:
        return " | ".join(_instructions(start["program"]) for start in witness["starts"])
    letters: dict[int, str] = {}
    return "; ".join(
        " ".join([item["op"], *(_letter(item[name], letters) for name in ("request", "to") if name in item)])
        for item in witness["operations"]
    )


def length(witness: Mapping[str, Any]) -> int:
    """Operations of the witness, or instructions."""
    if "starts" in witness:
        return sum(len(start["program"] or ()) for start in witness["starts"])
    return len(witness["operations"])


def rank(witness: Mapping[str, Any], repeats: bool) -> Rank:
    """What sorts the witnesses of a finding: one that shows it again each time first, then the shortest; never two alike."""
    rows = sum(len(item.get("tokens", ())) for item in witness.get("operations", ()))
    text = spelled(witness)
    return not repeats, length(witness), rows, len(text), text


def spelled(witness: Mapping[str, Any]) -> str:
    """The witness as one line of JSON, the same for equal ones."""
    return json.dumps(witness)


def _letter(request: int, letters: dict[int, str]) -> str:
    number = len(letters)
    return letters.setdefault(request, chr(ord("a") + number) if number < 26 else f"r{number}")


def _instructions(program: list[str] | None) -> str:
    """The instructions of a listing by name, "again" for the program before it."""
    if program is None:
        return "again"
    return "; ".join(line.split()[2] for line in program) or "nothing"
