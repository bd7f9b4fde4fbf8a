"""`python -m verify decode`: decode on several chips at once, and hold every integer and counter against each other."""

from collections.abc import Sequence
from contextlib import ExitStack

import click
from rich.console import Console
from rich.table import Table

from impl import model_files
from impl.chip_forms import Form, decoder_on
from impl.chip_model.machine import ChipModel
from impl.command import EPILOG, CommandError, console
from impl.decode_cli import chosen_starts
from impl.decoder import LONGEST_CONTEXT
from impl.display import progress_bar
from impl.exit_codes import ExitCode
from impl.memory_map import CompileError
from impl.program import listing
from impl.window import context
from spec.rules import RULES
from verify.chips.builds import BuildFailedError
from verify.chips.choice import CHIPS, POWER_ON, open_chips
from verify.chips.comparison import DecodeCase, DecodeTally, compare_decode, decode_cases
from verify.chips.own_chip import BrokenChipError, is_own
from verify.chips.tools import ToolMissing
from verify.chips.waves import FOLDER
from verify.show import verdict

DEFAULT_MODELS = ("structured-16", "random-1-16")
MOST_LATENCY = 1_000
MOST_SHOWN = 8
"""Differences that are printed; the first is what to look at."""


def chosen_chips(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """The chips that the option names."""
    names = tuple(name.strip() for name in value.split(","))
    if names == ("all",):
        return tuple(CHIPS)
    unknown = [name for name in names if name not in (*CHIPS, *POWER_ON) and not is_own(name)]
    if unknown or len(set(names)) < len(names):
        known = ", ".join((*CHIPS, *POWER_ON))
        raise click.BadParameter(f'"all", or some of {known} and module:factory separated by commas, not {value!r}')
    return names


def chosen_latencies(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, ...]:
    """The latencies that the option names."""
    try:
        latencies = tuple(int(number) for number in value.split(","))
    except ValueError:
        latencies = ()
    if not latencies or not all(1 <= latency <= MOST_LATENCY for latency in latencies):
        raise click.BadParameter(f"numbers of 1 .. {MOST_LATENCY} separated by commas, not {value!r}")
    return latencies


@click.command(epilog=EPILOG)
@click.option(
    "--chip",
    "names",
    callback=chosen_chips,
    default="all",
    show_default=True,
    help=f"Chips, separated by commas: {', '.join((*CHIPS, *POWER_ON))}, module:factory; or all, the first four.",
)
@click.option("--window", type=click.IntRange(min=0), default=8, show_default=True, help="Rows a step attends; 0: all.")
@click.option(
    "--page", "page_size", type=click.IntRange(1, LONGEST_CONTEXT), default=4, show_default=True, help="Rows of a page."
)
@click.option(
    "--steps", type=click.IntRange(1, 1_000_000), default=32, show_default=True, help="Tokens to decode from a start."
)
@click.option(
    "--starts", callback=chosen_starts, default="0", show_default=True, help="First tokens, as in 0,7,12, or all."
)
@click.option(
    "--model",
    "models",
    type=click.Choice(model_files.names()),
    multiple=True,
    default=DEFAULT_MODELS,
    show_default=True,
    help="Model to decode with; may be given several times.",
)
@click.option(
    "--latency",
    "latencies",
    callback=chosen_latencies,
    default="4",
    show_default=True,
    help="Cycles from a read to its answer, as in 1,4,16.",
)
@click.option(
    "--form",
    type=click.Choice([form.value for form in Form]),
    default=Form.HOST_GATHER.value,
    show_default=True,
    help="Who gathers the past rows, and whether weights stay.",
)
def decode(
    names: tuple[str, ...],
    window: int,
    page_size: int,
    steps: int,
    starts: tuple[int, ...],
    models: tuple[str, ...],
    latencies: tuple[int, ...],
    form: str,
) -> ExitCode:
    """Decode on several chips at once: the same tokens, rows and memory to each, at every step.

    `spec` runs the program by what its instructions mean, `model` is the cycle model in Python, `icarus` and `verilator`
    simulate the RTL. Token, logits, key and value of each must be the decode step's definition, all of memory must be
    equal, and so must every counter of those that count cycles. At the first difference a start ends, and the simulators
    that differ leave waves of that step in reports/waves/. A chip of your own is module:factory, see docs/your-rtl.md.

    \b
    Examples:
      python -m verify decode                                  all four, a window of 8
      python -m verify decode --chip spec,model --starts all   without simulators
      python -m verify decode --window 0 --latency 1,4,16 --model random-1-32
      python -m verify decode --form resident                  weights stay on the chip, which gathers by itself
      python -m verify decode --chip spec,model,mine:chip      your own RTL beside the definition and the model
    """
    kept_window = window or None
    if context(steps, kept_window) > LONGEST_CONTEXT:
        raise click.UsageError(
            f"a step attends at most {LONGEST_CONTEXT} rows: choose a window of 1 .. {LONGEST_CONTEXT} or fewer steps"
        )
    loaded = [model_files.load(name) for name in dict.fromkeys(models)]
    cases = decode_cases(loaded, [kept_window], starts, latencies, page_size, steps, Form(form))
    tally = DecodeTally()
    out = console()
    try:
        _decode_all(cases, names, tally)
    except (ToolMissing, BuildFailedError) as error:
        raise CommandError(str(error), ExitCode.UNKNOWN) from None
    except CompileError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    except BrokenChipError as error:
        raise CommandError(str(error)) from None
    except KeyboardInterrupt:
        verdict(out, f"interrupted after {tally.steps:,} steps", ExitCode.UNKNOWN)
        raise
    out.print(_table(names, tally))
    _print_failure(out, tally)
    what = f"{tally.steps:,} steps on {', '.join(names)}"
    if tally.differences:
        return verdict(out, f"{what}: {len(tally.differences)} differences", ExitCode.FAIL)
    return verdict(out, f"{what}: {_equal(names, tally)}", ExitCode.PASS)


def _decode_all(cases: Sequence[DecodeCase], names: Sequence[str], tally: DecodeTally) -> None:
    with ExitStack() as running, progress_bar() as bar:
        task = bar.add_task("starting", total=len(cases))
        widths = sorted({case.model.width for case in cases})
        opened = {width: running.enter_context(open_chips(names, width)) for width in widths}
        for case in cases:
            bar.update(task, description=str(case))
            compare_decode(case, opened[case.model.width], tally, FOLDER)
            bar.advance(task)


def _equal(names: Sequence[str], tally: DecodeTally) -> str:
    """What was compared and found equal."""
    if len(tally.cycles) < 2:
        return "every integer equal, no two count cycles"
    silent = [name for name in names if name not in tally.cycles and name != "spec"]
    return f"every integer and every counter equal{', without those of ' if silent else ''}{', '.join(silent)}"


def _table(names: Sequence[str], tally: DecodeTally) -> Table:
    shown = Table("chip", "steps", "cycles", "cycles a step", title_justify="left")
    for name in names:
        cycles = tally.cycles.get(name)
        counted = ("-", "-") if cycles is None else (f"{cycles:,}", f"{cycles / tally.steps:.1f}")
        shown.add_row(name, f"{tally.steps:,}", *counted)
    return shown


def _print_failure(out: Console, tally: DecodeTally) -> None:
    """The first differences, and the program that ran."""
    if tally.failed is None:
        return
    case, step = tally.failed
    for difference in tally.differences[:MOST_SHOWN]:
        out.print(f"{difference.rule}: {RULES[difference.rule]}", highlight=False, style="bold red")
        out.print(f"  expected: {difference.oracle}\n  found:    {difference.target}", highlight=False, soft_wrap=True)
    if len(tally.differences) > MOST_SHOWN:
        out.print(f"and {len(tally.differences) - MOST_SHOWN} more")
    for line in tally.waves:
        out.print(line, highlight=False, soft_wrap=True)
    out.print(f"first at step {step} of {case}; the program:", highlight=False)
    chip = ChipModel(case.model.width)
    program = decoder_on(case.form, case.model, chip, case.page_size).compiled.program
    out.print(listing(program), highlight=False, soft_wrap=True)
