"""What a conformance run says of one target, as plain data: the report files and the verdict follow from it."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

from impl.exit_codes import ExitCode
from impl.schema import Schema

FORMAT = 1
SCHEMA_FILE = Path(__file__).with_name("report.schema.json")

Status = Literal["finding", "unknown"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the target offers and shows, in its own words and in the vocabulary's."""

    says: str
    offered: tuple[str, ...]
    not_offered: tuple[str, ...]
    not_observed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """What was done in one configuration: walks with their checked operations, and the exhaustive search of a small scope.

    `scope` is None where nothing was searched exhaustively; `states` and `transitions` are that search's, and `complete`
    says whether it came to its fixpoint. `seconds` are of wall time, over both.
    """

    configuration: str
    traits: str
    walks: int
    operations: int
    scope: str | None
    states: int
    transitions: int
    complete: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Deviation:
    """A known deviation: whether its witness still shows its rules, and how often the walks came upon it.

    `script` shows it in the target's own calls and `page` step by step, named from the folder of the report; `doubt` says why the
    script did not show it when the harness ran it, empty when it did.
    """

    name: str
    rules: tuple[str, ...]
    sentence: str
    configuration: str
    calls: tuple[str, ...]
    reproduced: bool
    shown: tuple[str, ...]
    met: int
    script: str | None = None
    page: str | None = None
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken rule in words, with what both sides say."""

    rule: str
    sentence: str
    oracle: str
    target: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference that is not known. It is a finding once its script, in the target's own calls, shows it; `says` is what
    the script said when the harness ran it. The files are named from the folder of the report."""

    name: str
    status: Status
    why: str
    configuration: str
    calls: tuple[str, ...]
    broken: tuple[Broken, ...]
    script: str | None
    says: str
    witness: str | None
    page: str | None


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault planted in the target as it ran: found after so many operations by rules, or not found at all.

    `note` says what went wrong with the search itself, when something did.
    """

    name: str
    sentence: str
    found: bool
    operations: int
    rules: tuple[str, ...]
    configuration: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rates:
    """Operations a second of the same operations: checked here, and raw in the target's own interpreter, without pipe and oracle.

    `raw` are the calls with what the target shows after each, as the check needs it; `calls` are the calls alone.
    """

    operations: int
    checked: float
    raw: float
    calls: float

    @property
    def ratio(self) -> float:
        """What is left of the raw rate when everything is checked."""
        return self.checked / self.raw if self.raw else 0.0


@dataclass(frozen=True, slots=True)
class TargetReport:
    """One target in one run. `each` is how often every possible situation was to be met; `notes` say what was left out."""

    target: str
    title: str
    version: str
    profile: str
    seed: int
    each: int
    capabilities: Capabilities
    searched: tuple[Searched, ...]
    situations: dict[str, int]
    situations_not_offered: tuple[str, ...]
    refusals: dict[str, int]
    known: tuple[Deviation, ...] = ()
    findings: tuple[Finding, ...] = ()
    planted: tuple[Planted, ...] = ()
    rates: Rates | None = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    format: int = field(default=FORMAT)

    @property
    def operations(self) -> int:
        """Checked operations of all walks."""
        return sum(part.operations for part in self.searched)

    @property
    def transitions(self) -> int:
        """Checked operations of all exhaustive searches, each from a state of its own."""
        return sum(part.transitions for part in self.searched)

    @property
    def rare(self) -> tuple[str, ...]:
        """Situations that were possible and not met often enough."""
        return tuple(name for name, count in self.situations.items() if count < self.each)

    @property
    def median_operations(self) -> float | None:
        """The median of the operations that a planted fault took, over those found; None without any."""
        counts = [fault.operations for fault in self.planted if fault.found]
        return float(median(counts)) if counts else None

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the target fails, a reason a line."""
        return (
            *(
                f"{', '.join(rules_of(found))} broken: {found.name}"
                for found in self.findings
                if found.status == "finding"
            ),
            *(f"a known deviation is gone: {known.name}" for known in self.known if not known.reproduced),
            *(
                f"a planted fault was not found: {fault.name}"
                for fault in self.planted
                if not fault.found and not fault.note
            ),
        )

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why nothing can be said for sure, a reason a line."""
        return (
            *(("it was interrupted",) if self.interrupted else ()),
            *(f"{found.why}: {found.name}" for found in self.findings if found.status == "unknown"),
            *(f"{known.doubt}: {known.name}" for known in self.known if known.reproduced and known.doubt),
            *(f"{fault.note}: {fault.name}" for fault in self.planted if not fault.found and fault.note),
            *((f"met less than {self.each} times: {', '.join(self.rare)}",) if self.rare else ()),
            *(() if self.operations + self.transitions else ("no operation was checked",)),
        )

    @property
    def code(self) -> ExitCode:
        """The verdict of the target: a failure counts for more than a doubt."""
        if self.failures:
            return ExitCode.FAIL
        return ExitCode.UNKNOWN if self.doubts else ExitCode.PASS

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        return {ExitCode.PASS: "pass", ExitCode.FAIL: "fail"}.get(self.code, "unknown")


def rules_of(found: Finding) -> tuple[str, ...]:
    """The broken rules, each once."""
    return tuple(dict.fromkeys(item.rule for item in found.broken))


def to_json(report: TargetReport) -> dict[str, Any]:
    """The report as JSON values, with the verdict and the reasons for it."""
    data = json.loads(json.dumps(asdict(report)))
    data |= {"kvproof": "conformance", "verdict": report.verdict, "why": [*report.failures, *report.doubts]}
    data |= {"operations": report.operations, "transitions": report.transitions}
    data |= {"median_operations": report.median_operations}
    if report.rates is not None:
        data["rates"]["ratio"] = report.rates.ratio
    return dict(sorted(data.items()))


def validate(data: object) -> None:
    """ValueError that says where the data is not as verify/conformance/report.schema.json wants it."""
    Schema(json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))).check(data)
