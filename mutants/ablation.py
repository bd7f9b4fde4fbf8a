"""What survives when rules are left out: the source suite, weak rules beside exact ones, on each of the eighteen.

Every mutant runs once and every rule that it breaks is recorded; leaving rules out only means not to look at them. A mutant
survives when none of its broken rules is left. Source: docs/reference.md section 3.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from impl.exit_codes import ExitCode
from mutants.engine import Plan, Record, Result
from mutants.gate import Decision, in_catalogue_order
from mutants.mutant import APART, Mutant
from mutants.verdicts import INVALID, NO_VERDICT, RUNAWAYS
from verify.source.rules import EXACT_INTEGERS, EXACT_PAGES, GROUPS, SCRATCH

STAGE = "source"
CRASH = "a crash"
"""What a kill that names no rule counts as: a rule of no group, which no ablation leaves out."""
OTHERS = "all others"


@dataclass(frozen=True, slots=True)
class Ablation:
    """The groups left out, and the mutants that must then survive."""

    name: str
    left_out: tuple[str, ...]
    survivors: frozenset[str]


ABLATIONS = (
    Ablation("every rule", (), frozenset()),
    Ablation("without exact pages", (EXACT_PAGES,), frozenset({"10", "18"})),
    Ablation("without scratch recomputation and exact integers", (SCRATCH, EXACT_INTEGERS), frozenset({"13"})),
    Ablation("without all of these", (EXACT_PAGES, SCRATCH, EXACT_INTEGERS), frozenset({"10", "13", "18"})),
)

STORIES: Mapping[str, tuple[str, str]] = {
    "10": ("PT-PAGES", "A page that ends where the trim does is kept: one page too many, within the slack of a bound."),
    "13": ("DEC-ERROR", "One row too many in the window changes the logits by less than 15 % in the mean."),
    "18": ("WIN-4", "A page is kept for one step too many, within the slack of a bound."),
}
"""Survivor -> the left-out rule that shows it best, and why no other sees it."""


def ablation_plan(plan: Plan) -> Plan:
    """The plan's mutants of the eighteen, each through the source suite alone."""
    project = replace(plan.project, stages=(STAGE,), family_stages={})
    return replace(plan, project=project, mutants=tuple(m for m in plan.mutants if m.family not in APART))


def broken_rules(result: Result) -> frozenset[str] | None:
    """Every rule that the mutant broke, a crash counting as one; None without a verdict."""
    if result.verdict.status in NO_VERDICT | RUNAWAYS | INVALID:
        return None
    rules = frozenset(result.verdict.rules)
    return rules or frozenset({CRASH} if result.verdict.killed else ())


def by_group(rules: Collection[str]) -> dict[str, list[str]]:
    """The rules by the group that they belong to, OTHERS last."""
    listed = {group: sorted(members.intersection(rules)) for group, members in GROUPS.items()}
    return listed | {OTHERS: sorted(set(rules).difference(*GROUPS.values()))}


def survivors(record: Record, ablation: Ablation) -> list[str]:
    """Mutants of which no broken rule is left, in the catalogue's order; those without a verdict are not among them."""
    left_out = frozenset[str]().union(*(GROUPS[group] for group in ablation.left_out))
    rules = {result.mutant.id: broken_rules(result) for result in in_catalogue_order(record)}
    return [name for name, broken in rules.items() if broken is not None and broken <= left_out]


def without_verdict(record: Record) -> list[Mutant]:
    """Mutants of the plan of which nothing is known, not even that they survive."""
    known = {result.mutant.id for result in record.results if broken_rules(result) is not None}
    return [mutant for mutant in record.plan.mutants if mutant.id not in known]


def decide_ablation(record: Record) -> Decision:
    """Pass when exactly the expected mutants survive each ablation.

    What differs among the mutants with a verdict fails; when nothing does, a mutant without one makes the ablation unknown.
    """
    if record.interrupted:
        return Decision(ExitCode.INTERRUPTED, ("interrupted",))
    if record.problems:
        return Decision(ExitCode.BROKEN, tuple(record.problems))
    missing = [mutant.id for mutant in without_verdict(record)]
    differing = [line for ablation in ABLATIONS for line in _differing(record, ablation, missing)]
    unknown = [f"mutant {name}: no verdict, {_why(record, name)}" for name in missing]
    code = ExitCode.FAIL if differing else ExitCode.UNKNOWN if missing or not record.results else ExitCode.PASS
    return Decision(code, (*differing, *unknown))


def ablation_document(record: Record) -> dict[str, object]:
    """The ablation as one JSON document: every broken rule of every mutant, and the survivors of each ablation."""
    decision = decide_ablation(record)
    return {
        "exitCode": int(decision.code),
        "reasons": list(decision.reasons),
        "seconds": round(record.seconds, 3),
        "versions": dict(record.versions),
        "groups": {group: sorted(rules) for group, rules in GROUPS.items()},
        "ablations": [
            {
                "name": ablation.name,
                "leftOut": list(ablation.left_out),
                "survivors": survivors(record, ablation),
                "expected": sorted(ablation.survivors, key=int),
            }
            for ablation in ABLATIONS
        ],
        "mutants": [
            {
                "id": result.mutant.id,
                "title": result.mutant.title,
                "verdict": result.verdict.status.value,
                "detail": result.verdict.detail,
                "rules": dict(sorted(result.verdict.rules.items())),
                "byGroup": None if (rules := broken_rules(result)) is None else by_group(rules),
                "cpuMs": round(result.cpu_ms, 3),
            }
            for result in in_catalogue_order(record)
        ],
    }


def _differing(record: Record, ablation: Ablation, missing: Collection[str]) -> list[str]:
    """How the survivors differ from the expected ones, those without a verdict left aside."""
    found = survivors(record, ablation)
    due = sorted(ablation.survivors.difference(missing), key=int)
    if sorted(found) == sorted(due):
        return []
    return [f"{ablation.name}: {_listed(found)} survive, not {_listed(due)}"]


def _listed(names: Collection[str]) -> str:
    return ", ".join(names) or "none"


def _why(record: Record, name: str) -> str:
    verdicts = [result.verdict for result in record.results if result.mutant.id == name]
    return f"{verdicts[0].status}: {verdicts[0].detail}" if verdicts else "it did not run"
