"""A manager in a child process, driven over the target protocol: docs/target-protocol.md, Managers.

A whole walk travels at once: its messages are sent when it is foreseen, and the replies taken when the first of its operations
is applied, so that the manager works on one walk while the one before it is checked. A search asks copies by their paths.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Self

from spec.manager import Traits
from spec.operations import Accepted, Admit, ManagerOperation, Outcome
from verify.managers.configuration import Configuration
from verify.managers.target import ManagerSnapshot, Offer
from verify.remote.children import Ahead, Children
from verify.remote.instance import Foreseen, RemoteInstance, Trail, answered_otherwise, outcome
from verify.remote.manager_format import (
    LastReader,
    ManagerReply,
    ManagerSteps,
    StateReader,
    StepsReader,
    apply_line,
    operation_text,
    run_line,
)
from verify.remote.manager_hello import ManagerHello
from verify.target import FarError, Raised

MESSAGE = 32
"""Operations of a walk a message: many enough that messages cost nothing, few enough that a hang is seen soon."""

Step = tuple[Outcome | Raised, ManagerSnapshot | Raised]
"""What an operation was answered, and what was shown after it."""


class Walk(NamedTuple):
    """Operations that were told after those of the trails, to the instance that stood there when it was live."""

    trails: Sequence[Trail[ManagerSnapshot]]
    operations: Sequence[ManagerOperation]
    live: bool
    sent: Ahead[ManagerSteps]


class RemoteManager(RemoteInstance[ManagerOperation, ManagerSnapshot]):
    """A manager in one configuration, or copy of one, behind the target protocol."""

    def __init__(
        self, children: Children[ManagerHello], configuration: Configuration, states: StateReader | None = None
    ) -> None:
        """A fresh instance; `states` may be shared by all of one configuration, since it knows what it has read."""
        self._children = children
        self.configuration = configuration
        self._offer = children.hello.offer(configuration)
        states = states or StateReader(children.hello.shows, configuration.traits)
        self._reader = self._last = LastReader(states)
        self._steps = StepsReader(states)
        self._begin()

    def _begin(self) -> None:
        """Stand on a fresh instance, which the child makes meanwhile."""
        self._trail: Trail[ManagerSnapshot] = Trail(None, "", None)
        self._ahead: deque[Foreseen[ManagerOperation, ManagerSnapshot]] = deque()
        self._lost: Raised | None = None
        self._walk: Walk | None = None
        self._fresh: Ahead[ManagerReply] | None = self._children.send_ahead(
            [self._run_line(())], [0], self._last, opens=True
        )
        self._children.live = self

    def _settle(self) -> None:
        """Take what was sent ahead: the fresh instance's state, and the walk that it was told of."""
        fresh, walk = self._fresh, self._walk
        self._fresh = self._walk = None
        if fresh is not None:
            self._shown = self._trail.shown = self._first(fresh)
        if walk is not None:
            told = self._taken(walk)
            self._ahead = deque([Foreseen(asked, *step) for asked, step in zip(walk.operations, told, strict=False)])

    def _first(self, fresh: Ahead[ManagerReply]) -> ManagerSnapshot | Raised:
        """What a fresh instance shows; asked alone when nothing can be asked ahead any more."""
        try:
            replies = self._children.taken(fresh)
            return replies[0].state if replies else self._run(self._trail, ()).state
        except FarError as error:
            self._lost = error.raised
            return error.raised

    @property
    def offer(self) -> Offer:
        return self._offer

    @property
    def traits(self) -> Traits:
        return self.configuration.traits

    def apply(self, operation: ManagerOperation) -> Outcome:
        """The manager's answer; FarError with what it did instead of answering."""
        self._settle()
        if self._ahead and self._ahead[0].operation == operation:
            ahead = self._ahead.popleft()
            answer, shown = ahead.answer, ahead.shown
            if isinstance(answer, Raised) and answer.lost:
                self._lost = answer
                raise FarError(answer)
            assert shown is not None
            self._trail = Trail(self._trail, operation_text(operation), answer)
            self._trail.shown = self._shown = shown
        else:
            answer = super().apply(operation)
        return outcome(fitting(operation, answer))

    def observe(self) -> ManagerSnapshot:
        """The state after the last operation; FarError when it could not be observed."""
        self._settle()
        return self._visible()

    def image(self) -> object:
        """All that the manager shows."""
        self._settle()
        return super().image()

    def clone(self) -> Self:
        """A copy costs nothing: it is the same path."""
        self._settle()
        return super().clone()

    def run(self, operations: Sequence[ManagerOperation]) -> list[Step]:
        """What a fresh instance answers and shows, an operation after the other.

        The list ends early, with a loss as answer and as state, at the operation over which the child was lost. Instances
        made before can be asked on.
        """
        told = self._taken(self._told((), operations, live=False))
        return [
            (fitting(operation, answer), state) for operation, (answer, state) in zip(operations, told, strict=False)
        ]

    def foresee(self, operations: Sequence[ManagerOperation], apart: bool) -> None:
        """Ask all of this ahead: a whole walk, when it is not apart; what is then applied belongs to the path.

        The child works on a walk while this process does something else; the first question after it waits for the replies.
        """
        if apart:
            self._settle()
            super().foresee(operations, apart)
        elif operations and self._children.pipelining:
            if self._walk is not None:
                self._settle()
            self._walk = self._told(self._trail.path(), operations, self._children.live is self)

    def _told(
        self, trails: Sequence[Trail[ManagerSnapshot]], operations: Sequence[ManagerOperation], live: bool
    ) -> Walk:
        """The operations after those of the trails, told to the instance that stands there when it is live."""
        path, texts = [trail.text for trail in trails], [operation_text(operation) for operation in operations]
        self._children.live = None
        lines, counts = self._in_messages(texts if live else [*path, *texts], MESSAGE, live)
        return Walk(trails, operations, live, self._children.send_ahead(lines, counts, self._steps))

    def _taken(self, walk: Walk) -> list[Step]:
        """What comes of a walk that was told. A loss, and a path that is answered otherwise than before, end the list."""
        lost: Raised | None = None
        try:
            replies = self._children.taken(walk.sent)
            if replies:
                told = steps_of(replies)
                return told if walk.live else after_path(walk.trails, told)
        except FarError as error:
            lost = error.raised
        texts = [trail.text for trail in walk.trails] + [operation_text(operation) for operation in walk.operations]
        lines, counts = self._in_messages(texts, 1, live=False)
        return after_path(walk.trails, steps_of(self._children.ask_again(lines, counts, self._steps, lost)))

    def _in_messages(self, texts: Sequence[str], size: int, live: bool) -> tuple[list[bytes], list[int]]:
        """Messages of so many operations, with a state an operation, and how many answers each is due."""
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        lines = [apply_line(part, each=True) for part in parts]
        if not live:
            lines[:1] = [run_line(self.configuration.name, part, each=True) for part in parts[:1]]
        return lines, [len(part) for part in parts]

    def _text(self, operation: ManagerOperation) -> str:
        return operation_text(operation)

    def _run_line(self, texts: Sequence[str]) -> bytes:
        return run_line(self.configuration.name, texts, each=False)

    def _apply_line(self, texts: Sequence[str]) -> bytes:
        return apply_line(texts, each=False)


def steps_of(replies: Sequence[ManagerSteps | Raised]) -> list[Step]:
    """The steps of all replies up to a loss."""
    steps: list[Step] = []
    for reply in replies:
        if isinstance(reply, Raised):
            return [*steps, (reply, reply)]
        steps += zip(reply.answers, reply.states, strict=True)
    return steps


def after_path(trails: Sequence[Trail[ManagerSnapshot]], steps: list[Step]) -> list[Step]:
    """The steps after those of the path, or alone what went otherwise on it."""
    if trails and len(steps) <= len(trails):
        return steps[-1:]
    wrong = answered_otherwise([trail.answer for trail in trails], [answer for answer, _ in steps])
    return [(wrong, wrong)] if wrong else steps[len(trails) :]


def fitting(operation: ManagerOperation, answer: Outcome | Raised) -> Outcome | Raised:
    """The answer, or what is wrong with it: an admission that is accepted says how many rows were served, nothing else does."""
    if not isinstance(answer, Accepted) or isinstance(operation, Admit) == (answer.served is not None):
        return answer
    said = "not with how many rows were served" if answer.served is None else f"with {answer.served} rows served"
    return Raised("", f"{type(operation).__name__.lower()} was accepted, {said}")
