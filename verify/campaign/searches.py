"""The search of a unit, by the searches that there are: what it covered, and its failures shrunk to witnesses, as JSON values."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from verify.bounds import Scope
from verify.campaign.unit import SHIPPED, Unit, family_of, manager_scope_from_json
from verify.conformance.known import known_of, load_known
from verify.conformance.targets import TARGETS
from verify.conformance.work import healthy, walk
from verify.explore import FailedRun, Failure, Search
from verify.findings import shrunk
from verify.fuzz import report as programs
from verify.fuzz.running import Bench
from verify.fuzz.search import ProgramTally, search_programs
from verify.fuzz.witness import to_json as program_to_json
from verify.lockstep import replay
from verify.machines import Tally, search_at_random
from verify.managers import walks as managers
from verify.managers.configuration import Configuration
from verify.managers.configuration import from_json as configuration_from_json
from verify.managers.lockstep import replay as replay_manager
from verify.managers.target import ManagerFactory
from verify.managers.walks import ManagerFailure
from verify.managers.witness import ManagerWitness
from verify.managers.witness import to_json as manager_to_json
from verify.managers.world import ManagerSearch
from verify.refinement import Difference
from verify.remote.choice import TargetOptions, chosen
from verify.target import Factory
from verify.targets.prefix import PrefixManager
from verify.targets.shipped import ShippedCache
from verify.witness import Witness
from verify.witness import to_json as witness_to_json
from verify.world import Op

EXAMPLES, STEPS = 60, 60
"""Of the random search over page tables, for each seed."""

WALKS = 40
"""Over managers, for each seed and configuration."""

OPERATIONS = 1_000
"""Of a serving system, for each seed and configuration."""

CASES = 50
CHIPS = ("spec", "model")
"""Programs are run on the definition and on the cycle model."""

MOST_FAILURES = 8
"""Failures of an exhaustive search that are shrunk, each breaking other rules."""

NOTHING = "the target offers nothing that could be tried"

PREFIX_CACHE: ManagerFactory = PrefixManager
PAGE_TABLES: dict[str, Factory] = {SHIPPED: ShippedCache}
"""In this process, by name."""


@dataclass(frozen=True, slots=True)
class Found:
    """A failure: its witness as JSON values, the rules that it breaks in it, and whether it broke them again when replayed."""

    witness: Mapping[str, Any]
    repeats: bool


@dataclass(frozen=True, slots=True)
class Searched:
    """What a unit's search tried, operations or instructions, and found; `note` says why it counts for nothing."""

    tried: int
    found: list[Found] = field(default_factory=list)
    note: str = ""


def search(unit: Unit) -> dict[str, Any]:
    """Search the unit; BrokenTargetError."""
    match family_of(unit.target), unit.kind:
        case "page table", "explore":
            searched = explore_page_table(unit)
        case "page table", _:
            searched = page_table_at_random(unit)
        case "prefix cache", "explore":
            searched = explore_prefix_cache(unit)
        case "prefix cache", _:
            searched = prefix_cache_at_random(unit)
        case "serving system", _:
            searched = serving_system_at_random(unit)
        case _:
            searched = programs_at_random(unit)
    return asdict(searched)


@contextmanager
def page_table(unit: Unit) -> Iterator[Factory]:
    """The unit's page table, of this process or in a child; BrokenTargetError."""
    if unit.target in PAGE_TABLES:
        yield PAGE_TABLES[unit.target]
        return
    with chosen(TargetOptions(**unit.work["options"])) as choice:
        yield choice.factory


def explore_page_table(unit: Unit) -> Searched:
    """Every reachable state of the scope."""
    scope = Scope(**unit.work["scope"])
    with page_table(unit) as factory:
        covered = Search(scope, factory).run()
        failures = of_other_rules(covered.failures)
        found = [page_table_finding(failure, scope.pages, scope.page_size, factory) for failure in failures]
    return Searched(covered.transitions, found, "" if covered.transitions or found else NOTHING)


