"""The tables of a report, as plain texts: Markdown, the page and the terminal draw the same ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from verify.conformance.report import Planted, TargetReport, rules_of


@dataclass(frozen=True, slots=True)
class Table:
    """A heading, the names of the columns, the rows, and what is said where there is no row."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    nothing: str


def tables(report: TargetReport) -> list[Table]:
    """All tables, the most important first."""
    return [
        findings(report),
        known(report),
        searched(report),
        situations(report),
        refusals(report),
        planted(report),
        rates(report),
    ]


def facts(report: TargetReport) -> list[tuple[str, str]]:
    """What was checked, a fact a line."""
    told = report.capabilities
    return [
        ("target", f"{report.title} {report.version}, which calls itself {told.says}"),
        ("offered", listed(told.offered)),
        ("not offered", listed(told.not_offered)),
        ("not observed", listed(told.not_observed)),
        ("run", f"profile {report.profile}, seed {report.seed}, {report.seconds:.0f} s"),
        (
            "operations checked",
            f"{report.operations:,} in walks over {len(report.searched)} configurations, "
            f"{report.transitions:,} in exhaustive searches",
        ),
        ("planted faults", planted_words(report.planted, report.median_operations)),
    ]


def findings(report: TargetReport) -> Table:
    """Differences that are not known, and what their scripts showed."""
    rows = tuple(
        (
            found.name,
            "finding" if found.status == "finding" else f"unknown: {found.why}",
            found.configuration,
            "; ".join(found.calls),
            "; ".join(f"{rule}" for rule in rules_of(found)),
            found.script or "none",
        )
        for found in report.findings
    )
    columns = ("difference", "verdict", "configuration", "calls", "broken rules", "script")
    return Table("Findings", columns, rows, "No difference but those that are known.")


def known(report: TargetReport) -> Table:
    """Known deviations, reported every time."""
    rows = tuple(
        (
            item.name,
            "known" if item.reproduced else f"gone: its witness shows {listed(item.shown)}",
            ", ".join(item.rules),
            item.sentence,
            item.configuration,
            "; ".join(item.calls),
            item.script or "-",
            f"{item.met:,}",
        )
        for item in report.known
    )
    columns = ("deviation", "state", "rules", "what", "configuration", "witness", "script", "met in walks")
    return Table("Known deviations", columns, rows, "None is known of this version.")


def searched(report: TargetReport) -> Table:
    """What was done in each configuration."""
    rows = tuple(
        (
            part.configuration,
            part.traits,
            f"{part.walks:,}",
            f"{part.operations:,}",
            exhaustive(part.scope, part.states, part.transitions, part.complete),
            f"{part.seconds:.1f}",
        )
        for part in report.searched
    )
    columns = ("configuration", "traits", "walks", "operations", "exhaustive search", "seconds")
    return Table("Searched", columns, rows, "Nothing was searched.")


def exhaustive(scope: str | None, states: int, transitions: int, complete: bool) -> str:
    """An exhaustive search in words."""
    if scope is None:
        return "none"
    end = "to the fixpoint" if complete else "not to its end"
    return f"{scope}: {states:,} states, {transitions:,} transitions, {end}"


def situations(report: TargetReport) -> Table:
    """How often each situation was met."""
    met = sorted(report.situations.items(), key=lambda item: -item[1])
    rows = [
        (name, f"{count:,}" if count >= report.each else f"{count:,}, less than {report.each}") for name, count in met
    ]
    rows += [(name, "not offered") for name in report.situations_not_offered]
    return Table("Situations", ("situation", "met"), tuple(rows), "None was met.")


def refusals(report: TargetReport) -> Table:
    """How often each reason was given."""
    rows = tuple((name, f"{count:,}") for name, count in sorted(report.refusals.items()))
    return Table("Refusals", ("reason", "given"), rows, "Nothing was refused.")


def planted(report: TargetReport) -> Table:
    """The faults planted in the target as it ran."""
    rows = tuple(
        (
            fault.name,
            fault.sentence,
            f"after {fault.operations:,} operations"
            if fault.found
            else f"not found in {fault.operations:,} operations",
            ", ".join(fault.rules) or fault.note,
            fault.configuration,
        )
        for fault in report.planted
    )
    columns = ("fault", "what is wrong", "found", "broken rules", "configuration")
    return Table("Planted faults", columns, rows, "None was planted.")


def rates(report: TargetReport) -> Table:
    """Checked beside raw."""
    columns = ("rate", "operations a second")
    if report.rates is None:
        return Table("Rates", columns, (), "Not measured.")
    found = report.rates
    rows = (
        ("checked: over the pipe, every rule after every operation", f"{found.checked:,.0f}, {found.ratio:.2f} of raw"),
        ("raw: in the target's own interpreter, with what it shows after each", f"{found.raw:,.0f}"),
        ("calls alone, in the target's own interpreter", f"{found.calls:,.0f}"),
    )
    return Table(f"Rates, over the same {found.operations:,} operations", columns, rows, "")


def planted_words(faults: Sequence[Planted], median: float | None) -> str:
    """How many of the planted faults were found, in words."""
    if not faults:
        return "none was planted"
    found = sum(fault.found for fault in faults)
    return f"{found} of {len(faults)} found" + (
        f", after a median of {median:g} operations" if median is not None else ""
    )


def listed(names: Sequence[str]) -> str:
    """The names in a row."""
    return ", ".join(names) or "nothing"
