"""The source suite on the page table: random operations, each judged twice, and the recorded tables.

The weak rules follow the target: what it accepted has happened, whatever the oracle says, and what it must refuse is read
off its own free and held pages. So a target that holds a page too many is judged to the end by every rule that does not
count pages. The oracle judges beside them until the target parts from it.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from spec.operations import Accepted, Append, Fork, New, Operation, Outcome, Read, Refused, Release, Trim, Truncate
from spec.outcomes import ACCEPTED, BAD_ARGUMENT, DUPLICATE_REQUEST, OUT_OF_PAGES, ROWS_RELEASED, UNKNOWN_REQUEST
from spec.page_table import State, initial, pages_for, sink_pages, step
from verify.literals import literal_differences
from verify.refinement import Difference, check_pool, check_state, outcome_differences, unseen
from verify.source.blame import subject_ends
from verify.source.rules import BOUND, EXACT_PAGES, GROUPS, OUTCOME, TABLES
from verify.target import Factory, Raised, RequestView, Snapshot, attempt, look
from verify.targets.shipped import ShippedCache

SEEDS, OPERATIONS = range(6), 400
PAGES, PAGE_SIZE, REQUESTS = 24, 4, 5

EMPTY = initial(PAGES, PAGE_SIZE)

KINDS = (Append,) * 8 + (Trim,) * 4 + (Fork,) * 3 + (Truncate,) * 2 + (Read,) * 2 + (Release,) * 2 + (New,)
"""How often each operation is tried."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A request as the target's answers tell it: the token of every row, its sinks, and the row that it was trimmed to."""

    rows: tuple[int, ...]
    sinks: int
    keep_from: int = 0

    def cut(self, length: int) -> "Followed":
        """Its first rows, as a fork or a truncation keeps them."""
        return replace(self, rows=self.rows[:length], keep_from=min(self.keep_from, length))

    def bound(self) -> int:
        """The most pages that its rows need, wherever they begin in a page."""
        return sink_pages(self.sinks, PAGE_SIZE) + pages_for(len(self.rows) - self.keep_from, PAGE_SIZE) + 1


