"""Every contract: the function, the rules that it proves, the verdict that is claimed of it, and how far it goes."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from verify.contracts import canary, division, indexing, page_counts, sequences, table_step, window

VerdictWord = Literal["confirmed", "refuted", "unknown"]

GENEROUS, BRIEF = 900.0, 3.0
"""CPU seconds of a search: far more than a confirmation takes, and few where none is expected."""

DEPTHS = {"dev": 0, "ci": 1, "deep": 2}
"""By profile, which contracts are checked: those of its depth and below."""


@dataclass(frozen=True, slots=True)
class Contract:
    """A wrapper with a docstring: a sentence, `pre:` lines and one `post:` line in Python, `_` the value returned.

    `claims` is the verdict that a run must give; "unknown" is claimed where a proof is beyond the solver, and proves nothing.
    """

    function: Callable[..., object]
    rules: tuple[str, ...]
    claims: VerdictWord = "confirmed"
    depth: int = 0

    @property
    def name(self) -> str:
        """Its module in verify/contracts/ and its function."""
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"

    @property
    def cpu_seconds(self) -> float:
        """The budget of the search."""
        return BRIEF if self.claims == "unknown" else GENEROUS

    def clauses(self, kind: str) -> list[str]:
        """The Python expressions of its `pre:` or `post:` lines."""
        lines = inspect.cleandoc(self.function.__doc__ or "").splitlines()
        return [line.removeprefix(f"{kind}:").strip() for line in lines if line.startswith(f"{kind}:")]


CANARY = Contract(canary.a_window_fits_the_pages_that_its_rows_fill, (), "refuted")

CONTRACTS: tuple[Contract, ...] = (
    CANARY,
    Contract(window.context_is_the_oracles, ("WIN-1",)),
    Contract(window.context_counts_what_is_read, ("WIN-1", "WIN-2", "WIN-6")),
    Contract(window.ranges_are_the_oracles, ("WIN-2", "WIN-6")),
    Contract(window.a_row_is_gathered_exactly_when_attended, ("WIN-2", "WIN-6")),
    Contract(window.keep_from_is_the_oracles, ("WIN-3", "WIN-6")),
    Contract(window.no_later_step_reads_what_is_trimmed, ("WIN-3", "WIN-6")),
    Contract(window.the_next_step_reads_the_first_row_kept, ("WIN-3", "WIN-6")),
    Contract(window.arguments_outside_are_refused, ("WIN-2", "WIN-3", "WIN-6")),
    Contract(window.a_context_outside_is_refused, ("WIN-1",)),
    Contract(division.a_row_lies_where_it_was_put, ("PT-ROWS",)),
    Contract(division.every_number_of_rows_has_both_forms, ("PT-PAGES",)),
    Contract(page_counts.pages_are_the_references, ("WIN-4",)),
    Contract(page_counts.pages_follow_from_append_and_trim, ("WIN-4", "WIN-6")),
    Contract(page_counts.pages_without_a_window_only_grow, ("WIN-4",)),
    Contract(page_counts.pages_after_append_stay_within_the_bound, ("WIN-5", "WIN-6")),
    Contract(page_counts.pages_after_trim_stay_within_the_bound, ("WIN-5", "WIN-6")),
    Contract(page_counts.the_bounds_are_reached, ("WIN-5", "WIN-6")),
    Contract(page_counts.bounds_are_the_references, ("WIN-5",)),
    Contract(page_counts.a_windowed_request_is_admitted_by_the_bound, ("WIN-5", "HOST-ADMIT")),
    Contract(indexing.sinks_fill_the_fewest_pages, ("WIN-6", "PT-HOLE")),
    Contract(indexing.appended_rows_need_the_oracles_pages, ("PT-PAGES", "OutOfPages")),
    Contract(indexing.located_rows_lie_where_they_were_written, ("PT-ROWS", "BadArgument", "RowsReleased")),
    Contract(indexing.a_cut_keeps_the_oracles_pages, ("PT-PAGES", "PT-HOLE", "BadArgument", "RowsReleased")),
    Contract(indexing.a_decode_step_keeps_the_exact_count, ("WIN-4", "WIN-6", "PT-PAGES", "PT-HOLE")),
    Contract(indexing.a_trim_of_any_length_releases_the_oracles_pages, ("PT-HOLE",), "unknown", depth=1),
    Contract(indexing.a_decode_step_with_any_page_size_keeps_the_exact_count, ("WIN-4",), "unknown", depth=1),
    Contract(
        table_step.append_keeps_the_invariants,
        ("PT-SHARE", "PT-INPLACE", "PT-OWN", "PT-FREE", "PT-PAGES", "PT-LEN", "PT-REFUSE", "BadArgument", "OutOfPages"),
        depth=1,
    ),
    Contract(
        table_step.fork_keeps_the_invariants,
        ("PT-SHARE", "PT-OWN", "PT-PAGES", "PT-LIVE", "PT-REFUSE", "BadArgument", "RowsReleased"),
        depth=1,
    ),
    Contract(
        table_step.trim_keeps_the_invariants,
        ("PT-HOLE", "PT-OWN", "PT-FREE", "PT-LEAK", "PT-PAGES", "PT-REFUSE", "BadArgument"),
        depth=1,
    ),
    Contract(
        table_step.truncate_keeps_the_invariants,
        ("PT-LEN", "PT-HOLE", "PT-OWN", "PT-FREE", "PT-LEAK", "PT-PAGES", "PT-REFUSE", "BadArgument", "RowsReleased"),
        depth=1,
    ),
    Contract(table_step.release_keeps_the_invariants, ("PT-LIVE", "PT-OWN", "PT-FREE", "PT-LEAK"), depth=1),
    Contract(sequences.a_fork_refines_the_oracle, ("PT-OWN", "PT-SHARE", "PT-TOTAL"), depth=1),
    Contract(sequences.an_append_after_a_fork_refines_the_oracle, ("PT-OWN", "PT-SHARE", "PT-INPLACE"), depth=2),
    Contract(sequences.a_cut_after_a_fork_refines_the_oracle, ("PT-OWN", "PT-LEAK", "PT-HOLE"), depth=2),
)

SLOW = (table_step.truncate_keeps_the_invariants, sequences.a_cut_after_a_fork_refines_the_oracle)
"""What a run starts first, so that no process is left with it alone at the end."""


def of_profile(name: str) -> list[Contract]:
    """The contracts that the profile checks."""
    return [contract for contract in CONTRACTS if contract.depth <= DEPTHS[name]]
