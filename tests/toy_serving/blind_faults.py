"""A fault that changes nothing: nobody can find it."""

from __future__ import annotations

from collections.abc import Callable


def does_nothing() -> None:
    """Nothing is wrong."""


FAULTS: dict[str, Callable[[], None]] = {"does_nothing": does_nothing}
