"""What a generic run shows people: counts by operator and by area, every survivor with its diff, and the verdict."""

from collections import Counter
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mutants.engine import Record, Result
from mutants.equivalence.ledger_rule import STANDS, ledger_summary
from mutants.gate import decide, in_catalogue_order, median_cpu_ms
from mutants.generic.operator import Operator
from mutants.mutant import Mutant
from mutants.reports.data import OPEN, Outcome, outcome_of
from mutants.terminal import show_decision

SHOWN_OUTCOMES = (Outcome.KILLED, Outcome.EQUIVALENT, Outcome.LEDGER, Outcome.SURVIVED, Outcome.NO_VERDICT)
SHOWN = 50
"""Reasons that are printed at most: a run whose stages see nothing has thousands."""


def show_generic(out: Console, record: Record) -> None:
    """Print the counts, every mutant that somebody has to look at with its diff, and the verdict."""
    if record.results:
        out.print(_counts("operator", record.results, lambda result: result.mutant.operator))
        out.print(_counts("area", record.results, lambda result: result.mutant.family))
        for result in in_catalogue_order(record):
            if _outcome(result) in OPEN:
                out.print(Text(f"{result.mutant.id} {result.mutant.operator}: {_said(result)}", style="red"))
                out.print(Text(result.spliced.diff if result.spliced else result.mutant.title))
    killed = sum(result.verdict.killed for result in record.results)
    planned = len(record.plan.mutants)
    out.print(Text(f"planned {planned}, executed {len(record.results)}, killed {killed}"))
    for line in ledger_summary(record):
        out.print(Text(line))
    if record.results:
        out.print(
            Text(
                f"median {median_cpu_ms(record.results):.1f} ms of CPU a mutant, {_mean_cpu_ms(record):.1f} ms in the mean"
            )
        )
        out.print(Text(f"{record.seconds:.1f} s in all"))
    decision = decide(record)
    if len(decision.reasons) > SHOWN:
        more = f"... and {len(decision.reasons) - SHOWN} more"
        decision = type(decision)(decision.code, (*decision.reasons[:SHOWN], more))
    show_decision(out, decision)


def show_operators(out: Console, operators: Sequence[Operator], mutants: Sequence[Mutant]) -> None:
    """Print the operators, an example of each and how many mutants it makes, and how many each module has."""
    table = Table(box=None, pad_edge=False)
    for heading in ("operator", "example", "becomes"):
        table.add_column(heading)
    table.add_column("mutants", justify="right")
    made = Counter(mutant.operator for mutant in mutants)
    for operator in operators:
        before, after = operator.examples[0]
        table.add_row(operator.name, Text(before), Text(after[0]), str(made[operator.name]))
    out.print(table)
    for module, count in Counter(mutant.module for mutant in mutants).items():
        out.print(Text(f"{module} {count}"))
    out.print(Text(f"{len(mutants)} mutants"))


def _counts(heading: str, results: Sequence[Result], name: Callable[[Result], str]) -> Table:
    """How many mutants each of these names has, and what became of them."""
    table = Table(box=None, pad_edge=False)
    table.add_column(heading)
    columns = ("mutants", *SHOWN_OUTCOMES)
    for column in columns:
        table.add_column(column, justify="right")
    counts: dict[str, Counter[str]] = {}
    for result in results:
        counts.setdefault(name(result), Counter()).update(("mutants", _outcome(result)))
    for row in sorted(counts):
        table.add_row(row, *(str(counts[row][column]) for column in columns))
    return table


def _outcome(result: Result) -> Outcome:
    """What it counts as, in the reports and here; any rule that breaks is one that may."""
    status = result.verdict.status
    return outcome_of(status, caught=True, accepted=result.verdict.detail if status in STANDS else "")


def _said(result: Result) -> str:
    return f"{result.verdict.status}: {result.verdict.detail}"


def _mean_cpu_ms(record: Record) -> float:
    return sum(result.cpu_ms for result in record.results) / len(record.results)
