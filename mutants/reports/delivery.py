"""Where the reports of a command go: a run folder below --reports, one JSON document at --json, or both."""

import os
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from impl.command import CommandError, check_place, write_json
from mutants.engine import Record
from mutants.reports.annotations import annotations
from mutants.reports.data import Json
from mutants.reports.folder import new_folder, run_with, write_reports
from mutants.rtl_engine import RtlRecord

DEFAULT = Path("reports")

REPORTS = click.option(
    "--reports",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write JSON, a page, SARIF, JUnit, the history and an index below this folder."
    f"  [default: {DEFAULT}, for a run of the whole catalogue without --json]",
)
JSON = click.option("--json", "path", metavar="PATH", help='Write the report as JSON alone there; "-": stdout.')


@dataclass(frozen=True, slots=True)
class Destination:
    """Where reports go; None is nowhere."""

    path: str | None
    reports: Path | None


def destination(path: str | None, reports: Path | None, whole: bool) -> Destination:
    """Where the reports of a run go that is `whole` or of a few mutants; a CommandError when nothing can be written there."""
    if path is None and reports is None and whole:
        reports = DEFAULT
    if path is not None:
        check_place(path)
    if reports is not None:
        try:
            reports.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"no folder {str(reports)!r} can be made for reports: {error.strerror}") from error
        if not os.access(reports, os.W_OK):
            raise CommandError(f"nothing can be written below {str(reports)!r}")
    return Destination(path, reports)


def deliver(
    out: Console,
    where: Destination,
    kind: str,
    record: Record | RtlRecord,
    document: Json,
    folder: Path | None = None,
) -> None:
    """Write the reports there, and print where the page is; on GitHub also as annotations of the change.

    A run that has a folder already gets its reports there; where JSON alone was asked for, only the one that says that it is
    complete.
    """
    if where.path is not None:
        write_json(where.path, document)
        if where.reports is None and folder is not None:
            write_json(str(folder / "report.json"), document)
            folder = None
    if os.environ.get("GITHUB_ACTIONS") == "true" and where.path != "-":
        click.echo("\n".join(annotations(run_with(record))))
    if where.reports is not None or folder is not None:
        with out.status("drawing the reports"):
            folder = folder or new_folder(where.reports or DEFAULT, kind, record.seconds)
            page = next(file for file in write_reports(folder, record) if file.suffix == ".html")
        out.print(Text(f"report: {page}"), soft_wrap=True)
