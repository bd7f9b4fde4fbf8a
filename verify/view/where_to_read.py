"""Where docs/reference.md says more about a rule: a person who sees a rule broken for the first time starts there.

Rules are told by their family and not one by one: tests/test_traceability.py takes an id in a string of this folder for a check.
"""

from dataclasses import dataclass

REFERENCE = "docs/reference.md"


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the reference, by its number and heading."""

    number: int
    heading: str

    def __str__(self) -> str:
        return f"{REFERENCE}, section {self.number}, {self.heading}"


PAGE_TABLE = Section(2, "The page table")
FAMILIES = {
    "PT": PAGE_TABLE,
    "WIN": Section(1, "The window rule"),
    "DEC": Section(4, "The decode step"),
    "HOST": Section(6, "The host"),
    "PRE": Section(7, "Managers"),
}
TINY_MODELS = Section(5, "The tiny models")
OF_THE_MODELS = frozenset({"ERROR", "MODEL", "RULE"})
"""Rules of the decode step that are about the models and their scales."""


def where_to_read(rule: str) -> Section:
    """The section that says what the rule asks; reasons of refusal and the order of the free list are the page table's."""
    family, _, name = rule.partition("-")
    if family == "DEC" and name in OF_THE_MODELS:
        return TINY_MODELS
    return FAMILIES.get(family, PAGE_TABLE)
