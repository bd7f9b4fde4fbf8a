"""All finite bounds of the searches over managers: scopes with their pinned counts, and configurations for random walks."""

from dataclasses import dataclass

from spec.groups import Group
from spec.manager import Traits
from verify.managers.configuration import Configuration


@dataclass(frozen=True, slots=True)
class ManagerScope:
    """A small world of managers that the exhaustive search covers completely.

    `length` bounds the rows of a request, `texts` say of which tokens they are. `states` and `transitions` are the counts at
    the fixpoint, None where not pinned.
    """

    name: str
    traits: Traits
    requests: int
    length: int
    texts: tuple[tuple[int, ...], ...]
    states: int | None = None
    transitions: int | None = None

    @property
    def most_rows(self) -> int:
        """Most rows in one append: two pages and a row, so that one append crosses two page boundaries."""
        return 2 * self.traits.page_size + 1

    def __str__(self) -> str:
        traits = self.traits
        size = f"{traits.pages} pages of {traits.page_size}, {self.requests} requests, length {self.length}"
        return f"{self.name}, {size}, {len(self.texts)} texts"


FULL = Group("full")


def committing(pages: int, page_size: int, *groups: Group) -> Traits:
    """The traits of the prefix cache that ships."""
    return Traits(pages, page_size, groups, prefix=True, commits=True)


SCOPES: tuple[ManagerScope, ...] = (
    ManagerScope("full", committing(3, 1, FULL), 2, 3, ((0, 0, 0), (0, 1, 1)), 325, 16_031),
    ManagerScope("full", committing(3, 2, FULL), 2, 4, ((0, 0, 0, 0), (0, 0, 0, 1)), 843, 47_827),
    ManagerScope("window 3", committing(3, 2, Group("window", 3)), 2, 5, ((0, 0, 0, 0, 0),), 678, 38_153),
    ManagerScope(
        "full and window 2", committing(5, 1, FULL, Group("window", 2)), 2, 3, ((0, 0, 0), (0, 1, 0)), 656, 30_677
    ),
    ManagerScope("window 3 with 1 sink", committing(3, 1, Group("window", 3, 1)), 2, 4, ((0, 0, 0, 0),), 314, 14_343),
    ManagerScope("chunk 3", committing(3, 2, Group("chunk", 3)), 2, 4, ((0, 0, 0, 0),), 767, 40_940),
)

CONFIGURATIONS: tuple[Configuration, ...] = (
    Configuration("full", committing(8, 2, FULL)),
    Configuration("full, page 1", committing(6, 1, FULL)),
    Configuration("full and window 3 with 1 sink", committing(12, 2, FULL, Group("window", 3, 1))),
    Configuration("window 5 with 2 sinks, page 3", committing(8, 3, Group("window", 5, 2))),
    Configuration("window 2 and chunk 6, page 4", committing(12, 4, Group("window", 2), Group("chunk", 6))),
    Configuration("full and window 1", committing(8, 2, FULL, Group("window", 1))),
)
"""What the random search over the prefix cache that ships walks in."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the random search looks: walks a configuration, and how often each situation must have been met in all of them
    together, wherever one of them allows it."""

    walks: int
    each: int


REACH: dict[str, Reach] = {"dev": Reach(40, 5), "ci": Reach(250, 100), "deep": Reach(3_000, 1_000)}
"""By profile."""
