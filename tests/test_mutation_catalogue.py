"""The catalogue is the list of the reference, each mutant fits the source, and each expected rule exists."""

from collections import Counter
from pathlib import Path

import pytest

from impl import rules as impl_rules
from mutants.catalogue import BROKEN, FAMILY_CONTROLS, MUTANTS, NO_OP, PROJECT
from mutants.mutant import HOST, NINETEENTH, ON_CHIP, PAGE_TABLE, PREFIX_CACHE, WINDOW, Mutant
from mutants.splice import splice
from spec.rules import RULES
from verify.suite import STAGES

EXPECTED = {
    "1": "PT-LEAK",
    "2": "PT-FREE",
    "3": "PT-OWN",
    "4": "PT-ROWS and PT-SHARE",
    "5": "PT-ROWS",
    "6": "PT-OWN",
    "7": "PT-ROWS or PT-TOTAL",
    "8": "PT-ROWS or PT-TOTAL",
    "9": "PT-HOLE and PT-PAGES",
    "10": "PT-PAGES",
    "11": "PT-OWN or PT-LEAK",
    "12": "OutOfPages",
    "13": "DEC-FLOAT",
    "14": "WIN-1",
    "15": "HOST-GATHER",
    "16": "HOST-GATHER",
    "17": "WIN-4",
    "18": "WIN-4",
    "19a": "LIFO",
    "19b": "PT-ROWS",
    "13c": "DEC-FLOAT",
    "14c": "WIN-1",
    "15c": "HOST-GATHER",
    "16c": "HOST-GATHER",
    "17c": "WIN-4",
    "18c": "WIN-4",
    "P1": "PRE-PUBLISH",
    "P2": "PRE-KEY",
    "P3": "OutOfPages",
    "P4": "PT-SHARE",
    "P5": "PRE-EVICT",
    "P6": "PRE-PUBLISH",
    "P7": "PRE-PUBLISH",
    "P8": "PRE-HIT",
}
"""Source: docs/reference.md section 3, written down apart from the catalogue."""

CONTROLS = (NO_OP, BROKEN, *(control for pair in FAMILY_CONTROLS.values() for control in pair))


def test_the_expected_rules_are_those_of_the_reference() -> None:
    assert {mutant.id: mutant.expectation() for mutant in MUTANTS} == EXPECTED


def test_every_expected_rule_is_a_rule() -> None:
    named = {rule for mutant in MUTANTS for rules in mutant.expected for rule in rules}
    assert named <= RULES.keys() | impl_rules.RULES.keys()


def test_no_named_mutant_may_be_killed_by_a_runaway() -> None:
    assert not any(mutant.declares_runaway for mutant in MUTANTS)


def test_families_are_complete() -> None:
    eighteen = {PAGE_TABLE: 12, WINDOW: 2, HOST: 4}
    assert Counter(mutant.family for mutant in MUTANTS) == {**eighteen, NINETEENTH: 2, ON_CHIP: 6, PREFIX_CACHE: 8}


def test_no_two_mutants_or_controls_have_one_id() -> None:
    ids = [mutant.id for mutant in (*MUTANTS, *CONTROLS)]
    assert len(set(ids)) == len(ids)


def test_the_controls_of_a_family_go_through_its_stages() -> None:
    families = {family: {control.family for control in pair} for family, pair in FAMILY_CONTROLS.items()}
    assert families == {PREFIX_CACHE: {PREFIX_CACHE}}


def test_each_family_goes_through_the_stages_that_can_see_it() -> None:
    searches = ("witness", "exhaustive", "unit", "random")
    assert {family: PROJECT.stages_of(family) for family in (PAGE_TABLE, NINETEENTH, NO_OP.family)} == dict.fromkeys(
        (PAGE_TABLE, NINETEENTH, NO_OP.family), searches
    )
    assert (PROJECT.stages_of(WINDOW), PROJECT.stages_of(HOST)) == (("decode", "host"), ("host", "decode"))
    assert PROJECT.stages_of(PREFIX_CACHE) == tuple(f"prefix {stage}" for stage in searches)
    assert PROJECT.stages_of(ON_CHIP) == ("chip",)
    assert STAGES.keys() >= {*PROJECT.stages_of_all((PAGE_TABLE, WINDOW, HOST, ON_CHIP, PREFIX_CACHE)), "source"}


@pytest.mark.parametrize("mutant", [*MUTANTS, *CONTROLS], ids=lambda mutant: mutant.id)
def test_every_mutant_applies_to_one_line(mutant: Mutant) -> None:
    path = f"{mutant.module.replace('.', '/')}.py"
    diff = splice(Path(PROJECT.root, path).read_text(encoding="utf-8"), path, mutant).diff.splitlines()
    gone = sum(line.startswith("-") and not line.startswith("---") for line in diff)
    come = sum(line.startswith("+") and not line.startswith("+++") for line in diff)
    added = mutant.after.startswith(f"{mutant.before}\n")
    assert (gone, come) == ((0, 1) if added else (1, 1))
