"""The file of a campaign: its plan, its units and what they found, in SQLite.

One process has it open to write, and every unit is one transaction: whatever is killed, the file has whole units. Readers are
welcome meanwhile. A finding is what witnesses of one target, broken rules and shape have in common, with the first by rank.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from impl.command import CommandError, check_place
from impl.exit_codes import ExitCode
from verify.campaign.shapes import rank, shape, spelled
from verify.campaign.unit import Unit
from verify.campaign.work import Result

BATCH = 1_000
APPLICATION = 0x6B767063
VERSION = 1
SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
CREATE TABLE plan (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE unit (
    number INTEGER PRIMARY KEY, target TEXT NOT NULL, kind TEXT NOT NULL, place TEXT NOT NULL, seed INTEGER,
    work TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open', note TEXT NOT NULL DEFAULT '',
    tried INTEGER NOT NULL DEFAULT 0, cpu_seconds REAL NOT NULL DEFAULT 0, ended TEXT
);
CREATE INDEX open_units ON unit (state, number);
CREATE TABLE finding (
    id INTEGER PRIMARY KEY, target TEXT NOT NULL, rules TEXT NOT NULL, shape TEXT NOT NULL,
    repeats INTEGER NOT NULL, witness TEXT NOT NULL, UNIQUE (target, rules, shape)
);
CREATE TABLE sighting (finding INTEGER NOT NULL REFERENCES finding, unit INTEGER NOT NULL REFERENCES unit,
    PRIMARY KEY (finding, unit)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What units found: its shortest witness as JSON values, how many units met it, and the first of them.

    `repeats` says that the witness broke its rules again when it was replayed.
    """

    target: str
    rules: tuple[str, ...]
    shape: str
    witness: Mapping[str, Any]
    repeats: bool
    units: int
    first: int


@dataclass(frozen=True, slots=True)
class Count:
    """The units of a target and kind by how they stand, with what they tried and the seconds of CPU."""

    target: str
    kind: str
    total: int
    done: int
    unknown: int
    tried: int
    cpu_seconds: float


