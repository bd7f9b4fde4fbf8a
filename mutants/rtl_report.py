"""What a run of the mutants of the RTL says: pass or not, and a table."""

import statistics
from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from impl.exit_codes import ExitCode
from mutants.gate import Decision
from mutants.rtl_engine import RtlRecord, RtlResult
from mutants.rtl_mutant import RtlMutant
from mutants.terminal import show_decision
from mutants.verdicts import INVALID, NO_VERDICT, RUNAWAYS


def decide_rtl(record: RtlRecord) -> Decision:
    """Pass when every mutant dies by its own rule in every simulator; the weightiest finding first, as in `decide`."""
    planned = {(mutant.id, simulator) for mutant in record.plan.mutants for simulator in record.plan.simulators}
    executed = Counter((result.mutant.id, result.simulator) for result in record.results)
    done = f"{len(record.results)} of {len(planned)} verdicts are there"
    if record.interrupted:
        return Decision(ExitCode.INTERRUPTED, (f"interrupted: {done}",))
    if record.problems:
        return Decision(ExitCode.BROKEN, tuple(record.problems))
    by_code: dict[ExitCode, list[str]] = {ExitCode.FAIL: [], ExitCode.BROKEN: [], ExitCode.UNKNOWN: []}
    if not executed or executed != Counter(planned):
        by_code[ExitCode.FAIL].append(f"planned and executed differ: {done}")
    for result in record.results:
        if not result.caught:
            by_code[_severity(result)].append(_reason(result))
    code = next((code for code, lines in by_code.items() if lines), ExitCode.PASS)
    return Decision(code, tuple(reason for lines in by_code.values() for reason in lines))


def summary_rtl(record: RtlRecord) -> list[str]:
    """One line a simulator: how many mutants were caught, and their CPU, the median and in all."""
    lines = []
    for simulator in record.plan.simulators:
        results = [result for result in record.results if result.simulator == simulator]
        if results:
            caught = sum(result.caught for result in results)
            cpu_ms = [result.cpu_ms for result in results]
            cpu = f"median {statistics.median(cpu_ms):.0f} ms of CPU a mutant, {sum(cpu_ms) / 1e3:.0f} s in all"
            lines.append(f"{simulator} {caught} of {len(record.plan.mutants)}, {cpu}")
    return lines


def show_rtl(out: Console, record: RtlRecord) -> None:
    """Print the table, the summary and the verdict."""
    if record.controls:
        out.print(_table(record))
    for line in summary_rtl(record):
        out.print(Text(line))
    out.print(Text(f"{record.seconds:.1f} s in all"))
    show_decision(out, decide_rtl(record))


def _severity(result: RtlResult) -> ExitCode:
    if result.verdict.status in NO_VERDICT | RUNAWAYS:
        return ExitCode.UNKNOWN
    return ExitCode.BROKEN if result.verdict.status in INVALID else ExitCode.FAIL


def _reason(result: RtlResult) -> str:
    verdict, who = result.verdict, f"mutant {result.mutant.id} in {result.simulator}"
    if verdict.killed:
        return f"{who}: killed, but not by its rule: {verdict.detail} instead of {result.mutant.expectation()}"
    return f"{who}: {verdict.status}: {verdict.detail}"


def _by_mutant(record: RtlRecord) -> dict[RtlMutant, list[RtlResult]]:
    """The controls, then the mutants of the plan, with their results, simulators in the plan's order."""
    rows: dict[RtlMutant, list[RtlResult]] = {}
    for result in (*record.controls, *record.results):
        rows.setdefault(result.mutant, []).append(result)
    return rows


def _table(record: RtlRecord) -> Table:
    table = Table(box=None, pad_edge=False)
    simulators = record.plan.simulators
    for heading in ("id", "mutant", "module", "expected", *simulators, "rules"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("id", "module", *simulators))
    for simulator in simulators:
        table.add_column(f"CPU ms {simulator}", justify="right")
    for mutant, results in _by_mutant(record).items():
        of = {result.simulator: result for result in results}
        table.add_row(
            Text(mutant.id),
            Text(mutant.title),
            mutant.module,
            "to survive" if mutant is record.plan.no_op else mutant.expectation(),
            *(_verdict(of.get(simulator), record) for simulator in simulators),
            _rules(results) or "-",
            *(f"{of[simulator].cpu_ms:.0f}" if simulator in of else "-" for simulator in simulators),
        )
    return table


def _verdict(result: RtlResult | None, record: RtlRecord) -> Text:
    if result is None:
        return Text("-", style="red")
    as_it_must = result.caught or result in record.controls
    return Text(result.verdict.status.value, style="green" if as_it_must else "red")


def _rules(results: list[RtlResult]) -> str:
    """The broken rules, each with its simulators where not all of them saw it."""
    seen: dict[str, list[str]] = {}
    for result in results:
        for rule in result.verdict.rules:
            seen.setdefault(rule, []).append(result.simulator)
    return " ".join(
        rule if len(where) == len(results) else f"{rule} ({', '.join(where)})" for rule, where in sorted(seen.items())
    )
