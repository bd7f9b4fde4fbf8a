"""What a mutant is: one small change to one function, and the rules that must catch it, fixed before the first run."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

Rules = frozenset[str]

PAGE_TABLE = "page table"
WINDOW = "window"
HOST = "host"
NINETEENTH = "nineteenth"
ON_CHIP = "on the chip"
PREFIX_CACHE = "prefix cache"

APART = frozenset({NINETEENTH, ON_CHIP, PREFIX_CACHE})
"""Families that are not among the eighteen: counted apart, and left out of ablations."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one function.

    `function` is the qualified name inside `module`. `before` and `after` are source: one or more statements, or one
    expression; `before` must match exactly once in the function, by structure. `expected` are alternatives: the mutant
    must break every rule of at least one of them, and with no alternative any rule will do. Only a mutant that
    `declares_runaway` may be killed by running out of CPU, steps or memory.

    A generic mutant has the name of its `operator`. With `at`, first byte and the one behind the last in the module's
    source, `before` is the text there and nothing is searched; `function` is then "" outside of functions.
    """

    id: str
    title: str
    family: str
    module: str
    function: str
    before: str
    after: str
    expected: tuple[Rules, ...] = ()
    declares_runaway: bool = False
    operator: str = ""
    at: tuple[int, int] | None = None

    @property
    def generic(self) -> bool:
        """Whether an operator made it, so that nobody has said what must catch it."""
        return bool(self.operator)

    def caught_by(self, broken: Collection[str]) -> bool:
        """Whether these broken rules are the ones that must catch it."""
        return covers(self.expected, broken)

    def expectation(self) -> str:
        """The expected rules in words: `PT-SHARE and PT-ROWS`, `PT-ROWS or PT-TOTAL`, `any rule`."""
        return " or ".join(" and ".join(sorted(rules)) for rules in self.expected) or "any rule"


def covers(expected: Collection[Rules], broken: Collection[str]) -> bool:
    """Whether the broken rules contain an expected alternative; where none is expected, whether there is any at all."""
    if not expected:
        return bool(broken)
    return any(rules.issubset(broken) for rules in expected)


def any_of(*rules: str) -> tuple[Rules, ...]:
    """Each rule alone is enough."""
    return tuple(frozenset({rule}) for rule in rules)


def all_of(*rules: str) -> tuple[Rules, ...]:
    """Every one of the rules must be broken."""
    return (frozenset(rules),)


@dataclass(frozen=True, slots=True)
class Project:
    """Where mutants live and what judges them.

    `subject` are the packages that hold mutated modules, `checks` those that judge them, `oracle` those that say what is
    right. `suite` is the module that offers STAGES and StepsExhausted; a stage with a `module` needs what that one imports.
    A mutant goes through the stages of its family, and through `stages` when `family_stages` does not name the family; in this
    order, the one that shows most for its cost first.
    """

    root: str
    subject: tuple[str, ...] = ("impl",)
    checks: tuple[str, ...] = ("verify",)
    oracle: tuple[str, ...] = ("spec",)
    suite: str = "verify.suite"
    stages: tuple[str, ...] = ("witness", "exhaustive", "unit", "random")
    family_stages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def stages_of(self, family: str) -> tuple[str, ...]:
        """The stages that a mutant of this family goes through."""
        return self.family_stages.get(family, self.stages)

    def stages_of_all(self, families: Iterable[str]) -> tuple[str, ...]:
        """Every stage that a mutant of one of these families goes through, each once."""
        return tuple(dict.fromkeys(stage for family in families for stage in self.stages_of(family)))