class Store:
    """An open campaign."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @property
    def plan(self) -> dict[str, Any]:
        """What the campaign was ordered with, and for which sources."""
        return {name: json.loads(value) for name, value in self._connection.execute("SELECT name, value FROM plan")}

    def open_units(self) -> Iterator[Unit]:
        """The units without a result, in order, a batch at a time: results may be kept meanwhile."""
        last = 0
        while rows := self._connection.execute(
            "SELECT number, target, kind, place, seed, work FROM unit WHERE state = 'open' AND number > ? "
            "ORDER BY number LIMIT ?",
            (last, BATCH),
        ).fetchall():
            for number, target, kind, place, seed, work in rows:
                yield Unit(number, target, kind, place, seed, json.loads(work))
                last = number

    def forget_unknown(self) -> None:
        """Open the units again that ended unknown, none of which has found anything."""
        with self._connection:
            self._connection.execute("UPDATE unit SET state = 'open', note = '' WHERE state = 'unknown'")

    def keep(self, unit: Unit, result: Result, ended: str) -> None:
        """Keep the result of a unit, done or unknown, as one transaction; `ended` is when."""
        with self._connection:
            self._connection.execute(
                "UPDATE unit SET state = ?, note = ?, tried = ?, cpu_seconds = ?, ended = ? WHERE number = ?",
                (result.state, result.note, result.tried, result.cpu_seconds, ended, unit.number),
            )
            for found in result.found:
                self._sight(unit, found["witness"], found["repeats"])

    def _sight(self, unit: Unit, witness: Mapping[str, Any], repeats: bool) -> None:
        """Note that the unit met the finding of the witness, which becomes its witness when it is the shorter one."""
        key = (unit.target, ", ".join(witness["rules"]), shape(witness))
        row = self._connection.execute(
            "SELECT id, witness, repeats FROM finding WHERE target = ? AND rules = ? AND shape = ?", key
        ).fetchone()
        if row is None:
            added = self._connection.execute(
                "INSERT INTO finding (target, rules, shape, repeats, witness) VALUES (?, ?, ?, ?, ?)",
                (*key, repeats, spelled(witness)),
            )
            number = added.lastrowid
        else:
            number, known, repeated = row
            if rank(witness, repeats) < rank(json.loads(known), bool(repeated)):
                self._connection.execute(
                    "UPDATE finding SET witness = ?, repeats = ? WHERE id = ?", (spelled(witness), repeats, number)
                )
        self._connection.execute("INSERT OR IGNORE INTO sighting VALUES (?, ?)", (number, unit.number))

    def counts(self) -> list[Count]:
        """How the units stand, by target and kind in the order of the plan."""
        rows = self._connection.execute(
            "SELECT target, kind, count(*), sum(state = 'done'), sum(state = 'unknown'), sum(tried), sum(cpu_seconds) "
            "FROM unit GROUP BY target, kind ORDER BY min(number)"
        )
        return [Count(*row) for row in rows]

    def findings(self) -> list[Finding]:
        """All findings, by target and rules, the shortest first."""
        rows = self._connection.execute(
            "SELECT target, rules, shape, witness, repeats, count(*), min(unit) "
            "FROM finding JOIN sighting ON sighting.finding = finding.id GROUP BY finding.id"
        )
        found = [
            Finding(target, tuple(rules.split(", ")), shaped, json.loads(witness), bool(repeats), units, first)
            for target, rules, shaped, witness, repeats, units, first in rows
        ]
        return sorted(found, key=lambda one: (one.target, one.rules, rank(one.witness, one.repeats)))

    def number_of_findings(self) -> int:
        """How many findings there are."""
        (number,) = self._connection.execute("SELECT count(*) FROM finding").fetchone()
        return int(number)

    def unknown(self, most: int) -> list[tuple[str, str]]:
        """Some of the units that ended unknown, in words, each with the reason."""
        rows = self._connection.execute(
            "SELECT number, target, kind, place, seed, note FROM unit WHERE state = 'unknown' ORDER BY number LIMIT ?",
            (most,),
        )
        return [
            (str(Unit(number, target, kind, place, seed, {})), note) for number, target, kind, place, seed, note in rows
        ]


def create(path: Path, plan: Mapping[str, Any], units: Sequence[Unit]) -> None:
    """Write a new campaign to the path, whole or not at all, over one that is there and not in use; CommandError."""
    check_place(str(path))
    with locked(path) if path.exists() else nullcontext(), sqlite_told(path):
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with closing(sqlite3.connect(temporary)) as connection:
                connection.executescript(SCHEMA)
                with connection:
                    rows = [(name, json.dumps(value)) for name, value in plan.items()]
                    connection.executemany("INSERT INTO plan VALUES (?, ?)", rows)
                    connection.executemany(
                        "INSERT INTO unit (number, target, kind, place, seed, work) VALUES (?, ?, ?, ?, ?, ?)",
                        [(u.number, u.target, u.kind, u.place, u.seed, json.dumps(u.work)) for u in units],
                    )
            for tail in ("-wal", "-shm"):  # of a run that was killed: SQLite would apply them to the new file
                path.with_name(path.name + tail).unlink(missing_ok=True)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def check_is_campaign(path: Path) -> None:
    """CommandError unless the file is a campaign of this version."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        raise CommandError(f"{path} is no file of a campaign: {error}", ExitCode.BROKEN) from None
    if application != APPLICATION:
        raise CommandError(f"{path} is no file of a campaign", ExitCode.BROKEN)
    if version != VERSION:
        raise CommandError(f"{path} is a campaign of version {version}, not {VERSION}", ExitCode.BROKEN)


@contextmanager
def reading(path: Path) -> Iterator[Store]:
    """The campaign, to be looked at while another process may go on with it; CommandError."""
    check_is_campaign(path)
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        yield Store(connection)


@contextmanager
def writing(path: Path) -> Iterator[Store]:
    """The campaign, for this process alone to go on with; CommandError."""
    with locked(path), sqlite_told(path), closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        yield Store(connection)
        with suppress(sqlite3.OperationalError):  # one file again, unless somebody is reading
            connection.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def sqlite_told(path: Path) -> Iterator[None]:
    """Within, an error of SQLite is a CommandError: a full disk, for one."""
    try:
        yield
    except sqlite3.Error as error:
        raise CommandError(f"{path} cannot be read or written: {error}", ExitCode.BROKEN) from None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Within, no other run can go on with the campaign; CommandError when one does, or when the file is none."""
    check_is_campaign(path)
    # SQLite's locks are of another kind, and are lost when a descriptor of the file is closed: this one stays to the end.
    lock = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise CommandError(f"{path} is in use: another run goes on with it", ExitCode.BROKEN) from None
    finally:
        os.close(lock)
