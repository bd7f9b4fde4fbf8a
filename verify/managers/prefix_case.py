"""A prefix cache written in digits, for cases with literal right values.

Tokens are digits, and the row of a token spells the whole prefix up to it: after 1, 2, 3 come the rows 1, 12, 123. So a row of
another prefix reads wrong.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from impl.page_groups import Full, PageGroup
from impl.prefix_cache import PrefixCache

A, B, C, D = 0, 1, 2, 3  # requests
LAYERS = 2
PLANES = np.arange(LAYERS * 2, dtype=np.int64).reshape(LAYERS, 2, 1, 1)


def spelled(tokens: Sequence[int], groups: int = 1) -> npt.NDArray[np.int64]:
    """The rows of these tokens, unlike in every group, layer, K and V: (groups, layers, 2, rows, 1)."""
    numbers = np.array([*accumulate(tokens, lambda prefix, token: prefix * 10 + token)], np.int64).reshape(1, 1, -1, 1)
    return np.stack([numbers * 100 + group * 10 + PLANES for group in range(groups)])


class PrefixCase:
    """A cache whose requests are written in digits."""

    def __init__(self, pages: int, page_size: int, *groups: PageGroup, make: type[PrefixCache] = PrefixCache) -> None:
        self.cache = make(pages, page_size, groups or (Full(),), LAYERS, 1, np.int64)

    def reserve(self, request: int, tokens: str) -> int:
        """Admit the digits; the rows served."""
        return self.cache.admit(request, [int(token) for token in tokens])

    def commit(self, request: int) -> None:
        """Write what is reserved."""
        entry = self.cache.requests[request]
        self.cache.commit(request, spelled(entry.tokens, len(self.cache.groups))[:, :, :, entry.written :])

    def admit(self, request: int, tokens: str) -> int:
        """Admit and write; the rows served."""
        served = self.reserve(request, tokens)
        self.commit(request)
        return served

    def append(self, request: int, tokens: str) -> None:
        """Append and write."""
        self.cache.append(request, [int(token) for token in tokens])
        self.commit(request)

    def release(self, *requests: int) -> None:
        """End the requests."""
        for request in requests:
            self.cache.release(request)

    def rows(self, request: int, lo: int, hi: int, group: int = 0) -> list[int]:
        """What every layer, K and V, agrees on."""
        planes = self.cache.rows(request, group, lo, hi) - PLANES - group * 10
        assert (planes == planes[0, 0]).all()
        assert (planes % 100 == 0).all()
        found: list[int] = (planes[0, 0, :, 0] // 100).tolist()
        return found

    def table(self, request: int, group: int = 0) -> list[int]:
        """The pages of the request."""
        return self.cache.requests[request].tables[group]

    @property
    def counts(self) -> list[int]:
        """Owners of each page."""
        return self.cache.shared.counts

    @property
    def available(self) -> int:
        """Pages that nobody holds."""
        return self.cache.shared.available

    @property
    def idle(self) -> list[int]:
        """Idle pages, the next to be reused first."""
        return list(self.cache.shared.idle)

    @property
    def published(self) -> list[tuple[int, int, str]]:
        """Every published page, its group and the digits of its prefix."""
        listed = [(page, group, prefix.every_token()) for page, group, prefix in self.cache.shared.index]
        return sorted((page, group, "".join(map(str, tokens))) for page, group, tokens in listed)

    @property
    def state(self) -> tuple[Any, ...]:
        """Everything, every byte included."""
        requests = [
            (
                request,
                entry.tokens[:],
                entry.written,
                [t[:] for t in entry.tables],
                entry.held_from[:],
                len(entry.prefixes),
            )
            for request, entry in self.cache.requests.items()
        ]
        shared = self.cache.shared
        return requests, shared.counts[:], shared.blank[:], self.idle, self.published, self.cache.pool.kv.tobytes()
