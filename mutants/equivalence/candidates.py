"""Which mutants are asked about: those of ids, of a catalogue, or what survived the last generic run."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from impl.command import CommandError
from impl.exit_codes import ExitCode
from mutants.generic.generate import generate_all
from mutants.generic.surface import read_surface
from mutants.mutant import Mutant, Project
from mutants.verdicts import Status

RUNS = Path("reports")
RESULTS, REPORT = "results.jsonl", "report.json"
SURVIVED = frozenset(
    {Status.SURVIVED, Status.EQUIVALENT_PROVED, Status.EQUIVALENT_SCOPE, Status.EQUIVALENT_REASON, Status.UNKNOWN}
)
"""Verdicts after which a mutant may be no new program, those that the ledger gave among them."""


def generic_mutants(project: Project) -> tuple[Mutant, ...]:
    """Every generic mutant of the project's surface."""
    root = Path(project.root)
    return tuple(mutant for mutants in generate_all(read_surface(root), root).values() for mutant in mutants)


def last_run(kind: str = "generic", runs: Path = RUNS) -> Path:
    """The folder of the last run of that kind: the names end in the time, so they sort by it."""
    folders = sorted(file.parent for file in runs.glob(f"{kind}-*/{RESULTS}"))
    if not folders:
        raise CommandError(f"no run in {runs}/{kind}-*: run python -m mutants --generic first", ExitCode.USAGE)
    return folders[-1]


def survivors(folder: Path) -> tuple[str, ...]:
    """Ids of the mutants that survived the run in that folder, in its order.

    A finished run has its report; one that was interrupted has the results that came, of which a last line that is not whole
    is none, and not the mutants that no stage calls.
    """
    report = folder / REPORT
    file = report if report.exists() else folder / RESULTS
    try:
        text = file.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1].splitlines()
        found = json.loads(text)["kvproof"]["mutants"] if file == report else [json.loads(line) for line in whole]
        verdicts = [(str(one["id"]), _status(one["verdict"])) for one in found]
    except (ValueError, TypeError, KeyError) as error:
        raise CommandError(f"{file} has no ids and verdicts: {type(error).__name__}: {error}") from None
    return tuple(dict.fromkeys(id for id, verdict in verdicts if verdict in SURVIVED))


def _status(verdict: Any) -> str:
    """The word, alone in a report and with its detail in results."""
    return str(verdict["status"] if isinstance(verdict, dict) else verdict)


def chosen(mutants: Sequence[Mutant], ids: Iterable[str]) -> tuple[Mutant, ...]:
    """The mutants of these ids, in their order; a CommandError names those that no mutant has."""
    known = {mutant.id: mutant for mutant in mutants}
    wanted = tuple(dict.fromkeys(ids))
    gone = [id for id in wanted if id not in known]
    if gone:
        raise CommandError(f"no mutant {', '.join(gone)}: their functions have changed since, or the ids are wrong")
    return tuple(known[id] for id in wanted)
