"""An instance behind the target protocol: what page tables and managers in a child process have in common.

It needs no clone() on the other side: a copy is the list of operations that lead to it, and is asked by running them on a
fresh instance. What a search foresees travels in one exchange, so that neither side waits for the other in between.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

from spec.operations import Accepted, Outcome
from verify.remote.children import Children, Reader
from verify.target import FarError, Raised

O = TypeVar("O")  # noqa: E741, an operation
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class Replied(Protocol[S_co]):
    """An answer an operation, and the state after the last one."""

    @property
    def answers(self) -> tuple[Outcome | Raised, ...]: ...

    @property
    def state(self) -> S_co | Raised: ...


class Trail(Generic[S]):
    """The operations that lead to a state from a fresh pool, the last one here, and what the target answered and showed."""

    __slots__ = ("answer", "before", "flags", "shown", "text")

    def __init__(self, before: "Trail[S] | None", text: str, answer: Outcome | Raised | None) -> None:
        self.before = before
        self.text = text
        self.answer = answer
        self.shown: S | Raised | None = None
        self.flags: tuple[int, ...] | None = None

    def path(self) -> list["Trail[S]"]:
        """The trails from the first operation to this one; none when this is the fresh pool."""
        trails: list[Trail[S]] = []
        trail = self
        while trail.before is not None:
            trails.append(trail)
            trail = trail.before
        trails.reverse()
        return trails


class Foreseen(Generic[O, S]):
    """An operation that was asked ahead of time, with its answer, and the state after it when that was told."""

    __slots__ = ("answer", "operation", "shown")

    def __init__(self, operation: O, answer: Outcome | Raised, shown: S | Raised | None) -> None:
        self.operation = operation
        self.answer = answer
        self.shown = shown


class RemoteInstance(Generic[O, S]):
    """One instance, or copy of one, behind the target protocol: of operations O, and states that are shown as S.

    The live instance of the child, the one that its last message was about, is asked on by `apply`; any other is run again
    from a fresh pool. An operation that was foreseen to change nothing and did not is no part of the path.
    """

    _children: Children[Any]
    _reader: Reader[Replied[S]]

    def _begin(self) -> None:
        """Stand on a fresh instance."""
        self._trail: Trail[S] = Trail(None, "", None)
        self._ahead: deque[Foreseen[O, S]] = deque()
        self._lost: Raised | None = None
        try:
            self._shown: S | Raised = self._run(self._trail, ()).state
        except FarError as error:
            self._shown = self._lost = error.raised
        self._trail.shown = self._shown

    def _text(self, operation: O) -> str:
        """The operation as JSON."""
        raise NotImplementedError

    def _run_line(self, texts: Sequence[str]) -> bytes:
        """The message that makes a fresh instance and applies these operations, each as JSON, to it."""
        raise NotImplementedError

    def _apply_line(self, texts: Sequence[str]) -> bytes:
        """The message that applies these operations, each as JSON, to the instance at hand."""
        raise NotImplementedError

    def _messages_of(self, operations: Sequence[O]) -> list[tuple[O, ...]]:
        """The operations by message: those whose states are not looked at may share that of the next."""
        return [(operation,) for operation in operations]

    def apply(self, operation: O) -> Outcome:
        """The target's answer; FarError with what it did instead of answering."""
        if self._ahead:
            ahead = self._ahead.popleft()
            if ahead.operation == operation:
                self._shown = ahead.shown or self._shown
                return outcome(ahead.answer)
            self._ahead.clear()
        trail = self._trail
        text = self._text(operation)
        of, replies = self._children.foreseen
        reply: Replied[S] | Raised | None = replies.pop(operation, None) if of is trail else None
        try:
            if isinstance(reply, Raised):
                raise FarError(reply)
            if reply is None and self._children.live is self:
                reply = self._children.ask(self._apply_line((text,)), 1, self._reader)
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

    def image(self) -> object:
        """All that the target shows."""
        return self._shown

    def clone(self) -> Self:
        """A copy costs nothing: it is the same path."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._ahead = deque()
        return other

    def foresee(self, operations: Sequence[O], apart: bool) -> None:
        """Ask all of this ahead, or again one by one when that lost the child, to know which operation it was."""
        if not operations:
            return
        children, reader = self._children, self._reader
        replies: Sequence[Replied[S] | Raised]
        children.live = None
        trails = self._trail.path()
        path, known = [trail.text for trail in trails], [trail.answer for trail in trails]
        if apart:
            lines = [self._run_line((*path, self._text(operation))) for operation in operations]
            counts = [len(path) + 1] * len(lines)
            try:
                replies = children.ask_ahead(lines, counts, reader)
            except FarError as error:
                replies = children.ask_again(lines, counts, reader, error.raised)
            found = [not_repeated(known, reply) or reply for reply in replies]
            children.foreseen = (self._trail, dict(zip(operations, found, strict=False)))
            return
        runs = self._messages_of(operations)
        lines, counts = self._lines_in_a_row(path, runs)
        try:
            replies = children.ask_ahead(lines, counts, reader)
        except FarError as error:
            runs = [(operation,) for operation in operations]
            lines, counts = self._lines_in_a_row(path, runs)
            replies = children.ask_again(lines, counts, reader, error.raised)
        wrong = not_repeated(known, replies[0]) if replies else None
        self._ahead.extend([Foreseen(operations[0], wrong, None)] if wrong else in_a_row(runs, replies))

    def _visible(self) -> S:
        """The state after the last operation; FarError when it could not be observed."""
        if self._lost is not None:
            raise FarError(self._lost)
        if isinstance(self._shown, Raised):
            raise FarError(self._shown)
        return self._shown

    def _lines_in_a_row(self, path: Sequence[str], runs: Sequence[tuple[O, ...]]) -> tuple[list[bytes], list[int]]:
        """A message a run, the first one with the path before it, and how many answers each is due."""
        texts = [[self._text(operation) for operation in run] for run in runs]
        lines = [self._run_line((*path, *texts[0])), *map(self._apply_line, texts[1:])]
        return lines, [len(path) + len(runs[0]), *map(len, runs[1:])]

    def _run(self, trail: Trail[S], texts: Sequence[str]) -> Replied[S]:
        """A fresh instance, brought here and asked this; FarError also when it no longer answers on the way as it did."""
        trails = trail.path()
        line = self._run_line((*(step.text for step in trails), *texts))
        reply = self._children.ask(line, len(trails) + len(texts), self._reader)
        self._children.live = self
        if wrong := not_repeated([step.answer for step in trails], reply):
            raise FarError(wrong)
        return reply


def outcome(answer: Outcome | Raised) -> Outcome:
    """The answer, unless the target raised."""
    if isinstance(answer, Raised):
        raise FarError(answer)
    return answer


def not_repeated(known: Sequence[Outcome | Raised | None], reply: Replied[S] | Raised) -> Raised | None:
    """What the reply answers otherwise than before; None when a fresh instance repeats what another one did, or is lost."""
    return None if isinstance(reply, Raised) else answered_otherwise(known, reply.answers)


def answered_otherwise(known: Sequence[Outcome | Raised | None], answers: Sequence[Outcome | Raised]) -> Raised | None:
    """The first answer that is not as it was before, told; None when there is none."""
    for number, (before, now) in enumerate(zip(known, answers, strict=False), start=1):
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
    if isinstance(answer, Accepted) and answer.served is not None:
        return f"accepted, {answer.served} served"
    return "accepted" if isinstance(answer, Accepted) or answer is None else f"refused, {answer.reason.value}"


def in_a_row(runs: Sequence[tuple[O, ...]], replies: Sequence[Replied[S] | Raised]) -> list[Foreseen[O, S]]:
    """The operations that were answered, each group's state with its last one, and the one over which the child was lost."""
    ahead: list[Foreseen[O, S]] = []
    for run, reply in zip(runs, replies, strict=False):
        if isinstance(reply, Raised):
            return [*ahead, Foreseen(run[0], reply, None)]
        answers = reply.answers[-len(run) :]
        for operation, answer in zip(run, answers, strict=True):
            ahead.append(Foreseen(operation, answer, None))
        ahead[-1].shown = reply.state
    return ahead
