"""Plays: short runs of operations towards what single random moves rarely meet.

Public reports name them: copies of one key, an admission that ignores idle hits, the order of release, and allocating before
what is hit is pinned (docs/reference.md section 7).
"""

from collections.abc import Callable

from spec.manager import available
from spec.operations import Accepted, Admit, Append, Commit, Fork, Release, Truncate
from verify.managers.author import MOST_TOKENS, Author, Tokens


def written(author: Author, tokens: Tokens) -> int | None:
    """A new request with these tokens, committed; None when it was not accepted."""
    request = author.unused()
    if not isinstance(author.emit(Admit(request, tokens)), Accepted):
        return None
    author.emit(Commit(request))
    return request


def a_text(author: Author, pages: int) -> Tokens:
    """Tokens of so many full pages, the beginning of a known text where one is long enough."""
    length = pages * author.traits.page_size
    known = [text[:length] for text in author.texts if len(text) >= length]
    return author.random.choice(known) if known and author.half() else author.fresh(length)


def make_room(author: Author, pages: int) -> None:
    """Release requests until so many pages a group are available."""
    while author.state.requests and available(author.state) < pages * len(author.traits.groups):
        request = author.random.choice(sorted(author.state.requests))
        if author.emit(Release(request)) is None:
            return


def copies_of_one_key(author: Author) -> None:
    """Two or three requests compute one page each for themselves; they end in any order, and the prefix is asked again.

    An admission leaves a token to compute, so tokens that end with a page make it compute a page that is published.
    """
    pages = author.random.randint(1, 2)
    make_room(author, 3 * pages)
    tokens = a_text(author, pages)
    made = [written(author, tokens) for _ in range(author.random.randint(2, 3))]
    for request in author.random.sample(made, len(made)):
        if request is not None and author.random.random() < 0.7:
            author.emit(Release(request))
    written(author, tokens + author.fresh(1))


def tight_admission(author: Author) -> None:
    """Leave published pages idle, let others hold the rest, and ask for the idle prefix and as much more as just fits.

    What is served must be pinned first, and counts as taken: one page more is refused, and that changes nothing.
    """
    make_room(author, 3)
    tokens = a_text(author, author.random.randint(1, 3))
    first = written(author, tokens + author.fresh(1))
    if first is None or author.emit(Release(first)) is None:
        return
    groups, size = len(author.traits.groups), author.traits.page_size
    blank = available(author.state) - len(author.state.idle)
    if author.random.random() < 0.7 and blank // groups > 1:
        author.emit(Admit(author.unused(), tuple([1 - author.random.randint(0, 1)] * (blank // groups * size))))
    most = (available(author.state) // groups) * size
    request = author.unused()
    for length in range(most + 1, most - 2 * size, -size):
        if len(tokens) < length <= MOST_TOKENS:
            outcome = author.emit(Admit(request, tokens + author.fresh(length - len(tokens))))
            if isinstance(outcome, Accepted):
                author.emit(Commit(request))
                return


def order_of_release(author: Author) -> None:
    """Release a request of several pages, take some pages for another prefix, and ask what is still there."""
    pages = author.random.randint(2, 3)
    make_room(author, pages + 1)
    tokens = a_text(author, pages)
    first = written(author, tokens + author.fresh(1))
    if first is None or author.emit(Release(first)) is None:
        return
    groups, size = len(author.traits.groups), author.traits.page_size
    blank = available(author.state) - len(author.state.idle)
    rows = (blank // groups + author.random.randint(0, pages)) * size
    if 0 < rows <= MOST_TOKENS:
        other = written(author, (1,) * rows)
        if other is not None and author.half():
            author.emit(Release(other))
    written(author, tokens + author.fresh(1))


def cut_without_a_page(author: Author) -> None:
    """Fill the pool, then fork or cut inside a page, which needs a page where tails are copied."""
    make_room(author, 3)
    size = author.traits.page_size
    tokens = author.fresh(2 * size)
    first = written(author, tokens)
    if first is None:
        return
    child = author.unused()
    author.emit(Fork(first, child, min(2 * size, author.request(first).written)))
    for rows in (author.room(None), author.room(None) - size):
        if 0 < rows <= MOST_TOKENS and isinstance(author.emit(Admit(author.unused(), (1,) * rows)), Accepted):
            break
    if size > 1:
        inside = author.random.randint(size + 1, 2 * size - 1)
        author.emit(Truncate(first, inside))
        author.emit(Fork(child if child in author.state.requests else first, author.unused(), inside))


def copy_before_writing(author: Author) -> None:
    """A page with two owners, or a published one, is partly kept by who writes next: a fork at any row, or a cut."""
    make_room(author, 3)
    size = author.traits.page_size
    more = author.random.randint(0, size - 1)
    first = written(author, a_text(author, author.random.randint(1, 2)) + author.fresh(more))
    if first is None or size == 1:
        return
    length = author.length(first)
    points = [cut for cut in author.cut_points(first) if cut % size and cut < length] or [length]
    child = author.unused()
    if author.half():
        author.emit(
            Fork(first, child, author.request(first).written if author.half() else author.random.choice(points))
        )
    if author.half():
        author.emit(Truncate(first, author.random.choice(points)))
    writers = [request for request in (first, child) if request in author.state.requests]
    for request in author.random.sample(writers, len(writers)):
        author.emit(Append(request, author.fresh(author.random.randint(1, size + 1))))
        author.emit(Commit(request))


def slide(author: Author) -> None:
    """Write past the windows row by row or in a run, then fork, cut or refuse near what is gone."""
    request = author.live()
    if request is None:
        return
    sizes = [group.size for group in author.traits.groups if group.size]
    for _ in range(author.random.randint(2, 5)):
        author.emit(Append(request, author.fresh(author.random.choice((1, 2, author.traits.page_size, *sizes)))))
        author.emit(Commit(request))
    if author.half():
        author.append_too_much()
    author.random.choice((author.fork, author.truncate, author.release, author.append))()


def fail_and_let_go(author: Author) -> None:
    """An operation that is refused for want of pages, and then everything is released."""
    author.random.choice((author.admit_too_much, author.append_too_much))()
    author.release_all()


PLAYS: tuple[tuple[int, Callable[[Author], None]], ...] = (
    (2, copies_of_one_key),
    (4, tight_admission),
    (2, order_of_release),
    (2, cut_without_a_page),
    (5, copy_before_writing),
    (2, slide),
    (2, fail_and_let_go),
)
"""Each play with its weight."""
