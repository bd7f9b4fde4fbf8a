"""Pass or not: what a run's record says, with the exit code and every reason."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from impl.exit_codes import ExitCode
from mutants.engine import Record, Result
from mutants.equivalence.ledger_rule import by_id, ledger_findings, ledger_summary, stands
from mutants.mutant import APART, NINETEENTH
from mutants.verdicts import INVALID, NO_NEW_PROGRAM, NO_VERDICT, RUNAWAYS


@dataclass(frozen=True, slots=True)
class Decision:
    """The exit code, and one line for each reason that it is not PASS."""

    code: ExitCode
    reasons: tuple[str, ...]


def decide(record: Record) -> Decision:
    """The gate, the weightiest finding first.

    Without a sound original and sound controls no verdict counts. A survivor, a kill by the wrong rule and a missing
    verdict fail; so does a run without any verdict, and a ledger that is not as it must be. A survivor of the ledger stands.
    A mutant that cannot be made is broken input; whatever else has no verdict is unknown.
    """
    if record.interrupted:
        return Decision(ExitCode.INTERRUPTED, (f"interrupted: {_done(record)}",))
    if record.problems:
        return Decision(ExitCode.BROKEN, tuple(record.problems))
    by_code = {ExitCode.FAIL: _missing(record) + ledger_findings(record), ExitCode.BROKEN: [], ExitCode.UNKNOWN: []}
    ledger = by_id(record.plan.ledger)
    for result in record.results:
        if not result.caught and not _no_new_program(result) and not stands(result, ledger):
            by_code[_severity(result)].append(_reason(result))
    reasons = tuple(reason for lines in by_code.values() for reason in lines)
    code = next((code for code, lines in by_code.items() if lines), ExitCode.PASS)
    return Decision(code, reasons)


def _no_new_program(result: Result) -> bool:
    """Whether an operator made the original again, or what another mutant is: that says nothing about the checks."""
    return result.mutant.generic and result.verdict.status in NO_NEW_PROGRAM


def _missing(record: Record) -> list[str]:
    planned = Counter(mutant.id for mutant in record.plan.mutants)
    executed = Counter(result.mutant.id for result in record.results)
    if not executed:
        return ["no mutant has a verdict"]
    return [] if planned == executed else [f"planned and executed differ: {_done(record)}"]


def _done(record: Record) -> str:
    return f"{len(record.results)} of {len(record.plan.mutants)} mutants have a verdict"


def _severity(result: Result) -> ExitCode:
    if result.verdict.status in NO_VERDICT | RUNAWAYS:
        return ExitCode.UNKNOWN
    return ExitCode.BROKEN if result.verdict.status in INVALID else ExitCode.FAIL


def _reason(result: Result) -> str:
    mutant, verdict = result.mutant, result.verdict
    if verdict.killed:
        return f"mutant {mutant.id}: killed, but not by its rule: {verdict.detail} instead of {mutant.expectation()}"
    return f"mutant {mutant.id}: {verdict.status}: {verdict.detail}"


def summary(record: Record) -> list[str]:
    """One line a family and, where they are several, one over all but those that stand apart: the readings of the
    nineteenth (19a, 19b), each with the rules that caught it, and the families counted for themselves."""
    planned = Counter(mutant.family for mutant in record.plan.mutants)
    caught = Counter(result.mutant.family for result in record.results if result.caught)
    judged = {result.mutant.family for result in record.results}
    said = {family: f"{family} {caught[family]} of {planned[family]}" for family in planned if family in judged}
    counted = [family for family in said if family not in APART]
    lines = [said[family] for family in counted]
    if len(counted) > 1:
        lines.append(f"{sum(caught[family] for family in counted)} of {sum(planned[family] for family in counted)}")
    readings = sorted((r for r in record.results if r.mutant.family == NINETEENTH), key=lambda r: r.mutant.id)
    if readings:
        lines.append(f"{NINETEENTH} {', '.join(map(_reading, readings))}")
    return lines + [said[family] for family in said if family in APART - {NINETEENTH}] + ledger_summary(record)


def _reading(result: Result) -> str:
    letter = result.mutant.id.removeprefix("19")
    expected = [rules for rules in result.mutant.expected if rules.issubset(result.verdict.rules)]
    by = " and ".join(sorted(expected[0])) if expected else result.verdict.detail
    return f"({letter}) {'killed by' if result.verdict.killed else result.verdict.status + ':'} {by}"


def in_catalogue_order(record: Record) -> list[Result]:
    """The results, in the order of the plan's mutants."""
    place = {mutant.id: index for index, mutant in enumerate(record.plan.mutants)}
    return sorted(record.results, key=lambda result: place[result.mutant.id])


def median_cpu_ms(results: Sequence[Result]) -> float:
    """Median CPU time of a mutant's child, in milliseconds; 0 without results."""
    return statistics.median(result.cpu_ms for result in results) if results else 0.0
