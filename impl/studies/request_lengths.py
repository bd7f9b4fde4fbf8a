"""Lengths of requests as a serving system meets them: most are short, a few very long. Source: docs/reference.md section 8."""

from random import Random

MEAN_OF_LOGARITHM, SPREAD_OF_LOGARITHM = 5.2, 0.9
SHORTEST = 16


def request_lengths(requests: int, longest: int, seed: int) -> tuple[int, ...]:
    """Rows that each request comes to hold, log-normal and cut to SHORTEST .. longest."""
    random = Random(seed)
    drawn = (int(random.lognormvariate(MEAN_OF_LOGARITHM, SPREAD_OF_LOGARITHM)) for _ in range(requests))
    return tuple(min(longest, max(SHORTEST, length)) for length in drawn)
