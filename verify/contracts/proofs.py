"""Proofs that earlier runs have left: what was confirmed of the same sources by the same solver need not be proved again.

A proof is a file named after its contract and a digest of all that it depends on. Only what was confirmed is kept, and a file
that says anything else counts for nothing: the contract is proved again.
"""

import hashlib
import json
import platform
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from impl.command import write_atomically
from verify.contracts.registry import Contract
from verify.contracts.runner import CONFIRMED, Result
from verify.sources import ROOT, sources

FOLDER = ROOT / ".builds" / "proofs"
SOLVER = ("crosshair-tool", "z3-solver")


def earlier(contract: Contract, folder: Path = FOLDER) -> Result | None:
    """The contract's proof of an earlier run, None when there is none of these sources by this solver."""
    try:
        kept = json.loads(_file(contract, folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if kept != {"contract": contract.name, "words": CONFIRMED}:
        return None
    return Result(contract.name, "confirmed", CONFIRMED, {}, "", 0.0, earlier=True)


def keep(result: Result, contract: Contract, folder: Path = FOLDER) -> None:
    """Leave the proof for later runs, if it is one; a folder that cannot be written only means that there will be none."""
    if result.verdict != "confirmed" or result.words != CONFIRMED:
        return
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(_file(contract, folder), json.dumps({"contract": contract.name, "words": CONFIRMED}) + "\n")


def _file(contract: Contract, folder: Path) -> Path:
    of = (contract.name, sources(), platform.python_version(), *map(version, SOLVER))
    return folder / f"{contract.name}-{hashlib.sha256('|'.join(of).encode()).hexdigest()[:24]}.json"
