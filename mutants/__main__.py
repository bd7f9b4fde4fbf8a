"""`python -m mutants`."""

from impl.interrupts import end_at_interrupt

with end_at_interrupt():
    from impl.command import run
    from mutants.cli import cli as main

run(main)
