"""Situations that a search over managers must have reached: the "sometimes" beside each "always"."""

from collections.abc import Callable, Iterator
from functools import lru_cache

from spec.groups import gone_below, keep_from, publishes
from spec.manager import State, Traits, available
from spec.manager_tables import held, longest_hit, readable_at
from spec.operations import Admit, Append, Commit, Fork, ManagerOperation, Outcome, Reason, Refused, Release, Truncate
from spec.page_table import pages_for
from verify.managers.target import Offer

FORK_OF_TRIMMED = "fork of a trimmed request"
FORK_IN_SINKS = "fork inside the sinks"
NO_PAGE_TO_ADMIT = "out of pages in Admit"
NO_PAGE_TO_APPEND = "out of pages in Append"
NO_PAGE_TO_FORK = "out of pages in Fork"
NO_PAGE_TO_TRUNCATE = "out of pages in Truncate"
TRIM_STAYS = "append refused, its trim stays"
WINDOW_OF_ONE = "rows written under W = 1"
PAGE_OF_ONE = "rows written in pages of 1"
WINDOW_IN_PAGE = "rows written under a window smaller than a page"
FULL_PAGES = "rows end with a page"
TRIMMED = "pages let go by a trim"
CUT_TO_EDGE = "rollback to a page boundary"
CUT_BELOW_EDGE = "rollback below a page boundary"
HIT_OF_IDLE = "hit of an idle page"
HIT_OF_LIVE = "hit of a live page"
EVICTED = "page evicted"
TWO_COPIES = "two copies of one key"
SHARED_COPIED = "append copies a shared page"
PUBLISHED_COPIED = "append copies a published page"
REFUSED_BESIDE_HITS = "admission refused although the pages it hits are idle"
AFTER_REFUSAL = "refused, then another operation"
RELEASED_AFTER_REFUSAL = "refused, then everything released"
ID_USED_AGAIN = "id used again"

BY_HISTORY = (AFTER_REFUSAL, RELEASED_AFTER_REFUSAL, ID_USED_AGAIN)
"""What one operation alone does not show; only walks count these."""

FULL_POOL = {Admit: NO_PAGE_TO_ADMIT, Append: NO_PAGE_TO_APPEND, Fork: NO_PAGE_TO_FORK, Truncate: NO_PAGE_TO_TRUNCATE}

Can = Callable[[Traits, frozenset[type[ManagerOperation]]], bool]

NEEDS: dict[str, Can] = {
    FORK_OF_TRIMMED: lambda traits, asked: Fork in asked and trims(traits),
    FORK_IN_SINKS: lambda traits, asked: Fork in asked and any(group.sinks for group in traits.groups),
    NO_PAGE_TO_ADMIT: lambda traits, asked: Admit in asked,
    NO_PAGE_TO_APPEND: lambda traits, asked: Append in asked,
    NO_PAGE_TO_FORK: lambda traits, asked: Fork in asked and copies_tails(traits) and forks_inside_pages(traits),
    NO_PAGE_TO_TRUNCATE: lambda traits, asked: Truncate in asked and copies_tails(traits) and shares(traits, asked),
    TRIM_STAYS: lambda traits, asked: Append in asked and trims(traits) and traits.trims == "before",
    WINDOW_OF_ONE: lambda traits, asked: any(group.kind == "window" and group.size == 1 for group in traits.groups),
    PAGE_OF_ONE: lambda traits, asked: traits.page_size == 1,
    WINDOW_IN_PAGE: lambda traits, asked: window_in_page(traits),
    FULL_PAGES: lambda traits, asked: True,
    TRIMMED: lambda traits, asked: trims(traits),
    CUT_TO_EDGE: lambda traits, asked: Truncate in asked,
    CUT_BELOW_EDGE: lambda traits, asked: Truncate in asked and below_an_edge(traits),
    HIT_OF_IDLE: lambda traits, asked: hits(traits) and Release in asked,
    HIT_OF_LIVE: lambda traits, asked: hits(traits),
    EVICTED: lambda traits, asked: traits.prefix and any(map(publishes, traits.groups)) and Release in asked,
    TWO_COPIES: lambda traits, asked: traits.prefix and any(map(publishes, traits.groups)),
    SHARED_COPIED: lambda traits, asked: Append in asked and shared_tails(traits, asked),
    PUBLISHED_COPIED: lambda traits, asked: Append in asked and published_tails(traits, asked),
    REFUSED_BESIDE_HITS: lambda traits, asked: hits(traits) and Release in asked,
    AFTER_REFUSAL: lambda traits, asked: True,
    RELEASED_AFTER_REFUSAL: lambda traits, asked: Release in asked,
    ID_USED_AGAIN: lambda traits, asked: Release in asked,
}
"""By situation, whether a manager of these traits that is asked for these operations can come into it."""

