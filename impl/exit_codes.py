"""The one table of exit codes of `python -m impl`, `python -m verify` and `python -m mutants`."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status says; source: README, "How to read a verdict"."""

    PASS = 0
    FAIL = 1  # a difference, a survivor, an expected deviation that is gone
    USAGE = 2
    UNKNOWN = 3  # no verdict was reached or delivered, or a required tool is missing
    BROKEN = 4  # the baseline, the target, the input or the place for the output
    INTERNAL = 70
    INTERRUPTED = 130
