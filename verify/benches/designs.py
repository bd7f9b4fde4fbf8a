"""What the benches are built on, once a simulator, and which benches run in one process of it."""

from pathlib import Path

from verify.benches.benches_top import TOP, benches_top
from verify.benches.chip_under_test import LANES
from verify.benches.simulation import ROOT, Design

RTL = ROOT / "rtl"
BENCHES = Path(__file__).parent

UNITS, WHOLE = "modules", "chip"
"""Two processes a simulator, for two cores: the benches of modules, and those of the chip."""


def design(rtl: Path = RTL) -> Design:
    """The top of all benches, over the sources in a folder."""
    sources = tuple(sorted(rtl.glob("*.v"))) + tuple(sorted(rtl.glob("*.vh")))
    return Design(TOP, sources, {"LANES": LANES}, generated=benches_top(rtl))


def benches(group: str) -> list[str]:
    """The bench modules of that group, by their file names: bench_ks_rq is of ks_rq, those without ks_ are of the chip."""
    found = sorted(path.stem for path in BENCHES.glob("bench_*.py"))
    return [bench for bench in found if bench.startswith("bench_ks_") == (group == UNITS)]


def dotted(bench: str) -> str:
    """The module's name as cocotb imports it."""
    return f"verify.benches.{bench}"
