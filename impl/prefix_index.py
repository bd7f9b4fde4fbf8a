"""The prefix index: which pages hold the rows of which prefix, so that a later request need not compute them again.

A page is published under all tokens up to its last row, since a row depends on every token before it. Keys are told apart by
those tokens; their hash only finds the candidates, so a collision costs a comparison and never serves a wrong page.
"""

from collections.abc import Iterator


def chained_hash(parent: "Prefix | None", tokens: tuple[int, ...]) -> int:
    """The hash of a prefix from that of the prefix one page shorter and the tokens of its last page."""
    return hash((parent, tokens))


class Prefix:
    """The tokens of whole pages: those of the last page, and the prefix before it (None when there is none).

    Prefixes are equal when all their tokens are.
    """

    __slots__ = ("_hash", "parent", "tokens")

    def __init__(self, parent: "Prefix | None", tokens: tuple[int, ...]) -> None:
        self.parent = parent
        self.tokens = tokens
        self._hash = chained_hash(parent, tokens)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prefix):
            return NotImplemented
        left: Prefix | None = self
        right: Prefix | None = other
        while left is not right:
            if left is None or right is None or left.tokens != right.tokens:
                return False
            left, right = left.parent, right.parent
        return True

    def every_token(self) -> tuple[int, ...]:
        """All tokens, the first page's first."""
        pages = []
        prefix: Prefix | None = self
        while prefix is not None:
            pages.append(prefix.tokens)
            prefix = prefix.parent
        return tuple(token for page in reversed(pages) for token in page)


class Entry:
    """One published prefix and, a group, the pages that hold its last rows, in the order of publication."""

    __slots__ = ("copies", "prefix")

    def __init__(self, prefix: Prefix, copies: tuple[dict[int, None], ...]) -> None:
        self.prefix = prefix
        self.copies = copies  # dicts for their order; the values say nothing


class PrefixIndex:
    """Published pages of `groups` groups, by prefix. Several pages of a group may hold one prefix."""

    __slots__ = ("_entries", "_published", "groups")

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self._entries: dict[Prefix, Entry] = {}
        self._published: dict[int, tuple[int, Prefix]] = {}

    def __contains__(self, page: int) -> bool:
        """Whether the page is published."""
        return page in self._published

    def __iter__(self) -> Iterator[tuple[int, int, Prefix]]:
        """Every page that a look-up can come upon, its group and its prefix; copies in the order of their publication."""
        for entry in self._entries.values():
            for group, copies in enumerate(entry.copies):
                for page in copies:
                    yield page, group, entry.prefix

    def extended(self, parent: Prefix | None, tokens: tuple[int, ...]) -> Prefix:
        """The prefix with one more page of tokens.

        It is the very object under which pages are published, if any are: further comparisons then end at their first step.
        """
        prefix = Prefix(parent, tokens)
        entry = self._entries.get(prefix)
        return prefix if entry is None else entry.prefix

    def first(self, group: int, prefix: Prefix) -> int | None:
        """Of the group's pages published under the prefix the one that was published first; None when there is none."""
        entry = self._entries.get(prefix)
        return None if entry is None else next(iter(entry.copies[group]), None)

    def publish(self, group: int, page: int, prefix: Prefix) -> None:
        """Have look-ups find the page; one that is published already keeps its prefix."""
        if page in self._published:
            return
        entry = self._entries.get(prefix)
        if entry is None:
            entry = self._entries[prefix] = Entry(prefix, tuple({} for _ in range(self.groups)))
        entry.copies[group][page] = None  # beside the copies that are there: when one is reused, another still serves
        self._published[page] = group, entry.prefix

    def forget(self, page: int) -> None:
        """Have look-ups find the page, which is published, no more."""
        group, prefix = self._published.pop(page)
        entry = self._entries[prefix]
        del entry.copies[group][page]
        if not any(entry.copies):
            del self._entries[prefix]

    def clone(self) -> "PrefixIndex":
        """An independent copy; prefixes never change and are shared."""
        other = PrefixIndex(self.groups)
        other._published = self._published.copy()
        for prefix, entry in self._entries.items():
            other._entries[prefix] = Entry(prefix, tuple(copies.copy() for copies in entry.copies))
        return other
