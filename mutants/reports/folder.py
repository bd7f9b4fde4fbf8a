"""The folder of a run, reports/<kind>-<UTC stamp>/, with everything that is drawn of its record, and the history beside it."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from impl.command import write_atomically
from mutants.ablation import STAGE
from mutants.engine import Record
from mutants.gate import Decision
from mutants.reports.data import Json, MutationRun
from mutants.reports.from_record import run_of, run_of_ablation
from mutants.reports.from_rtl import run_of_rtl
from mutants.reports.history import append, past_of, read, revision_of
from mutants.reports.index import write_index
from mutants.reports.junit import junit
from mutants.reports.page import report_html
from mutants.reports.sarif import sarif
from mutants.reports.steps import HERE, steps_of
from mutants.reports.stryker import check_document, document
from mutants.rtl_engine import RtlRecord

STAMP = "%Y%m%dT%H%M%S%fZ"
NAME = re.compile(r"(?P<kind>.+)-(?P<stamp>\d{8}T\d{6})\d*Z")


def new_folder(reports: Path, kind: str, seconds: float) -> Path:
    """Make the folder of a run that began so many seconds ago. Raises OSError."""
    begun = datetime.now(UTC) - timedelta(seconds=seconds)
    folder = reports / f"{kind}-{begun.strftime(STAMP)}"
    folder.mkdir(parents=True)
    return folder


def write_reports(
    folder: Path,
    record: Record | RtlRecord,
    decision: Decision | None = None,
    accepted: Mapping[str, str] | None = None,
) -> tuple[Path, ...]:
    """Write report.json, report.html, report.sarif and junit.xml, a line of history and the index of all runs.

    The verdict is the gate's unless a decision is given; `accepted` are survivors of the ledger, id -> reason. The paths of
    the files come back. Raises OSError, and ValueError for a report that breaks its schema.
    """
    run = dated(run_with(record, decision, accepted), folder)
    steps = steps_of(record, run) if isinstance(record, Record) else {}
    report = document(run)
    check_document(report)
    past = past_of(run, folder.name)
    earlier = [one for one in read(folder.parent) if one.kind == run.kind and one.folder != folder.name]
    texts = {
        "report.json": written(report),
        "report.html": report_html(run, steps, [*earlier, past]),
        "report.sarif": written(sarif(run)),
        "junit.xml": junit(run),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text)
    append(folder.parent, past)
    return (*(folder / name for name in texts), write_index(folder.parent))


def run_with(
    record: Record | RtlRecord, decision: Decision | None = None, accepted: Mapping[str, str] | None = None
) -> MutationRun:
    """The run that the record is of: of the RTL, an ablation, or one of the engine's."""
    if isinstance(record, RtlRecord):
        return run_of_rtl(record)
    if record.plan.project.stages == (STAGE,):
        return run_of_ablation(record)
    return run_of(record, decision, accepted)


def dated(run: MutationRun, folder: Path) -> MutationRun:
    """The run with its kind and its beginning as the folder's name has them, and the revision of the sources here."""
    found = NAME.fullmatch(folder.name)
    if found is None:
        begun, kind = datetime.now(UTC), run.kind
    else:
        begun, kind = datetime.strptime(found["stamp"], "%Y%m%dT%H%M%S"), found["kind"]
    return replace(run, kind=kind, time=begun.strftime("%Y-%m-%dT%H:%M:%SZ"), revision=revision_of(HERE))


def written(document: Json) -> str:
    """The document as indented JSON."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
