"""Witnesses on disk, of page tables, of managers and of programs.

Those of programs bring the chip along: they are imported by what has such a witness at hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from impl.command import CommandError, write_atomically
from impl.exit_codes import ExitCode
from verify.managers import witness as of_managers
from verify.managers.witness import ManagerWitness
from verify.witness import Witness, from_json, to_json

if TYPE_CHECKING:
    from verify.fuzz.witness import ProgramWitness

    AnyWitness = Witness | ManagerWitness | ProgramWitness

W = TypeVar("W")


def load(path: Path) -> Witness:
    """Read a witness of a page table; CommandError says what is wrong with the file."""
    return read(path, from_json, "witness")


def load_of_manager(path: Path) -> ManagerWitness:
    """Read a witness of a manager; CommandError says what is wrong with the file."""
    return read(path, of_managers.from_json, "witness of a manager")


def load_of_program(path: Path) -> ProgramWitness:
    """Read a witness of a program; CommandError says what is wrong with the file."""
    from verify.fuzz.witness import from_json as of_program

    return read(path, of_program, "witness of a program")


def read(path: Path, take: Callable[[Any], W], what: str) -> W:
    """What the file describes."""
    try:
        return take(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, OSError, RecursionError) as error:
        raise CommandError(f"{path} is no {what}: {error}", ExitCode.BROKEN) from error


def is_of_manager(path: Path) -> bool:
    """Whether the file says that it is a manager's witness, whatever else it holds."""
    return _says(path, b'"manager witness"')


def is_of_program(path: Path) -> bool:
    """Whether the file says that it is a program's witness, whatever else it holds."""
    return _says(path, b'"program witness"')


def save(path: Path, witness: AnyWitness) -> None:
    """Write the witness, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(values_of(witness), indent=1) + "\n")


def keep(folder: Path | None, witness: AnyWitness) -> tuple[Path | None, str]:
    """Where the witness was written below the folder, nowhere when that is None; and why not, for a title, when it cannot be."""
    if folder is None:
        return None, ""
    path = folder / f"{name_of(witness)}.json"
    try:
        save(path, witness)
    except OSError as error:
        return None, f" (no witness: {path} cannot be written, {error.strerror})"
    return path, ""


def name_of(witness: AnyWitness) -> str:
    """The first rules that it was saved for, and eight hex digits of its content."""
    content = json.dumps(values_of(witness), sort_keys=True).encode()
    return f"{'-'.join(witness.rules[:2])}-{hashlib.sha256(content).hexdigest()[:8]}"


def values_of(witness: AnyWitness) -> dict[str, Any]:
    """The witness as JSON values."""
    match witness:
        case Witness():
            return to_json(witness)
        case ManagerWitness():
            return of_managers.to_json(witness)
        case _:
            from verify.fuzz.witness import to_json as of_program

            return of_program(witness)


def _says(path: Path, kind: bytes) -> bool:
    with path.open("rb") as opened:
        return kind in opened.read(4096)
