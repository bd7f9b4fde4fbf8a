"""The checked-in ledger: survivors that are let stand, each with what kind of word that rests on, and why.

An entry is bound to a mutant by its id, a hash of the change and of the function around it: it goes out of date by itself
when that function is edited.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from impl.command import CommandError, write_json
from impl.schema import Schema
from mutants.mutant import Mutant

LEDGER = Path("mutants", "ledger.json")
PROVED, SCOPE, REASON = "proved", "scope+reason", "reason"

_TEXT = {"type": "string"}
_ENTRY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9a-f]{8,64}$"},
        "module": {"type": "string", "minLength": 1},
        "function": _TEXT,
        "operator": {"type": "string", "minLength": 1},
        "before": {"type": "string", "minLength": 1},
        "after": _TEXT,
        "kind": {"enum": [PROVED, SCOPE, REASON]},
        "reason": _TEXT,
        "given": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "scopes": {"type": "array", "items": {"type": "string", "minLength": 1}},
    },
    "additionalProperties": False,
    "required": ["id", "module", "function", "operator", "before", "after", "kind", "reason"],
}
SCHEMA = Schema(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"entries": {"type": "array", "items": _ENTRY}},
        "additionalProperties": False,
        "required": ["entries"],
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One mutant that is let stand.

    `kind` is what its equivalence rests on: a proof, which takes what is `given` for granted; the same behaviour in the
    `scopes`, and a reason; or a reason alone. `reason` is a person's sentence, and no entry counts without one.
    """

    id: str
    module: str
    function: str
    operator: str
    before: str
    after: str
    kind: str
    reason: str
    given: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()

    def is_of(self, mutant: Mutant) -> bool:
        """Whether it says of the mutant what the mutant is."""
        ours = self.id, self.module, self.function, self.operator, self.before, self.after
        return ours == (mutant.id, mutant.module, mutant.function, mutant.operator, mutant.before, mutant.after)


def read_ledger(path: str | Path = LEDGER) -> tuple[Entry, ...]:
    """The entries of the file, none when there is no file.

    A CommandError in one line for a file that is no ledger, an OSError for one that cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is no ledger: {error}") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path} is no JSON: {error}") from None
    try:
        SCHEMA.check(document)
    except ValueError as error:
        raise CommandError(f"{path} is no ledger: {error}".replace("\n", " ")) from None
    entries = tuple(_entry(data) for data in document["entries"])
    ids = [entry.id for entry in entries]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise CommandError(f"{path} is no ledger: {', '.join(twice)} stands in it twice")
    return entries


def write_ledger(entries: Iterable[Entry], path: str | Path = LEDGER) -> None:
    """Write the entries, by module, function and id, so that a difference between two ledgers reads well."""
    ordered = sorted(entries, key=lambda entry: (entry.module, entry.function, entry.id))
    write_json(str(path), {"entries": [_document(entry) for entry in ordered]})


def _entry(data: dict[str, Any]) -> Entry:
    return Entry(**{**data, "given": tuple(data.get("given", ())), "scopes": tuple(data.get("scopes", ()))})


def _document(entry: Entry) -> dict[str, object]:
    """The entry without what is empty and need not be there."""
    return {name: value for name, value in asdict(entry).items() if value or name in _ENTRY["required"]}
