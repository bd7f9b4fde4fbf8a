"""What a mutant of the chip's RTL is: text of one module in another's place, and the rules that must catch it."""

from collections.abc import Collection
from dataclasses import dataclass

from mutants.mutant import Rules, any_of, covers
from verify.chips.planted_rtl import Edit, RtlFault


@dataclass(frozen=True, slots=True)
class RtlMutant:
    """One mistake in the RTL: `before` in the file of the module becomes `after`, `also` likewise; see Edit.

    `expected` are alternatives, as in Mutant; with none, any rule will do.
    """

    id: str
    title: str
    module: str
    before: str
    after: str
    expected: tuple[Rules, ...] = ()
    within: str = ""
    also: tuple[Edit, ...] = ()

    def caught_by(self, broken: Collection[str]) -> bool:
        """Whether these broken rules are the ones that must catch it."""
        return covers(self.expected, broken)

    def expectation(self) -> str:
        """The expected rules in words."""
        return " or ".join(" and ".join(sorted(rules)) for rules in self.expected) or "any rule"

    def fault(self) -> RtlFault:
        """What is planted for it."""
        return RtlFault(
            f"mutant {self.id}", self.module, self.before, self.after, self.expectation(), self.within, self.also
        )


INTEGER = any_of("CHIP-INT")
PROGRAM = any_of("CHIP-ISA")
CYCLE = any_of("CHIP-CYCLE")
