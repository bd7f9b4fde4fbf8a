"""A chip by its name."""

from collections.abc import Iterator
from contextlib import contextmanager

from impl.chip import Chip
from impl.chip_model.machine import ChipModel
from spec.isa import EXT_WORDS
from verify.chips.icarus import IcarusChip
from verify.chips.spec_chip import SpecChip
from verify.chips.verilator import VerilatorChip

CHIPS = ("spec", "model", "icarus", "verilator")
SIMULATED = ("icarus", "verilator")


@contextmanager
def open_chip(name: str, lanes: int, words: int = EXT_WORDS) -> Iterator[Chip]:
    """The chip: its definition, the cycle model, or the RTL in a simulator, which ends with the context.

    Raises ValueError for another name or size; the first run of a simulator raises ToolMissing and BuildFailedError.
    """
    match name:
        case "spec":
            yield SpecChip(lanes, words)
        case "model":
            yield ChipModel(lanes, words)
        case "icarus":
            with IcarusChip(lanes, words) as icarus:
                yield icarus
        case "verilator":
            with VerilatorChip(lanes, words) as verilator:
                yield verilator
        case other:
            raise ValueError(f"no chip is called {other!r}; there are {', '.join(CHIPS)}")
