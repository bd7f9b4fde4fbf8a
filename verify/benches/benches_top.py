"""One top for all benches: the chip and every module of rtl/ once, ports prefixed by the module's name.

A build a module would take longer than all benches together. The modules share a clock and a reset, the chip has its own,
so that what no bench uses does not run. The text is made from the port lists in rtl/, which are one port a line: a port
that is renamed there breaks the bench that drives it and nothing else.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TOP = "benches"
CHIP = "kestrel"
CLOCK, RESET = "clk_i", "rst_ni"

_PORT = re.compile(
    r"^\s*(input|output)\s+(?:wire|reg)\s+(signed\s+)?(\[[^\]]+\])?\s*(\w+)\s*,?\s*(?://.*)?$", re.MULTILINE
)
_PARAMETER = re.compile(r"^\s*parameter\s+(\w+)\s*=", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Port:
    """One line of a port list; `width` is the range as it is written there, or empty."""

    direction: str
    width: str
    name: str


def ports(source: str) -> list[Port]:
    """The ports of a module's source, in order."""
    return [Port(direction, width, name) for direction, _, width, name in _PORT.findall(source)]


def modules(rtl: Path) -> list[str]:
    """Names of the modules in the folder, the chip itself left out."""
    return sorted(path.stem for path in rtl.glob("ks_*.v"))


@cache
def inputs(rtl: Path, module: str) -> list[str]:
    """Names of the inputs of a module, its clock and reset left out."""
    found = ports((rtl / f"{module}.v").read_text(encoding="utf-8"))
    return [port.name for port in found if port.direction == "input" and port.name not in (CLOCK, RESET)]


def benches_top(rtl: Path) -> str:
    """The Verilog of the top: an instance of the chip and of every ks_*.v in the folder."""
    declared, instances = [f"    input wire {CLOCK}", f"    input wire {RESET}"], []
    for module in [CHIP, *modules(rtl)]:
        source = (rtl / f"{module}.v").read_text(encoding="utf-8")
        connections = []
        for port in ports(source):
            shared = port.name in (CLOCK, RESET)
            outer = port.name if shared else f"{module}_{port.name}"
            connections.append(f"        .{port.name}({outer})")
            if not shared:
                declared.append(f"    {port.direction} wire {port.width} {outer}")
        values = ", ".join(f".{name}({name})" for name in _PARAMETER.findall(source))
        wanted = f" #({values})" if values else ""
        instances.append(f"    {module}{wanted} u_{module} (\n" + ",\n".join(connections) + "\n    );\n")
    header = f"module {TOP} #(parameter LANES = 16, parameter EXT_WORDS = 8192) (\n"
    return header + ",\n".join(declared) + "\n);\n\n" + "\n".join(instances) + "\nendmodule\n"
