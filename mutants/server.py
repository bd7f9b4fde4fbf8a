"""The fork server: one clean, single-threaded process that has read everything once and forks a child for each order.

Run as `python -m mutants.server`; the first line of its standard input is a Setup, every further line an Order; it
answers each with one line. It dies with the process that started it, and its children die with it.

What can see no mutant is imported once, here: libraries, and every module that imports no mutable one, the oracle
among them. A child imports the others, after its mutant is in place.
"""

import contextlib
import importlib
import json
import os
import platform
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import BinaryIO

from mutants.held import Held, HeldImporter, blind, hold, outside
from mutants.mutant import Project
from mutants.serving import Serving, check_clean, keep, send
from mutants.wire import Setup
from verify.sandbox import describe, die_with


def serve(orders: BinaryIO, answers: BinaryIO) -> None:
    """Answer orders until there are no more."""
    setup = Setup.of_json(json.loads(orders.readline()))
    project = setup.project
    try:
        sys.path.insert(0, project.root)
        held, places = _hold_all(setup)
        _import_all_blind(held, setup)
        check_clean(setup.mutable)
    except Exception as error:
        send(answers, {"error": describe(error)})
        return
    keep()
    send(answers, _greeting(held, project) | {"places": places})
    Serving(orders, answers, held, project).serve_all()


def main() -> None:
    """Serve on the standard streams, out of reach of whatever prints."""
    die_with(int(sys.argv[1]))
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    serve(orders, answers)


def _hold_all(setup: Setup) -> tuple[Held, dict[str, str]]:
    """What the suite, the stages and the mutable modules may import, and the module of each stage that has one of its own."""
    project = setup.project
    packages = (*project.subject, *project.checks, *project.oracle)
    held = hold(project.root, packages, (project.suite, *setup.mutable))
    if project.suite not in blind(held, setup.mutable):
        return held, {}
    # It imports nothing that a mutant is in, and may name its stages by their modules.
    sys.meta_path.insert(0, HeldImporter(held))
    stages = getattr(importlib.import_module(project.suite), "STAGES", {})
    places = {name: stages[name].module for name in setup.stages if hasattr(stages.get(name), "module")}
    return hold(project.root, packages, (project.suite, *setup.mutable, *places.values())), places


def _import_all_blind(held: Held, setup: Setup) -> None:
    """Import everything that can see no mutant."""
    sys.meta_path.insert(0, HeldImporter(held))
    for name in outside(held):
        # Not every name is a module: `from a import b` may name anything in a.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in blind(held, setup.mutable):
        importlib.import_module(name)


def _greeting(held: Held, project: Project) -> dict[str, object]:
    modules = {
        name: {
            "path": os.path.relpath(module.path, project.root),
            "source": module.source,
            "imports": sorted(module.imports),
        }
        for name, module in held.items()
    }
    return {"modules": modules, "versions": _versions({name.partition(".")[0] for name in outside(held)})}


def _versions(libraries: Iterable[str]) -> dict[str, str]:
    """Python's version and that of every library that is an installed package."""
    found = {"python": platform.python_version()}
    for library in sorted(libraries):
        with contextlib.suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


if __name__ == "__main__":
    main()
