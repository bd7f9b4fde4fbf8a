"""Units of a campaign: one target, one kind of search, one scope or configuration, one seed; each is searched on its own."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from spec.manager import Traits
from verify.bounds import MOST_PAGE_SIZE, MOST_PAGES, MOST_REQUESTS, Scope
from verify.conformance.targets import TARGETS
from verify.managers.bounds import ManagerScope
from verify.managers.configuration import traits_from_json, traits_to_json

Kind = Literal["explore", "random", "fuzz"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Family = Literal["page table", "prefix cache", "serving system", "chip"]

SHIPPED, PREFIX, CHIP = "shipped", "prefix", "chip"
OURS = (SHIPPED, PREFIX, CHIP)
"""The page table and the prefix cache that ship, and the cycle model of the chip.

The serving systems that the conformance command knows have names, too; any other target is module:factory or stdio:COMMAND.
"""

KINDS_OF: Mapping[Family, tuple[Kind, ...]] = {
    "page table": ("explore", "random"),
    "prefix cache": ("explore", "random"),
    "serving system": ("random",),
    "chip": ("fuzz",),
}


@dataclass(frozen=True, slots=True)
class Unit:
    """What is searched: `place` is its scope or configuration in words, and `work` all that the search needs, as JSON values."""

    number: int
    target: str
    kind: Kind
    place: str
    seed: int | None
    work: Mapping[str, Any]

    def __str__(self) -> str:
        parts = [self.target, self.kind, self.place, "" if self.seed is None else f"seed {self.seed}"]
        return ", ".join(part for part in parts if part)


def family_of(target: str) -> Family:
    """What the target is, by its name."""
    match target:
        case "prefix":
            return "prefix cache"
        case "chip":
            return "chip"
        case system if system in TARGETS:
            return "serving system"
        case _:
            return "page table"


def scope_from_text(text: str) -> Scope:
    """The scope that "PAGES,SIZE,REQUESTS,LENGTH" names, with ",SINKS" or ",raw" after it; ValueError."""
    words = text.split(",")
    raw = words[-1:] == ["raw"]
    numbers = [int(word) for word in words[: len(words) - raw]]
    if len(numbers) not in (4, 5):
        raise ValueError(f"{text} has not four numbers, or five with the sinks")
    most = (MOST_PAGES, MOST_PAGE_SIZE, MOST_REQUESTS, MOST_PAGE_SIZE, MOST_PAGE_SIZE)
    for place, (number, bound) in enumerate(zip(numbers, most, strict=False)):
        if not (0 if place == 4 else 1) <= number <= bound:
            raise ValueError(f"{number} of {text} is not between 1 and {bound:,}")
    pages, page_size, requests, length, *sinks = numbers
    return Scope(pages, page_size, requests, length, raw, *sinks)


def scope_to_json(scope: Scope) -> dict[str, Any]:
    """The scope as JSON values, without its pinned counts."""
    return {name: value for name, value in asdict(scope).items() if name not in ("states", "transitions")}


def manager_scope_to_json(scope: ManagerScope) -> dict[str, Any]:
    """The scope of managers as JSON values, without its pinned counts."""
    found = asdict(scope) | {"traits": traits_to_json(scope.traits)}
    return {name: value for name, value in found.items() if name not in ("states", "transitions")}


def manager_scope_from_json(data: Mapping[str, Any]) -> ManagerScope:
    """The scope of managers that the JSON values describe."""
    traits: Traits = traits_from_json(data["traits"])
    texts = tuple(tuple(text) for text in data["texts"])
    return ManagerScope(data["name"], traits, data["requests"], data["length"], texts)
