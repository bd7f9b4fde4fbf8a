"""How a campaign stands: its tables, its verdict, and the shortest witness of each finding as a file of its own."""

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from impl.command import write_json
from impl.display import table
from impl.exit_codes import ExitCode
from verify.campaign.shapes import length
from verify.campaign.store import Finding, Store
from verify.campaign.unit import OURS
from verify.conformance.targets import TARGETS
from verify.show import verdict

MOST_UNKNOWN = 8
UNITS = "target|kind|units|done|unknown|tried|CPU s"
FINDINGS = "target|broken rules|shapes|met|length|shortest witness|its shape"


def folder_of(path: Path) -> Path:
    """Where the witnesses of a campaign are: beside its file."""
    return path.with_name(f"{path.stem}-witnesses")


def file_of(path: Path, finding: Finding) -> Path:
    """The file of the finding's shortest witness; it keeps its name when a shorter one comes."""
    content = "\0".join((finding.target, *finding.rules, finding.shape)).encode()
    target = finding.target if finding.target in (*OURS, *TARGETS) else "target"
    name = "-".join((target, *finding.rules[:2], hashlib.sha256(content).hexdigest()[:8]))
    return folder_of(path) / f"{name}.json"


def save_witnesses(path: Path, store: Store) -> None:
    """Write the shortest witness of every finding; OSError."""
    for finding in store.findings():
        file = file_of(path, finding)
        file.parent.mkdir(exist_ok=True)
        write_json(str(file), finding.witness)


def render(out: Console, path: Path, store: Store) -> None:
    """Print the tables of the campaign, and how each finding is seen again."""
    counts = [
        (
            count.target,
            count.kind,
            f"{count.total:,}",
            f"{count.done:,}",
            f"{count.unknown:,}",
            f"{count.tried:,}",
            f"{count.cpu_seconds:,.0f}",
        )
        for count in store.counts()
    ]
    out.print(table(f"campaign {path.name}", UNITS, counts))
    alike = [list(group) for _, group in groupby(store.findings(), lambda one: (one.target, one.rules))]
    if alike:
        out.print(table(f"findings, witnesses in {folder_of(path)}", FINDINGS, [row(path, group) for group in alike]))
    options = store.plan["order"]["target options"]
    for shortest, *_ in alike:
        command = again(shortest.target, file_of(path, shortest), options)
        out.print(Text(f"{', '.join(shortest.rules)} again: {command}"), soft_wrap=True)
    for unit, note in store.unknown(MOST_UNKNOWN):
        out.print(Text(f"unknown: {unit}: {note}"), soft_wrap=True)


def row(path: Path, alike: Sequence[Finding]) -> tuple[str, ...]:
    """The line of the findings of one target that break the same rules, the shortest first."""
    shortest = alike[0]
    return (
        shortest.target,
        ", ".join(shortest.rules),
        f"{len(alike):,}",
        f"{sum(one.units for one in alike):,}",
        f"{length(shortest.witness)}",
        file_of(path, shortest).name,
        shortest.shape + ("" if shortest.repeats else " (not every time)"),
    )


def again(target: str, file: Path, options: Mapping[str, Any]) -> str:
    """The command that replays the witness."""
    words = ["python", "-m", "verify"]
    if target in TARGETS:
        return shlex.join([*words, "conformance", "--target", target, "--witness", str(file)])
    words += ["replay", str(file)]
    if target not in OURS:
        words += ["--target", target]
        words += [word for name, value in options.items() for word in (f"--target-{name}", str(value))]
    return shlex.join(words)


def conclude(out: Console, store: Store, why: str = "") -> ExitCode:
    """Print the verdict and return its exit code; `why` says why units are open."""
    counts = store.counts()
    total, done = sum(count.total for count in counts), sum(count.done for count in counts)
    unknown = sum(count.unknown for count in counts)
    left = total - done - unknown
    findings = store.findings()
    parts = [f"{done:,} of {total:,} units done"]
    parts += [f"{unknown:,} unknown"] if unknown else []
    parts += [f"{left:,} open{f', {why}' if why else ''}: the same command goes on"] if left else []
    words = "; ".join(parts)
    if findings:
        return verdict(out, f"{len(findings):,} finding{'s' if len(findings) > 1 else ''}; {words}", ExitCode.FAIL)
    if left or unknown:
        return verdict(out, f"no finding so far; {words}", ExitCode.UNKNOWN)
    return verdict(out, f"no finding; {words}", ExitCode.PASS)