SITUATIONS = tuple(NEEDS)


def trims(traits: Traits) -> bool:
    """Whether some group lets pages go."""
    return any(group.kind != "full" for group in traits.groups)


def copies_tails(traits: Traits) -> bool:
    """Whether a partly kept page is copied at once."""
    return traits.tail == "copied" and traits.page_size > 1


def forks_inside_pages(traits: Traits) -> bool:
    """Whether a fork may be cut inside a page: among the sinks alone where a window allows no others."""
    sinks = [group.sinks for group in traits.groups if group.kind == "window"]
    return traits.forks == "anywhere" or not sinks or min(sinks) > 0


def hits(traits: Traits) -> bool:
    """Whether an admission can be served."""
    return traits.prefix and all(map(publishes, traits.groups))


def shares(traits: Traits, asked: frozenset[type[ManagerOperation]]) -> bool:
    """Whether two requests can hold one page; where tails are copied a fork shares full pages only."""
    if hits(traits):
        return True
    sinks = [group.sinks for group in traits.groups if group.kind == "window"]
    least = traits.page_size if traits.tail == "copied" else 1
    return Fork in asked and (traits.forks == "anywhere" or not sinks or min(sinks) >= least)


def shared_tails(traits: Traits, asked: frozenset[type[ManagerOperation]]) -> bool:
    """Whether a request's last page can be shared while it is partly kept."""
    if traits.page_size == 1 or traits.tail == "copied":
        return False
    served = Truncate in asked and hits(traits) and inside_a_full_page(traits)
    return served or (Fork in asked and forks_inside_pages(traits))


def published_tails(traits: Traits, asked: frozenset[type[ManagerOperation]]) -> bool:
    """Whether a request's last page can be published, held by it alone, while it is partly kept."""
    cut = Truncate in asked or (Fork in asked and traits.tail == "shared" and forks_inside_pages(traits))
    return traits.prefix and any(map(publishes, traits.groups)) and cut and inside_a_full_page(traits)


def below_an_edge(traits: Traits) -> bool:
    """Whether a request can be cut inside a page other than its last; reserved rows can in any page."""
    size = traits.page_size
    cuts = cuts_inside_pages(traits)
    return size > 1 and (traits.commits or any(pages_for(cut, size) < pages_for(n, size) for cut, n in cuts))


def inside_a_full_page(traits: Traits) -> bool:
    """Whether a request can be cut inside a page that is full."""
    return any(pages_for(cut, traits.page_size) * traits.page_size <= n for cut, n in cuts_inside_pages(traits))


def cuts_inside_pages(traits: Traits) -> Iterator[tuple[int, int]]:
    """(cut, length) of the legal cuts inside a page; lengths up to where every window and chunk has slid once."""
    size, by_row = traits.page_size, traits.granule == "row"
    longest = 2 * size * max(1, *(group.size for group in traits.groups)) + size
    for length in range(1, longest + 1):
        kept = [0 if traits.trims == "before" else keep_from(group, length) for group in traits.groups]
        lows = [gone_below(group, size, by_row, k) for group, k in zip(traits.groups, kept, strict=True)]
        for cut in range(1, length):
            pairs = zip(traits.groups, lows, strict=True)
            if cut % size and all(readable_at(group, size, by_row, low, cut) for group, low in pairs):
                yield cut, length


def window_in_page(traits: Traits) -> bool:
    """Whether some window is smaller than a page."""
    return any(group.kind == "window" and group.size < traits.page_size for group in traits.groups)


def possible(traits: Traits, offered: Offer) -> tuple[str, ...]:
    """The situations that a manager of these traits, with this offer, can come into."""
    return possible_when_asked(traits, offered.operations if traits.commits else offered.operations - {Commit})