def page_table_at_random(unit: Unit) -> Searched:
    """The random search of the seed, in pools that it draws."""
    tally = Tally(seed=unit.seed)
    with page_table(unit) as factory:
        search_at_random(factory, EXAMPLES, STEPS, shrinking=False, tally=tally)
        failures = [tally.failure] if tally.failure else []
        found = [page_table_finding(failure, tally.pages, tally.page_size, factory) for failure in failures]
    return Searched(tally.steps, found)


def explore_prefix_cache(unit: Unit) -> Searched:
    """Every reachable state of the scope."""
    scope = manager_scope_from_json(unit.work["scope"])
    covered = ManagerSearch(scope, PREFIX_CACHE).run()
    configuration = Configuration(scope.name, scope.traits)
    failures = of_other_rules(covered.failures)
    return Searched(
        covered.transitions, [manager_finding(failure, configuration, PREFIX_CACHE) for failure in failures]
    )


def prefix_cache_at_random(unit: Unit) -> Searched:
    """The walks of the seed in the configuration."""
    configuration = configuration_from_json(unit.work["configuration"])
    assert unit.seed is not None
    tally = managers.search_at_random(PREFIX_CACHE, configuration.traits, unit.seed, WALKS, shrinking=False)
    failures = [tally.failure] if tally.failure else []
    return Searched(tally.steps, [manager_finding(failure, configuration, PREFIX_CACHE) for failure in failures])


def serving_system_at_random(unit: Unit) -> Searched:
    """The walks of the seed in the configuration; what is known of the system is no failure. BrokenTargetError."""
    target = TARGETS[unit.target]
    assert unit.seed is not None
    tally = walk(target, unit.place, unit.seed, 0, OPERATIONS, known_of(target, load_known()))
    managed = healthy(target)
    configuration = managed.hello.configurations[unit.place]
    failures = [tally.failure] if tally.failure else []
    return Searched(
        tally.steps,
        [manager_finding(failure, configuration, lambda _: managed.open(configuration)) for failure in failures],
    )


def programs_at_random(unit: Unit) -> Searched:
    """The programs of the seed on the definition and the cycle model."""
    tally = ProgramTally(CHIPS, unit.seed)
    with Bench(CHIPS) as bench:
        search_programs(bench, CASES, tally)
        if tally.failure is None:
            return Searched(tally.instructions)
        failure = programs.shrunk(tally.failure, tally, bench)
    return Searched(tally.instructions, [Found(program_to_json(programs.witness_of(failure, CHIPS)), repeats=True)])


def of_other_rules(failures: Iterable[FailedRun[Op]]) -> list[FailedRun[Op]]:
    """Of the failures that break the same rules the first of the shortest, up to MOST_FAILURES."""
    found: dict[frozenset[str], FailedRun[Op]] = {}
    for failure in sorted(failures, key=lambda failure: len(failure.operations)):
        found.setdefault(frozenset(difference.rule for difference in failure.differences), failure)
    return list(found.values())[:MOST_FAILURES]


def page_table_finding(failure: Failure, pages: int, page_size: int, factory: Factory) -> Found:
    """The failure, shrunk, as a witness."""
    operations = shrunk(failure.operations, pages, page_size, factory)
    again = replay(operations, pages, page_size, factory)
    if again.differences:
        operations = again.applied
    rules = rules_of(again.differences or failure.differences)
    return Found(witness_to_json(Witness(pages, page_size, operations, rules)), bool(again.differences))


def manager_finding(failure: ManagerFailure, configuration: Configuration, factory: ManagerFactory) -> Found:
    """The failure, shrunk, as a witness."""
    smaller = managers.shrunk(failure, configuration.traits, factory)
    again = replay_manager(smaller.operations, configuration.traits, factory)
    operations = again.applied if again.differences else smaller.operations
    rules = rules_of(again.differences or failure.differences)
    return Found(manager_to_json(ManagerWitness(configuration, operations, rules)), bool(again.differences))


def rules_of(differences: Iterable[Difference]) -> tuple[str, ...]:
    """The broken rules, sorted."""
    return tuple(sorted({difference.rule for difference in differences}))
