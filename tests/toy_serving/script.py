"""Writes a failure in the calls of the little serving system, its source included: it is no package of anybody's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spec.operations import Admit, Append, ManagerOperation, Release
from verify.managers.facts import Facts

SOURCE = Path(__file__).with_name("serving.py").read_text(encoding="utf-8")


def script(configuration: Mapping[str, Any], operations: Sequence[ManagerOperation], facts: Facts) -> str:
    """A file that repeats the operations on the leaky system and compares the pages that are left."""
    return text(SOURCE.replace("LEAKY = False", "LEAKY = True"), configuration, operations, facts)


def text(source: str, configuration: Mapping[str, Any], operations: Sequence[ManagerOperation], facts: Facts) -> str:
    """The file around a source of the system."""
    lines = [source, "", f"pool = Pool({configuration['pages']}, {configuration['page_size']})"]
    for operation in operations:
        match operation:
            case Admit(request, tokens):
                lines.append(f"pool.begin({request}, {len(tokens)})")
            case Append(request, tokens):
                lines.append(f"pool.extend({request}, {len(tokens)})")
            case Release(request):
                lines.append(f"pool.end({request})")
            case _:
                raise ValueError(f"no call for {operation}")
    lines += [f"print('expected', {facts.available}, 'observed', len(pool.free))"]
    return "\n".join([*lines, f"raise SystemExit(len(pool.free) != {facts.available})", ""])
