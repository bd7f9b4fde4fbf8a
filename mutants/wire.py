"""What the engine and its fork server tell each other, one JSON line each way."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self, cast

from mutants.mutant import Project, Rules

STOPPED = ("invalid.import", "invalid.collect")
"""Why a child may stop before its first stage."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the server is told first: the project, and the modules that orders will mutate and the stages that they will run."""

    project: Project
    mutable: tuple[str, ...]
    stages: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Self:
        project: dict[str, Any] = data["project"]
        fields = {name: tuple(value) if isinstance(value, list) else value for name, value in project.items()}
        fields["family_stages"] = {family: tuple(stages) for family, stages in project["family_stages"].items()}
        return cls(Project(**cast(dict[str, Any], fields)), tuple(data["mutable"]), tuple(data["stages"]))


@dataclass(frozen=True, slots=True)
class Budget:
    """What one stage may use: operations applied (None: no limit), seconds of CPU, and seconds of one call into the
    subject (None: no limit of its own)."""

    steps: int | None
    cpu_seconds: float
    call_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """One child's work: run `stages` on the original, or on it with `module` replaced by `code`.

    The child stops as soon as the broken rules contain an `expected` alternative, but not before the first `at_least`
    stages have run. `budgets` has one entry a stage. With `reach` it says which functions the stages call; with so many
    `probes` the `probed` modules are replaced by their code, and it says which probes have told. Code is a marshalled code
    object in base64: engine and server are one Python. `memory_bytes` and `wall_seconds` are those of Limits.
    """

    stages: tuple[str, ...]
    budgets: Mapping[str, Budget]
    at_least: int = 0
    expected: tuple[Rules, ...] = ()
    module: str | None = None
    code: str | None = None
    memory_bytes: int = 128 << 20
    wall_seconds: float = 300.0
    reach: bool = False
    probes: int = 0
    probed: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        return asdict(self) | {"expected": [sorted(rules) for rules in self.expected]}

    @classmethod
    def of_json(cls, data: dict[str, object]) -> Self:
        order = cls(**data)  # type: ignore[arg-type]
        budgets = {stage: Budget(**cast(dict[str, Any], value)) for stage, value in order.budgets.items()}
        expected = tuple(frozenset(rules) for rules in order.expected)
        return cls(**data | {"stages": tuple(order.stages), "budgets": budgets, "expected": expected})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class StageRun:
    """One stage in one child.

    `outcome` is pass, fail, unknown, crash, spec-guard, harness-error or runaway.steps; or `begun` for a stage that the
    child did not live to end. `broken` maps rules to one line of what differed.
    """

    stage: str
    outcome: str
    broken: Mapping[str, str]
    witness: object
    steps: int
    detail: str
    cpu_seconds: float

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Self:
        """The stage that these values describe; ValueError, TypeError or KeyError when they are of other types."""
        run = cls(**{"broken": {}, "witness": None, "steps": 0, "detail": "", "cpu_seconds": 0.0, **data})
        typed = (
            (run.stage, str),
            (run.outcome, str),
            (run.broken, dict),
            (run.steps, int),
            (run.detail, str),
            (run.cpu_seconds, int | float),
        )
        if not all(isinstance(value, kind) for value, kind in typed):
            raise TypeError("a stage reported values of other types")
        return run


@dataclass(frozen=True, slots=True)
class Reach:
    """What the stages of a child called: functions of the subject as `module:qualified name`, those called while modules
    were imported apart, and the seconds of CPU of the longest call from outside the subject into it."""

    called: frozenset[str]
    importing: frozenset[str]
    longest_seconds: float

    def as_json(self) -> dict[str, object]:
        return asdict(self) | {"called": sorted(self.called), "importing": sorted(self.importing)}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(frozenset(data["called"]), frozenset(data["importing"]), float(data["longest_seconds"]))


@dataclass(frozen=True, slots=True)
class Run:
    """One child from fork to end.

    `ended` is a Kind of the sandbox, or `lost` when the server went with it, or `forged` when its report is none.
    `stopped` is why no stage ran, one of STOPPED, or empty. `reach` is what it called, and `told` are the numbers of the probes
    that have told, when that was asked for.
    """

    ended: str
    stopped: str
    detail: str
    stages: tuple[StageRun, ...]
    cpu_seconds: float
    reach: Reach | None = None
    told: frozenset[int] | None = None

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Self:
        """The run that these values describe, without reach and probes; ValueError, TypeError or KeyError when they do not."""
        stages = tuple(StageRun.of_json(stage) for stage in data["stages"])
        return cls(**{**data, "stages": stages, "reach": None, "told": None})

    def broken(self) -> dict[str, str]:
        """Every broken rule with its first line, over all stages that ran."""
        rules: dict[str, str] = {}
        for stage in self.stages:
            for rule, line in stage.broken.items():
                rules.setdefault(rule, line)
        return rules
