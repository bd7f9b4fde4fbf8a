"""Every rule is dropped where it is checked and negated where it is defined, and a broken oracle does not go unnoticed."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from impl.exit_codes import ExitCode
from mutants.cli import cli
from mutants.engine import Plan, Record, carry_out
from mutants.gate import decide
from mutants.mutant import Mutant, any_of
from mutants.oracle.catalogue import BROKEN, MUTANTS, NO_OP, PROJECT
from mutants.oracle.report import by_rule, oracle_document
from mutants.oracle.rule_mutant import DROPPED, NEGATED, NO_DEFINITION, PAGE_TABLE, kind_of, negated, rule_of
from mutants.oracle.silenced import Naming, namings, silenced, source_of
from mutants.verdicts import Status
from spec.rules import RULES
from tests.honesty.suite import STAGES

ROOT = Path(PROJECT.root)

CHECKS = (
    "verify.refinement",
    "verify.host.differences",
    "verify.host.lockstep",
    "verify.decode.window_checks",
    "verify.decode.float_checks",
    "verify.decode.integer_checks",
    "verify.decode.model_checks",
    "verify.decode.behaviour_checks",
    "verify.managers.refinement",
    "verify.managers.pool_checks",
    "verify.chips.comparison",
    "verify.chips.judge",
)
"""Where rules are named; written down apart from the catalogue."""

BY_HAND = {("verify.refinement", "unseen"), ("verify.refinement", "share_difference")} | {
    ("verify.managers.refinement", "row_difference"),
    ("verify.managers.refinement", "share_difference"),
}
"""Functions that return what they name, whose callers are made silent in the catalogue."""

SAMPLE = tuple(
    next(mutant for mutant in MUTANTS if mutant.family == family) for family in dict.fromkeys(m.family for m in MUTANTS)
)
"""The first mutant of each family; `python -m mutants --oracle` runs them all."""


def lacking(mutants: Iterable[Mutant], rules: Iterable[str] = RULES) -> list[tuple[str, str]]:
    """Rules without a mutant that drops them, or without one that negates them or a reason why there is none."""
    there = {(rule_of(mutant), kind_of(mutant)) for mutant in mutants}
    due = [(rule, DROPPED) for rule in rules] + [(rule, NEGATED) for rule in rules if rule not in NO_DEFINITION]
    return [pair for pair in due if pair not in there]


def test_every_rule_is_dropped_and_negated_or_says_why_not() -> None:
    assert lacking(MUTANTS) == []
    assert NO_DEFINITION.keys() <= RULES.keys()
    assert {rule_of(mutant) for mutant in MUTANTS} == RULES.keys()
    assert not {rule_of(mutant) for mutant in MUTANTS if kind_of(mutant) == NEGATED} & NO_DEFINITION.keys()


def test_a_rule_without_mutants_is_found() -> None:
    assert lacking(MUTANTS, [*RULES, "OfNobody"]) == [("OfNobody", DROPPED), ("OfNobody", NEGATED)]
    left = [mutant for mutant in MUTANTS if rule_of(mutant) != "WIN-3" or kind_of(mutant) != DROPPED]
    assert lacking(left) == [("WIN-3", DROPPED)]


def test_mutants_are_told_apart_and_expect_a_rule() -> None:
    counts = Counter(mutant.id for mutant in (*MUTANTS, NO_OP, BROKEN))
    assert [name for name, times in counts.items() if times > 1] == []
    assert all(rules <= RULES.keys() and rules for mutant in MUTANTS for rules in mutant.expected)
    assert all(mutant.expected for mutant in MUTANTS)
    assert not any(mutant.declares_runaway for mutant in MUTANTS)
    assert all(set(PROJECT.stages_of(mutant.family)) <= STAGES.keys() for mutant in MUTANTS)


def test_a_definition_is_negated_in_spec_or_in_the_definitions_of_the_host_and_of_whole_decodes() -> None:
    places = {mutant.module for mutant in MUTANTS if kind_of(mutant) == NEGATED}
    assert {place for place in places if not place.startswith("spec.")} == {
        "verify.host.oracle",
        "verify.host.poison",
        "verify.decode.behaviour_checks",
    }


def test_every_place_that_names_a_rule_is_made_silent() -> None:
    made = {(mutant.module, mutant.function, mutant.before) for mutant in MUTANTS}
    by_hand = set()
    for module in CHECKS:
        for naming in namings(source_of(ROOT, module)):
            if naming.before is None:
                by_hand.add((module, naming.function))
            else:
                assert (module, naming.function, naming.before) in made, naming
    assert by_hand == BY_HAND


SILENCED = """
class Check:
    def judge(self, add):
        add(Difference("A", "x", "y"))
        return [] if add else [Difference("B", "x", "y")]
