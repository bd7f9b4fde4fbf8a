"""Whose exception it is: one of the subject's breaks a rule, one of the checks' says nothing about the subject."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from verify.refinement import Difference


@contextmanager
def subject_ends(found: list[Difference], rule: str, name: str) -> Iterator[None]:
    """An exception of the subject's ends what this is around and breaks the rule; every other passes.

    A MemoryError passes too: it is the process's.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if not raised_by_the_subject(error.__traceback__):
            raise
        found.append(Difference(rule, f"{name}: no exception", f"{type(error).__name__}: {error}"))


def raised_by_the_subject(trace: TracebackType | None) -> bool:
    """Whether the innermost frame of impl/, spec/ and verify/ is of impl/."""
    owner = ""
    while trace is not None:
        package = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        owner = package if package in ("impl", "spec", "verify") else owner
        trace = trace.tb_next
    return owner == "impl"
