"""What every report of a mutation run is drawn from: plain frozen data, whichever engine filled it.

A simulator of the RTL is a stage here, and the whole of what it ran is that stage's trial.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from impl.exit_codes import ExitCode
from mutants.splice import Position
from mutants.verdicts import KILLED, Status

Json = dict[str, object]


class Outcome(StrEnum):
    """What a mutant counts as, in the order in which a reader should see them."""

    SURVIVED = "survived"
    NO_VERDICT = "no verdict"
    WRONG_RULE = "killed by another rule"
    LEDGER = "in the ledger"
    KILLED = "killed"
    EQUIVALENT = "equivalent"


OPEN = frozenset({Outcome.SURVIVED, Outcome.NO_VERDICT, Outcome.WRONG_RULE})
"""Outcomes that somebody has to look at."""

SURVIVORS = frozenset({Status.SURVIVED, Status.EQUIVALENT_SCOPE, Status.EQUIVALENT_REASON})
SAME_PROGRAM = frozenset({Status.EQUIVALENT_BYTECODE, Status.EQUIVALENT_PROVED, Status.DUPLICATE})


def outcome_of(status: Status | None, caught: bool, accepted: str = "") -> Outcome:
    """What a mutant of that status counts as. One that never ran has no status, and no verdict; `accepted` is the ledger's
    reason to let a survivor be."""
    if status in KILLED:
        return Outcome.KILLED if caught else Outcome.WRONG_RULE
    if status in SAME_PROGRAM:
        return Outcome.EQUIVALENT
    if status in SURVIVORS:
        return Outcome.LEDGER if accepted else Outcome.SURVIVED
    return Outcome.NO_VERDICT


@dataclass(frozen=True, slots=True)
class Trial:
    """One stage with one mutant: what it said, every rule that it saw broken with what differed, and its witness as JSON."""

    stage: str
    outcome: str
    broken: Mapping[str, str]
    steps: int
    cpu_ms: float
    detail: str = ""
    witness: object = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """All that ran of one mutant, or of the original: how it ended, its CPU, and its stages in order."""

    ended: str
    cpu_ms: float
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class JudgedMutant:
    """One mutant of the plan and what became of it; `status` is None when it never ran, `start` when it has no place.

    `operator` is empty for one made by hand. `expected` are alternatives, of which every rule must break. `accepted` is the
    ledger's reason to let a survivor be.
    """

    id: str
    title: str
    area: str
    operator: str
    module: str
    function: str
    path: str
    expected: tuple[tuple[str, ...], ...]
    replacement: str
    status: Status | None = None
    detail: str = ""
    rules: Mapping[str, str] | None = None
    stage: str = ""
    caught: bool = False
    accepted: str = ""
    start: Position | None = None
    end: Position | None = None
    diff: str = ""
    cpu_ms: float = 0.0
    attempt: Attempt | None = None

    @property
    def outcome(self) -> Outcome:
        """What it counts as; one made by hand that is no program of its own tells nothing."""
        found = outcome_of(self.status, self.caught, self.accepted)
        return Outcome.NO_VERDICT if found is Outcome.EQUIVALENT and not self.operator else found

    @property
    def mutator(self) -> str:
        """What made it, in the word that viewers group by: the operator, and the area for one made by hand."""
        return self.operator or self.area

    @property
    def trials(self) -> tuple[Trial, ...]:
        return self.attempt.trials if self.attempt else ()

    @property
    def expectation(self) -> str:
        """The expected rules in words."""
        return " or ".join(" and ".join(rules) for rules in self.expected) or "any rule"

    @property
    def witness(self) -> object:
        """The shortest witness that a stage found, None without one."""
        found = [trial.witness for trial in self.trials if trial.witness]
        return min(found, key=_operations, default=None)


@dataclass(frozen=True, slots=True)
class File:
    """A mutated file as it was before."""

    language: str
    source: str


@dataclass(frozen=True, slots=True)
class Ablated:
    """What survives when groups of rules are left out, and what must."""

    name: str
    left_out: tuple[str, ...]
    survivors: tuple[str, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MutationRun:
    """A run: its verdict with reasons, every planned mutant in the order of the plan, and what the verdict stands on.

    `kind` is gate, generic, rtl and the like, `time` an ISO time in UTC, `revision` that of the sources; each may be empty.
    """

    kind: str
    tool: str
    suite: str
    code: ExitCode
    reasons: tuple[str, ...]
    complete: bool
    summary: tuple[str, ...]
    seconds: float
    seed: int | None
    versions: Mapping[str, str]
    files: Mapping[str, File]
    stages: tuple[str, ...]
    originals: Mapping[str, Attempt | None]
    controls: tuple[JudgedMutant, ...]
    mutants: tuple[JudgedMutant, ...]
    ablation: tuple[Ablated, ...] = ()
    time: str = ""
    revision: str = ""

    @property
    def executed(self) -> int:
        """How many of the planned mutants ran or were set aside before."""
        return sum(mutant.status is not None for mutant in self.mutants)

    @property
    def median_cpu_ms(self) -> float:
        """Median CPU of those, in milliseconds; 0 without any."""
        return statistics.median([one.cpu_ms for one in self.mutants if one.status is not None] or [0.0])


def counts(mutants: Iterable[JudgedMutant]) -> dict[str, int]:
    """How many mutants have each outcome, those with none included."""
    found = Counter(mutant.outcome for mutant in mutants)
    return {outcome.value: found[outcome] for outcome in Outcome}


def _operations(witness: object) -> int:
    """How long a witness is: its operations when it has any."""
    operations = witness.get("operations") if isinstance(witness, dict) else None
    return len(operations) if isinstance(operations, list) else len(str(witness))
