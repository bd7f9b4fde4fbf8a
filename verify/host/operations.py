"""The host's operations as values: what a search asks of a host, and of the definition beside it.

Source: docs/reference.md section 6.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Admit:
    """Start a request with a prompt; `expected` declares how many rows it will have."""

    request: int
    prompt: tuple[int, ...]
    window: int | None = None
    sinks: int = 0
    margin: int = 0
    chunk: int = 1
    expected: int | None = None


@dataclass(frozen=True, slots=True)
class Advance:
    """One step: a chunk of the prompt, or one token behind it."""

    request: int


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """Start `to` with the first `at` rows of `request` (None: all), `token` next if one is given."""

    request: int
    to: int
    at: int | None = None
    token: int | None = None
    padded: bool = False


@dataclass(frozen=True, slots=True)
class Rollback:
    """Cut the request back to `rows` rows, `token` next if one is given."""

    request: int
    rows: int
    token: int | None = None


@dataclass(frozen=True, slots=True)
class End:
    """End the request."""

    request: int


HostOperation = Admit | Advance | ForkRequest | Rollback | End
