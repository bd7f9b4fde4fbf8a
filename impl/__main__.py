"""`python -m impl`."""

from impl.cli import main
from impl.command import run

run(main)
