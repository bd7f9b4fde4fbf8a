"""A target in a child process, driven over the target protocol: docs/target-protocol.md.

It needs no clone() on the other side: a copy is the list of operations that lead to it, and is asked by running them on a
fresh instance. What a search foresees travels in one exchange, so that neither side waits for the other in between.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Self

from spec.operations import Accepted, Operation, Outcome, Read
from verify.remote.children import Children
from verify.remote.wire_format import (
    Reply,
    ReplyReader,
    Shown,
    apply_line,
    operation_text,
    run_line,
)
from verify.target import Capabilities, FarError, Raised, RequestView, Snapshot


class Trail:
    """The operations that lead to a state from a fresh pool, the last one here, and what the target answered and showed."""

    __slots__ = ("answer", "before", "flags", "shown", "text")

    def __init__(self, before: "Trail | None", text: str, answer: Outcome | Raised | None) -> None:
        self.before = before
        self.text = text
        self.answer = answer
        self.shown: Shown | Raised | None = None
        self.flags: tuple[int, ...] | None = None

    def path(self) -> list["Trail"]:
        """The trails from the first operation to this one; none when this is the fresh pool."""
        trails: list[Trail] = []
        trail = self
        while trail.before is not None:
            trails.append(trail)
            trail = trail.before
        trails.reverse()
        return trails


class Foreseen:
    """An operation that was asked ahead of time, with its answer, and the state after it when that was told."""

    __slots__ = ("answer", "operation", "shown")

    def __init__(self, operation: Operation, answer: Outcome | Raised, shown: Shown | Raised | None) -> None:
        self.operation = operation
        self.answer = answer
        self.shown = shown


class RemoteTarget:
    """One instance, or copy of one, behind the target protocol.

    The live instance of the child, the one that its last message was about, is asked on by `apply`; any other is run again
    from a fresh pool. An operation that was foreseen to change nothing and did not is no part of the path.
    """

    def __init__(self, children: Children, pages: int, page_size: int) -> None:
        self._children = children
        self._pages, self._page_size = pages, page_size
        self._reader = ReplyReader(children.hello.shows, pages, page_size)
        self._trail = Trail(None, "", None)
        self._ahead: deque[Foreseen] = deque()
        self._lost: Raised | None = None
        try:
            self._shown = self._run(self._trail, ()).state
        except FarError as error:
            self._shown = self._lost = error.raised
        self._trail.shown = self._shown

    @property
    def capabilities(self) -> Capabilities:
        return self._children.hello.capabilities

    def apply(self, operation: Operation) -> Outcome:
        """The target's answer; FarError with what it did instead of answering."""
        if self._ahead:
            ahead = self._ahead.popleft()
            if ahead.operation == operation:
                self._shown = ahead.shown or self._shown
                return outcome(ahead.answer)
            self._ahead.clear()
        trail = self._trail
        text = operation_text(operation)
        of, replies = self._children.foreseen
        reply = replies.pop(operation, None) if of is trail else None
        try:
            if isinstance(reply, Raised):
                raise FarError(reply)
            if reply is None and self._children.live is self:
                reply = self._children.ask(apply_line((text,)), 1, self._reader)
            elif reply is None:
                reply = self._run(trail, (text,))
        except FarError as error:
            self._lost = error.raised
            raise
        answer = reply.answers[-1]
        self._shown = reply.state
        self._trail = Trail(trail, text, answer)
        self._trail.shown = reply.state
        return outcome(answer)

    def observe(self) -> Snapshot:
        """The state after the last operation; FarError when it could not be observed."""
        if self._lost is not None:
            raise FarError(self._lost)
        if isinstance(self._shown, Raised):
            raise FarError(self._shown)
        return self._shown.snapshot

    def image(self) -> object:
        """All that the target shows."""
        return self._shown

    def written(self) -> tuple[bytes, ...] | None:
        """What the target tells; else the slots that have held a row which the target has shown on the way here."""
        if not isinstance(self._shown, Raised) and self._shown.written is not None:
            return self._shown.written
        return tuple([flags_of(mask, self._page_size) for mask in self._seen_live()])

    def clone(self) -> Self:
        """A copy costs nothing: it is the same path."""
        other = object.__new__(type(self))
        other._children, other._reader = self._children, self._reader
        other._pages, other._page_size = self._pages, self._page_size
        other._trail, other._shown, other._lost = self._trail, self._shown, self._lost
        other._ahead = deque()
        return other

    def foresee(self, operations: Sequence[Operation], apart: bool) -> None:
        """Ask all of this ahead, or again one by one when that lost the child, to know which operation it was."""
        if not operations:
            return
        children, reader = self._children, self._reader
        replies: Sequence[Reply | Raised]
        children.live = None
        trails = self._trail.path()
        path, known = [trail.text for trail in trails], [trail.answer for trail in trails]
        if apart:
            lines = [self._run_line((*path, operation_text(operation))) for operation in operations]
            counts = [len(path) + 1] * len(lines)
            try:
                replies = children.ask_ahead(lines, counts, reader)
            except FarError as error:
                replies = children.ask_again(lines, counts, reader, error.raised)
            found = [not_repeated(known, reply) or reply for reply in replies]
            children.foreseen = (self._trail, dict(zip(operations, found, strict=False)))
            return
        runs = messages_of(operations)
        lines, counts = self._lines_in_a_row(path, runs)
        try:
            replies = children.ask_ahead(lines, counts, reader)
        except FarError as error:
            runs = [(operation,) for operation in operations]
            lines, counts = self._lines_in_a_row(path, runs)
            replies = children.ask_again(lines, counts, reader, error.raised)
        wrong = not_repeated(known, replies[0]) if replies else None
        self._ahead.extend([Foreseen(operations[0], wrong, None)] if wrong else in_a_row(runs, replies))

    def _lines_in_a_row(
        self, path: Sequence[str], runs: Sequence[tuple[Operation, ...]]
    ) -> tuple[list[bytes], list[int]]:
        """A message a run, the first one with the path before it, and how many answers each is due."""
        texts = [[operation_text(operation) for operation in run] for run in runs]
        lines = [self._run_line((*path, *texts[0])), *map(apply_line, texts[1:])]
        return lines, [len(path) + len(runs[0]), *map(len, runs[1:])]

    def _run(self, trail: Trail, texts: Sequence[str]) -> Reply:
        """A fresh instance, brought here and asked this; FarError also when it no longer answers on the way as it did."""
        trails = trail.path()
        line = self._run_line((*(step.text for step in trails), *texts))
        reply = self._children.ask(line, len(trails) + len(texts), self._reader)
        self._children.live = self
        if wrong := not_repeated([step.answer for step in trails], reply):
            raise FarError(wrong)
        return reply

    def _run_line(self, texts: Sequence[str]) -> bytes:
        return run_line(self._pages, self._page_size, texts)

    def _seen_live(self) -> tuple[int, ...]:
        """For each page a mask of the slots that were live in some state on the path, this one included."""
        trails: list[Trail] = []
        trail: Trail | None = self._trail
        while trail is not None and trail.flags is None:
            trails.append(trail)
            trail = trail.before
        masks = trail.flags if trail is not None and trail.flags is not None else (0,) * self._pages
        for later in reversed(trails):
            if isinstance(later.shown, Shown):
                masks = with_live_slots(masks, later.shown.snapshot.requests, self._page_size)
            later.flags = masks
        return masks


