"""A configuration as JSON values: the name and traits of a manager, as they travel to a child and stand in witnesses."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from spec.groups import Group
from spec.manager import Traits


@dataclass(frozen=True, slots=True)
class Configuration:
    """Traits with the name by which a manager knows them, and what it narrows its operations to (None: nothing)."""

    name: str
    traits: Traits
    operations: tuple[str, ...] | None = None


def to_json(configuration: Configuration) -> dict[str, Any]:
    """The configuration as JSON values, every trait included."""
    found = {"name": configuration.name, **traits_to_json(configuration.traits)}
    return found if configuration.operations is None else {**found, "operations": list(configuration.operations)}


def traits_to_json(traits: Traits) -> dict[str, Any]:
    """Every trait as JSON values."""
    return {**asdict(traits), "groups": [asdict(group) for group in traits.groups]}


def from_json(data: Mapping[str, Any]) -> Configuration:
    """The configuration of these JSON values; ValueError says what is wrong with them. Absent traits have their defaults."""
    operations = data.get("operations")
    if operations is not None and not (isinstance(operations, list) and all(isinstance(op, str) for op in operations)):
        raise ValueError(f"operations is {operations!r}, no list of names")
    traits = traits_from_json({name: value for name, value in data.items() if name not in ("name", "operations")})
    return Configuration(str(data.get("name", "")), traits, None if operations is None else tuple(operations))


def traits_from_json(data: Mapping[str, Any]) -> Traits:
    """The traits of these JSON values; ValueError says what is wrong with them."""
    groups = data.get("groups")
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise ValueError(f"groups is {groups!r}, no list of objects")
    unknown = sorted(data.keys() - {field.name for field in fields(Traits)})
    if unknown:
        raise ValueError(f"no trait of a manager: {', '.join(unknown)}")
    try:
        made = [Group(**group) for group in groups]
        return Traits(**{**data, "groups": tuple(made)})
    except TypeError as error:
        raise ValueError(f"no traits of a manager: {error}") from None
