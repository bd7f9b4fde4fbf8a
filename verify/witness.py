"""Witnesses: operation lists saved as small JSON, replayed first and in microseconds.

Format, version 1: {"kvproof": "witness", "version": 1, "pages": N, "page_size": P, "rules": [...], "operations": [...]}, where an
operation is {"op": "append", "request": 0, "tokens": [1, 2]} and alike, with the field names of spec/operations.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

from impl.schema import Schema
from spec.operations import ManagerOperation, Operation

VERSION = 1
MOST_SIZE, MOST_TOKEN = 1_000_000, 2**29 - 1
"""The largest pool sizes and token that a witness may have: what an adapter can hold."""

KINDS: dict[str, type[Operation]] = {kind.__name__.lower(): kind for kind in get_args(Operation)}

AnyOperation = Operation | ManagerOperation


@dataclass(frozen=True, slots=True)
class Witness:
    """An operation list on a pool of `pages` pages of `page_size` rows, and the rules that it was saved for."""

    pages: int
    page_size: int
    operations: tuple[Operation, ...]
    rules: tuple[str, ...] = ()


def operation_schema(name: str, kind: type[AnyOperation], most_token: int = MOST_TOKEN) -> dict[str, Any]:
    """The JSON schema of one kind of operation."""
    integers: dict[str, Any] = {field.name: {"type": "integer"} for field in fields(kind)}
    if "tokens" in integers:
        integers["tokens"] = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": most_token}}
    return {
        "type": "object",
        "properties": {"op": {"const": name}, **integers},
        "required": ["op", *integers],
        "additionalProperties": False,
    }


def list_schema(kinds: Mapping[str, type[AnyOperation]], most_token: int) -> dict[str, Any]:
    """The JSON schema of a list of operations of these kinds."""
    return {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"op": {"enum": sorted(kinds)}},
            "required": ["op"],
            "allOf": [
                {"if": {"properties": {"op": {"const": name}}}, "then": operation_schema(name, kind, most_token)}
                for name, kind in kinds.items()
            ],
        },
    }


SCHEMA = Schema(
    {
        "type": "object",
        "properties": {
            "kvproof": {"const": "witness"},
            "version": {"const": VERSION},
            "pages": {"type": "integer", "minimum": 1, "maximum": MOST_SIZE},
            "page_size": {"type": "integer", "minimum": 1, "maximum": MOST_SIZE},
            "rules": {"type": "array", "items": {"type": "string"}},
            "operations": list_schema(KINDS, MOST_TOKEN),
        },
        "required": ["kvproof", "version", "pages", "page_size", "operations"],
    }
)


def to_json(witness: Witness) -> dict[str, Any]:
    """The witness as JSON values."""
    return {
        "kvproof": "witness",
        "version": VERSION,
        "pages": witness.pages,
        "page_size": witness.page_size,
        "rules": list(witness.rules),
        "operations": [operation_to_json(operation) for operation in witness.operations],
    }


def operation_to_json(operation: AnyOperation) -> dict[str, Any]:
    """One operation as JSON values."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(operation).items()}
    return {"op": type(operation).__name__.lower(), **values}


def from_json(data: object) -> Witness:
    """The witness that the JSON values describe; ValueError says where they are malformed."""
    SCHEMA.check(data)
    assert isinstance(data, dict)
    return parse(data)


def parse(data: dict[str, Any]) -> Witness:
    """The witness that JSON values describe which the schema is known to accept, such as a checked-in one's."""
    operations = tuple(operation_from_json(item) for item in data["operations"])
    return Witness(data["pages"], data["page_size"], operations, tuple(data.get("rules", ())))


def operation_from_json(item: dict[str, Any]) -> Operation:
    """One operation from JSON values that the schema accepts."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in item.items() if name != "op"}
    kind: Callable[..., Operation] = KINDS[item["op"]]
    return kind(**values)


def calls(operations: Sequence[AnyOperation]) -> list[str]:
    """The operations as plain calls, one a line: append(0, [1, 2])."""
    return [call(operation) for operation in operations]


def call(operation: AnyOperation) -> str:
    """One operation as a plain call; every argument after the request is named but an append's rows."""
    first, *rest = fields(operation)
    arguments = [str(getattr(operation, first.name))]
    for field in rest:
        value = getattr(operation, field.name)
        arguments.append(str(list(value)) if isinstance(value, tuple) else f"{field.name}={value}")
    return f"{type(operation).__name__.lower()}({', '.join(arguments)})"
