"""A page table in a child process, driven over the target protocol: docs/target-protocol.md."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from spec.operations import Operation, Read
from verify.remote.children import Children
from verify.remote.instance import RemoteInstance, Trail
from verify.remote.wire_format import Hello, ReplyReader, Shown, apply_line, operation_text, run_line
from verify.target import Capabilities, Raised, RequestView, Snapshot


class RemoteTarget(RemoteInstance[Operation, Shown]):
    """A page table, or copy of one, behind the target protocol."""

    def __init__(self, children: Children[Hello], pages: int, page_size: int) -> None:
        self._children = children
        self._pages, self._page_size = pages, page_size
        self._reader = ReplyReader(children.hello.shows, pages, page_size)
        self._begin()

    @property
    def capabilities(self) -> Capabilities:
        hello: Hello = self._children.hello
        return hello.capabilities

    def observe(self) -> Snapshot:
        """The state after the last operation; FarError when it could not be observed."""
        return self._visible().snapshot

    def written(self) -> tuple[bytes, ...] | None:
        """What the target tells; else the slots that have held a row which the target has shown on the way here."""
        if not isinstance(self._shown, Raised) and self._shown.written is not None:
            return self._shown.written
        return tuple([flags_of(mask, self._page_size) for mask in self._seen_live()])

    def _text(self, operation: Operation) -> str:
        return operation_text(operation)

    def _run_line(self, texts: Sequence[str]) -> bytes:
        return run_line(self._pages, self._page_size, texts)

    def _apply_line(self, texts: Sequence[str]) -> bytes:
        return apply_line(texts)

    def _messages_of(self, operations: Sequence[Operation]) -> list[tuple[Operation, ...]]:
        """Reads in a row share a message, since only the state after the last of them is looked at."""
        messages: list[tuple[Operation, ...]] = []
        for reads, group in groupby(operations, lambda operation: isinstance(operation, Read)):
            run = tuple(group)
            messages += [run] if reads else [(operation,) for operation in run]
        return messages

    def _seen_live(self) -> tuple[int, ...]:
        """For each page a mask of the slots that were live in some state on the path, this one included."""
        trails: list[Trail[Shown]] = []
        trail: Trail[Shown] | None = self._trail
        while trail is not None and trail.flags is None:
            trails.append(trail)
            trail = trail.before
        masks = trail.flags if trail is not None and trail.flags is not None else (0,) * self._pages
        for later in reversed(trails):
            if isinstance(later.shown, Shown):
                masks = with_live_slots(masks, later.shown.snapshot.requests, self._page_size)
            later.flags = masks
        return masks


@lru_cache(maxsize=4096)
def flags_of(mask: int, page_size: int) -> bytes:
    """A byte a slot, one where the mask has it."""
    return bytes([mask >> slot & 1 for slot in range(page_size)])


def with_live_slots(masks: tuple[int, ...], requests: Mapping[int, RequestView], page_size: int) -> tuple[int, ...]:
    """The masks with the slots that hold a row of a live request."""
    found = list(masks)
    for view in requests.values():
        first, stop = view.released
        for index, page in enumerate(view.pages):
            logical = index if index < first else index + stop - first
            rows = min(page_size, view.length - logical * page_size)
            if 0 <= page < len(found) and rows > 0:
                found[page] |= (1 << rows) - 1
    return tuple(found)
