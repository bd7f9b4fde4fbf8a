"""What the ledger makes of a run: which survivors stand, and what in the ledger itself fails the gate."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mutants.equivalence.ledger import PROVED, REASON, SCOPE, Entry
from mutants.verdicts import Status

if TYPE_CHECKING:
    from mutants.engine import Plan, Record, Result

MOST_ON_A_REASON = 0.05
"""Share of all generic mutants whose survival may rest on a reason, with or without scopes, and not on a proof. Of some of them
it may be any share."""

STATUS = {
    PROVED: Status.EQUIVALENT_PROVED,
    SCOPE: Status.EQUIVALENT_SCOPE,
    REASON: Status.EQUIVALENT_REASON,
}
STANDS = frozenset(STATUS.values())


def by_id(entries: Sequence[Entry]) -> Mapping[str, Entry]:
    """The entries by the id of their mutant."""
    return {entry.id: entry for entry in entries}


def under(plan: "Plan", entries: tuple[Entry, ...], *, whole_files: bool, whole_surface: bool) -> "Plan":
    """The plan with this ledger.

    With `whole_files` it has every mutant of each module that it touches, so that an entry of such a module must be of one of
    them; with `whole_surface` every mutant that there is, so that every entry must.
    """
    modules = {mutant.module for mutant in plan.mutants} if whole_files or whole_surface else set()
    if whole_surface:
        modules |= {entry.module for entry in entries}
    return replace(plan, ledger=entries, full_modules=frozenset(modules), whole_surface=whole_surface)


def settle(record: "Record") -> None:
    """Give each survivor of the ledger the status of its entry, with its reason."""
    entries = by_id(record.plan.ledger)
    for index, result in enumerate(record.results):
        entry = entries.get(result.mutant.id)
        if result.verdict.status is Status.SURVIVED and entry is not None and entry.is_of(result.mutant):
            detail = f"ledger: {entry.reason or 'no reason'}"
            record.results[index] = replace(
                result, verdict=replace(result.verdict, status=STATUS[entry.kind], detail=detail)
            )


def stands(result: "Result", entries: Mapping[str, Entry]) -> bool:
    """Whether the ledger lets this mutant stand, which nothing killed."""
    status = result.verdict.status
    entry = entries.get(result.mutant.id)
    return entry is not None and entry.is_of(result.mutant) and (status is Status.SURVIVED or status in STANDS)


def standing(record: "Record") -> dict[str, str]:
    """The reason of each mutant of the run that the ledger lets stand, by its id."""
    entries = by_id(record.plan.ledger)
    return {one.mutant.id: entries[one.mutant.id].reason for one in record.results if stands(one, entries)}


def ledger_findings(record: "Record") -> list[str]:
    """What fails: entries that no longer apply, are of another mutant or have no reason; and of all mutants too many without a
    proof."""
    results = {result.mutant.id: result for result in record.results}
    found = [
        line for entry in record.plan.ledger for line in _wrong(entry, results.get(entry.id), record.plan.full_modules)
    ]
    resting, generic = _resting(record), _generic(record)
    if record.plan.whole_surface and resting > MOST_ON_A_REASON * generic:
        found.append(
            f"ledger: {resting} of {generic} generic mutants rest on a reason without a proof,"
            f" more than {MOST_ON_A_REASON:.0%}"
        )
    return found


def _wrong(entry: Entry, result: "Result | None", full_modules: frozenset[str]) -> list[str]:
    if result is None:
        gone = entry.module in full_modules
        return [f"ledger entry {entry.id} no longer applies: {entry.module} has no such mutant"] if gone else []
    if result.verdict.killed:
        return [f"ledger entry {entry.id} no longer applies: the mutant is killed: {result.verdict.detail}"]
    if not entry.is_of(result.mutant):
        return [f"ledger entry {entry.id} describes another change than the mutant of this id"]
    if not entry.reason.strip():
        return [f"ledger entry {entry.id} has no reason: write one"]
    return []


def ledger_summary(record: "Record") -> list[str]:
    """One line: the size of the ledger, by kind, and how much rests on reasons; none without a ledger."""
    entries = record.plan.ledger
    if not entries:
        return []
    kinds = Counter(entry.kind for entry in entries)
    said = ", ".join(f"{kinds[kind]} {kind}" for kind in STATUS)
    resting, generic = _resting(record), _generic(record)
    share = f"; {resting} of {generic} generic mutants ({resting / generic:.1%}) rest on a reason" if generic else ""
    return [f"ledger {len(entries)}: {said}{share}"]


def _resting(record: "Record") -> int:
    """Survivors that the ledger lets stand without a proof."""
    entries = by_id(record.plan.ledger)
    return sum(
        stands(result, entries) and entries[result.mutant.id].kind != PROVED
        for result in record.results
        if result.mutant.id in entries and not result.verdict.killed
    )


def _generic(record: "Record") -> int:
    return sum(result.mutant.generic for result in record.results)
