"""Witnesses of managers: a configuration and a list of operations, saved as small JSON.

Format, version 1: {"kvproof": "manager witness", "version": 1, "configuration": {...}, "rules": [...], "operations": [...]}, the
configuration with every trait, an operation as {"op": "admit", "request": 0, "tokens": [0, 1]} and alike, with the field
names of spec/operations.py. A token is 0..255.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from impl.schema import Schema
from spec.operations import ManagerOperation
from verify.managers.configuration import Configuration
from verify.managers.configuration import from_json as configuration_from_json
from verify.managers.configuration import to_json as configuration_to_json
from verify.witness import list_schema, operation_to_json

VERSION = 1
MOST_TOKEN = 255
KINDS: dict[str, type[ManagerOperation]] = {kind.__name__.lower(): kind for kind in get_args(ManagerOperation)}


@dataclass(frozen=True, slots=True)
class ManagerWitness:
    """Operations in a configuration, and the rules that they were saved for."""

    configuration: Configuration
    operations: tuple[ManagerOperation, ...]
    rules: tuple[str, ...] = ()


def operations_schema() -> dict[str, Any]:
    """The JSON schema of a list of operations."""
    return list_schema(KINDS, MOST_TOKEN)


SCHEMA = Schema(
    {
        "type": "object",
        "properties": {
            "kvproof": {"const": "manager witness"},
            "version": {"const": VERSION},
            "configuration": {"type": "object"},
            "rules": {"type": "array", "items": {"type": "string"}},
            "operations": operations_schema(),
        },
        "required": ["kvproof", "version", "configuration", "operations"],
    }
)


def to_json(witness: ManagerWitness) -> dict[str, Any]:
    """The witness as JSON values."""
    return {
        "kvproof": "manager witness",
        "version": VERSION,
        "configuration": configuration_to_json(witness.configuration),
        "rules": list(witness.rules),
        "operations": [operation_to_json(operation) for operation in witness.operations],
    }


def from_json(data: object) -> ManagerWitness:
    """The witness that the JSON values describe; ValueError says where they are malformed."""
    SCHEMA.check(data)
    assert isinstance(data, dict)
    operations = tuple(operation_from_json(item) for item in data["operations"])
    return ManagerWitness(configuration_from_json(data["configuration"]), operations, tuple(data.get("rules", ())))


def operation_from_json(item: dict[str, Any]) -> ManagerOperation:
    """One operation from JSON values that the schema accepts."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in item.items() if name != "op"}
    kind: Callable[..., ManagerOperation] = KINDS[item["op"]]
    return kind(**values)
