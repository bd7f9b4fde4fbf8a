"""The refinement check of managers: does what the manager did follow from what the oracle says?

Which page backs a cell is the manager's free choice, so the check builds the bijection between cells and pages: of held cells
from the tables, of idle ones from what was known when they were held. Every rule follows from it, over all groups, and every
broken one is reported. What the manager does not show is not checked.
"""

from functools import lru_cache

from spec.groups import Group
from spec.manager import Request, State, Traits, owners
from spec.manager_tables import read_next, readable
from spec.operations import Accepted, ManagerOperation, Outcome, Refused
from verify.managers.pool_checks import check_idle, check_order, check_pages, check_published
from verify.managers.target import ManagerSnapshot, ManagerTarget, ManagerView, Rows, Table, attempt, look
from verify.managers.values import values
from verify.refinement import Checked, Difference, Mapped, Seen, check_in_place, outcome_differences, unseen
from verify.target import Raised

ManagerSeen = Seen[ManagerSnapshot]
ManagerChecked = Checked[ManagerSnapshot]
NOT_TAKEN = object()
"""Stands for an image that a walk does not keep: it is taken where it is needed."""


def check_operation(
    before: State,
    after: State,
    expected: Outcome,
    operation: ManagerOperation,
    target: ManagerTarget,
    seen: ManagerSeen,
) -> ManagerChecked:
    """Apply the operation to the manager and hold it against the oracle's `after` and `expected`.

    A refusal must leave the image as it was (PT-REFUSE), but for a trim that stays, which `after` shows. Where another
    operation changes nothing either, an image as before shows what was seen and checked before.
    """
    refuses = after is before and type(expected) is Refused
    image = target.image() if refuses and seen.image is NOT_TAKEN else seen.image
    answer = attempt(target, operation)
    differences = [] if answer is expected or answer == expected else answer_differences(expected, answer)
    if isinstance(answer, Raised) and answer.lost:
        return Checked(seen.mapped, seen.snapshot, tuple(differences), False, lost=True)
    if image is not NOT_TAKEN and (after is before or after == before):
        if target.image() == image:
            return Checked(seen.mapped, seen.snapshot, tuple(differences), False)
        if refuses:
            changed = changed_text(after, look(target), seen.mapped)
            differences.append(Difference("PT-REFUSE", "nothing changes", changed))
            return Checked(seen.mapped, seen.snapshot, tuple(differences), True)
    snapshot = look(target)
    if isinstance(snapshot, Raised):
        if snapshot != answer:
            differences.append(unseen(snapshot))
        return Checked(seen.mapped, seen.snapshot, tuple(differences), True, lost=snapshot.lost)
    mapped = check_state(after, snapshot, differences, seen.mapped)
    return Checked(mapped, snapshot, tuple(differences), True)


def answer_differences(expected: Outcome, answer: Outcome | Raised) -> list[Difference]:
    """The rules that a wrong answer breaks; an admission that serves another number of tokens breaks PRE-HIT."""
    if isinstance(expected, Accepted) and isinstance(answer, Accepted):
        if expected.served == answer.served:
            return []
        said = "tells what it serves" if answer.served is None else f"serves {answer.served}"
        return [Difference("PRE-HIT", f"serves {expected.served} tokens", said)]
    return outcome_differences(expected, answer)


def check_state(
    state: State, snapshot: ManagerSnapshot, differences: list[Difference], known: Mapped
) -> dict[int, int]:
    """The bijection cell -> page, idle cells included where their page can be told; adds every rule that is broken.

    `known` is the bijection before: a cell that was there and is, held or idle, keeps its page (PT-INPLACE, PRE-EVICT).
    """
    traits = state.traits
    mapped: dict[int, int] = {}
    backs: dict[int, int] = {}
    named = [0] * traits.pages
    broken: list[Difference] = []
    if state.requests.keys() != snapshot.requests.keys():
        broken.append(Difference("PT-LIVE", f"live requests {sorted(state.requests)}", f"{sorted(snapshot.requests)}"))
    for request, view in snapshot.requests.items():
        count_entries(request, view, named, broken)
        truth = state.requests.get(request)
        if truth is None:
            continue
        check_rows(request, truth, view, traits, differences)
        if len(view.tables) != len(truth.tables):
            broken.append(Difference("PT-PAGES", f"{len(truth.tables)} tables", f"{len(view.tables)}"))
        for group, (cells, pages) in enumerate(zip(truth.tables, view.tables, strict=False)):
            check_table(request, group, cells, pages, broken)
            for cell, page in zip(cells, pages, strict=False):
                if cell is None or page is None:
                    continue
                if mapped.setdefault(cell, page) != page or backs.setdefault(page, cell) != cell:
                    broken.append(share_difference(request, cell, page, mapped, state))
    if not broken:
        check_in_place(known, mapped, broken)
    differences += broken
    check_pages(state, snapshot, named, differences)
    if not broken:  # without a bijection the rules of reuse and of the index say nothing
        taken = check_idle(state, snapshot, known, mapped, backs)
        differences += taken
        if not taken:
            check_order(state, snapshot, mapped, differences)
            check_published(state, snapshot, mapped, differences)
    return mapped


