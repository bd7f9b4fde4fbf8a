"""`python -m impl`."""

from impl.interrupts import end_at_interrupt

with end_at_interrupt():
    from impl.cli import main
    from impl.command import run

run(main)
