"""Known deviations: what a target is known to do otherwise, with the witness that shows it, from verify/targets/known.toml.

A difference in a search is taken for a known deviation only when nothing about it is new: no rule but those listed is broken,
by an operation of the kind that ends the witness, with the answer that is right there, in a configuration that is named. Some
deviations show only later, in ways that nothing could be told from: those name the operation of their witness that causes them
(`ends`). A walk ends with an operation like that one, which is still checked, and an exhaustive search leaves it out. A deviation
that spoils memory names its last operation: a walk travels as a whole, and what followed would be done before it is judged.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from impl.schema import Schema
from spec.manager import State, Traits, initial, step
from spec.operations import Accepted, ManagerOperation, Outcome
from verify.conformance.targets import ADAPTERS, KnownTarget
from verify.managers.configuration import Configuration
from verify.managers.witness import operation_from_json, operations_schema
from verify.refinement import Difference

KNOWN_FILE = ADAPTERS / "known.toml"


@dataclass(frozen=True, slots=True)
class Known:
    """A deviation of one version of a target: what it is in a sentence, and the rules that its witness breaks.

    The witness is `operations` in `configuration`; `also` are other configurations in which searches may come upon it. `ends` is
    the number, from 1 on, of the operation of the witness that walks end with, None when they end with the difference.
    """

    target: str
    version: str
    name: str
    rules: tuple[str, ...]
    sentence: str
    configuration: str
    operations: tuple[ManagerOperation, ...]
    also: tuple[str, ...] = ()
    ends: int | None = None


TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
NEEDED: dict[str, Any] = {
    "target": TEXT,
    "version": TEXT,
    "name": TEXT,
    "rules": {**TEXTS, "minItems": 1},
    "sentence": TEXT,
    "configuration": TEXT,
    "operations": {**operations_schema(), "minItems": 1},
}
DEVIATION: dict[str, Any] = {
    "type": "object",
    "properties": {**NEEDED, "also": TEXTS, "ends": {"type": "integer", "minimum": 1}},
    "required": list(NEEDED),
    "additionalProperties": False,
}
SCHEMA = Schema(
    {
        "type": "object",
        "properties": {"deviation": {"type": "array", "items": DEVIATION}},
        "additionalProperties": False,
    }
)


def load_known(path: Path = KNOWN_FILE) -> tuple[Known, ...]:
    """All that are listed; ValueError says what is wrong with the file, OSError when it cannot be read."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    try:
        SCHEMA.check(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    found = tuple(known_from_toml(item) for item in data.get("deviation", ()))
    names = [(known.target, known.version, known.name) for known in found]
    beyond = next((known.name for known in found if (known.ends or 1) > len(known.operations)), None)
    if beyond is not None:
        raise ValueError(f"{path}: {beyond} ends with an operation that its witness does not have")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{path}: {' '.join(twice)} is listed twice")
    return found


def known_from_toml(item: dict[str, Any]) -> Known:
    """One entry that the schema accepts."""
    operations = tuple(map(operation_from_json, item["operations"]))
    return Known(
        **{**item, "rules": tuple(item["rules"]), "also": tuple(item.get("also", ())), "operations": operations}
    )


def known_of(target: KnownTarget, listed: Iterable[Known]) -> tuple[Known, ...]:
    """What of all that is listed is known of this version of the target."""
    return tuple(known for known in listed if (known.target, known.version) == (target.name, target.version))


@dataclass(frozen=True, slots=True)
class Pattern:
    """An operation of a witness, by its kind and the answer that is right."""

    known: Known
    kind: type[ManagerOperation]
    answer: str

    def fits(self, operation: ManagerOperation, outcome: Outcome) -> bool:
        """Whether the operation is of that kind, and this the answer that is right."""
        return type(operation) is self.kind and answer_of(outcome) == self.answer


class Classifier:
    """The known deviations that searches of one configuration may come upon."""

    def __init__(self, name: str, configurations: Mapping[str, Configuration], known: Iterable[Known]) -> None:
        self.met: list[Pattern] = []
        self.causes: list[Pattern] = []
        for item in known:
            if name not in (item.configuration, *item.also) or item.configuration not in configurations:
                continue
            traits, last = configurations[item.configuration].traits, len(item.operations)
            if item.ends in (None, last):
                self.met.append(pattern(item, last, traits))
            if item.ends is not None:
                self.causes.append(pattern(item, item.ends, traits))

    def known(
        self, differences: Sequence[Difference], before: State, operation: ManagerOperation, outcome: Outcome
    ) -> str | None:
        """The name of the deviation that these differences are; None when anything about them is new."""
        broken = {difference.rule for difference in differences}
        for found in self.met:
            if broken <= set(found.known.rules) and found.fits(operation, outcome):
                return found.known.name
        return None

    def causes_one(self, operation: ManagerOperation, outcome: Outcome) -> bool:
        """Whether the operation, with this answer, is like the cause of a deviation that shows only later."""
        return any(found.fits(operation, outcome) for found in self.causes)

    def ending(self) -> Callable[[State, ManagerOperation, Outcome], bool]:
        """Leaves out, of one walk that is written, whatever follows a cause: `avoid` of verify/managers/walks.py."""
        over = False

        def avoid(before: State, operation: ManagerOperation, outcome: Outcome) -> bool:
            nonlocal over
            if over:
                return True
            over = self.causes_one(operation, outcome)
            return False

        return avoid


def pattern(known: Known, number: int, traits: Traits) -> Pattern:
    """The operation of that number, from 1 on, of the witness, which is of these traits."""
    state, answer = initial(traits), ""
    for operation in known.operations[:number]:
        state, outcome = step(state, operation)
        answer = answer_of(outcome)
    return Pattern(known, type(known.operations[number - 1]), answer)


def answer_of(outcome: Outcome) -> str:
    """An answer in a word."""
    return "accepted" if isinstance(outcome, Accepted) else outcome.reason.value
