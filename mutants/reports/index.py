"""The index of a folder of runs: all of them, newest first, as one page."""

from pathlib import Path

from impl.command import write_atomically
from mutants.reports.history import Past, read
from mutants.reports.page import FOLDER, text
from verify.view.html_page import FOLDER as SHOW
from verify.view.html_page import fill, text_of

FILES = {"report.html": "report", "report.json": "JSON", "report.sarif": "SARIF", "junit.xml": "JUnit"}
COLUMNS = ("Run", "Kind", "Verdict", "To look at", "Killed", "Planned", "Executed", "Seconds", "Revision", "Files")
NUMBERS = COLUMNS[3:8]


def write_index(reports: Path) -> Path:
    """Write index.html over the runs of the folder, those of its history and those that have begun; its path comes back."""
    runs = {past.folder: past for past in read(reports)}
    begun = {file.parent.name for file in reports.glob("*/results.jsonl")} - set(runs)
    rows = [(past.time, _row(reports, past)) for past in runs.values()]
    rows += [(_stamp(name), _begun(name)) for name in begun]
    head = "".join(f'<th class="{"number" if column in NUMBERS else ""}">{column}</th>' for column in COLUMNS)
    parts = {
        "count": f"{len(rows)} mutation run{'' if len(rows) == 1 else 's'}",
        "verdict": max(runs.values(), key=lambda past: past.time).verdict if runs else "",
        "head": f"<tr>{head}</tr>",
        "rows": "".join(row for _, row in sorted(rows, reverse=True)),
        "style": text_of(SHOW / "page.css", FOLDER / "page.css"),
    }
    path = reports / "index.html"
    write_atomically(path, fill(FOLDER / "index.html", parts))
    return path


def _row(reports: Path, past: Past) -> str:
    links = [
        f'<a href="{text(f"{past.folder}/{name}")}">{words}</a>'
        for name, words in FILES.items()
        if (reports / past.folder / name).is_file()
    ]
    numbers = (past.open, past.counts.get("killed", 0), past.planned, past.executed, f"{past.seconds:.1f}")
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return (
        f"<tr><th>{text(past.time)}</th><td>{text(past.kind)}</td><td><b class={past.verdict!r}>{past.verdict}</b></td>{cells}"
        f'<td class="mono">{text(past.revision)}</td><td>{", ".join(links) or "gone"}</td></tr>'
    )


def _begun(name: str) -> str:
    """A run that has begun and has no report, because it goes on or was ended."""
    return f'<tr><th>{text(name)}</th><td colspan="{len(COLUMNS) - 1}">has no report yet</td></tr>'


def _stamp(name: str) -> str:
    """The time in a folder's name as the history writes times, for the order alone."""
    stamp = name.rpartition("-")[2]
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:11]}:{stamp[11:13]}:{stamp[13:15]}Z"
