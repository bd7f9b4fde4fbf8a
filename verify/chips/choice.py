"""A chip by its name."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from impl.chip import Chip
from impl.chip_model.machine import ChipModel
from spec.isa import EXT_WORDS
from verify.chips.icarus import IcarusChip
from verify.chips.own_chip import is_own, open_own
from verify.chips.spec_chip import SpecChip
from verify.chips.verilator import Initial, VerilatorChip

CHIPS = ("spec", "model", "icarus", "verilator")
SIMULATED = ("icarus", "verilator")
POWER_ON: Mapping[str, Initial] = {
    "verilator-zeros": "zeros",
    "verilator-ones": "ones",
    "verilator-seed-1": 1,
    "verilator-seed-2": 2,
}
"""Verilator by what registers and memories hold before anybody sets them; no program may tell these apart. They share a build."""


@contextmanager
def open_chip(name: str, lanes: int, words: int = EXT_WORDS) -> Iterator[Chip]:
    """The chip: its definition, the cycle model, the RTL in a simulator, or module:factory; it ends with the context.

    Raises ValueError for another name or size, and BrokenChipError for a factory that is not there or makes no such chip; the
    first run of a simulator raises ToolMissing and BuildFailedError.
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
        case variant if variant in POWER_ON:
            with VerilatorChip(lanes, words, initial=POWER_ON[variant]) as verilator:
                yield verilator
        case own if is_own(own):
            with open_own(own, lanes, words) as chip:
                yield chip
        case other:
            raise ValueError(
                f"no chip is called {other!r}; there are {', '.join((*CHIPS, *POWER_ON))} and module:factory"
            )


@contextmanager
def open_chips(names: Sequence[str], lanes: int, words: int = EXT_WORDS) -> Iterator[dict[str, Chip]]:
    """All of these chips by name, such as (*CHIPS, *POWER_ON); see open_chip."""
    with ExitStack() as running:
        yield {name: running.enter_context(open_chip(name, lanes, words)) for name in names}
