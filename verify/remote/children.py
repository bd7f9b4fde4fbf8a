"""The child processes of a target: one for each process that asks, and a new one when it is lost.

A loss is told with what came before it, and costs the next question a start.
"""

import fcntl
import os
from collections.abc import Sequence
from dataclasses import replace

from spec.operations import Operation
from verify.remote.connection import Connection, DiedError, HungError, Launch, Limits, LostError
from verify.remote.wire_format import Hello, MalformedReplyError, Reply, ReplyReader, hello_from_line, hello_line
from verify.target import FarError, Raised

HURRIED_CPU_SECONDS, HURRIED_WALL_SECONDS = 0.25, 15.0
"""What a child may use once one has hung: the finding stands, and making its witness smaller meets the hang again and again."""


class BrokenTargetError(Exception):
    """There is no target to check: it does not start, or does not say what it is."""


class Children:
    """The child processes of one target: one for each process that asks, started when it first asks.

    A process forked from the one that made this takes one of the `spares`, so that children outlive the short-lived workers
    of a search; without a free one it starts its own.
    """

    def __init__(self, launch: Launch, limits: Limits, spares: int = 0) -> None:
        self.launch = launch
        self.limits = limits
        self.live: object = None
        self.foreseen: tuple[object, dict[Operation, Reply | Raised]] = (None, {})
        self.pipelining = True
        self._hung = ""
        self._connection: Connection | None = None
        self._owner = os.getpid()
        self._spares: list[Connection] = []
        # A lock on a byte of this file is a claim on a spare; the kernel takes it back when the claimant ends.
        self._claims = os.memfd_create("claims")
        self._connection, self.hello = self._start()
        self._spares = [Connection(launch, limits) for _ in range(spares)]

    def ask(self, line: bytes, operations: int, reader: ReplyReader) -> Reply:
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
                    cpu_seconds=min(self.limits.cpu_seconds, HURRIED_CPU_SECONDS),
                    wall_seconds=min(self.limits.wall_seconds, HURRIED_WALL_SECONDS),
                )
            raise FarError(Raised("", said, lost=True)) from None

    def ask_ahead(self, lines: Sequence[bytes], operations: Sequence[int], reader: ReplyReader) -> list[Reply]:
        """The replies to all these messages; FarError when the child is lost meanwhile, and from then on none at all."""
        if not self.pipelining:
            return []
        try:
            answered = zip(self._current().exchange(lines), operations, strict=True)
            return [reader.read(reply, count) for reply, count in answered]
        except (LostError, MalformedReplyError) as error:
            self._lose()
            self.pipelining = False
            raise FarError(Raised("", str(error), lost=True)) from None

    def ask_again(
        self, lines: Sequence[bytes], operations: Sequence[int], reader: ReplyReader, lost: Raised
    ) -> list[Reply | Raised]:
        """The replies to messages over which the child was lost, asked one by one up to the one that loses it again.

        When none does, the last reply is how it was lost before: a loss is a finding, whether or not it comes again.
        """
        replies: list[Reply | Raised] = []
        for line, count in zip(lines, operations, strict=True):
            try:
                replies.append(self.ask(line, count, reader))
            except FarError as error:
                return [*replies, error.raised]
        return [*replies[:-1], lost]

    def close(self) -> None:
        """End the child of this process, and the spares."""
        for connection in (self._connection, *self._spares):
            if connection is not None:
                connection.close()
        self._connection, self._spares = None, []
        os.close(self._claims)

    def _reply(self, line: bytes, reader: ReplyReader, operations: int) -> bytes:
        """One reply; when the child is lost, a malformed line that came before says best what is wrong."""
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
        if self._connection is None:
            try:
                self._connection, _ = self._start()
            except BrokenTargetError as error:
                raise DiedError(f"it does not start again: {error}") from None
        return self._connection

    def _start(self) -> tuple[Connection, Hello]:
        try:
            connection = Connection(self.launch, self.limits)
        except OSError as error:
            raise BrokenTargetError(f"{error.filename or self.launch.command[0]}: {error.strerror or error}") from None
        try:
            return connection, greeted(connection)
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
                greeted(spare)
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


def greeted(connection: Connection) -> Hello:
    """What the child says of itself."""
    try:
        (line,) = connection.exchange([hello_line()])
    except LostError as error:
        for line in error.answered:
            hello_from_line(line)
        raise
    return hello_from_line(line)
