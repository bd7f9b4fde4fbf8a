"""Literal tables of the prefix cache that ships: what is served, published, reused and read, typed in digits.

They are worked out by hand from docs/reference.md section 7, not computed, so they also see what no relation between two
computations can. Tokens are digits, and the row of a token spells the prefix up to it (verify/managers/prefix_case.py).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from impl.page_groups import Chunk, Full, PageGroup, Window
from impl.page_table import NO_PAGE
from verify.managers.prefix_case import A, B, C, D, PrefixCase
from verify.refinement import Difference
from verify.target import Raised, answered


class Bench:
    """A cache under literal expectations: the first that differs, and how many operations were applied."""

    def __init__(self, pages: int, page_size: int, *groups: PageGroup) -> None:
        self.case = PrefixCase(pages, page_size, *groups)
        self.differences: list[Difference] = []
        self.steps = 0

    def reserve(self, request: int, tokens: str, served: int) -> None:
        """An admission that must be served so many rows."""
        self.expect("PRE-HIT", f"rows that {tokens} is served", served, self.ask(self.case.reserve, request, tokens))

    def admit(self, request: int, tokens: str, served: int) -> None:
        """An admission that must be served so many rows, and its commit."""
        self.reserve(request, tokens, served)
        self.do(self.case.commit, request)

    def refused(self, request: int, tokens: str) -> None:
        """An admission that must be refused for want of pages."""
        said = self.ask(self.case.reserve, request, tokens)
        self.expect("OutOfPages", f"answer to {tokens}", "OutOfPages", said.kind if isinstance(said, Raised) else said)

    def do(self, call: Callable[..., None], *arguments: object) -> None:
        """An operation that must be accepted."""
        self.expect("PT-TOTAL", f"answer to {call.__name__} {arguments}", None, self.ask(call, *arguments))

    def ask(self, call: Callable[..., Any], *arguments: object) -> Any:
        """What an operation answers, an exception included."""
        self.steps += 1
        return answered(call, *arguments)

    def published(self, *prefixes: str) -> None:
        """Pages of group 0 are published under exactly these prefixes, one a page, in the order of the pages."""
        shown = answered(lambda: [prefix for _, group, prefix in self.case.published if group == 0])
        as_many = not isinstance(shown, Raised) and len(shown) == len(prefixes)
        self.expect("PRE-KEY" if as_many else "PRE-PUBLISH", "published prefixes", list(prefixes), shown)

    def idle(self, *pages: int) -> None:
        """These pages are idle, the next to be reused first."""
        self.expect("PRE-EVICT", "idle pages", list(pages), self.case.idle)

    def table(self, request: int, *pages: int, group: int = 0) -> None:
        """The block table names exactly these pages."""
        self.expect("PT-SHARE", f"table of request {request}", list(pages), answered(self.case.table, request, group))

    def rows(self, request: int, *rows: int) -> None:
        """The request reads these rows in group 0, from the first on."""
        self.expect("PT-ROWS", f"rows of {request}", list(rows), answered(self.case.rows, request, 0, len(rows)))

    def gone(self, request: int, row: int) -> None:
        """The row of group 0 can be read no more."""
        said = answered(self.case.rows, request, row, row + 1)
        self.expect(
            "PT-HOLE", f"row {row} of {request}", "RowsReleased", said.kind if isinstance(said, Raised) else said
        )

    def expect(self, rule: str, what: str, expected: object, shown: object) -> None:
        """Break the rule unless what is shown is what is expected; after a first difference nothing more is said."""
        if shown != expected and not self.differences:
            self.differences.append(Difference(rule, f"{what}: {expected}", f"{shown}"))


def life_of_a_prefix() -> Bench:
    """Pages of 2: a prefix is reserved, written, served, left idle and reused."""
    bench = Bench(4, 2)
    bench.reserve(A, "1234", 0)
    bench.published()
    bench.reserve(B, "123", 0)
    bench.do(bench.case.release, B)
    bench.do(bench.case.commit, A)
    bench.published("12", "1234")
    bench.admit(B, "1234", 2)
    bench.table(B, 0, 2)
    bench.published("12", "1234", "1234")
    bench.do(bench.case.release, A)
    bench.idle(1)
    bench.admit(A, "3412", 0)
    bench.published("12", "3412", "1234", "34")
    bench.table(A, 3, 1)
    bench.rows(A, 3, 34, 341, 3412)
    return bench


def reserved_rows() -> Bench:
    """Pages of 2: rows that an append has reserved are published by the commit that writes them."""
    bench = Bench(6, 2)
    bench.admit(A, "1234", 0)
    bench.do(bench.case.cache.append, A, [5, 6])
    bench.published("12", "1234")
    bench.reserve(B, "1234567", 4)
    bench.do(bench.case.release, B)
    bench.do(bench.case.commit, A)
    bench.published("12", "1234", "123456")
    bench.reserve(B, "1234567", 6)
    bench.table(B, 0, 1, 2, 3)
    return bench


def order_of_reuse() -> Bench:
    """Pages of 1: blank pages first, then the longest idle ones, of each request the tail before the head."""
    bench = Bench(5, 1)
    bench.admit(A, "123", 0)
    bench.admit(B, "4", 0)
    bench.do(bench.case.release, A)
    bench.do(bench.case.release, B)
    bench.idle(2, 1, 0, 3)
    bench.admit(C, "56", 0)
    bench.table(C, 4, 2)
    bench.idle(1, 0, 3)
    bench.reserve(D, "123", 2)
    bench.table(D, 0, 1, 3)
    bench.published("1", "12", "56", "5")
    return bench


def pages_that_are_served_and_idle() -> Bench:
    """3 pages of 2: what serves is held before others are taken, and is not available to the other rows."""
    bench = Bench(3, 2)
    bench.admit(A, "1234", 0)
    bench.do(bench.case.release, A)
    bench.idle(1, 0)
    bench.refused(B, "1234567")
    bench.idle(1, 0)
    bench.admit(B, "56", 0)
    bench.refused(C, "12345")
    bench.do(bench.case.release, B)
    bench.idle(1, 0, 2)
    bench.admit(C, "12345", 4)
    bench.table(C, 0, 1, 2)
    bench.rows(C, 1, 12, 123, 1234, 12345)
    return bench


def groups_of_one_pool() -> Bench:
    """Pages of 2, a full group beside W = 4: the window lets go of two pages, and a prefix that reads them is not served."""
    bench = Bench(10, 2, Full(), Window(4))
    bench.admit(A, "12345678", 0)
    bench.table(A, NO_PAGE, NO_PAGE, 6, 7, group=1)
    bench.do(bench.case.release, A)
    bench.idle(5, 4, 3, 2, 1, 0, 7, 6)
    bench.reserve(B, "9999", 0)
    bench.idle(3, 2, 1, 0, 7, 6)
    bench.do(bench.case.release, B)
    bench.reserve(C, "123456789", 8)
    bench.do(bench.case.release, C)
    bench.reserve(C, "1234567", 0)
    return bench


def copies_in_two_groups() -> Bench:
    """Pages of 2, two groups cut back inside published pages: an append copies group by group, and so they turn idle."""
    bench = Bench(8, 2, Full(), Window(4))
    bench.admit(A, "1234", 0)
    bench.do(bench.case.cache.truncate, A, 3)
    bench.do(bench.case.append, A, "9")
    bench.table(A, 0, 4)
    bench.table(A, 2, 5, group=1)
    bench.idle(1, 3)
    bench.rows(A, 1, 12, 123, 1239)
    return bench


def sink_that_one_group_lost() -> Bench:
    """Pages of 1, W = 2 with a sink beside a full group: the sink's page is reused, and the prefix serves nobody."""
    bench = Bench(7, 1, Window(2, sinks=1), Full())
    bench.admit(A, "123", 0)
    bench.do(bench.case.release, A)
    bench.idle(2, 1, 0, 5, 4, 3)
    bench.reserve(B, "99", 0)
    bench.do(bench.case.release, B)
    bench.idle(5, 4, 3)
    bench.reserve(C, "123", 0)
    return bench