class Judged:
    """A run of random operations on a fresh target; every difference that some rule saw is kept."""

    def __init__(self, seed: int, factory: Factory = ShippedCache) -> None:
        self.random = random.Random(seed)
        self.target = factory(PAGES, PAGE_SIZE)
        self.shown: Snapshot | Raised = look(self.target)
        self.followed: dict[int, Followed] = {}
        self.oracle: State | None = EMPTY
        self.fresh = count(1)
        self.operations: list[Operation] = []
        self.differences: list[Difference] = []

    def run(self) -> None:
        """Apply random operations, then end every request: the pool is all free again (PT-LEAK)."""
        for _ in range(OPERATIONS):
            self.apply(self.choose())
        for request, story in self.followed.items():
            self.check_bound(request, story.bound(), "at the end")
        for request in tuple(self.followed):
            self.apply(Release(request))
        free = set(self.shown.free or ()) if isinstance(self.shown, Snapshot) else None
        if free is not None and len(free) != PAGES:
            said = f"{PAGES} pages are free after the last request"
            self.differences.append(Difference("PT-LEAK", said, f"{len(free)} pages are"))

    def choose(self) -> Operation:
        """The next operation; most are legal, but with all ids in use those that a New or a Fork asks for are live."""
        roll = self.random
        request = roll.choice(tuple(self.followed) or range(REQUESTS))
        unused = roll.choice([other for other in range(REQUESTS) if other not in self.followed] or range(REQUESTS))
        length = len(self.followed[request].rows) if request in self.followed else 0
        kind = roll.choice(KINDS) if self.followed else New
        if kind is Append:
            return Append(request, tuple(next(self.fresh) for _ in range(roll.randint(1, 9))))
        if kind is Trim:
            return Trim(request, max(0, length - roll.randrange(9)))
        if kind is Fork:
            return Fork(request, unused, roll.choice((length, roll.randint(0, length))))
        if kind is Truncate:
            return Truncate(request, max(0, length - roll.randrange(6)))
        if kind is Read:
            lo = roll.randint(0, length)
            return Read(request, lo, roll.randint(lo, length + 1))
        return New(unused, roll.choice((0, 0, 0, 1, 5))) if kind is New else Release(roll.randrange(REQUESTS))

    def apply(self, operation: Operation) -> None:
        """Apply the operation and judge it by every rule."""
        due = self.due(operation, self.shown) if isinstance(self.shown, Snapshot) else None
        image = self.target.image()
        answer = attempt(self.target, operation)
        self.shown = look(self.target)
        self.operations.append(operation)
        if due is not None:
            self.differences += map(_of_outcome, outcome_differences(due, answer))
        if isinstance(answer, Refused) or (isinstance(answer, Accepted) and answer.rows is not None):
            if self.target.image() != image:
                self.differences.append(Difference("PT-REFUSE", "a refusal or a read changes nothing", "it did"))
        elif answer == ACCEPTED:
            self.follow(operation)
        if isinstance(self.shown, Raised):
            self.differences.append(unseen(self.shown))
        else:
            self.check_state(self.shown)
        self.check_against_oracle(operation, answer)

    def due(self, operation: Operation, shown: Snapshot) -> Outcome | None:
        """What the rules demand of the target as it stands; None where it does not show what that follows from."""
        story, view = self.followed.get(operation.request), shown.requests.get(operation.request)
        if isinstance(operation, New):
            return ACCEPTED if story is None else DUPLICATE_REQUEST
        if story is None:
            return UNKNOWN_REQUEST
        if view is None or shown.counts is None or shown.free is None:
            return None
        length = len(story.rows)
        first, stop = (page * PAGE_SIZE for page in view.released)
        match operation:
            case Append(_, tokens):
                shared = length % PAGE_SIZE > 0 and any(shown.counts[page] > 1 for page in view.pages[-1:])
                needed = pages_for(length + len(tokens), PAGE_SIZE) - pages_for(length, PAGE_SIZE) + shared
                return OUT_OF_PAGES if needed > len(shown.free) else ACCEPTED
            case Fork(_, to, _) if to in self.followed:
                return DUPLICATE_REQUEST
            case Fork(_, _, at) | Truncate(_, at):
                return ROWS_RELEASED if first < at < stop else ACCEPTED
            case Read(_, lo, hi) if hi > length:
                return BAD_ARGUMENT
            case Read(_, lo, hi):
                return ROWS_RELEASED if max(lo, first) < min(hi, stop) else Accepted(story.rows[lo:hi])
        return ACCEPTED

    def follow(self, operation: Operation) -> None:
        """Take in what the target has accepted."""
        story = self.followed.get(operation.request, Followed((), 0))
        match operation:
            case New(request, sinks):
                self.followed[request] = Followed((), sinks)
            case Append(request, tokens):
                self.followed[request] = replace(story, rows=story.rows + tokens)
            case Trim(request, keep_from):
                self.followed[request] = replace(story, keep_from=max(story.keep_from, keep_from))
            case Fork(_, to, at):
                self.followed[to] = story.cut(at)
            case Truncate(request, length):
                self.followed[request] = story.cut(length)
            case Release(request):
                self.followed.pop(request, None)

    def check_state(self, shown: Snapshot) -> None:
        """The state by itself: counts, free list, lengths, rows, bounds (PT-OWN, PT-FREE, PT-LEAK, PT-LIVE, PT-LEN, PT-ROWS)."""
        if shown.requests.keys() != self.followed.keys():
            live = f"live requests {sorted(self.followed)}"
            self.differences.append(Difference("PT-LIVE", live, f"{sorted(shown.requests)}"))
        entries = Counter(page for view in shown.requests.values() for page in view.pages)
        found: list[Difference] = []
        check_pool(EMPTY, shown, [entries[page] for page in range(PAGES)], found)
        self.differences += [difference for difference in found if difference.rule not in GROUPS[EXACT_PAGES]]
        for request, view in shown.requests.items():
            if request in self.followed:
                self.differences += _of_rows(request, self.followed[request], view)
                self.check_bound(request, self.followed[request].bound() + 1, "during the run")

    def check_bound(self, request: int, most: int, when: str) -> None:
        """A request holds so many pages at most (the weak rule of the bound)."""
        view = self.shown.requests.get(request) if isinstance(self.shown, Snapshot) else None
        if view is not None and len(view.pages) > most:
            said = f"request {request} holds at most {most} pages {when}"
            self.differences.append(Difference(BOUND, said, f"{len(view.pages)}"))

    def check_against_oracle(self, operation: Operation, answer: Outcome | Raised) -> None:
        """The exact held set, until the target parts from the oracle: behind that every difference follows from the first."""
        if self.oracle is None:
            return
        self.oracle, expected = step(self.oracle, operation)
        found = outcome_differences(expected, answer)
        parted = bool(found)
        if isinstance(self.shown, Snapshot):
            check_state(self.oracle, self.shown, found)
        exact = [difference for difference in found if difference.rule in GROUPS[EXACT_PAGES]]
        self.differences += exact
        if parted or exact:
            self.oracle = None


def _of_outcome(difference: Difference) -> Difference:
    """A wrong answer by its weak rule: a reason of refusal is judged by the target's own pages."""
    return difference if difference.rule in ("PT-TOTAL", "PT-ROWS") else replace(difference, rule=OUTCOME)


def _of_rows(request: int, story: Followed, view: RequestView) -> Iterator[Difference]:
    """Its length, and its rows: those that the target shows are right, and it shows those that are needed."""
    if view.length != len(story.rows):
        yield Difference("PT-LEN", f"request {request} has {len(story.rows)} rows", f"{view.length}")
    first, stop = (page * PAGE_SIZE for page in view.released)
    rows = story.rows[:first] + story.rows[stop:]
    if view.rows != rows:
        yield Difference("PT-ROWS", f"request {request} reads {list(rows)}", f"{list(view.rows)}")
    if first < stop and (first < story.sinks or stop > story.keep_from):
        needed = f"the first {story.sinks} rows of request {request} and those from {story.keep_from} on"
        yield Difference("PT-ROWS", f"{needed} can be read", f"rows {first} .. {stop - 1} are released")


def random_differences() -> tuple[list[Difference], int]:
    """What differs under random operations from every seed, and the operations applied."""
    runs = [Judged(seed) for seed in SEEDS]
    for run in runs:
        run.run()
    return [difference for run in runs for difference in run.differences], sum(len(run.operations) for run in runs)


def table_differences() -> tuple[list[Difference], int]:
    """What differs from the recorded tables of the page table, all by one rule, and the operations applied."""
    found: list[Difference] = []
    with subject_ends(found, "PT-TOTAL", "the recorded tables"):
        differences, steps = literal_differences()
        return [replace(difference, rule=TABLES) for difference in differences], steps
    return found, 0
