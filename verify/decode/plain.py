"""A decode whose rows stay in plain arrays: no pages, no trim, the rows that each step reads named by the window rule."""

from collections.abc import Sequence

import numpy as np

from impl.decoder import Context, Decoder, Step
from spec.window import rows_read


def plain_decode(decoder: Decoder, tokens: Sequence[int], steps: int, window: int | None, sinks: int = 0) -> list[Step]:
    """Feed the tokens and, once they have run out, what the decoder gave; `steps` steps in all."""
    keys, values = (np.empty((steps, decoder.width), np.int8) for _ in range(2))
    fed = list(tokens)
    taken: list[Step] = []
    for row in range(steps):
        read = [np.arange(lo, hi) for lo, hi in rows_read(row + 1, window, sinks)]
        rows = np.concatenate(read) if read else np.arange(0)
        step = decoder.step(fed[row], Context(keys[rows], values[rows]))
        keys[row], values[row] = step.key, step.value
        taken.append(step)
        if len(fed) == row + 1:
            fed.append(step.token)
    return taken
