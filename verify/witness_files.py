"""Witnesses on disk."""

import json
from pathlib import Path

from impl.command import CommandError, write_atomically
from impl.exit_codes import ExitCode
from verify.witness import Witness, from_json, to_json


def load(path: Path) -> Witness:
    """Read a witness; CommandError says what is wrong with the file."""
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, OSError, RecursionError) as error:
        raise CommandError(f"{path} is no witness: {error}", ExitCode.BROKEN) from error


def save(path: Path, witness: Witness) -> None:
    """Write the witness, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(to_json(witness), indent=1) + "\n")
