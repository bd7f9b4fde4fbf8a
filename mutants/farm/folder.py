"""The folder of one run: what was planned, every finding as it came, and the reports at the end.

`results.jsonl` only grows, a line a finding, so that a run which is killed at any moment has lost nothing that it had; the
line that was being written then is no finding and is cut off by the run that resumes.
"""

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from impl.command import CommandError, write_json
from mutants.farm.job import Finding

REPORTS = Path("reports")
PLAN, RESULTS, REPORT = "plan.json", "results.jsonl", "report.json"
"""A folder with a report is that of a finished run."""

NEWEST = "the newest"


class RunFolder:
    """A folder that a run writes into; `kind` is the first part of its name, `plan` the hash of what it runs."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def begun(cls, kind: str, plan: str, reports: Path = REPORTS) -> Self:
        """A new folder for the plan of this hash."""
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        path = reports / f"{kind}-{stamp}"
        path.mkdir(parents=True)
        write_json(str(path / PLAN), {"kind": kind, "plan": plan})
        return cls(path)

    @classmethod
    def resumed(cls, path: Path, plan: str) -> Self:
        """The folder of an interrupted run of this plan; a CommandError when it is none."""
        try:
            written = json.loads((path / PLAN).read_text(encoding="utf-8"))["plan"]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise CommandError(f"{path} holds no run that can be resumed: {error}") from error
        if written != plan:
            raise CommandError(f"{path} is a run of other mutants, stages or sources: nothing of it can be resumed")
        return cls(path)

    def known(self) -> list[Finding]:
        """The findings so far, a mutant's first one; what follows the last whole line is cut off."""
        try:
            data = (self.path / RESULTS).read_bytes()
        except FileNotFoundError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        os.truncate(self.path / RESULTS, len(whole))
        found: dict[str, Finding] = {}
        for line in whole.splitlines():
            try:
                finding = Finding.of_json(json.loads(line))
            except (ValueError, TypeError, KeyError):
                continue
            found.setdefault(finding.id, finding)
        return list(found.values())

    def keep(self, findings: Iterable[Finding]) -> None:
        """Append the findings, with one write."""
        lines = "".join(json.dumps(finding.as_json()) + "\n" for finding in findings)
        with open(self.path / RESULTS, "ab", buffering=0) as file:
            file.write(lines.encode())


def to_resume(kind: str, reports: Path = REPORTS) -> Path:
    """The newest folder of that kind whose run did not finish; a CommandError when there is none."""
    folders = [path.parent for path in reports.glob(f"{kind}-*/{PLAN}") if not (path.parent / REPORT).exists()]
    if not folders:
        raise CommandError(f"no interrupted run of kind {kind} in {reports}/")
    return max(folders, key=lambda folder: folder.name)