def outcome(answer: Outcome | Raised) -> Outcome:
    """The answer, unless the target raised."""
    if isinstance(answer, Raised):
        raise FarError(answer)
    return answer


def not_repeated(known: Sequence[Outcome | Raised | None], reply: Reply | Raised) -> Raised | None:
    """What the reply answers otherwise than before; None when a fresh instance repeats what another one did, or is lost."""
    if isinstance(reply, Raised):
        return None
    for number, (before, now) in enumerate(zip(known, reply.answers, strict=False), start=1):
        if before != now:
            said = [short_answer(answer) for answer in (before, now)]
            return Raised(
                "", f"on another fresh instance, operation {number} of the path is {said[1]}, and was {said[0]}"
            )
    return None


def short_answer(answer: Outcome | Raised | None) -> str:
    """The answer in a word or two."""
    if isinstance(answer, Raised):
        return f"answered by {answer.text}"
    return "accepted" if isinstance(answer, Accepted) or answer is None else f"refused, {answer.reason.value}"


def messages_of(operations: Sequence[Operation]) -> list[tuple[Operation, ...]]:
    """The operations by message: reads in a row share one, since only the state after the last of them is looked at."""
    messages: list[tuple[Operation, ...]] = []
    for reads, group in groupby(operations, lambda operation: isinstance(operation, Read)):
        run = tuple(group)
        messages += [run] if reads else [(operation,) for operation in run]
    return messages


def in_a_row(runs: Sequence[tuple[Operation, ...]], replies: Sequence[Reply | Raised]) -> list[Foreseen]:
    """The operations that were answered, each group's state with its last one, and the one over which the child was lost."""
    ahead: list[Foreseen] = []
    for run, reply in zip(runs, replies, strict=False):
        if isinstance(reply, Raised):
            return [*ahead, Foreseen(run[0], reply, None)]
        answers = reply.answers[-len(run) :]
        for operation, answer in zip(run, answers, strict=True):
            ahead.append(Foreseen(operation, answer, None))
        ahead[-1].shown = reply.state
    return ahead


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
