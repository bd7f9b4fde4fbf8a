"""The value of a row: a digest of the whole token prefix that ends with it, so that a wrong hit reads wrong."""

from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32


def value(tokens: Sequence[int]) -> int:
    """The value of the last of these rows; each token is 0..255 (ValueError otherwise), and there is at least one."""
    return crc32(bytes(tokens)) * 256 + len(tokens) % 256


def values(tokens: Sequence[int]) -> tuple[int, ...]:
    """The value of every row."""
    return values_of(tuple(tokens))


@lru_cache(maxsize=65536)
def values_of(tokens: tuple[int, ...]) -> tuple[int, ...]:
    """The value of every row, each found from the digest before it."""
    digest, found = 0, []
    for number, token in enumerate(bytes(tokens), start=1):
        digest = crc32(token.to_bytes(), digest)
        found.append(digest * 256 + number % 256)
    return tuple(found)
