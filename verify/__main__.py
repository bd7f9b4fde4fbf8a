"""`python -m verify`: explore, fuzz and replay."""

from impl.interrupts import end_at_interrupt

with end_at_interrupt():
    from impl.command import run
    from verify.cli import main

run(main)
