"""`python -m mutants`."""

from impl.command import run
from mutants.cli import cli

run(cli)
