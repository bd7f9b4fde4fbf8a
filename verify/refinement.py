"""The refinement check: does what the target did follow from what the oracle says?

Which physical page backs a cell is the target's free choice, so the check builds the bijection between the oracle's cells
and the target's pages, and every rule follows from it. It reports every broken rule, never only the first.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from spec.operations import Accepted, Operation, Outcome, Refused
from spec.page_table import Request, State, owners, readable, released, sink_pages
from verify.target import Raised, RequestView, Snapshot, Target, attempt, look

Mapped = Mapping[int, int]
"""Cell -> physical page, for every held cell."""

V = TypeVar("V")
"""What a target shows: a Snapshot, or a manager's."""


class Pool(Protocol):
    """The number of pages, and of those that the oracle uses."""

    @property
    def pages(self) -> int: ...

    @property
    def used(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Difference:
    """One broken rule: what the oracle says and what the target did."""

    rule: str
    oracle: str
    target: str


@dataclass(frozen=True, slots=True)
class Seen(Generic[V]):
    """What is known of a target between two operations: its bijection, its snapshot and its image."""

    mapped: Mapped
    snapshot: V
    image: object


@dataclass(slots=True)
class Checked(Generic[V]):
    """One operation after the check: the bijection and snapshot that now hold, what differs, and whether the image moved.

    `lost` says that the target's process is gone.
    """

    mapped: Mapped
    snapshot: V
    differences: tuple[Difference, ...]
    moved: bool
    lost: bool = False


def check_operation(
    before: State, after: State, expected: Outcome, operation: Operation, target: Target, seen: Seen[Snapshot]
) -> Checked[Snapshot]:
    """Apply the operation to the target and hold it against the oracle's `after` and `expected`.

    A refusal or a read must leave the image as it was (PT-REFUSE): the whole snapshot, and what a snapshot does not show.
    Where another operation changes nothing either, an image as before shows what was seen and checked before.
    """
    answer = attempt(target, operation)
    differences = [] if answer is expected or answer == expected else outcome_differences(expected, answer)
    if isinstance(answer, Raised) and answer.lost:
        return Checked(seen.mapped, seen.snapshot, tuple(differences), False, lost=True)
    if after is before or after == before:
        if target.image() == seen.image:
            return Checked(seen.mapped, seen.snapshot, tuple(differences), False)
        if type(expected) is Refused or (type(expected) is Accepted and expected.rows is not None):
            differences.append(Difference("PT-REFUSE", "nothing changes", changed_text(after, look(target))))
            return Checked(seen.mapped, seen.snapshot, tuple(differences), True)
    snapshot = look(target)
    if isinstance(snapshot, Raised):
        if snapshot != answer:
            differences.append(unseen(snapshot))
        return Checked(seen.mapped, seen.snapshot, tuple(differences), True)
    mapped = check_state(after, snapshot, differences)
    if not differences and not target.capabilities.moves_pages:
        check_in_place(seen.mapped, mapped, differences)
    return Checked(mapped, snapshot, tuple(differences), True)


def unseen(raised: Raised) -> Difference:
    """The state could not be observed."""
    return Difference("PT-TOTAL", "the state can be observed", raised.text)


def outcome_differences(expected: Outcome, answer: Outcome | Raised) -> list[Difference]:
    """The rules that a wrong answer breaks; empty when it is the oracle's."""
    said = describe(expected)
    due = [expected.reason.value] if isinstance(expected, Refused) else []
    if isinstance(answer, Raised):
        return [Difference(rule, said, describe(answer)) for rule in ["PT-TOTAL", *due]]
    if not isinstance(answer, Accepted | Refused):
        return [Difference(rule, said, f"answered {answer!r}") for rule in ["PT-TOTAL", *due]]
    if answer == expected:
        return []
    if due:
        return [Difference(rule, said, describe(answer)) for rule in due]
    if isinstance(answer, Refused):
        return [Difference(answer.reason.value, said, describe(answer))]
    return [Difference("PT-ROWS", said, describe(answer))]


def describe(outcome: Outcome | Raised) -> str:
    """The outcome in a few words."""
    match outcome:
        case Raised(kind):
            return f"raised {outcome.text}" if kind else outcome.text
        case Refused(reason):
            return f"refused, {reason.value}"
        case Accepted(None, None):
            return "accepted"
        case Accepted(None, served):
            return f"accepted, {served} tokens served"
        case Accepted(rows):
            return f"rows {list(rows or ())}"


def check_state(state: State, snapshot: Snapshot, differences: list[Difference]) -> dict[int, int]:
    """The bijection cell -> page; appends to `differences` every rule that the snapshot breaks."""
    add = differences.append
    mapped: dict[int, int] = {}
    backs: dict[int, int] = {}
    named = [0] * state.pages
    if state.requests.keys() != snapshot.requests.keys():
        add(Difference("PT-LIVE", f"live requests {sorted(state.requests)}", f"{sorted(snapshot.requests)}"))
    for request, view in snapshot.requests.items():
        for page in view.pages:
            if 0 <= page < state.pages:
                named[page] += 1
            else:
                add(Difference("PT-SHARE", f"pages 0..{state.pages - 1}", f"request {request} names page {page}"))
        truth = state.requests.get(request)
        if truth is not None:
            check_request(request, truth, view, state.page_size, differences)
            for cell, page in zip(truth.cells, view.pages, strict=False):
                if mapped.setdefault(cell, page) != page or backs.setdefault(page, cell) != cell:
                    add(share_difference(request, cell, page, mapped, state))
    check_pool(state, snapshot, named, differences)
    return mapped


def check_request(
    request: int, truth: Request, view: RequestView, page_size: int, differences: list[Difference]
) -> None:
    """Length, hole, table length and rows of one request."""
    add = differences.append
    if view.length != len(truth.rows):
        add(Difference("PT-LEN", f"request {request} has {len(truth.rows)} rows", f"{view.length}"))
    hole = released(truth, page_size)
    if view.released != hole:
        add(Difference("PT-HOLE", f"request {request} released pages {hole}", f"{view.released}"))
    if len(view.pages) != len(truth.cells):
        add(Difference("PT-PAGES", f"request {request} holds {len(truth.cells)} pages", f"{len(view.pages)}"))
    if view.kept is not None and view.kept != (kept := sink_pages(truth.sinks, page_size)):
        add(Difference("PT-HOLE", f"no trim of request {request} releases its first {kept} pages", f"{view.kept}"))
    rows = truth.rows if not truth.dropped else readable_rows(truth, page_size)
    if view.rows != rows:
        add(Difference("PT-ROWS", f"request {request} reads {list(rows)}", f"{list(view.rows)}"))


def readable_rows(request: Request, page_size: int) -> tuple[int, ...]:
    """Tokens of the rows that can be read, ascending."""
    rows: tuple[int, ...] = ()
    for lo, hi in readable(request, page_size):
        rows += request.rows[lo:hi]
    return rows


def share_difference(request: int, cell: int, page: int, mapped: Mapped, state: State) -> Difference:
    """Sharing differs: one cell on two pages (not shared where it must be) or one page for two cells (shared where not)."""
    if mapped[cell] != page:
        said = f"request {request} shares a page with {owners(state, cell) - 1} other requests"
        return Difference("PT-SHARE", said, f"pages {mapped[cell]} and {page} hold the shared rows")
    return Difference("PT-SHARE", f"request {request} has a page of its own", f"page {page} is shared")


def check_pool(state: State, snapshot: Snapshot, named: list[int], differences: list[Difference]) -> None:
    """Counts against table entries, the free list against the counts, and the number of pages in use.

    What the target does not show is not checked; table entries stand in for counts beside a free list.
    """
    if snapshot.counts is not None:
        check_counts(state, snapshot.counts, named, differences)
    if snapshot.free is not None:
        counts = tuple(named) if snapshot.counts is None else snapshot.counts
        check_free(state, snapshot.free, counts, named, differences)


def check_counts(state: Pool, counts: tuple[int, ...], named: list[int], differences: list[Difference]) -> None:
    """Each count is the number of table entries that name the page."""
    add = differences.append
    if list(counts) != named:
        pairs = enumerate(zip(named, counts, strict=False))
        wrong = {page: (entries, count) for page, (entries, count) in pairs if count != entries}
        for page, (entries, count) in wrong.items():
            add(Difference("PT-OWN", f"page {page} has {entries} table entries", f"count {count}"))
        if not wrong:
            add(Difference("PT-OWN", f"{state.pages} pages have a count", f"{len(counts)} counts"))


def check_free(
    state: Pool, free: tuple[int, ...], counts: tuple[int, ...], named: list[int], differences: list[Difference]
) -> None:
    """A page is on the free list once, exactly while nobody holds it, and as many are off it as the oracle uses."""
    add = differences.append
    listed = set(free)
    known_pages = min(len(counts), state.pages)
    if len(listed) != len(free):
        for page, times in Counter(free).items():
            if times > 1:
                add(Difference("PT-FREE", f"page {page} is free at most once", f"{times} times on the free list"))
    for page in listed:
        known = 0 <= page < known_pages
        if not known or counts[page] != 0 or named[page] != 0:
            held = f"count {counts[page]}, {named[page]} table entries" if known else "no such page"
            add(Difference("PT-FREE", f"page {page} is free only when nobody holds it", held))
    lost = [page for page, count in enumerate(counts) if count == 0 and page not in listed]
    if lost:
        add(Difference("PT-LEAK", "a page of count 0 is on the free list", f"pages {lost} are not"))
    if state.pages - len(free) != state.used:
        add(Difference("PT-PAGES", f"{state.used} pages in use", f"{state.pages - len(free)}"))


def check_in_place(before: Mapped, now: Mapped, differences: list[Difference]) -> None:
    """A cell alive before and after keeps its page."""
    for cell, page in now.items():
        if before.get(cell, page) != page:
            differences.append(Difference("PT-INPLACE", f"the rows stay in page {before[cell]}", f"now page {page}"))


def changed_text(state: State, snapshot: Snapshot | Raised) -> str:
    """How a state that must not have changed differs from the oracle's, in one line."""
    if isinstance(snapshot, Raised):
        return snapshot.text
    differences: list[Difference] = []
    check_state(state, snapshot, differences)
    seen = "; ".join(f"{d.target} for {d.oracle}" for d in differences)
    return seen or "the order of the free list, or bytes in the pool, changed"
