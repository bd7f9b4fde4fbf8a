"""A copy of this tree that commands can be run in as in a fresh checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = shutil.ignore_patterns(".venv", ".builds", ".git", "reports", "build", ".*_cache", ".hypothesis")


def copy_of_this_tree(folder: Path) -> Path:
    """The tree below `folder`, without what the first run makes but what is compiled, which need not be again."""
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    return folder


def set_up(checkout: Path) -> None:
    """What .ci/setup leaves, made from the tools of this environment: the test needs no network and no half a minute."""
    environment = checkout / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "tools.pth").write_text(sysconfig.get_path("purelib") + "\n")
    # The set-up's own description of what it would make, taken from its text.
    describe = (
        'eval "$(sed -n "/^interpreter=/,/sep=/p" .ci/setup)"; .venv/bin/python -I -c "$describe" >.venv/installed'
    )
    subprocess.run(["sh", "-c", describe], cwd=checkout, check=True)
    assert python.exists()


def environment_of(checkout: Path, **more: str) -> dict[str, str]:
    """The environment of a person in the checkout: its interpreter first on the path, tables wide enough not to wrap."""
    path = f"{checkout / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "KVPROOF", "VIRTUAL_ENV")}
    return {**kept, "PATH": path, "COLUMNS": "200", **more}
