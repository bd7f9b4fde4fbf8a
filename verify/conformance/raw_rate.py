"""Measures how fast a target answers in its own interpreter, without a pipe and without an oracle.

    python3 verify/conformance/raw_rate.py module:factory --path DIR <runs.json

Run by file path under the target's interpreter, Python 3.9 or newer, it imports the standard library and the adapter. The
input is [[configuration, operations], ...], each run on a fresh instance; the output is one line of JSON,
{"operations": N, "calls": SECONDS, "raw": SECONDS}: of the calls alone, and with what the target shows after each. Making the
fresh instances is part of both, as it is of what they are compared with.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from typing import Any

REPEATS = 5
"""Each run is measured so often, and the fastest counts: what others do on the machine only makes it slower."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure how fast an adapter answers in its own interpreter.")
    parser.add_argument("target", help="module:factory")
    parser.add_argument("--path", default=".", help="folder that the module is imported from")
    options = parser.parse_args()
    sys.path[0] = os.path.abspath(options.path)
    output = os.dup(1)
    os.dup2(2, 1)  # what the target prints is not the result
    module, _, name = options.target.partition(":")
    factory = getattr(importlib.import_module(module), name)
    runs = [(configuration, [split(item) for item in operations]) for configuration, operations in json.load(sys.stdin)]
    result = {
        "operations": sum(len(operations) for _, operations in runs),
        "calls": sum(min(measure(factory, run, False) for _ in range(REPEATS)) for run in runs),
        "raw": sum(min(measure(factory, run, True) for _ in range(REPEATS)) for run in runs),
    }
    os.write(output, (json.dumps(result) + "\n").encode())


def split(operation: dict[str, Any]) -> tuple[str, list[Any]]:
    """The method of an operation and its arguments, in the order in which the protocol has them."""
    return operation["op"], [value for name, value in operation.items() if name != "op"]


def measure(factory: Any, run: Any, observing: bool) -> float:
    """Seconds of one run."""
    configuration, operations = run
    began = time.perf_counter()
    adapter = factory(configuration)
    observe = adapter.observe
    for name, arguments in operations:
        getattr(adapter, name)(*arguments)
        if observing:
            observe()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
