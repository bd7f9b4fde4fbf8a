"""A report in Markdown."""

from verify.conformance.report import Finding, TargetReport
from verify.conformance.tables import Table, facts, tables


def markdown(report: TargetReport) -> str:
    """The report; each difference follows its table with all that a bug report needs."""
    lines = [f"# {escaped(report.title)} {report.version}: {report.verdict}", ""]
    lines += [f"- {escaped(line)}" for line in (*report.failures, *report.doubts)]
    lines += [""] if report.failures or report.doubts else []
    lines += ["| | |", "|---|---|", *(f"| {name} | {escaped(value)} |" for name, value in facts(report)), ""]
    for number, table in enumerate(tables(report)):
        lines += drawn(table)
        if number == 0:
            lines += [line for found in report.findings for line in described(found)]
    lines += [f"- {escaped(note)}" for note in report.notes]
    return "\n".join(lines).rstrip() + "\n"


def drawn(table: Table) -> list[str]:
    """A table, or the words in its place."""
    head = [f"## {table.heading}", ""]
    if not table.rows:
        return [*head, table.nothing, ""]
    columns = [f"| {' | '.join(table.columns)} |", f"|{'---|' * len(table.columns)}"]
    return [*head, *columns, *(f"| {' | '.join(map(escaped, row))} |" for row in table.rows), ""]


def described(found: Finding) -> list[str]:
    """A difference: the calls, the broken rules, the script and what it said."""
    lines = [f"### {escaped(found.name)}", "", *fenced("\n".join(found.calls))]
    for item in found.broken:
        lines += [
            f"- **{item.rule}**: {escaped(item.sentence)} Right: {escaped(item.oracle)}. Target: {escaped(item.target)}."
        ]
    links = [f"[{word}]({path})" for word, path in named(found) if path is not None]
    return [*lines, "", *([", ".join(links), ""] if links else []), *(fenced(found.says) if found.says else [])]


def named(found: Finding) -> tuple[tuple[str, str | None], ...]:
    """The files of a difference."""
    return ("script", found.script), ("witness", found.witness), ("step by step", found.page)


def fenced(text: str) -> list[str]:
    """The text as it is, behind a fence that it cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return [fence, text, fence, ""]


def escaped(text: str) -> str:
    """The text in one cell or line, with nothing that Markdown would take for its own."""
    flat = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in "\\|`*_<>[]#" else letter for letter in flat)
