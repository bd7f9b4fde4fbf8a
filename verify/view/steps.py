"""What a person sees of a witness, step by step: plain frozen data, made by walkthrough.py and drawn by the renderers.

Nothing here knows an oracle or a target, so a report of any other search can be drawn from it as well. What would be too
much to look at is left out, never what changed or is wrong: whatever has an index, such as a slot or a page, may be followed
by one that is not its neighbour, and a renderer shows that gap.
"""

from dataclasses import dataclass
from typing import NamedTuple

from verify.show import BrokenRule


class Pair(NamedTuple):
    """One fact as the oracle and as the target have it; "-" where one of them has none."""

    oracle: str
    target: str

    @property
    def same(self) -> bool:
        """Whether both say the same."""
        return self.oracle == self.target


class Row(NamedTuple):
    """One logical row: a token, "." when it is released, "?" for bytes that are no token's, "" when there is no such row."""

    row: int
    oracle: str
    target: str
    changed: bool


class Slot(NamedTuple):
    """One slot of a physical page.

    `state` is "live" (a row of a live request), "stale" (written, nobody's now), "never" (not written) or "unknown" (the
    target does not tell). `token` is that of the live row, or the last one read there; None when it is not known.
    """

    slot: int
    state: str
    token: int | None
    changed: bool


class Owner(NamedTuple):
    """A block-table entry: this logical page of this request, in the group that `part` names where there are several."""

    request: int
    logical: int
    part: str = ""


class FreePage(NamedTuple):
    """An entry of the free list, in the target's own order; `changed` when the page was not on it a step before."""

    position: int
    page: int
    changed: bool


@dataclass(frozen=True, slots=True)
class LogicalPage:
    """One logical page of a request: its block-table entry and its rows.

    `page` is the physical page that the target names, None without one. `owners` are the table entries of the target that
    name that page, `owners_due` the requests that share it by the oracle, 0 when the oracle holds no such page. `released`
    is set when both sides have let it go; it has no rows then. `wrong` is set when the two sides differ in any of this.
    """

    logical: int
    page: int | None
    owners: int
    owners_due: int
    released: bool
    rows: tuple[Row, ...]
    changed: bool
    wrong: bool


@dataclass(frozen=True, slots=True)
class RequestStep:
    """One request after the step: `wrong` when the sides differ in it or a broken rule names it.

    A manager has a block table a group: each is drawn on its own, and `part` names the group where there are several.
    """

    request: int
    sinks: int
    length: Pair
    released: Pair
    held: Pair
    table: tuple[LogicalPage, ...]
    changed: bool
    wrong: bool
    part: str = ""


@dataclass(frozen=True, slots=True)
class PoolPage:
    """One physical page after the step: `free` are its positions on the free list, `owners` the entries that name it.

    `count` and `free` are None when the target does not tell. `wrong` is set when a broken rule names the page. `note` is
    what else is to be said of it, such as the prefix that it is published under.
    """

    page: int
    count: int | None
    free: tuple[int, ...] | None
    owners: tuple[Owner, ...]
    slots: tuple[Slot, ...]
    changed: bool
    wrong: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation and all that can be seen after it; step 0 is the fresh pool.

    `outcome` is what both sides answered, `changes` what the target did in sentences, `used` the pages in use. `free_total`
    is None for a target that shows no free list. `unseen` says why the target could not be looked at at all.
    """

    number: int
    call: str
    outcome: Pair
    changes: tuple[str, ...]
    requests: tuple[RequestStep, ...]
    pool: tuple[PoolPage, ...]
    free: tuple[FreePage, ...]
    free_total: int | None
    used: Pair
    broken: tuple[BrokenRule, ...]
    unseen: str | None = None


@dataclass(frozen=True, slots=True)
class Walkthrough:
    """A witness on a target: the steps up to the first difference or the end.

    `calls` are all operations of the witness and `not_run` those after the difference. `applied` counts what the target was
    asked for. Of a long witness `steps` has the last ones; their numbers say which. `saved_for` are the witness's own rules.
    `command` of this program replays the witness, and `options` name the target to it, with a space before them.
    """

    target: str
    source: str
    pages: int
    page_size: int
    saved_for: tuple[str, ...]
    calls: tuple[str, ...]
    not_run: tuple[str, ...]
    steps: tuple[Step, ...]
    applied: int
    options: str = ""
    command: str = "verify replay"

    @property
    def last(self) -> Step:
        """The last step: the one that broke a rule, when one did."""
        return self.steps[-1]

    @property
    def broken(self) -> tuple[str, ...]:
        """The broken rules, each once."""
        return tuple(dict.fromkeys(item.rule for item in self.last.broken))

    @property
    def title(self) -> str:
        """What became of it, in one line."""
        if self.broken:
            return f"{', '.join(self.broken)} broken at step {self.last.number} of {len(self.calls)}"
        return f"no difference in {self.applied} operations" if self.applied else "no operation could be applied"
