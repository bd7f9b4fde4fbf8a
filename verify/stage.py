"""What the stages of a suite have in common, and imports no impl: a mutation run loads it once for all its children."""

import json
from dataclasses import dataclass
from pathlib import Path

from verify.witness import parse


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a stage says: pass, fail or unknown; every broken rule with what differed; the shortest witness found.

    `steps` counts the operations applied, which is what step budgets are counted in; `note` says why it is unknown.
    """

    verdict: str
    broken: dict[str, str]
    witness: dict[str, object] | None
    steps: int
    note: str = ""


SAVED_WITNESSES = {
    path.stem: parse(json.loads(path.read_text(encoding="utf-8")))
    for path in sorted((Path(__file__).parent / "witnesses").glob("*.json"))
}
"""The checked-in witnesses, by name."""
