"""The closing summary of `pytest verify/`: what was searched, what was reached, and what was not checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from verify.bounds import SCOPES, Profile
from verify.explore import Exploration
from verify.induction import Induction
from verify.machines import Tally
from verify.situations import SITUATIONS


@dataclass(slots=True)
class Summary:
    """What the searches of one run covered."""

    profile: Profile
    explorations: list[Exploration] = field(default_factory=list)
    inductions: list[Induction] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    witnesses: int = 0


def render_summary(summary: Summary, width: int) -> str:
    """The summary as text; empty when no search ran."""
    if not (summary.explorations or summary.inductions or summary.tallies):
        return ""
    console = Console(width=width, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as captured:
        console.print(f"profile {summary.profile.name}; {summary.witnesses} saved witnesses replayed")
        if summary.explorations:
            console.print(exploration_table(summary.explorations))
        if summary.inductions:
            console.print(induction_table(summary.inductions))
        for tally in summary.tallies:
            console.print(*random_lines(tally), sep="\n")
        console.print(*not_checked(summary), sep="\n")
    return captured.get().rstrip()


def exploration_table(explorations: list[Exploration]) -> Table:
    """One line a scope, and their sum."""
    table = Table(
        "scope",
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


def random_lines(tally: Tally) -> list[str]:
    """What a random search did, in four lines."""
    seed = "derandomized, the same examples every time" if tally.seed is None else f"seed {tally.seed}"
    return [
        f"random search ({seed}): {tally.examples:,} examples, {tally.steps:,} operations",
        "  operations: " + counted(dict(tally.operations)),
        "  refusals: " + counted(dict(tally.refusals)),
        *situation_lines(tally.situations),
    ]


def situation_lines(met: Mapping[str, int]) -> list[str]:
    """How often each situation was met, and which never."""
    missed = [name for name in SITUATIONS if not met.get(name)]
    lines = ["  situations: " + counted({name: met[name] for name in SITUATIONS if met.get(name)})]
    return lines + ([f"  never met: {', '.join(missed)}"] if missed else [])


def counted(counts: dict[str, int]) -> str:
    """Names with their counts, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {count:,}" for name, count in ordered) or "none"


def not_checked(summary: Summary) -> list[str]:
    """What this run left out."""
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
