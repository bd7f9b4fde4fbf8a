"""All finite bounds of the searches: scopes with their pinned counts, and the profiles dev, ci and deep.

A bound says how far a search looks, never what is right; the oracle in spec/ is timeless and unbounded.
"""

from dataclasses import dataclass

MOST_PAGES, MOST_PAGE_SIZE, MOST_REQUESTS = 10_000, 1_000_000, 1_000
"""What a command takes for a mistake when it is more."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A small world that the exhaustive search covers completely.

    `length` bounds the rows of a request, `sinks` their sinks (None: one more than a page has rows, so that no multiple of
    the page is special). Page and request ids are told apart only with `raw_ids`; otherwise states that differ by a
    renaming are one. `states` and `transitions` are the counts at the fixpoint, None where not pinned.
    """

    pages: int
    page_size: int
    requests: int
    length: int
    raw_ids: bool = False
    sinks: int | None = None
    states: int | None = None
    transitions: int | None = None

    @property
    def most_rows(self) -> int:
        """Most rows in one append: two pages and a row, so that one append crosses two page boundaries."""
        return 2 * self.page_size + 1

    @property
    def most_sinks(self) -> int:
        """Most sinks of a request."""
        return self.page_size + 1 if self.sinks is None else self.sinks

    def __str__(self) -> str:
        notes = [f"sinks at most {self.sinks}"] if self.sinks is not None else []
        notes += ["raw ids"] if self.raw_ids else []
        return ", ".join(
            [f"{self.pages} pages of {self.page_size}", f"{self.requests} requests", f"length {self.length}", *notes]
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """How far `pytest verify/` looks: scopes, scopes of the induction, and the random search's examples and steps.

    `each` is how often the random search must have met each situation; host_examples, host_steps and host_each are of the
    search over hosts.
    """

    name: str
    scopes: tuple[Scope, ...]
    induction: tuple[Scope, ...]
    examples: int
    steps: int
    each: int
    host_examples: int
    host_steps: int
    host_each: int


SMALL = (
    Scope(2, 1, 2, 3, states=241, transitions=15_005),
    Scope(3, 1, 2, 4, states=790, transitions=54_797),
)
SINKS = Scope(2, 2, 2, 4, sinks=1, states=342, transitions=22_123)
WIDE = (
    Scope(3, 2, 2, 4, states=2_264, transitions=159_377),
    Scope(4, 2, 2, 5, states=6_824, transitions=528_884),
    Scope(2, 2, 3, 4, states=4_229, transitions=461_645),
    Scope(3, 2, 2, 4, raw_ids=True, states=17_939, transitions=1_311_532),
)
DEEP = (
    Scope(4, 1, 3, 3, states=5_802, transitions=615_523),
    Scope(3, 3, 2, 5, states=9_411, transitions=718_500),
    Scope(4, 2, 2, 6, states=9_405, transitions=778_943),
    Scope(3, 2, 3, 4, states=15_672, transitions=1_773_294),
    Scope(4, 2, 3, 4, states=42_241, transitions=4_867_035),
)
SCOPES: tuple[Scope, ...] = (*SMALL, SINKS, *WIDE, *DEEP)

INDUCTION_SMALL = (Scope(3, 1, 2, 2, states=326, transitions=19_856),)
INDUCTION = (
    Scope(3, 1, 2, 3, states=1_235, transitions=85_987),
    Scope(3, 2, 2, 4, states=1_577, transitions=121_965),
)

PROFILES: dict[str, Profile] = {
    "dev": Profile("dev", (*SMALL, SINKS), INDUCTION_SMALL, 60, 50, 5, host_examples=30, host_steps=30, host_each=1),
    "ci": Profile("ci", (*SMALL, SINKS, *WIDE), INDUCTION, 500, 50, 100, host_examples=80, host_steps=30, host_each=20),
    "deep": Profile("deep", SCOPES, INDUCTION, 4_000, 80, 1_000, host_examples=1_500, host_steps=40, host_each=200),
}

FAR_SCOPES: dict[str, tuple[Scope, ...]] = {
    "dev": SMALL[:1],
    "ci": (*SMALL, SINKS),
    "deep": (*SMALL, SINKS, *WIDE[:2]),
}
FAR_EXAMPLES = {"dev": 60, "ci": 120, "deep": 1_000}
"""By profile, the scopes and the random examples of a target in a process of its own, where an operation costs a journey."""


@dataclass(frozen=True, slots=True)
class ProgramBounds:
    """How far the random search over programs looks: runs on definition and model, runs on all four chips.

    A run has a program or more, `programs` at least on definition and model; each situation is met `each` times. Once these are
    done, both searches go on for so many `minutes`.
    """

    cases: int
    programs: int
    everywhere: int
    each: int
    minutes: float = 0.0


PROGRAM_BOUNDS: dict[str, ProgramBounds] = {
    "dev": ProgramBounds(290, 400, 20, 1),
    "ci": ProgramBounds(6_500, 10_000, 300, 20),
    "deep": ProgramBounds(6_500, 10_000, 300, 20, minutes=120),
}
