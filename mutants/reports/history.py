"""The history of runs: one line a run in history.jsonl beside the run folders, and its picture."""

import html
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from impl.exit_codes import ExitCode
from mutants.reports.data import OPEN, MutationRun, Outcome, counts

HISTORY = "history.jsonl"
MOST_BARS = 40
BAR, GAP, HEIGHT = 14, 4, 72


@dataclass(frozen=True, slots=True)
class Past:
    """One run: the name of its folder, when and what it was, its outcomes, and how it ended on which revision."""

    folder: str
    time: str
    kind: str
    planned: int
    executed: int
    counts: Mapping[str, int]
    seconds: float
    exit_code: int
    revision: str

    @property
    def open(self) -> int:
        """How many mutants somebody has to look at."""
        return sum(self.counts.get(outcome, 0) for outcome in OPEN)

    @property
    def verdict(self) -> str:
        """The name of the exit code in lower case."""
        return ExitCode(self.exit_code).name.lower() if self.exit_code in list(ExitCode) else f"exit {self.exit_code}"


def past_of(run: MutationRun, folder: str) -> Past:
    """The run's own line."""
    numbers = len(run.mutants), run.executed, counts(run.mutants), round(run.seconds, 3)
    return Past(folder, run.time, run.kind, *numbers, int(run.code), run.revision)


def append(reports: Path, past: Past) -> None:
    """Add the run's line at the end of the history, in one write: runs that end at once do not mix."""
    line = json.dumps(asdict(past), separators=(",", ":")).encode() + b"\n"
    descriptor = os.open(reports / HISTORY, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def read(reports: Path) -> list[Past]:
    """The runs, oldest first; a folder that was written again counts once, and a line that is none is left out."""
    try:
        lines = (reports / HISTORY).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    found = [past for past in map(_past, lines) if past is not None]
    return sorted({past.folder: past for past in found}.values(), key=lambda past: past.time)


def revision_of(root: Path) -> str:
    """The commit of the sources, with a + behind it when they have changed since; empty where git does not tell."""
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def chart(runs: Sequence[Past]) -> str:
    """The last runs as a picture, a bar each: what is killed below, what is open in stripes above it, told in its title."""
    runs = runs[-MOST_BARS:]
    most = max((past.planned for past in runs), default=0) or 1
    width = len(runs) * (BAR + GAP) + GAP
    bars = "".join(_bar(past, GAP + place * (BAR + GAP), most) for place, past in enumerate(runs))
    words = f"The last {len(runs)} runs: mutants of each, those that are open in stripes."
    return (
        f'<svg class="history" role="img" aria-label="{words}" viewBox="0 0 {width} {HEIGHT + 2}" width="{width}"'
        f' height="{HEIGHT + 2}"><defs><pattern id="stripes" width="4" height="4" patternUnits="userSpaceOnUse"'
        f' patternTransform="rotate(45)"><rect class="ground" width="4" height="4"/><rect class="open" width="2" height="4"/>'
        f'</pattern></defs>{bars}<path class="axis" d="M0 {HEIGHT + 1}H{width}"/></svg>'
    )


def _bar(past: Past, left: int, most: int) -> str:
    """One run; what somebody has to look at is never thinner than three pixels."""
    killed = past.counts.get(Outcome.KILLED, 0)
    equal = max(0, past.planned - killed - past.open)
    heights = [HEIGHT * number / most for number in (killed, equal)]
    heights.append(max(3.0, HEIGHT * past.open / most) if past.open else 0.0)
    above, parts = float(HEIGHT), []
    for kind, height in zip(("killed", "equal", "stripes"), heights, strict=True):
        above -= height
        parts.append(f'<rect class="{kind}" x="{left}" y="{max(above, 0):.1f}" width="{BAR}" height="{height:.1f}"/>')
    said = f"{past.time} {past.kind}: {past.verdict}, {killed} of {past.planned} killed, {past.open} open"
    title = html.escape(f"{said}, {past.seconds:.1f} s, {past.revision or 'no revision'}")
    return f"<g><title>{title}</title>{''.join(parts)}</g>"


def _past(line: str) -> Past | None:
    try:
        values: dict[str, Any] = json.loads(line)
        past = Past(**values)
        return replace(past, counts={Outcome(name): int(number) for name, number in past.counts.items()})
    except (ValueError, TypeError, AttributeError):
        return None