@lru_cache(maxsize=256)
def possible_when_asked(traits: Traits, asked: frozenset[type[ManagerOperation]]) -> tuple[str, ...]:
    """The situations that these operations can lead to."""
    return tuple(name for name, can in NEEDS.items() if can(traits, asked))


def reached(before: State, operation: ManagerOperation, outcome: Outcome, after: State) -> list[str]:
    """The situations that this operation met, judged on the oracle's states; those of BY_HISTORY are not here."""
    if isinstance(outcome, Refused):
        return refused(before, operation, after) if outcome.reason is Reason.OUT_OF_PAGES else []
    found = [] if after.index is before.index else index_situations(before, after)
    match operation:
        case Admit(request, _):
            found += written(before, request, after) + hit(before, request, outcome.served or 0, after)
        case Append(request, _):
            found += written(before, request, after) + copied(before, request, after)
        case Commit(request):
            found += written(before, request, after)
        case Fork(request, _, at):
            found += [FORK_OF_TRIMMED] if any(before.requests[request].low) else []
            sinks = max(group.sinks for group in before.traits.groups)
            found += [FORK_IN_SINKS] if 0 < at <= sinks else []
        case Truncate(request, length):
            size, old = before.traits.page_size, len(before.requests[request].tokens)
            if length % size == 0 and length < old:
                found.append(CUT_TO_EDGE)
            elif pages_for(length, size) < pages_for(old, size):
                found.append(CUT_BELOW_EDGE)
    return found


def refused(before: State, operation: ManagerOperation, after: State) -> list[str]:
    """The situations of an operation that ran out of pages."""
    found = [FULL_POOL[type(operation)]]
    if after is not before:
        found.append(TRIM_STAYS)
    if isinstance(operation, Admit) and before.traits.prefix and before.idle:
        traits = before.traits
        served, tables = longest_hit(traits.groups, traits.page_size, traits.leaves, before.index, operation.tokens)
        pinned = sum(cell in before.idle for table in tables for cell in held(table))
        fresh = pages_for(len(operation.tokens), traits.page_size) - served // traits.page_size
        if pinned and fresh * len(traits.groups) <= available(before):
            found.append(REFUSED_BESIDE_HITS)
    return found


def index_situations(before: State, after: State) -> list[str]:
    """What became of the index: pages forgotten, and keys with one more copy."""
    found = [EVICTED] if not before.index.keys.keys() <= after.index.keys.keys() else []
    old = before.index.cells
    if any(len(cells) > max(1, len(old.get(key, ()))) for key, cells in after.index.cells.items()):
        found.append(TWO_COPIES)
    return found


def written(before: State, request: int, after: State) -> list[str]:
    """The situations of rows that were written or reserved, and of the trim around that."""
    traits, new, old = after.traits, after.requests[request], before.requests.get(request)
    found = [FULL_PAGES] if len(new.tokens) % traits.page_size == 0 else []
    if new.written > (old.written if old else 0):
        found += [PAGE_OF_ONE] if traits.page_size == 1 else []
        found += [WINDOW_OF_ONE] if any(g.kind == "window" and g.size == 1 for g in traits.groups) else []
        found += [WINDOW_IN_PAGE] if window_in_page(traits) else []
    if any(new.low) and (old is None or new.low != old.low):
        found.append(TRIMMED)
    return found


def hit(before: State, request: int, served: int, after: State) -> list[str]:
    """The situations of an admission that was served."""
    if not served:
        return []
    pages = served // before.traits.page_size
    tables = after.requests[request].tables
    cells = [cell for table in tables for cell in held(table[:pages]) if cell < before.next_cell]
    found = [HIT_OF_IDLE] if any(cell in before.idle for cell in cells) else []
    return found + ([HIT_OF_LIVE] if any(cell not in before.idle for cell in cells) else [])


def copied(before: State, request: int, after: State) -> list[str]:
    """The situations of an append that copied the page in which it began."""
    old, new = before.requests[request], after.requests[request]
    found: list[str] = []
    if len(old.tokens) % before.traits.page_size:
        last = len(old.tables[0]) - 1
        for cells, now in zip(old.tables, new.tables, strict=True):
            cell = cells[last]
            if cell is not None and now[last] is not None and now[last] != cell:
                found.append(SHARED_COPIED if cell in before.shared else PUBLISHED_COPIED)
    return list(dict.fromkeys(found))
