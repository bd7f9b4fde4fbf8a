"""What the rows of one request must read as, encoded once and kept beside the request while it grows."""

from collections.abc import Callable

import numpy as np

from verify.traces.incremental_target import Rows
from verify.traces.tokens import Tokens

Encode = Callable[[Tokens], Rows]
"""The rows of these tokens in the target's own format; see IncrementalTarget.rows_of."""

AHEAD = 64
"""Rows encoded beyond an eighth more than a request has."""


class ExpectedRows:
    """Rows of the oracle's tokens, never anything that the target read back.

    The tokens of a decoding request go on by one each, so rows are encoded for more of them than there are. Tokens that what
    is encoded does not begin with are encoded anew, all of them.
    """

    __slots__ = ("_rows", "_tokens")

    def __init__(self) -> None:
        self._tokens = Tokens(())
        self._rows: Rows = np.empty((0, 0, 0, 0))

    def follow(self, tokens: Tokens, encode: Encode) -> None:
        """The oracle's rows are now these. Raises what `encode` raises, and then nothing changed."""
        if not self._tokens.begins_with(tokens):
            ahead = tokens.continued(AHEAD + len(tokens) // 8)
            self._rows = encode(ahead)
            self._tokens = ahead

    def between(self, lo: int, hi: int) -> Rows:
        """Rows lo .. hi-1 as `encode` has them, a view for reading."""
        return self._rows[:, :, lo:hi]
