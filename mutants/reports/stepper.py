"""A clean process that replays witnesses on mutants, each in a forked child, and says what every step shows.

Run as `python -m mutants.reports.stepper`, with a Request on standard input; it answers each replay with one JSON line. What
can see no mutant is imported once, here; a child puts its mutant in place under the real name and imports the rest, as in
mutants/child.py.
"""

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Self

from mutants.held import Held, HeldImporter, blind, compile_module, hold, outside
from verify.sandbox import Limits, die_with, run_limited

LIMITS = Limits(cpu_seconds=5.0, memory_bytes=256 << 20, wall_seconds=60.0)


@dataclass(frozen=True, slots=True)
class Replay:
    """A mutant's id, its module as mutated, its witness, and the words for where that is from."""

    id: str
    module: str
    mutated: str
    witness: Mapping[str, Any]
    source: str


@dataclass(frozen=True, slots=True)
class Request:
    """Replays on the packages of a project; `witness_page` of the module `view` says what the last `most_steps` steps show."""

    root: str
    packages: tuple[str, ...]
    view: str
    most_steps: int
    replays: tuple[Replay, ...]

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Self:
        return cls(**data | {"replays": tuple(Replay(**replay) for replay in data["replays"])})


def main() -> None:
    """Answer the request; whatever prints meanwhile goes to standard error."""
    die_with(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = Request.of_json(json.loads(sys.stdin.readline()))
    held = _import_all_blind(request)
    for one in request.replays:
        ended = run_limited(partial(_replayed, one, held, request), LIMITS)
        page = ended.value if ended.kind == "returned" else None
        answers.write(json.dumps({"id": one.id, "page": page, "why": ended.detail}) + "\n")
        answers.flush()


def _import_all_blind(request: Request) -> Held:
    """Import everything that can see no mutant; all modules that a child may still need."""
    sys.path.insert(0, request.root)
    mutable = {replay.module for replay in request.replays}
    held = hold(request.root, request.packages, (request.view, *mutable))
    sys.meta_path.insert(0, HeldImporter(held))
    for name in outside(held):
        # Not every name is a module: `from a import b` may name anything in a.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in blind(held, mutable):
        importlib.import_module(name)
    return held


def _replayed(one: Replay, held: Held, request: Request) -> object:
    """In the child: put the mutant in place and replay its witness."""
    module = held[one.module]
    mutated = replace(module, source=one.mutated, code=compile_module(one.mutated, module.path))
    sys.meta_path.insert(0, HeldImporter({**held, one.module: mutated}))
    importlib.import_module(one.module)
    return importlib.import_module(request.view).witness_page(one.witness, one.source, request.most_steps)


if __name__ == "__main__":
    main()