def each(found):
    found += [Difference("C", one, "y") for one in found]
    note(Difference("D", one, "y") for one in found)
    yield Difference("E", "x", "y")
    return Difference("F", "x", "y")
def named(rule):
    return [Difference(rule, "x", "y")]
"""


def test_each_form_of_naming_a_rule_is_made_silent_in_its_way() -> None:
    found = {naming.rule: (naming.function, naming.before is not None, naming.after) for naming in namings(SILENCED)}
    assert found == {
        "A": ("Check.judge", True, "pass"),
        "B": ("Check.judge", True, "[]"),
        "C": ("each", True, "[]"),
        "D": ("each", True, "()"),
        "E": ("each", True, "yield from ()"),
        "F": ("each", False, ""),
    }
    assert Naming("F", "each", 10, None) in [*namings(SILENCED)]


def test_mutants_of_one_place_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(
        'def f(add):\n    add(Difference("A", "x", ""))\n    add(Difference("A", "y", ""))\n'
    )
    found = silenced(tmp_path, "area", "check")
    assert [mutant.id for mutant in found] == ["A:dropped:.f", "A:dropped:.f:2"]


OWNERS = "state.shared.get(cell, 1)"
WRONG = replace(
    negated("PT-OWN", PAGE_TABLE, "spec.page_table:owners", "three owners", OWNERS, "state.shared.get(cell, 3)"),
    id="wrong",
    expected=any_of("PT-FREE"),
)
UNCHANGED = replace(WRONG, id="unchanged", after=f"{OWNERS} + 0")
"""One that nothing can notice, and one that another rule must notice than does."""


@pytest.fixture(scope="module")
def record() -> Iterator[Record]:
    """One mutant of each family, and those two."""
    made = Record(Plan(PROJECT, (*SAMPLE, UNCHANGED, WRONG), NO_OP, BROKEN))
    carry_out(made, lambda label: None)
    yield made


def test_one_mutant_of_each_family_is_noticed_by_its_rule(record: Record) -> None:
    assert (record.problems, len(SAMPLE)) == ([], 10)
    verdicts = {result.mutant: (result.verdict.status, result.caught) for result in record.results}
    assert [verdicts[mutant] for mutant in SAMPLE] == [(Status.KILLED_ASSERTION, True)] * len(SAMPLE)


def test_a_survivor_and_a_kill_by_another_rule_fail(record: Record) -> None:
    decision = decide(record)
    assert decision.code is ExitCode.FAIL
    survivor, other = decision.reasons
    assert survivor.startswith("mutant unchanged: survived: passed page table literals, page table differential")
    assert other == "mutant wrong: killed, but not by its rule: PT-OWN instead of PT-FREE"


def test_the_report_counts_rule_by_rule(record: Record) -> None:
    sample = Record(replace(record.plan, mutants=SAMPLE), results=record.results)
    extension = oracle_document(sample)["kvproof"]
    assert isinstance(extension, dict)
    assert extension["kind"] == "oracle"
    assert extension["rules"].keys() == {rule_of(mutant) for mutant in SAMPLE}
    tallies = [tally for kinds in by_rule(SAMPLE, record.results).values() for tally in kinds.values()]
    assert sum(tally.mutants for tally in tallies) == len(SAMPLE)
    assert all(tally.noticed == tally.mutants for tally in tallies)
    assert all(tally.noticed == 0 for kinds in by_rule(SAMPLE, []).values() for tally in kinds.values())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--oracle", "--ablation"), "--oracle has mutants and checks of its own: no ablation"),
        (("--oracle", "--catalogue", "mutants.catalogue"), "no catalogue"),
        (("--oracle", "--rtl"), "--rtl has mutants and checks of its own: no oracle"),
        (("--oracle", "--only", "OfNobody:dropped"), "no mutant 'OfNobody:dropped'"),
    ],
)
def test_what_does_not_go_with_the_oracle_is_a_usage_error(arguments: tuple[str, ...], says: str) -> None:
    ended = CliRunner().invoke(cli, arguments)
    assert ended.exit_code == ExitCode.USAGE
    assert says in " ".join(ended.output.split())
