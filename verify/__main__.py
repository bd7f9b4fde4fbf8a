"""`python -m verify`: explore, fuzz and replay."""

from impl.command import run
from verify.cli import main

run(main)