def count_entries(request: int, view: ManagerView, named: list[int], differences: list[Difference]) -> None:
    """Count the table entries that name each page; PT-SHARE for one that names none of the pool's."""
    pages = len(named)
    for table in view.tables:
        for page in table:
            if page is None:
                continue
            if 0 <= page < pages:
                named[page] += 1
            else:
                said = f"request {request} names page {page}"
                differences.append(Difference("PT-SHARE", f"pages 0..{pages - 1}", said))


def check_table(request: int, group: int, cells: Table, pages: Table, differences: list[Difference]) -> None:
    """The length of a table, and which of its pages are released."""
    if len(cells) != len(pages):
        said = f"request {request}, group {group}: {len(cells)} table entries"
        differences.append(Difference("PT-PAGES", said, f"{len(pages)}"))
    elif None in cells or None in pages:
        gone = [logical for logical, cell in enumerate(cells) if cell is None]
        shown = [logical for logical, page in enumerate(pages) if page is None]
        if gone != shown:
            said = f"request {request}, group {group}: released pages {gone}"
            differences.append(Difference("PT-HOLE", said, f"{shown}"))


def check_rows(request: int, truth: Request, view: ManagerView, traits: Traits, differences: list[Difference]) -> None:
    """The length of a request, and the values of the rows that its next step reads or that a held page must have kept."""
    length = len(truth.tokens)
    if traits.granule == "row":
        length -= max(rows_gone(group, low) for group, low in zip(traits.groups, truth.low, strict=True))
    if view.length != length:
        differences.append(Difference("PT-LEN", f"request {request} has {length} rows", f"{view.length}"))
    due = values(truth.tokens)
    for number, (group, low, rows) in enumerate(zip(traits.groups, truth.low, view.rows, strict=False)):
        for lo, hi in judged(group, traits.page_size, traits.granule == "row", truth.written, low):
            if rows[lo:hi] != due[lo:hi]:
                differences.append(row_difference(request, number, truth, lo, hi, rows))
    if len(view.rows) != len(truth.tables):
        differences.append(Difference("PT-ROWS", f"rows of {len(truth.tables)} groups", f"of {len(view.rows)}"))


def rows_gone(group: Group, low: int) -> int:
    """The number of rows that are gone one by one."""
    return max(0, low - group.sinks)


@lru_cache(maxsize=65536)
def judged(group: Group, page_size: int, by_row: bool, written: int, low: int) -> tuple[tuple[int, int], ...]:
    """The ranges of rows that must read as written: with page granule all that are not gone, by row those that are read."""
    return (read_next if by_row else readable)(group, page_size, by_row, low, written)


def row_difference(request: int, group: int, truth: Request, lo: int, hi: int, rows: Rows) -> Difference:
    """The first row of the range that reads wrong."""
    due = values(truth.tokens)
    row = next((row for row in range(lo, hi) if row >= len(rows) or rows[row] != due[row]), lo)
    said = f"request {request}, group {group}: row {row} is that of tokens {list(truth.tokens[: row + 1])} ({due[row]})"
    found = "no such row" if row >= len(rows) else "nothing" if rows[row] is None else f"it reads {rows[row]}"
    return Difference("PT-ROWS", said, found)


def share_difference(request: int, cell: int, page: int, mapped: Mapped, state: State) -> Difference:
    """Sharing differs: one cell on two pages (not shared where it must be) or one page for two cells (shared where not)."""
    if mapped[cell] != page:
        said = f"request {request} shares a page with {owners(state, cell) - 1} other table entries"
        return Difference("PT-SHARE", said, f"pages {mapped[cell]} and {page} hold the shared rows")
    return Difference("PT-SHARE", f"request {request} has a page of its own", f"page {page} is shared")


def changed_text(state: State, snapshot: ManagerSnapshot | Raised, known: Mapped) -> str:
    """How a state that must not have changed differs from the oracle's, in one line."""
    if isinstance(snapshot, Raised):
        return snapshot.text
    differences: list[Difference] = []
    check_state(state, snapshot, differences, known)
    seen = "; ".join(f"{d.oracle} (now {d.target})" for d in differences)
    return seen or "the order of the blank pages, or bytes that no request reads, changed"
