"""`python -m verify new-target`: an adapter to start from, its test, and a CI job for the user's repository."""

import shlex
from pathlib import Path

import click

from impl.command import EPILOG, CommandError, console, write_atomically
from impl.exit_codes import ExitCode

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = Path(__file__).resolve().with_name("new_target_files")
FILES = {
    "adapter.py": "adapter.py.txt",
    "test_adapter.py": "test_adapter.py.txt",
    ".github/workflows/kvproof.yml": "kvproof.yml",
}
"""What is written, and the template that it is."""

CHECKOUT = "$checkout"


@click.command("new-target", epilog=EPILOG)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def new_target(folder: Path) -> int:
    """Write an adapter for a cache of your own below DIR.

    adapter.py works as it stands, around a tiny page manager that yours takes the place of; test_adapter.py is its test, and
    .github/workflows/kvproof.yml a CI job for a repository whose top is DIR, where the variables KVPROOF_REPOSITORY and
    KVPROOF_TAG say which kvproof to clone. Files that exist are left alone, all of them.
    """
    existing = [name for name in FILES if (folder / name).exists()]
    if existing:
        raise CommandError(f"{folder / existing[0]} exists already; nothing was written", ExitCode.BROKEN)
    for name, template in FILES.items():
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.replace(CHECKOUT, str(ROOT)))
    out = console()
    out.print(*(f"wrote {folder / name}" for name in FILES), sep="\n", highlight=False, soft_wrap=True)
    scope = "--pages 3 --page-size 2 --requests 2 --length 4"
    out.print(
        f"check it: python -m verify explore --target adapter:make --target-path {shlex.quote(str(folder))} {scope}",
        highlight=False,
        soft_wrap=True,
    )
    return ExitCode.PASS
