"""What a child saw of the subject while a stage ran: which functions were called, and how long the longest call took.

A function that runs while a module is being imported can shape what every later stage uses, so it is told apart.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType

from mutants.held import within
from mutants.wire import Reach


@dataclass(slots=True)
class Seen:
    """A Reach that is still growing."""

    called: set[str] = field(default_factory=set)
    importing: set[str] = field(default_factory=set)
    longest: float = 0.0

    def reach(self) -> Reach:
        """What has been seen so far."""
        return Reach(frozenset(self.called), frozenset(self.importing), self.longest)


@contextmanager
def watched(subject: Sequence[str]) -> Iterator[Seen]:
    """Fills what it yields until the end of the block."""
    seen = Seen()
    names: dict[CodeType, str | None] = {}
    imports = 0
    outermost: FrameType | None = None
    begun = 0.0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal imports, outermost, begun
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code.co_name == "<module>":
            imports += 1 if event == "call" else -1
        name = names[code] if code in names else names.setdefault(code, _name(frame, subject))
        if name is None:
            return
        if event == "call":
            (seen.importing if imports else seen.called).add(name)
            if outermost is None:
                outermost, begun = frame, time.process_time()
        elif frame is outermost:
            seen.longest = max(seen.longest, time.process_time() - begun)
            outermost = None

    sys.setprofile(profile)
    try:
        yield seen
    finally:
        sys.setprofile(None)


def _name(frame: FrameType, subject: Sequence[str]) -> str | None:
    """The function's module and qualified name, without what marks a nested one; None when the subject has no part in it."""
    module = str(frame.f_globals.get("__name__"))
    if not within(module, subject):
        return None
    parts = frame.f_code.co_qualname.replace("<locals>.", "").split(".")
    named = next((at for at, part in enumerate(parts) if part.startswith("<")), len(parts))
    return f"{module}:{'.'.join(parts[:named])}"
