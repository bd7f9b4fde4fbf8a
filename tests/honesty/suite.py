"""The stages that a broken oracle must not pass: of each area what is broken by hand, literals, and what ships.

A stage imports its own cases when it runs, so that a mutant of the page table does not pay for chips.
"""

from collections.abc import Callable, Iterator

from tests.honesty.case import Case, judge
from verify.explore import StepsExhausted
from verify.stage import StageResult

__all__ = ["STAGES", "StepsExhausted"]

PARTS = ("honesty", "literals", "differential")
"""What is broken by hand, what is worked out by hand, and what ships."""


def page_tables(part: str) -> Iterator[Case]:
    """Cases of tests/honesty/page_tables.py."""
    from tests.honesty import page_tables as area

    yield from getattr(area, part)()


def hosts(part: str) -> Iterator[Case]:
    """Cases of tests/honesty/hosts.py."""
    from tests.honesty import hosts as area

    yield from getattr(area, part)()


def decoders(part: str) -> Iterator[Case]:
    """Cases of tests/honesty/decoders.py."""
    from tests.honesty import decoders as area

    yield from getattr(area, part)()


def managers(part: str) -> Iterator[Case]:
    """Cases of tests/honesty/managers.py."""
    from tests.honesty import managers as area

    yield from getattr(area, part)()


def chips(part: str) -> Iterator[Case]:
    """Cases of tests/honesty/chips.py, and the literals of tests/honesty/chip_literals.py."""
    if part == "literals":
        from tests.honesty import chip_literals as area
    else:
        from tests.honesty import chips as area  # type: ignore[no-redef]

    yield from getattr(area, part)()


AREAS: dict[str, tuple[Callable[[str], Iterator[Case]], str]] = {
    "page table": (page_tables, "PT-TOTAL"),
    "host": (hosts, "HOST-TOKENS"),
    "decode": (decoders, "DEC-INT"),
    "manager": (managers, "PT-TOTAL"),
    "chip": (chips, "CHIP-ISA"),
}
"""The cases of each area, and the rule that is broken when they cannot be made."""


def stage_of(area: str, part: str) -> Callable[[int | None], StageResult]:
    """The stage of that part of an area."""
    cases, rule = AREAS[area]
    return lambda budget: judge(rule, cases(part), budget)


STAGES = {f"{area} {part}": stage_of(area, part) for area in AREAS for part in PARTS}
