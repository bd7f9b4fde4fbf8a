"""The child processes of a target: one for each process that asks, and a new one when it is lost.

A loss is told with what came before it, and costs the next question a start.
"""

import fcntl
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from verify.remote.connection import Connection, DiedError, HungError, Launch, Limits, LostError
from verify.remote.wire_format import MalformedReplyError, hello_line
from verify.target import FarError, Raised

H = TypeVar("H")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

HURRIED_CPU_SECONDS, HURRIED_WALL_SECONDS = 0.25, 15.0
"""What a child may use once one has hung: the finding stands, and making its witness smaller meets the hang again and again."""


class BrokenTargetError(Exception):
    """There is no target to check: it does not start, or does not say what it is."""


class Reader(Protocol[R_co]):
    """Takes replies apart."""

    def read(self, line: bytes, operations: int) -> R_co:
        """The reply that the line is; MalformedReplyError, also when it has not an answer an operation."""


class Ahead(Generic[R]):
    """Messages that were sent, the replies of which are taken later.

    `lost` is how the child was lost over them; what was sent after them has no replies then, and is asked again. With `opens`
    they only open an instance, and what follows is more likely to blame: the child may have held their replies back.
    """

    __slots__ = ("lines", "lost", "opens", "operations", "reader", "replies")

    def __init__(self, lines: Sequence[bytes], operations: Sequence[int], reader: Reader[R], opens: bool) -> None:
        self.lines = lines
        self.operations = operations
        self.reader = reader
        self.opens = opens
        self.replies: list[R] | None = None
        self.lost: Raised | None = None


