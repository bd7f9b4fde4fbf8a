"""Verdicts of earlier runs by what they rest on, what the original did then, and what each mutant cost.

The key of a verdict covers all that can change it: the mutated code, what was asked, and the surroundings. What is stale is
a miss.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from impl.command import CommandError
from mutants.farm.job import Finding, Job, Json, digest
from mutants.farm.surroundings import Surroundings
from mutants.verdicts import Status

PLACE = Path(".builds", "verdicts", "verdicts.sqlite")
DAYS = 30
"""Unused for so long, a verdict is forgotten."""

FINAL = frozenset(
    {Status.KILLED_ASSERTION, Status.KILLED_CRASH, Status.KILLED_GUARD, Status.KILLED_RUNAWAY, Status.SURVIVED}
)
"""What is kept: verdicts that another run must come to as well."""

TABLES = (
    "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, finding TEXT NOT NULL, used INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS originals (key TEXT PRIMARY KEY, said TEXT NOT NULL, used INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS costs (id TEXT PRIMARY KEY, cpu_seconds REAL NOT NULL)",
)


def key_of(job: Job, around: Surroundings) -> str:
    """The key of the job's verdict."""
    mutant = job.mutant
    asked = (mutant.module, job.code, job.stages, job.at_least, mutant.declares_runaway)
    return digest([around.seen_by(job.stages, mutant.module), asked, [sorted(rules) for rules in mutant.expected]])


class Cache:
    """The verdicts in one file, which several runs may use at once. A file that is none of ours is begun anew."""

    def __init__(self, place: Path = PLACE) -> None:
        self.place = place

    def known(self, jobs: Sequence[Job], around: Surroundings) -> list[Finding]:
        """The findings that are known, each under its job's mutant."""
        found: list[Finding] = []
        keys = {key_of(job, around): job for job in jobs}
        with closing(self._open()) as base:
            for key, job in keys.items():
                row = base.execute("SELECT finding FROM verdicts WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    with suppress(ValueError, TypeError, KeyError):
                        found.append(Finding.of_json(json.loads(row[0]) | {"id": job.mutant.id}))
                        base.execute("UPDATE verdicts SET used = unixepoch() WHERE key = ?", (key,))
            base.commit()
        return found

    def keep(self, pairs: Iterable[tuple[Job, Finding]], around: Surroundings) -> None:
        """Keep the final verdicts among these, and what each mutant cost."""
        pairs = list(pairs)
        final = [(key_of(job, around), json.dumps(one.as_json())) for job, one in pairs if one.verdict.status in FINAL]
        with closing(self._open()) as base:
            base.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, unixepoch())", final)
            costs = [(finding.id, finding.run.cpu_seconds) for _, finding in pairs]
            base.executemany("INSERT OR REPLACE INTO costs VALUES (?, ?)", costs)
            base.commit()

    def recall(self, key: str) -> Json | None:
        """What was kept of the original under this key; None when nothing was."""
        with closing(self._open()) as base:
            row = base.execute("SELECT said FROM originals WHERE key = ?", (key,)).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def remember(self, key: str, said: Json) -> None:
        """Keep something of the original under this key."""
        with closing(self._open()) as base:
            base.execute("INSERT OR REPLACE INTO originals VALUES (?, ?, unixepoch())", (key, json.dumps(said)))
            base.commit()

    def costs(self) -> dict[str, float]:
        """Seconds of CPU that each mutant took when it was last run."""
        with closing(self._open()) as base:
            return dict(base.execute("SELECT id, cpu_seconds FROM costs"))

    def _open(self) -> sqlite3.Connection:
        self.place.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _with_tables(self.place)
        except sqlite3.OperationalError as error:
            raise CommandError(f"{self.place}: {error}; --no-cache runs without it") from error
        except sqlite3.DatabaseError:
            self.place.unlink()
            return _with_tables(self.place)


def _with_tables(place: Path) -> sqlite3.Connection:
    base = sqlite3.connect(place, timeout=60)
    try:
        for table in TABLES:
            base.execute(table)
        for table in ("verdicts", "originals"):
            base.execute(f"DELETE FROM {table} WHERE used < unixepoch() - ?", (DAYS * 86400,))
        base.commit()
    except BaseException:
        base.close()
        raise
    return base
