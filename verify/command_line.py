"""A command line in this process: what it prints and the code that it ends with, without the start of an interpreter."""

import io
import os
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import click

from impl.command import run

ROOT = Path(__file__).resolve().parent.parent
WIDE = {"COLUMNS": "200"}
"""No line of a table wraps."""


def run_here(group: click.Command, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What `python -m` the group's package ends with, run from the folder with the arguments."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with chdir(cwd), patch.dict(os.environ, WIDE), redirect_stdout(out), redirect_stderr(err):
            run(group, arguments)
    except SystemExit as ended:
        assert isinstance(ended.code, int)
        return subprocess.CompletedProcess(arguments, ended.code, out.getvalue(), err.getvalue())
