"""Writes scripts about a system that is not the one that failed: they never show anything."""

from collections.abc import Mapping, Sequence
from typing import Any

from spec.operations import ManagerOperation
from tests.toy_serving.script import SOURCE, text
from verify.managers.facts import Facts


def script(configuration: Mapping[str, Any], operations: Sequence[ManagerOperation], facts: Facts) -> str:
    """A file that repeats the operations on the honest system."""
    return text(SOURCE, configuration, operations, facts)
