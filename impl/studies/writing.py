"""The findings of a study as JSON, as CSV, and as figures, each file written whole or not at all."""

import csv
import io
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from impl.command import CommandError, write_atomically
from impl.exit_codes import ExitCode
from impl.studies.study import Column, Findings, StudyTable


def check_folder(folder: Path) -> None:
    """Make the folder. A CommandError when nothing can be written there: better said before a study than after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder} cannot be a folder: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"nothing can be written to the folder {folder}")


def write(findings: Findings, folder: Path, figures: bool) -> list[Path]:
    """Write study.json, study-table.csv and, if wanted, study-chart.svg and .png; the paths. Raises OSError, CommandError."""
    written = []
    for name, content in _files(findings, figures):
        write_atomically(folder / name, content)
        written.append(folder / name)
    return written


def heading(column: Column) -> str:
    """The column's name with its unit."""
    return f"{column.name} [{column.unit}]" if column.unit else column.name


def to_json(findings: Findings) -> dict[str, Any]:
    """The findings as JSON values."""
    return {"kvproof": "study", "version": 1, **asdict(findings)}


def to_csv(table: StudyTable) -> str:
    """The table as CSV: one line of headings, figures with all their digits, nothing for None."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(map(heading, table.columns))
    lines.writerows(table.rows)
    return text.getvalue()


def _files(findings: Findings, figures: bool) -> Iterator[tuple[str, str | bytes]]:
    """Name and content of each file."""
    document = json.dumps(to_json(findings), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    yield f"{findings.study}.json", document
    for table in findings.tables:
        yield f"{findings.study}-{table.name}.csv", to_csv(table)
    if not figures:
        return
    try:
        # Here, since it takes half a second that no other command should.
        from impl.studies.drawing import drawn
    except ModuleNotFoundError as error:
        message = f"figures need {error.name}, which is not installed: run .ci/setup, or pass --no-figures"
        raise CommandError(message, ExitCode.UNKNOWN) from None
    for chart in findings.charts:
        for form, content in drawn(chart).items():
            yield f"{findings.study}-{chart.name}.{form}", content
