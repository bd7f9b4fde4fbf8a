"""One call of cocotb's runner, in a process of its own: its PATH and pytest's variables stay out of the caller's.

The order comes as JSON on standard input. Exit 0 says that the runner came to its end, not that any test passed.
"""

import json
import sys
from typing import TypedDict

from cocotb_tools.runner import get_runner

SEED = 1
"""Of Python's random module, should a bench use it; benches have generators of their own."""


class Order(TypedDict):
    """What to build and where, and with `test_modules` what to run there."""

    simulator: str
    top: str
    build_dir: str
    sources: list[str]
    includes: list[str]
    parameters: dict[str, int]
    defines: dict[str, int]
    build_args: list[str]
    test_modules: list[str]
    test_dir: str
    plusargs: list[str]
    results: str
    only: str


def main() -> None:
    """Build when there are no test modules, else run them in the build that is there."""
    order: Order = json.load(sys.stdin)
    runner = get_runner(order["simulator"])
    if order["test_modules"]:
        runner.test(
            test_module=order["test_modules"],
            hdl_toplevel=order["top"],
            hdl_toplevel_lang="verilog",
            build_dir=order["build_dir"],
            test_dir=order["test_dir"],
            results_xml=order["results"],
            plusargs=order["plusargs"],
            seed=SEED,
            test_filter=order["only"] or None,
        )
        return
    runner.build(
        sources=order["sources"],
        includes=order["includes"],
        parameters=order["parameters"],
        defines=order["defines"],
        build_args=order["build_args"],
        hdl_toplevel=order["top"],
        build_dir=order["build_dir"],
        timescale=("1ns", "1ps"),
        always=True,
    )


if __name__ == "__main__":
    main()
