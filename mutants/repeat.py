"""The gate again and again, in shuffled order and under load: the verdicts must not notice."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.text import Text

from impl.exit_codes import ExitCode
from mutants.engine import Plan, Record, Result, carry_out
from mutants.equivalence.ledger_rule import settle
from mutants.farm.farm import Farm
from mutants.farm.judging import SERIAL
from mutants.gate import decide, median_cpu_ms
from mutants.terminal import progress
from verify.campaign.executors import Place

# Ends by itself soon after the process that started it.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(1_000_000))"


def repeat_gate(plans: Sequence[Plan], load: bool, out: Console, place: Place = SERIAL) -> ExitCode:
    """Run each plan, print a line for each and whether all verdicts agree; the exit code is the command's."""
    codes: list[ExitCode] = []
    results: list[list[Result]] = []
    with _busy_cores() if load else nullcontext(), progress(out, sum(plan.units() for plan in plans)) as announce:
        for number, plan in enumerate(plans, 1):
            record = Record(plan)
            carry_out(record, announce, Farm(place))
            settle(record)
            decision = decide(record)
            codes.append(decision.code)
            results.append(record.results)
            out.print(Text(_line(number, record, decision.code)))
            for reason in decision.reasons:
                out.print(Text(f"  {reason}", style="red"))
    same = say_whether_alike([{result.mutant.id: verdict_key(result) for result in run} for run in results], out)
    everything = [result for run in results for result in run]
    words = "identical verdicts" if same else "verdicts differ"
    out.print(Text(f"{len(plans)} runs: {words}; {_spread(everything)}", style="bold"))
    if not same:
        return ExitCode.FAIL
    return next((code for code in codes if code != ExitCode.PASS), ExitCode.PASS)


def verdict_key(result: Result) -> str:
    """What must not differ between two runs: the status, the deciding stage and every broken rule."""
    rules = " ".join(sorted(result.verdict.rules)) or "no rule"
    return f"{result.verdict.status} in {result.verdict.stage or 'no stage'}: {rules}"


def say_whether_alike(runs: Sequence[Mapping[str, str]], out: Console) -> bool:
    """Print each mutant that has more than one verdict over the runs, which one that a run lacks has; whether there is none."""
    mutants = dict.fromkeys(mutant for run in runs for mutant in run)
    found = {mutant: {run.get(mutant, "missing") for run in runs} for mutant in mutants}
    differing = {mutant: verdicts for mutant, verdicts in found.items() if len(verdicts) > 1}
    for mutant, verdicts in differing.items():
        out.print(Text(f"mutant {mutant}: {' / '.join(sorted(verdicts))}", style="red"))
    return not differing


def _line(number: int, record: Record, code: ExitCode) -> str:
    caught = sum(result.caught for result in record.results)
    return (
        f"run {number:2}: {code.name.lower()}, {caught} of {len(record.plan.mutants)} caught, seed {record.plan.seed}, "
        f"median {median_cpu_ms(record.results):.1f} ms of CPU a mutant, {record.seconds:.1f} s"
    )


def _spread(results: Sequence[Result]) -> str:
    if not results:
        return "no verdicts"
    times = [result.cpu_ms for result in results]
    return f"CPU a mutant: least {min(times):.1f}, median {median_cpu_ms(results):.1f}, most {max(times):.1f} ms"


@contextmanager
def _busy_cores() -> Iterator[None]:
    """One spinning process a core for as long as this lasts."""
    command = [sys.executable, "-c", BUSY, str(os.getpid())]
    processes = [subprocess.Popen(command, start_new_session=True) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
