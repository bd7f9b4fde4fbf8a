"""`python -m verify pin-chip`: takes the pinned ends of all cases from the RTL, in both simulators."""

from collections.abc import Mapping
from contextlib import ExitStack

import click

from impl.chip import Chip, ChipError
from impl.command import EPILOG, CommandError, console, write_atomically
from impl.exit_codes import ExitCode
from spec.isa import LANES
from verify.chips.builds import BuildFailedError
from verify.chips.choice import SIMULATED, open_chips
from verify.chips.pinned import PINS, Case, Ends, cases, ends_of, pins_text
from verify.chips.tools import ToolMissing
from verify.show import verdict


@click.command("pin-chip", epilog=EPILOG)
def pin_chip() -> ExitCode:
    """Pin what each start of the chip's cases leaves: run them on the RTL, and write what both simulators say.

    For a change of docs/chip.md that moves cycles. Nothing is written when the simulators differ.
    """
    out = console()
    try:
        pins = pins_of_rtl()
    except ToolMissing as error:
        raise CommandError(str(error), ExitCode.UNKNOWN) from None
    except (BuildFailedError, ChipError) as error:
        raise CommandError(str(error)) from None
    write_atomically(str(PINS), pins_text(pins))
    return verdict(out, f"{len(pins)} cases pinned in {PINS.name}", ExitCode.PASS)


def pins_of_rtl() -> dict[str, Ends]:
    """The ends of each case on the RTL. Raises CommandError where the simulators differ, and what Chip.run raises."""
    with ExitStack() as running:
        chips = {lanes: running.enter_context(open_chips(SIMULATED, lanes)) for lanes in LANES}
        return {case.name: agreed_ends(case, chips[case.lanes]) for case in cases()}


def agreed_ends(case: Case, chips: Mapping[str, Chip]) -> Ends:
    """The ends of the case on all of these chips. Raises CommandError where they differ, and what Chip.run raises."""
    found = {name: ends_of(case, chip.run(case.starts, case.memory, case.profile)) for name, chip in chips.items()}
    first, *others = found.values()
    if any(ends != first for ends in others):
        raise CommandError(f"{case.name}: the simulators differ: {found}")
    return first
