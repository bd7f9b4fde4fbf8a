"""What quick checks say: facts, each a rule, what is due and what is shown; and the differences among them."""

from collections.abc import Callable, Iterable, Iterator

from verify.refinement import Difference
from verify.target import Raised, answered

Fact = tuple[str, object, object]
"""A rule, what is due and what is shown."""


def raised(call: Callable[..., object], *arguments: object) -> str:
    """The name of the exception that the call raises, `nothing` when it raises none."""
    said = answered(call, *arguments)
    return said.kind if isinstance(said, Raised) else "nothing"


def differences_in(checks: Iterable[Callable[[], Iterator[Fact]]]) -> tuple[list[Difference], int]:
    """What differs in any of the checks, an exception in the midst of one included (PT-TOTAL), and the facts looked at."""
    differences: list[Difference] = []
    looked_at = 0
    for check in checks:
        facts = check()
        while True:
            fact = answered(next, facts, None)
            if fact is None:
                break
            looked_at += 1
            if isinstance(fact, Raised):
                differences.append(Difference("PT-TOTAL", "no exception", f"{fact}"))
                break
            rule, due, shown = fact
            if type(shown) is not type(due) or shown != due:
                differences.append(Difference(rule, f"{due}", f"{shown}"))
    return differences, looked_at
