"""A report as one HTML page that needs no other file: the tables of the report, in the style of the step-by-step pages."""

import html
import re
from pathlib import Path

from verify.conformance.report import Finding, TargetReport
from verify.conformance.tables import Table, facts, tables
from verify.view.html_page import FOLDER as STEPS

FOLDER = Path(__file__).resolve().parent / "report_page"


def report_html(report: TargetReport) -> str:
    """The page."""
    reasons = "".join(f"<li>{text(line)}</li>" for line in (*report.failures, *report.doubts))
    rows = "".join(f"<tr><th>{text(name)}</th><td>{text(value)}</td></tr>" for name, value in facts(report))
    body = [f"<h3>Run</h3><table><tbody>{rows}</tbody></table>"]
    for number, table in enumerate(tables(report)):
        body.append(drawn(table))
        if number == 0:
            body += map(described, report.findings)
    body += [f"<p>{text(note)}</p>" for note in report.notes]
    style = [(folder / "page.css").read_text(encoding="utf-8") for folder in (STEPS, FOLDER)]
    parts = {
        "title": text(f"{report.title} {report.version}: {report.verdict}"),
        "verdict": "" if report.verdict == "pass" else "fail",
        "reasons": f"<ul>{reasons}</ul>" if reasons else "",
        "body": "\n".join(body),
        "style": "".join(style),
    }
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def drawn(table: Table) -> str:
    """A table, or the words in its place."""
    heading = f"<h3>{text(table.heading)}</h3>"
    if not table.rows:
        return f"{heading}<p>{text(table.nothing)}</p>"
    columns = "".join(f"<th>{text(name)}</th>" for name in table.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    return f'{heading}<div class="scroll"><table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div>'


def described(found: Finding) -> str:
    """A difference: the calls, the broken rules, the files, and what the script said."""
    rules = "".join(
        f'<div class="rule"><h4><b>{text(item.rule)}</b><span>{text(item.sentence)}</span></h4><dl><dt>the oracle</dt>'
        f"<dd>{text(item.oracle)}</dd><dt>the target</dt><dd>{text(item.target)}</dd></dl></div>"
        for item in found.broken
    )
    files = (("script", found.script), ("witness", found.witness), ("step by step", found.page))
    links = " · ".join(f'<a href="{text(path)}">{word}</a>' for word, path in files if path is not None)
    says = f"<pre>{text(found.says)}</pre>" if found.says else ""
    calls = text("\n".join(found.calls))
    return f"<h3>{text(found.name)}</h3><pre>{calls}</pre>{rules}<p>{links}</p>{says}"


def text(words: str) -> str:
    """The words as text, in an attribute too."""
    return html.escape(words)
