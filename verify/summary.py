"""The closing summary of `pytest verify/`: what was searched, what was reached, and what was not checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from verify.bounds import SCOPES, Profile
from verify.situations import SITUATIONS

# What a search counts comes from a process that has loaded the search; a command that only prints a table does not need it.
# The same goes for the names of situations, which the functions below import.
if TYPE_CHECKING:
    from spec.operations import ManagerOperation
    from verify.decode.behaviour_checks import LogitError
    from verify.explore import Coverage, Exploration
    from verify.fuzz.search import ProgramTally
    from verify.host.machine import HostTally
    from verify.induction import Induction
    from verify.machines import Tally
    from verify.managers.bounds import ManagerScope
    from verify.managers.walks import ManagerTally


@dataclass(slots=True)
class Summary:
    """What the searches of one run covered.

    `target` says what was checked instead of the cache that ships, `situations` what it can come into; `deselected` counts the
    tests that are of that cache alone.
    """

    profile: Profile
    target: tuple[str, ...] = ()
    situations: tuple[str, ...] = SITUATIONS
    deselected: int = 0
    explorations: list[Exploration] = field(default_factory=list)
    inductions: list[Induction] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    host_tallies: list[HostTally] = field(default_factory=list)
    manager_explorations: list[Coverage[ManagerScope, ManagerOperation]] = field(default_factory=list)
    manager_tallies: list[ManagerTally] = field(default_factory=list)
    program_tallies: list[ProgramTally] = field(default_factory=list)
    logit_errors: list[LogitError] = field(default_factory=list)
    witnesses: int = 0

    def add(self, other: Summary) -> None:
        """Take in what another process of the same run covered; each leaves out the same tests."""
        self.deselected = max(self.deselected, other.deselected)
        for name in LISTS:
            getattr(self, name).extend(getattr(other, name))
        self.witnesses += other.witnesses


LISTS = tuple(field.name for field in fields(Summary) if field.default_factory is list)
"""What a summary has a list of."""


def render_summary(summary: Summary, width: int) -> str:
    """The summary as text; empty when no search ran, unless the run was of another target than the cache that ships."""
    if not (summary.target or any(getattr(summary, name) for name in LISTS)):
        return ""
    console = Console(width=width, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as captured:
        console.print(f"profile {summary.profile.name}; {summary.witnesses} saved witnesses replayed")
        if summary.explorations:
            console.print(exploration_table(summary.explorations))
        if summary.inductions:
            console.print(induction_table(summary.inductions))
        for tally in summary.tallies:
            console.print(*random_lines(tally, summary.situations), sep="\n")
        for found in summary.host_tallies:
            console.print(*host_lines(found), sep="\n")
        if summary.manager_explorations:
            console.print(exploration_table(summary.manager_explorations, "scope of managers"))
        for walked in summary.manager_tallies:
            console.print(*manager_lines(walked), sep="\n")
        for ran in summary.program_tallies:
            console.print(*program_lines(ran), sep="\n")
        if summary.logit_errors:
            console.print(logit_error_table(summary.logit_errors))
        console.print(*not_checked(summary), sep="\n")
    return captured.get().rstrip()


def exploration_table(explorations: Sequence[Coverage[Any, Any]], heading: str = "scope") -> Table:
    """One line a scope, and their sum."""
    table = Table(
        heading,
        "states",
        "transitions",
        "refused",
        "reads",
        "depth",
        "seconds",
        "verdict",
        show_footer=len(explorations) > 1,
    )
    for found in explorations:
        verdict = "complete" if found.complete else "differs" if found.failures else "unfinished"
        counts = (found.states, found.transitions, found.refused, found.reads, found.depth)
        table.add_row(str(found.scope), *(f"{count:,}" for count in counts), f"{found.seconds:.1f}", verdict)
    columns = table.columns[1:5]
    sums = map(sum, zip(*((f.states, f.transitions, f.refused, f.reads) for f in explorations), strict=True))
    for column, total in zip(columns, sums, strict=True):
        column.footer = f"{total:,}"
    for column in table.columns[1:]:
        column.no_wrap = True
    return table


def induction_table(inductions: list[Induction]) -> Table:
    """One line a scope of the enumeration."""
    table = Table("inductive step from every state that satisfies the invariants", "states", "transitions")
    for found in inductions:
        table.add_row(str(found.scope), f"{found.states:,}", f"{found.transitions:,}")
    return table


def logit_error_table(errors: list[LogitError]) -> Table:
    """One line a width and window: the worst mean of a model and the worst step, as a part of the float logits."""
    table = Table("logit error of the integers", "models", "steps", "worst mean", "worst step")
    kinds = dict.fromkeys((error.width, error.window) for error in errors)
    for width, window in kinds:
        alike = [error for error in errors if (error.width, error.window) == (width, window)]
        mean, step = max(alike, key=lambda error: error.mean), max(alike, key=lambda error: error.worst)
        table.add_row(
            f"width {width}, {'no window' if window is None else f'window {window}'}",
            f"{len(alike)}",
            f"{sum(error.steps for error in alike):,}",
            f"{mean.mean:.2%} ({mean.model})",
            f"{step.worst:.2%} ({step.model})",
        )
    return table


def random_lines(tally: Tally, of: Sequence[str] = SITUATIONS) -> list[str]:
    """What a random search did, in four lines; `of` are the situations that the target can come into."""
    seed = "derandomized, the same examples every time" if tally.seed is None else f"seed {tally.seed}"
    return [
        f"random search ({seed}): {tally.examples:,} examples, {tally.steps:,} operations",
        "  operations: " + counted(dict(tally.operations)),
        "  refusals: " + counted(dict(tally.refusals)),
        *situation_lines(tally.situations, of),
    ]


def host_lines(tally: HostTally) -> list[str]:
    """What a random search over hosts did, in four lines."""
    from verify.host.situations import HOST_SITUATIONS

    return [
        f"random search over hosts: {tally.examples:,} examples, {tally.steps:,} operations",
        "  operations: " + counted(dict(tally.operations)),
        "  refusals: " + counted(dict(tally.refusals)),
        *situation_lines(tally.situations, HOST_SITUATIONS),
    ]


def manager_lines(tally: ManagerTally) -> list[str]:
    """What a random search over managers did in one configuration, in four lines and two when there is something to tell."""
    from verify.managers.situations import SITUATIONS as MANAGER_SITUATIONS

    told = [f"  known deviations: {counted(dict(tally.known))}"] if tally.known else []
    told += [f"  operations avoided: {tally.avoided:,}"] if tally.avoided else []
    absent = [name for name in MANAGER_SITUATIONS if name not in tally.able]
    return [
        f"random search over managers, {tally.name} (seed {tally.seed}): {tally.walks:,} walks, {tally.steps:,} operations",
        "  operations: " + counted(dict(tally.operations)),
        "  refusals: " + counted(dict(tally.refusals)),
        *situation_lines(tally.situations, tally.able),
        *([f"  not possible here: {', '.join(absent)}"] if absent else []),
        *told,
    ]


def program_lines(tally: ProgramTally) -> list[str]:
    """What a random search over programs did, and how often it met what it must meet."""
    from verify.fuzz.situations import REQUIRED

    seed = "derandomized, the same programs every time" if tally.seed is None else f"seed {tally.seed}"
    cycles = {name: cycles for name, cycles in tally.cycles.items() if cycles}
    return [
        f"random search over programs on {', '.join(tally.chips)} ({seed}): {tally.programs:,} programs with "
        f"{tally.instructions:,} instructions, {tally.starts:,} starts in {tally.cases:,} runs, "
        f"{tally.watched:,} of them watched",
        "  cycles: " + counted(cycles),
        *situation_lines(tally.met, REQUIRED),
    ]


def situation_lines(met: Mapping[str, int], of: Sequence[str] = SITUATIONS) -> list[str]:
    """How often each of these situations was met, and which never."""
    missed = [name for name in of if not met.get(name)]
    lines = ["  situations: " + counted({name: met[name] for name in of if met.get(name)})]
    return lines + ([f"  never met: {', '.join(missed)}"] if missed else [])


def counted(counts: dict[str, int]) -> str:
    """Names with their counts, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {count:,}" for name, count in ordered) or "none"


def not_checked(summary: Summary) -> list[str]:
    """What this run left out."""
    if summary.target:
        left = [f"{summary.deselected} tests of the cache that ships", "anything larger than the scopes but at random"]
        return [*summary.target, "not checked: " + "; ".join(left)]
    names = {name for found in summary.explorations for name in found.not_offered}
    names |= {name for tally in summary.tallies for name in tally.not_offered}
    left = [str(scope) for scope in SCOPES if scope not in summary.profile.scopes]
    ran = {found.scope for found in summary.explorations}
    left += [f"{scope} (not selected)" for scope in summary.profile.scopes if scope not in ran]
    return [
        f"operations not offered by the target: {', '.join(sorted(names)) or 'none'}",
        "not checked: "
        + "; ".join(
            [
                *(f"scope {text}" for text in left),
                "anything larger than the scopes but at random",
                "production request traces (python -m verify replay FILE)",
            ]
        ),
    ]
