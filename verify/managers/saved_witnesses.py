"""The checked-in witnesses of managers: one case for each situation that a random walk rarely meets.

Imports no impl, as verify/stage.py: a mutation run loads them, and asks the oracle about them, once for all its children.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from spec.manager import initial, step
from verify.managers.author import Step
from verify.managers.witness import ManagerWitness, from_json

FOLDER = Path(__file__).parent.parent / "witnesses" / "managers"

SAVED_WITNESSES = {
    path.stem: from_json(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(FOLDER.glob("*.json"))
}
"""The witnesses, by name."""


def steps_of(witness: ManagerWitness) -> Iterator[Step]:
    """Each operation with the oracle's states around it and its answer."""
    state = initial(witness.configuration.traits)
    for operation in witness.operations:
        before = state
        state, outcome = step(before, operation)
        yield Step(operation, before, outcome, state)


SAVED_STEPS = {name: tuple(steps_of(witness)) for name, witness in SAVED_WITNESSES.items()}
"""The steps of the witnesses, by name."""
