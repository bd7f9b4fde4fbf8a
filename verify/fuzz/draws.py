"""What chance decides: a few bytes for each phrase of a program.

To draw a number costs Hypothesis more than the definition needs to run an instruction, so that it draws the bytes of a whole case
at once. 0 is always the simplest choice, and bytes that are not there are 0; shrinking.py leaves out phrases and instructions.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

HEAD_BYTES, PHRASE_BYTES = 24, 12
MOST_PHRASES = 16


class Drawn(NamedTuple):
    """All that chance says about a case: its head, and a byte string for each phrase."""

    head: bytes
    phrases: tuple[bytes, ...]


@st.composite
def drawn_cases(draw: st.DrawFn, most_phrases: int = MOST_PHRASES) -> Drawn:
    """Heads with phrases; nothing is ever filtered."""
    size = PHRASE_BYTES * draw(st.integers(1, most_phrases))
    drawn = draw(st.binary(min_size=HEAD_BYTES + size, max_size=HEAD_BYTES + size))
    places = range(HEAD_BYTES, HEAD_BYTES + size, PHRASE_BYTES)
    return Drawn(drawn[:HEAD_BYTES], tuple(drawn[at : at + PHRASE_BYTES] for at in places))


class Draw:
    """Reads choices off a byte string."""

    __slots__ = ("_at", "_bytes")

    def __init__(self, drawn: bytes) -> None:
        self._bytes = drawn
        self._at = 0

    def byte(self) -> int:
        """The next byte, 0 past the end."""
        at = self._at
        self._at = at + 1
        return self._bytes[at] if at < len(self._bytes) else 0

    def below(self, limit: int) -> int:
        """A number of 0 .. limit - 1."""
        if limit <= 1:
            return 0
        return self.byte() % limit if limit <= 256 else (self.byte() + 256 * self.byte()) % limit

    def chance(self, parts: int) -> bool:
        """True in `parts` of 256 cases, never for a byte of 0."""
        return self.byte() >= 256 - parts

    def one_of(self, choices: Sequence[T]) -> T:
        """One of the choices, the first being the simplest."""
        return choices[self.below(len(choices))]
