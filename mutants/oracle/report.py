"""What a run of the oracle's mutants says rule by rule, for people and in its report."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from mutants.engine import Record, Result
from mutants.mutant import Mutant
from mutants.oracle.rule_mutant import DROPPED, NEGATED, NO_DEFINITION, kind_of, rule_of
from mutants.reports.data import Json
from mutants.reports.folder import run_with
from mutants.reports.stryker import document


@dataclass(frozen=True, slots=True)
class Tally:
    """Of one rule and one kind: the mutants, and those that were noticed by a rule that must notice them."""

    mutants: int
    noticed: int


def by_rule(mutants: Iterable[Mutant], results: Iterable[Result]) -> dict[str, dict[str, Tally]]:
    """The tallies of each rule that has mutants, in the order of the catalogue."""
    caught = {result.mutant.id for result in results if result.caught}
    rules: dict[str, dict[str, Tally]] = {}
    for mutant in mutants:
        kinds = rules.setdefault(rule_of(mutant), {DROPPED: Tally(0, 0), NEGATED: Tally(0, 0)})
        tally = kinds[kind_of(mutant)]
        kinds[kind_of(mutant)] = Tally(tally.mutants + 1, tally.noticed + (mutant.id in caught))
    return rules


def oracle_document(record: Record) -> Json:
    """The report of the run, with each rule's mutants and, where it has no definition to negate, why."""
    rules = {
        rule: {kind: {"mutants": tally.mutants, "noticed": tally.noticed} for kind, tally in kinds.items()}
        | ({"noDefinition": NO_DEFINITION[rule]} if rule in NO_DEFINITION else {})
        for rule, kinds in by_rule(record.plan.mutants, record.results).items()
    }
    whole = document(run_with(record))
    extension = whole["kvproof"]
    assert isinstance(extension, dict)
    return whole | {"kvproof": extension | {"kind": "oracle", "rules": rules}}


def show_rules(out: Console, record: Record) -> None:
    """Print in one line how many rules were dropped and negated, and what stands for the others."""
    rules = by_rule(record.plan.mutants, record.results)
    said = [f"{sum(kinds[kind].mutants > 0 for kinds in rules.values())} {kind}" for kind in (DROPPED, NEGATED)]
    without = sum(rule in NO_DEFINITION and not kinds[NEGATED].mutants for rule, kinds in rules.items())
    out.print(Text(f"{len(rules)} rules: {', '.join(said)}, {without} without a definition that could be negated"))