class Children(Generic[H]):
    """The child processes of one target: one for each process that asks, started when it first asks.

    `hello_of` takes their hello apart (MalformedReplyError). Once one has hung, the next ones may use `hurried` seconds of
    CPU between two replies. A process forked from the one that made this takes one of the `spares`, so that children outlive
    the short-lived workers of a search; without a free one it starts its own.
    """

    def __init__(
        self,
        launch: Launch,
        limits: Limits,
        hello_of: Callable[[bytes], H],
        spares: int = 0,
        hurried: float = HURRIED_CPU_SECONDS,
    ) -> None:
        self.launch = launch
        self.limits = limits
        self.live: object = None
        self.foreseen: tuple[object, dict[Any, Any]] = (None, {})
        self.pipelining = True
        self._hello_of = hello_of
        self._hurried = hurried
        self._hung = ""
        self._sent: deque[Ahead[Any]] = deque()
        self._connection: Connection | None = None
        self._owner = os.getpid()
        self._spares: list[Connection] = []
        # A lock on a byte of this file is a claim on a spare; the kernel takes it back when the claimant ends.
        self._claims = os.memfd_create("claims")
        self._connection, self.hello = self._start()
        self._spares = [Connection(launch, limits) for _ in range(spares)]

    def ask(self, line: bytes, operations: int, reader: Reader[R]) -> R:
        """The reply to one message; FarError when there is none, and the next message goes to a new child."""
        try:
            return reader.read(self._reply(line, reader, operations), operations)
        except (LostError, MalformedReplyError) as error:
            self._lose()
            said = str(error)
            if isinstance(error, HungError):
                self._hung = said = self._hung or said
                self.limits = replace(
                    self.limits,
                    cpu_seconds=min(self.limits.cpu_seconds, self._hurried),
                    wall_seconds=min(self.limits.wall_seconds, HURRIED_WALL_SECONDS),
                )
            raise FarError(Raised("", said, lost=True)) from None

    def ask_ahead(self, lines: Sequence[bytes], operations: Sequence[int], reader: Reader[R]) -> list[R]:
        """The replies to all these messages; FarError when the child is lost meanwhile, and from then on none at all."""
        return self.taken(self.send_ahead(lines, operations, reader))

    def send_ahead(
        self, lines: Sequence[bytes], operations: Sequence[int], reader: Reader[R], opens: bool = False
    ) -> Ahead[R]:
        """Send all these messages, so that the child works on them meanwhile; `taken` returns the replies."""
        ahead = Ahead(lines, operations, reader, opens)
        if not self.pipelining:
            ahead.replies = []
            return ahead
        try:
            self._current().send(lines)
            self._sent.append(ahead)
        except LostError as error:
            self._lost_over([ahead], error)
        return ahead

    def taken(self, ahead: Ahead[R]) -> list[R]:
        """The replies to what was sent ahead; FarError when the child was lost over it, none when that is not known."""
        while ahead.replies is None and ahead.lost is None:
            self._settle()
        if ahead.lost is not None:
            raise FarError(ahead.lost)
        return ahead.replies or []

    def _settle(self) -> None:
        """Take the replies to the first messages that were sent ahead."""
        ahead = self._sent.popleft()
        try:
            replies = self._current().receive(len(ahead.lines))
            ahead.replies = [
                ahead.reader.read(reply, count) for reply, count in zip(replies, ahead.operations, strict=True)
            ]
        except (LostError, MalformedReplyError) as error:
            self._lost_over([ahead, *self._sent], error)

    def _lost_over(self, sent: Sequence[Ahead[Any]], error: Exception) -> None:
        """Ask nothing ahead from now on; `sent` are all that wait for replies, in order."""
        blamed = next((ahead for ahead in sent if not ahead.opens), sent[0])
        for ahead in sent:
            ahead.replies = []
        blamed.replies, blamed.lost = None, Raised("", str(error), lost=True)
        self._sent.clear()
        self._lose()
        self.pipelining = False

    def ask_again(
        self, lines: Sequence[bytes], operations: Sequence[int], reader: Reader[R], lost: Raised | None
    ) -> list[R | Raised]:
        """The replies to messages over which the child was `lost`, asked one by one up to the one that loses it again.

        When none does, the last reply is how it was lost before: a loss is a finding, whether or not it comes again.
        """
        replies: list[R | Raised] = []
        for line, count in zip(lines, operations, strict=True):
            try:
                replies.append(self.ask(line, count, reader))
            except FarError as error:
                return [*replies, error.raised]
        return replies if lost is None else [*replies[:-1], lost]

    def close(self) -> None:
        """End the child of this process, and the spares."""
        for connection in (self._connection, *self._spares):
            if connection is not None:
                connection.close()
        self._connection, self._spares = None, []
        os.close(self._claims)

    def _reply(self, line: bytes, reader: Reader[object], operations: int) -> bytes:
        """One reply; when the child is lost, a malformed line that came before says best what is wrong."""
        self._current()
        while self._sent:
            self._settle()
        try:
            (reply,) = self._current().exchange([line])
        except LostError as error:
            for reply in error.answered:
                reader.read(reply, operations)
            raise
        return reply

    def _current(self) -> Connection:
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._connection = self._claimed()
            self.live, self.foreseen = None, (None, {})
            self._forget_sent()  # the child of the other process works on them
        if self._connection is None:
            try:
                self._connection, _ = self._start()
            except BrokenTargetError as error:
                raise DiedError(f"it does not start again: {error}") from None
        return self._connection

    def _start(self) -> tuple[Connection, H]:
        try:
            connection = Connection(self.launch, self.limits)
        except OSError as error:
            raise BrokenTargetError(f"{error.filename or self.launch.command[0]}: {error.strerror or error}") from None
        try:
            return connection, greeted(connection, self._hello_of)
        except LostError as error:
            connection.close()
            raise BrokenTargetError(f"before it answered hello (docs/target-protocol.md), {error}") from None
        except MalformedReplyError as error:
            connection.close()
            raise BrokenTargetError(str(error)) from None

    def _claimed(self) -> Connection | None:
        """A spare that no other process has and that still answers."""
        for number, spare in enumerate(self._spares):
            try:
                fcntl.lockf(self._claims, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
                greeted(spare, self._hello_of)
                return spare
            except OSError:
                continue
            except (LostError, MalformedReplyError):
                spare.close()
        return None

    def _lose(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self.live, self.foreseen = None, None, (None, {})
        self._forget_sent()

    def _forget_sent(self) -> None:
        """What was sent ahead has no reply."""
        for ahead in self._sent:
            ahead.replies = []
        self._sent.clear()


def greeted(connection: Connection, hello_of: Callable[[bytes], H]) -> H:
    """What the child says of itself."""
    try:
        (line,) = connection.exchange([hello_line()])
    except LostError as error:
        for line in error.answered:
            hello_of(line)
        raise
    return hello_of(line)
