"""Which sources a result is of."""

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUBJECTS = ("spec", "impl", "verify")
SUFFIXES = frozenset({".py", ".json", ".toml"})


@cache
def sources() -> str:
    """A digest of every Python file and data file that a check runs or reads: results of other sources are other results."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in SUBJECTS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