def page_that_no_step_reads() -> Bench:
    """Pages of 2, W = 4 with 1 and with 2 sinks: a page between the sinks and the window is reused, and the prefix serves."""
    for sinks in (1, 2):
        bench = Bench(4, 2, Window(4, sinks))
        bench.admit(A, "12345678", 0)
        bench.table(A, 0, NO_PAGE, NO_PAGE, 3)
        bench.idle(2, 1)
        bench.reserve(B, "999", 0)
        bench.do(bench.case.release, B)
        bench.do(bench.case.release, A)
        bench.published("12", "12345678")
        bench.reserve(C, "123456789", 8)
        bench.table(C, 0, NO_PAGE, NO_PAGE, 3, 2)
        if bench.differences:
            break
    return bench


def cut_to_the_sinks() -> Bench:
    """Pages of 2, W = 4 with a sink: cut back to the sink's page, a request goes on from there with nothing gone, and can be cut
    back to what it reserves."""
    bench = Bench(8, 2, Window(4, sinks=1))
    bench.admit(A, "12345678", 0)
    bench.table(A, 0, NO_PAGE, NO_PAGE, 3)
    bench.do(bench.case.cache.truncate, A, 2)
    bench.do(bench.case.cache.append, A, [9, 8])
    bench.do(bench.case.cache.truncate, A, 3)
    bench.do(bench.case.commit, A)
    bench.rows(A, 1, 12, 129)
    bench.do(bench.case.append, A, "3456")
    bench.table(A, 0, NO_PAGE, 5, 6)
    bench.expect("PT-PAGES", "available pages", 5, bench.case.available)
    return bench


def cut_that_cuts_nothing_off(window: PageGroup, tokens: str) -> Bench:
    """Pages of 1: no row comes back, to the request or to a fork of it, by a cut to all of its rows."""
    bench = Bench(4, 1, window)
    bench.admit(A, tokens, 0)
    bench.do(bench.case.cache.truncate, A, len(tokens))
    bench.do(bench.case.cache.fork, A, B, len(tokens))
    for request in (A, B):
        bench.gone(request, len(tokens) - 1)
    return bench


TABLES: tuple[Callable[[], Bench], ...] = (
    life_of_a_prefix,
    reserved_rows,
    order_of_reuse,
    pages_that_are_served_and_idle,
    groups_of_one_pool,
    copies_in_two_groups,
    sink_that_one_group_lost,
    page_that_no_step_reads,
    cut_to_the_sinks,
    partial(cut_that_cuts_nothing_off, Window(1), "1"),
    partial(cut_that_cuts_nothing_off, Window(2, sinks=1), "12"),
    partial(cut_that_cuts_nothing_off, Chunk(1), "1"),
    partial(cut_that_cuts_nothing_off, Chunk(2), "12"),
)


def literal_differences() -> tuple[list[Difference], int]:
    """What differs from any of the tables, and the operations applied."""
    benches = [table() for table in TABLES]
    return [difference for bench in benches for difference in bench.differences], sum(b.steps for b in benches)
