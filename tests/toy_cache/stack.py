"""The subject: a stack of free pages."""


def capacity() -> int:
    """Pages of a stack."""
    return 4


class Stack:
    """Free pages, handed out from the top."""

    def __init__(self) -> None:
        self.free = list(range(capacity()))

    def take(self) -> int:
        """Take the top page off."""
        page = self.free[-1]
        del self.free[-1]
        return page

    def give(self, page: int) -> None:
        """Put a page back on top; no stage gives back what is none."""
        if page < 0:
            raise ValueError("no page")
        self.free.append(page)

    def idle(self) -> int:
        """Pages that nobody holds; no stage asks."""
        return len(self.free)
