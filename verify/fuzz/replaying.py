"""A saved witness of a program, run again on the chips that it names or on others, with waves where somebody wants them."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from impl.chip import ChipError
from impl.command import CommandError, check_place
from impl.exit_codes import ExitCode
from verify.chips.builds import BuildFailedError
from verify.chips.choice import CHIPS, SIMULATED
from verify.chips.simulated import SimulatedChip
from verify.chips.tools import ToolMissing
from verify.fuzz.report import case_lines, failure_lines
from verify.fuzz.running import Bench, NotLegalError, compare
from verify.fuzz.search import other_profiles
from verify.fuzz.witness import ProgramWitness
from verify.show import verdict


def replay_program(out: Console, witness: ProgramWitness, names: Sequence[str], waves: Path | None) -> ExitCode:
    """Run the case and print what differs; with `waves` the first simulator writes them there."""
    chosen = tuple(names) or tuple(name for name in witness.chips if name in CHIPS) or ("spec", "model")
    case = witness.case
    with Bench(chosen) as bench:
        try:
            compared = compare(case, bench.chips(case.lanes), other_profiles(case))
            if waves is not None:
                _write_waves(out, witness, bench, waves)
        except NotLegalError as error:
            raise CommandError(f"the witness is no legal program: {error}") from None
        except (ToolMissing, BuildFailedError) as error:
            raise CommandError(str(error), ExitCode.UNKNOWN) from None
    lines = failure_lines(case, compared) if compared.differences else case_lines(case)
    out.print(*lines, sep="\n", highlight=False, soft_wrap=True, markup=False)
    what = f"{len(case.starts)} starts on {', '.join(chosen)}"
    if compared.differences:
        return verdict(out, f"{what}: {', '.join(compared.rules)} broken", ExitCode.FAIL)
    return verdict(out, f"{what}: no difference", ExitCode.PASS)


def _write_waves(out: Console, witness: ProgramWitness, bench: Bench, waves: Path) -> None:
    """The waves of the case from the first simulator at hand, Icarus where none is."""
    name = next((name for name in bench.names if name in SIMULATED), SIMULATED[0])
    chip = bench.chips(witness.case.lanes).get(name) or bench.opened(name, witness.case.lanes)
    if not isinstance(chip, SimulatedChip):
        raise click.UsageError(f"{name} has no waves")
    check_place(str(waves))
    try:
        chip.run(witness.case.starts, witness.case.memory, witness.case.profile, waves=waves)
    except ChipError as error:
        out.print(f"{name}: {type(error).__name__}: {error}", highlight=False, soft_wrap=True, markup=False)
    out.print(f"waves of {name}: {waves}", highlight=False, soft_wrap=True)
