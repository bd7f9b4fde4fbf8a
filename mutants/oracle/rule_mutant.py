"""What a mutant of a rule is: the rule dropped where a check names it, or negated where a definition says it.

Its id is the rule, which of the two it is, and where: `PT-OWN:dropped:refinement.check_counts`.
"""

from collections.abc import Mapping

from mutants.mutant import Mutant, any_of

DROPPED, NEGATED = "dropped", "negated"

PAGE_TABLE, HOST, DECODE, MANAGER, CHIP = "page table", "host", "decode", "manager", "chip"
AREAS = (PAGE_TABLE, HOST, DECODE, MANAGER, CHIP)

_TIME = "when something happens is the cycle definition's, in docs/chip.md and impl/chip_model; spec/ has no time"

NO_DEFINITION: Mapping[str, str] = {
    "PT-FREE": "a free list is the target's; the definition counts the pages in use and has none",
    "HOST-PLAIN": "it relates two hosts, and no definition is between them",
    "CHIP-TIME": _TIME,
    "CHIP-CYCLE": _TIME,
    "CHIP-CHASE": _TIME,
    "CHIP-LOAD": _TIME,
    "CHIP-STORE": _TIME,
    "CHIP-RESULT": _TIME,
    "CHIP-IDLE": _TIME,
    "CHIP-QUIET": _TIME,
    "CHIP-PORTS": _TIME,
    "CHIP-WATCH": _TIME,
}
"""Rules without a definition that could be negated, and why."""


def dropped(rule: str, area: str, place: str, before: str, after: str = "pass", word: str = "") -> Mutant:
    """The mutant in which a check no longer names the rule there; the rule itself must notice it.

    `place` is a module and a function in it, `module:function`; a `word` tells mutants of one place apart.
    """
    return _mutant(rule, DROPPED, area, place, f"{rule} is not named", before, after, word, (rule,))


def negated(
    rule: str, area: str, place: str, title: str, before: str, after: str, *noticed: str, word: str = ""
) -> Mutant:
    """The mutant in which a definition of the rule says something else; the rule, or any of `noticed`, must notice it."""
    return _mutant(rule, NEGATED, area, place, title, before, after, word, noticed or (rule,))


def family(area: str, kind: str) -> str:
    """The family of such mutants: those that are dropped meet first what is broken by hand, the others the definitions."""
    return f"{area}, {kind}"


def rule_of(mutant: Mutant) -> str:
    """The rule that it drops or negates."""
    return mutant.id.split(":")[0]


def kind_of(mutant: Mutant) -> str:
    """DROPPED or NEGATED."""
    return mutant.id.split(":")[1]


def _mutant(
    rule: str,
    kind: str,
    area: str,
    place: str,
    title: str,
    before: str,
    after: str,
    word: str,
    noticed: tuple[str, ...],
) -> Mutant:
    module, function = place.split(":")
    where = f"{module.partition('.')[2]}.{function}"
    name = ":".join((rule, kind, where, *([word] if word else [])))
    return Mutant(name, title, family(area, kind), module, function, before, after, any_of(*noticed))
