"""Builds by content: what was built from the same sources with the same tools is there already, and two that want it build once.

.builds/NAME-KEY/       a whole build; it appears by a rename, so that nobody sees half of one
.builds/NAME-KEY.lock   held by the one that builds it
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILDS = ROOT / ".builds"
MOST_BUILDS = 100
IDLE_SECONDS = 3600.0
"""Of more than so many builds, those that were not used for so long go when the next one is made."""

BUILD_SECONDS = 600.0
LONGEST_WORDS = 4000


class BuildFailedError(Exception):
    """A simulator's compiler refused what it was given; the message ends with its last words."""


def built(
    name: str, parts: Iterable[str], files: Iterable[Path], make: Callable[[Path], None], home: Path = BUILDS
) -> Path:
    """The folder that `make` has filled, now or in an earlier process, from these files and parts: arguments, versions.

    Raises BuildFailedError, and OSError where nothing can be written.
    """
    key = key_of(parts, files)
    place = home / f"{name}-{key}"
    if _used(place):
        return place
    home.mkdir(parents=True, exist_ok=True)
    with _locked(home / f"{place.name}.lock"):
        if _used(place):
            return place
        _sweep(home)
        with tempfile.TemporaryDirectory(prefix="making-", dir=home, ignore_cleanup_errors=True) as making:
            folder = Path(making) / name
            folder.mkdir()
            make(folder)
            os.rename(folder, place)
    return place


def key_of(parts: Iterable[str], files: Iterable[Path]) -> str:
    """A name for all that goes into a build: the parts, and names and contents of the files, wherever they lie."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"part %d " % len(part.encode()) + part.encode())
    for file in files:
        content = file.read_bytes()
        digest.update(b"file %s %d " % (file.name.encode(), len(content)) + content)
    return digest.hexdigest()[:24]


def compiled(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Run a compiler in the folder. Raises BuildFailedError."""
    # What an outer make says to its own children is not for these.
    kept = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**kept, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BuildFailedError(f"{Path(command[0]).name} was not done after {BUILD_SECONDS:g} s") from None
    if done.returncode:
        words = done.stdout.decode(errors="replace").strip()[-LONGEST_WORDS:]
        raise BuildFailedError(f"{Path(command[0]).name} failed ({done.returncode}):\n{words}")


def _used(place: Path) -> bool:
    """Whether the build is there; it then counts as used now."""
    try:
        os.utime(place)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds the lock, which ends with this process at the latest."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sweep(home: Path) -> None:
    """Remove what nobody has used for long, halves that an ended process left included, when there are many."""
    folders = [(folder.stat().st_mtime, folder) for folder in home.iterdir() if folder.is_dir()]
    idle = sorted((used, folder) for used, folder in folders if used < time.time() - IDLE_SECONDS)
    for _, folder in idle[: max(0, len(folders) - MOST_BUILDS)]:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_name(f"{folder.name}.lock").unlink(missing_ok=True)
