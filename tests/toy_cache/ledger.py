"""What a suite offers the engine; it imports no subject, so it may be imported once, before any mutant."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StageResult:
    """What the engine reads of a stage."""

    verdict: str
    broken: dict[str, str]
    witness: object
    steps: int
    note: str = ""


class StepsExhausted(Exception):  # noqa: N818 - the name that a suite offers
    """The step budget ran out."""
