"""The mutants of the oracle, area by area, and the stages that must notice each: what `python -m mutants --oracle` runs.

A rule is dropped where a check names it and negated where a definition says it; a rule that no definition says
has its reason in NO_DEFINITION.
Source: spec/rules.py, whose every rule is here.
"""

from collections.abc import Mapping

from mutants.mutant import Project
from mutants.oracle.chip import CHIP_MUTANTS
from mutants.oracle.decode import DECODE_MUTANTS
from mutants.oracle.host import HOST_MUTANTS
from mutants.oracle.manager import MANAGER_MUTANTS
from mutants.oracle.page_table import BROKEN, NO_OP, PAGE_TABLE_MUTANTS, ROOT
from mutants.oracle.rule_mutant import AREAS, CHIP, DROPPED, NEGATED, family

__all__ = ["BROKEN", "MUTANTS", "NO_OP", "PROJECT"]

MUTANTS = (*PAGE_TABLE_MUTANTS, *HOST_MUTANTS, *DECODE_MUTANTS, *MANAGER_MUTANTS, *CHIP_MUTANTS)

PARTS: Mapping[str, tuple[str, ...]] = {
    DROPPED: ("honesty", "literals", "differential"),
    NEGATED: ("literals", "differential", "honesty"),
}
"""The stages of an area in the order in which such mutants meet them."""

PROJECT = Project(
    root=str(ROOT),
    subject=("spec", "verify"),
    checks=("tests", "impl"),
    oracle=(),
    suite="tests.honesty.suite",
    family_stages={
        family(area, kind): tuple(f"{area} {part}" for part in parts) for area in AREAS for kind, parts in PARTS.items()
    }
    | {family(CHIP, NEGATED): ("chip differential", "chip literals", "chip honesty")},
)
