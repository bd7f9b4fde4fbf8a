"""`python -m impl models`: the models that are checked in, and whether they are what their float models give."""

import click

from impl import model_files
from impl.command import EPILOG, console
from impl.display import table
from impl.exit_codes import ExitCode
from impl.integer_model import IntegerModel, Requantiser

HEADINGS = "model|width|q|k|v|y|residual|exponent|logit scale"


@click.command(epilog=EPILOG)
@click.option("--check", is_flag=True, help="Quantise again and compare with the files; exit 1 when one differs.")
@click.option("--write", is_flag=True, help="Quantise again and write the files.")
def models(check: bool, write: bool) -> ExitCode:
    """List the models that decoders run on, and how each brings its sums back to 8 bits.

    q, k, v, y and the exponent are factors m / 2^shift, applied with one rounding; the residual is the factor of the
    layer's input, 0 without one. A logit is an integer worth the logit scale.

    \b
    Examples:
      python -m impl models
      python -m impl models --check     the files are what their float models give, byte for byte
    """
    if check and write:
        raise click.UsageError("--check and --write exclude each other")
    out = console()
    if write:
        model_files.write_all()
    if check:
        differences = model_files.differences()
        for line in differences:
            out.print(line)
        files = len(model_files.names()) + 1
        out.print(f"verdict: {'fail' if differences else 'pass'}, {files} files in impl/models/")
        return ExitCode.FAIL if differences else ExitCode.PASS
    out.print(table("", HEADINGS, (_cells(model_files.load(name)) for name in model_files.names())))
    return ExitCode.PASS


def _cells(model: IntegerModel) -> tuple[str, ...]:
    factors = (*map(_factor, model.requantisers), str(model.residual), _factor(model.exponent))
    return (model.name, str(model.width), *factors, f"{model.scales.logit_scale:.6g}")


def _factor(requantiser: Requantiser) -> str:
    return f"{requantiser.m} / 2^{requantiser.shift}"
