"""The author of random walks: writes operations from the oracle alone, so that a whole walk can travel to a manager at once.

Tokens are 0 and 1, with 0 far more frequent, and prompts are mostly prefixes of what some request has or had, so that hits
are frequent. Lengths lie around page edges and windows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from spec.groups import lower_edge
from spec.manager import Request, State, Traits, available, initial, step
from spec.manager_tables import readable_at
from spec.operations import (
    Accepted,
    Admit,
    Append,
    Commit,
    Fork,
    ManagerOperation,
    Outcome,
    Release,
    Truncate,
)
from verify.managers.target import Offer, offers

IDS = 6
"""Request ids in play, live or not."""
MOST_TEXTS = 6
"""Token lists of requests that ended or grew, from which prompts are drawn."""
MOST_TOKENS = 250
"""Longest request that is written."""

Tokens = tuple[int, ...]
Avoid = Callable[[State, ManagerOperation, Outcome], bool]
"""Whether to leave out an operation with this outcome in this state."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a walk, with the oracle's states around it and its answer."""

    operation: ManagerOperation
    before: State
    outcome: Outcome
    after: State


class Author:
    """Writes one walk. `emit` adds an operation; a move or a play (verify/managers/plays.py) adds some."""

    def __init__(self, traits: Traits, offer: Offer, random: Random, avoid: Avoid | None = None) -> None:
        self.traits = traits
        self.offer = offer
        self.random = random
        self.avoid = avoid
        self.state = initial(traits)
        self.steps: list[Step] = []
        self.texts: list[Tokens] = []
        self.avoided = 0

    def emit(self, operation: ManagerOperation) -> Outcome | None:
        """Add the operation and return the oracle's answer; None when it is not offered, too long or to be avoided."""
        if not offers(self.offer, self.traits, operation) or self.too_long(operation):
            return None
        before = self.state
        after, outcome = step(before, operation)
        if self.avoid is not None and self.avoid(before, operation, outcome):
            self.avoided += 1
            return None
        self.steps.append(Step(operation, before, outcome, after))
        self.state = after
        if isinstance(outcome, Accepted) and not isinstance(operation, Commit):
            self.remember(operation)
        return outcome

    def too_long(self, operation: ManagerOperation) -> bool:
        """Whether a request would grow beyond what is written."""
        if not isinstance(operation, Admit | Append):
            return False
        grown = self.length(operation.request) if isinstance(operation, Append) else 0
        return grown + len(operation.tokens) > MOST_TOKENS

    def remember(self, operation: ManagerOperation) -> None:
        """Keep the tokens that a request had before it shrank or ended, and those that it has now."""
        before = self.steps[-1].before.requests.get(operation.request)
        now = self.state.requests.get(operation.request)
        tokens = (before if isinstance(operation, Release | Truncate) else now) or now
        if tokens is not None:
            self.texts = [text for text in self.texts if text != tokens.tokens][-MOST_TEXTS + 1 :]
            self.texts.append(tokens.tokens)

    # What moves are made of.

    def live(self) -> int | None:
        """A live request, None when there is none."""
        return self.random.choice(sorted(self.state.requests)) if self.state.requests else None

    def unused(self) -> int:
        """An id that is not live, the smallest when all are."""
        free = [request for request in range(IDS) if request not in self.state.requests]
        return self.random.choice(free) if free else 0

    def request(self, request: int) -> Request:
        """A live request's truth."""
        return self.state.requests[request]

    def length(self, request: int) -> int:
        """Rows of the request, 0 when it is unknown."""
        found = self.state.requests.get(request)
        return len(found.tokens) if found else 0

    def fresh(self, count: int) -> Tokens:
        """So many tokens, mostly 0."""
        return tuple([int(self.random.random() < 0.2) for _ in range(count)])

    def prompt(self) -> Tokens:
        """The tokens of an admission: mostly the beginning of a text, cut near a page edge, and a few more."""
        text: Tokens = self.random.choice(self.texts) if self.texts and self.random.random() < 0.85 else ()
        length = self.near_an_edge(len(text))
        tail = self.random.choice((0, 0, 1, 1, 2, self.traits.page_size, self.traits.page_size + 1))
        return (text[:length] + self.fresh(tail)) or self.fresh(self.near_an_edge(3 * self.traits.page_size) or 1)

    def near_an_edge(self, most: int) -> int:
        """A length up to `most`: any, or close to a multiple of the page or to a window."""
        size, random = self.traits.page_size, self.random
        windows = [group.size for group in self.traits.groups if group.size]
        base = random.choice((most, random.randint(0, most // size) * size, random.randint(0, most), *windows))
        return max(0, min(most, base + random.choice((0, 0, 0, 1, -1))))

    def cut_points(self, request: int) -> list[int]:
        """Lengths at which a request is cut with interest: sinks, page edges, around the gone rows, the end."""
        found, size = self.request(request), self.traits.page_size
        length, points = len(found.tokens), {0, 1, found.written}
        points.update(range(0, length + 1, size))
        points.update((length, length - 1, length - size, length // size * size, length // size * size - 1))
        for group, low in zip(self.traits.groups, found.low, strict=True):
            points.update(range(group.sinks + 1))
            if low:
                edge = lower_edge(group, size, self.traits.granule == "row")
                whole = low + group.size - group.sinks - 1
                points.update((edge, edge + 1, low - 1, low, low + 1, whole - 1, whole, whole + 1))
        reach = sorted(point for point in points if 0 <= point <= length)
        if self.random.random() < 0.25:
            return reach
        return [point for point in reach if self.is_kept(found, point)]

    def is_kept(self, found: Request, position: int) -> bool:
        """Whether the oracle lets the request be cut there (RowsReleased when not)."""
        size, by_row = self.traits.page_size, self.traits.granule == "row"
        pairs = zip(self.traits.groups, found.low, strict=True)
        return all(readable_at(group, size, by_row, low, position) for group, low in pairs)

    def room(self, request: int | None) -> int:
        """About the most rows that the request, or a new one, can still be given, were nothing trimmed."""
        pages = available(self.state) // len(self.traits.groups)
        length = self.length(request) if request is not None else 0
        return pages * self.traits.page_size + -length % self.traits.page_size

    # Moves.

    def admit(self) -> None:
        request = self.unused()
        if self.emit(Admit(request, self.prompt())) is not None and self.random.random() < 0.75:
            self.emit(Commit(request))

    def admit_too_much(self) -> None:
        over = self.room(None) + self.random.randint(0, self.traits.page_size + 1)
        text = self.random.choice(self.texts) if self.texts else ()
        self.emit(Admit(self.unused(), text[:over] + self.fresh(over - len(text[:over])) or (0,)))

    def append(self) -> None:
        request = self.live()
        if request is None:
            return self.admit()
        size = self.traits.page_size
        count = self.random.choice((1, 1, size, self.random.randint(1, 2 * size + 1)))
        text = next((text for text in self.texts if self.continues(text, request)), ())
        more = text[self.length(request) :][:count] if self.random.random() < 0.5 else ()
        if self.emit(Append(request, more + self.fresh(count - len(more)))) and self.random.random() < 0.7:
            self.emit(Commit(request))
        return None

    def continues(self, text: Tokens, request: int) -> bool:
        """Whether the text goes on where the request's tokens end."""
        tokens = self.request(request).tokens
        return len(text) > len(tokens) and text[: len(tokens)] == tokens

    def append_to_the_last_page(self) -> None:
        request = self.live()
        if request is not None:
            rows = self.room(request) - self.random.choice((0, 0, 1, 2))
            self.emit(Append(request, self.fresh(max(1, rows))))

    def append_too_much(self) -> None:
        request = self.live()
        if request is not None:
            self.emit(Append(request, self.fresh(self.room(request) + self.random.randint(1, self.traits.page_size))))

    def commit(self) -> None:
        request = self.live()
        if request is not None:
            self.emit(Commit(request))

    def fork(self) -> None:
        request = self.live()
        if request is not None:
            at = self.random.choice([0, *self.cut_points(request)])
            if self.traits.forks == "sinks":
                sinks = [group.sinks for group in self.traits.groups if group.kind == "window"]
                at = min(at, *sinks, self.length(request))
            self.emit(Fork(request, self.unused(), min(at, self.request(request).written)))

    def truncate(self) -> None:
        request = self.live()
        if request is not None:
            shorter = [point for point in self.cut_points(request) if point < self.length(request)]
            self.emit(Truncate(request, self.random.choice(shorter or [self.length(request)])))

    def release(self) -> None:
        request = self.live()
        if request is not None:
            self.emit(Release(request))

    def release_all(self) -> None:
        for request in self.random.sample(sorted(self.state.requests), len(self.state.requests)):
            self.emit(Release(request))

    def illegal(self) -> None:
        """An operation whose arguments are mostly wrong."""
        request, to = self.random.randint(0, IDS), self.random.randint(0, IDS)
        x = self.random.choice((-2, -1, 0, self.length(request) + 1, self.length(request) + self.traits.page_size))
        self.emit(
            self.random.choice(
                (
                    Admit(request, self.fresh(max(0, x) % 4)),
                    Append(request, self.fresh(max(0, x) % 4)),
                    Commit(request),
                    Fork(request, to, x),
                    Fork(request, request, 0),
                    Truncate(request, x),
                    Release(request),
                )
            )
        )

    def half(self) -> bool:
        """Heads or tails."""
        return self.random.random() < 0.5


MOVES: tuple[tuple[int, Callable[[Author], None]], ...] = (
    (16, Author.admit),
    (3, Author.admit_too_much),
    (20, Author.append),
    (3, Author.append_to_the_last_page),
    (3, Author.append_too_much),
    (8, Author.commit),
    (10, Author.fork),
    (11, Author.truncate),
    (10, Author.release),
    (2, Author.release_all),
    (4, Author.illegal),
)
"""Each move with its weight."""
