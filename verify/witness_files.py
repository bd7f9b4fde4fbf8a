"""Witnesses on disk, of page tables and of managers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from impl.command import CommandError, write_atomically
from impl.exit_codes import ExitCode
from verify.managers import witness as of_managers
from verify.managers.witness import ManagerWitness
from verify.witness import Witness, from_json, to_json

W = TypeVar("W")


def load(path: Path) -> Witness:
    """Read a witness of a page table; CommandError says what is wrong with the file."""
    return read(path, from_json, "witness")


def load_of_manager(path: Path) -> ManagerWitness:
    """Read a witness of a manager; CommandError says what is wrong with the file."""
    return read(path, of_managers.from_json, "witness of a manager")


def read(path: Path, take: Callable[[Any], W], what: str) -> W:
    """What the file describes."""
    try:
        return take(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, OSError, RecursionError) as error:
        raise CommandError(f"{path} is no {what}: {error}", ExitCode.BROKEN) from error


def is_of_manager(path: Path) -> bool:
    """Whether the file says that it is a manager's witness, whatever else it holds."""
    with path.open("rb") as opened:
        return b'"manager witness"' in opened.read(4096)


def save(path: Path, witness: Witness | ManagerWitness) -> None:
    """Write the witness, whole or not at all."""
    values = of_managers.to_json(witness) if isinstance(witness, ManagerWitness) else to_json(witness)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(values, indent=1) + "\n")
