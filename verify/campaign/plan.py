"""The plan of a campaign: what was ordered, the sources it is for, and its units, the cheap ones of every target early."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from impl.command import CommandError
from impl.exit_codes import ExitCode
from verify.bounds import FAR_SCOPES, PROFILES, Scope
from verify.campaign.unit import (
    KINDS,
    KINDS_OF,
    OURS,
    Family,
    Kind,
    Unit,
    family_of,
    manager_scope_to_json,
    scope_to_json,
)
from verify.conformance.environments import installed
from verify.conformance.targets import TARGETS, KnownTarget
from verify.conformance.work import opened
from verify.managers.bounds import CONFIGURATIONS, SCOPES
from verify.managers.configuration import to_json as configuration_to_json
from verify.remote.children import BrokenTargetError
from verify.remote.choice import TargetOptions, command_target

ROOT = Path(__file__).resolve().parents[2]
Part = tuple[str, int | None, Mapping[str, Any]]
"""Place, seed and work of a unit."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is ordered: targets, kinds of search, scopes by a profile and of the order's own, and so many seeds from the first on.

    `options` are those of the targets that are no name of ours, which all share them.
    """

    targets: tuple[str, ...] = OURS
    kinds: tuple[Kind, ...] = KINDS
    profile: str | None = "dev"
    scopes: tuple[Scope, ...] = ()
    seed: int = 0
    seeds: int = 10
    options: TargetOptions = TargetOptions()  # noqa: RUF009 immutable

    def to_json(self) -> dict[str, Any]:
        """The order as JSON values, which say when two are the same."""
        return {
            "targets": list(self.targets),
            "kinds": list(self.kinds),
            "profile": self.profile,
            "scopes": [str(scope) for scope in self.scopes],
            "seed": self.seed,
            "seeds": self.seeds,
            "target options": {name: value for name, value in asdict(self.options).items() if value is not None},
        }


def units_of(order: Order) -> list[Unit]:
    """The units, numbered: the first of every target and kind, then the second, and so on.

    A target that is none of ours is started once for this. CommandError when one is broken, or not installed.
    """
    columns: list[list[Unit]] = []
    for target in order.targets:
        family = family_of(target)
        found = parts_of_ours(order, family) if target in OURS else parts_of_others(order, target)
        columns += [[Unit(0, target, kind, *part) for part in found[kind]] for kind in KINDS_OF[family]]
    wanted = [column for column in columns if column and column[0].kind in order.kinds]
    rows = max(map(len, wanted), default=0)
    mixed = [column[row] for row in range(rows) for column in wanted if row < len(column)]
    return [replace(unit, number=number) for number, unit in enumerate(mixed, 1)]


def parts_of_ours(order: Order, family: Family) -> dict[Kind, list[Part]]:
    """The parts of a target of this checkout, by kind."""
    seeds = range(order.seed, order.seed + order.seeds)
    match family:
        case "page table":
            scopes = PROFILES[order.profile].scopes if order.profile else ()
            return of_page_table((*scopes, *order.scopes), seeds, {})
        case "prefix cache":
            small = SCOPES if order.profile else ()
            named = [(one.name, {"configuration": configuration_to_json(one)}) for one in CONFIGURATIONS]
            return {
                "explore": [(str(scope), None, {"scope": manager_scope_to_json(scope)}) for scope in small],
                "random": [(name, seed, work) for seed in seeds for name, work in named],
            }
        case _:
            return {"fuzz": [("", seed, {}) for seed in seeds]}


def parts_of_others(order: Order, target: str) -> dict[Kind, list[Part]]:
    """The parts of a serving system, or of a page table behind an adapter, by kind; CommandError."""
    seeds = range(order.seed, order.seed + order.seeds)
    if target in TARGETS:
        names = configurations_of(TARGETS[target])
        return {"random": [(name, seed, {}) for seed in seeds for name in names]}
    options = replace(order.options, target=target, path=str(Path(order.options.path or ".").absolute()))
    with command_target(options):
        scopes = FAR_SCOPES[order.profile] if order.profile else ()
        return of_page_table((*scopes, *order.scopes), seeds, {"options": asdict(options)})


def of_page_table(scopes: Iterable[Scope], seeds: Iterable[int], work: Mapping[str, Any]) -> dict[Kind, list[Part]]:
    """The parts of a page table, each scope once."""
    return {
        "explore": [(name, None, {**work, "scope": scope}) for name, scope in unlike(scopes).items()],
        "random": [("", seed, work) for seed in seeds],
    }


def unlike(scopes: Iterable[Scope]) -> dict[str, dict[str, Any]]:
    """The scopes as JSON values, by what they are in words."""
    return {str(scope): scope_to_json(scope) for scope in scopes}


def configurations_of(target: KnownTarget) -> tuple[str, ...]:
    """The configurations that the serving system has; CommandError when it is broken or not installed."""
    if target.interpreter is None and not installed(target):
        raise CommandError(f"{target.name} is not installed: python -m verify targets {target.name}", ExitCode.UNKNOWN)
    try:
        with opened(target) as found:
            return tuple(found.hello.configurations)
    except BrokenTargetError as error:
        raise CommandError(f"the target is broken: {error}", ExitCode.BROKEN) from None
