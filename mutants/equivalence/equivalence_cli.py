"""`python -m mutants equivalence`: are these survivors new programs at all, and do the ledger's proofs still hold?"""

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from impl.command import EPILOG, CommandError, check_place, console
from impl.exit_codes import ExitCode
from mutants.equivalence.all_paths import CPU_SECONDS, PROVED, REFUTED, UNKNOWN
from mutants.equivalence.candidates import chosen, generic_mutants, last_run, survivors
from mutants.equivalence.examination import Finding, examine
from mutants.equivalence.ledger import LEDGER, Entry, read_ledger, write_ledger
from mutants.equivalence.ledger import PROVED as KIND_PROVED
from mutants.equivalence.ledger import REASON as KIND_REASON
from mutants.equivalence.ledger import SCOPE as KIND_SCOPE
from mutants.equivalence.lock_step import SCOPE
from mutants.mutant import Mutant, Project
from mutants.terminal import progress

KINDS = {PROVED: KIND_PROVED, SCOPE: KIND_SCOPE}
STRENGTH = (KIND_REASON, KIND_SCOPE, KIND_PROVED)
"""What an entry may rest on, the weakest first."""
COLOURS = {PROVED: "green", REFUTED: "red", UNKNOWN: "yellow", SCOPE: "yellow"}


@click.command("equivalence", epilog=EPILOG)
@click.argument("ids", nargs=-1, metavar="[ID ...]")
@click.option(
    "--run", "folder", type=click.Path(path_type=Path), help="Survivors of the run in this folder.  [default: the last]"
)
@click.option("--catalogue", metavar="MODULE", help="Take the mutants of this catalogue instead of the generic ones.")
@click.option("--ledger", "path", default=str(LEDGER), show_default=True, metavar="PATH", help="The ledger.")
@click.option(
    "--write",
    is_flag=True,
    help="Add what is proved or equal in scopes to the ledger, with reasons left to fill in, and what entries rest on to those.",
)
@click.option("--check", is_flag=True, help="Prove the entries of the ledger again that claim a proof.")
@click.option(
    "--cpu-seconds",
    default=CPU_SECONDS,
    show_default=True,
    type=click.FloatRange(min=1),
    help="What a comparison over all paths may use.",
)
def equivalence(
    ids: tuple[str, ...],
    folder: Path | None,
    catalogue: str | None,
    path: str,
    write: bool,
    check: bool,
    cpu_seconds: float,
) -> ExitCode:
    """Tell survivors that are no new program from those that a check is missing for.

    A mutant is proved equivalent by identical bytecode, or by CrossHair, which takes both versions of a function of integers
    through all of their paths. Lock-step lays the transcripts of both side by side: the same ones in three scopes and more
    are evidence, written as scope(k), and no proof. A counterexample refutes.
    """
    if check and (ids or folder or write):
        raise click.UsageError("--check is about the ledger: no ids, --run or --write")
    if ids and folder:
        raise click.UsageError("--run has ids of its own")
    if check and not Path(path).exists():
        raise CommandError(f"there is no ledger {path} whose proofs could be checked")
    ledger = read_ledger(path)
    out = console()
    if check and all(entry.kind != KIND_PROVED for entry in ledger):
        out.print(Text("the ledger claims no proof"))
        return ExitCode.PASS
    project, mutants = _mutants(catalogue)
    if check:
        return check_ledger(ledger, mutants, project, out, cpu_seconds)
    if write:
        check_place(path)
    wanted = ids or (survivors(folder or last_run()) if folder or not catalogue else [mutant.id for mutant in mutants])
    found = _examined(chosen(mutants, wanted), project, out, False, cpu_seconds)
    show_findings(out, found)
    if write:
        fresh, kept = proposals(found, ledger), strengthened(found, ledger)
        write_ledger([*kept, *fresh], path)
        better = sum(entry not in ledger for entry in kept)
        out.print(Text(f"{len(fresh)} entries added to {path}: give each its reason, without which it fails the gate"))
        out.print(Text(f"{better} entries of {path} rest on more than before"))
    return verdict_of(found)


def check_ledger(
    ledger: Sequence[Entry], mutants: Sequence[Mutant], project: Project, out: Console, cpu_seconds: float = CPU_SECONDS
) -> ExitCode:
    """Prove what the ledger claims a proof of; FAIL for what is refuted or gone, UNKNOWN for what is not proved."""
    known = {mutant.id: mutant for mutant in mutants}
    claimed = [entry for entry in ledger if entry.kind == KIND_PROVED]
    there = [entry for entry in claimed if entry.id in known and entry.is_of(known[entry.id])]
    found = {
        one.mutant.id: one for one in _examined([known[entry.id] for entry in there], project, out, True, cpu_seconds)
    }
    show_findings(out, list(found.values()))
    gone = [
        f"ledger entry {entry.id} no longer applies: {entry.module} has no such mutant"
        for entry in claimed
        if entry not in there
    ]
    taken = [
        f"ledger entry {entry.id} takes other things as given than its proof: {', '.join(found[entry.id].given) or 'nothing'}"
        for entry in there
        if found[entry.id].verdict == PROVED and entry.given != found[entry.id].given
    ]
    for line in (*gone, *taken):
        out.print(Text(line, style="red"))
    out.print(Text(f"{sum(one.verdict == PROVED for one in found.values())} of {len(claimed)} entries proved again"))
    if gone or taken or any(one.verdict == REFUTED for one in found.values()):
        return ExitCode.FAIL
    return ExitCode.PASS if all(one.verdict == PROVED for one in found.values()) else ExitCode.UNKNOWN


def proposals(found: Iterable[Finding], ledger: Iterable[Entry]) -> list[Entry]:
    """Entries for what is proved or equal in scopes and not in the ledger yet; their reasons are for a person to write."""
    there = {entry.id for entry in ledger}
    return [
        Entry(
            one.mutant.id,
            one.mutant.module,
            one.mutant.function,
            one.mutant.operator,
            one.mutant.before,
            one.mutant.after,
            KINDS[one.verdict],
            "",
            one.given,
            one.scopes,
        )
        for one in found
        if one.verdict in KINDS and one.mutant.id not in there
    ]


def strengthened(found: Iterable[Finding], ledger: Iterable[Entry]) -> list[Entry]:
    """The ledger with each entry resting on what was found, reason and all, where that is more than it rested on."""
    better = {one.mutant.id: one for one in found if one.verdict in KINDS}
    return [
        _resting_on(better[entry.id], entry) if entry.id in better and entry.is_of(better[entry.id].mutant) else entry
        for entry in ledger
    ]


def verdict_of(found: Iterable[Finding]) -> ExitCode:
    """FAIL when some mutant is a new program, UNKNOWN when of some nothing is proved, PASS when all are equivalent."""
    verdicts = {one.verdict for one in found}
    if REFUTED in verdicts:
        return ExitCode.FAIL
    return ExitCode.PASS if verdicts <= {PROVED} else ExitCode.UNKNOWN


def show_findings(out: Console, found: Sequence[Finding]) -> None:
    """Print one line a mutant: what it is, what is known of it, and by which way."""
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "mutant", "verdict", "by", "detail"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("id", "verdict", "by"))
    for one in found:
        word = f"{SCOPE}({len(one.scopes)})" if one.verdict == SCOPE else one.verdict
        given = f" given {', '.join(one.given)}" if one.verdict == PROVED and one.given else ""
        scopes = f": {'; '.join(one.scopes)}" if one.scopes else ""
        change = f"{one.mutant.module}.{one.mutant.function}: {one.mutant.before} -> {one.mutant.after}"
        verdict = Text(word, style=COLOURS[one.verdict])
        table.add_row(Text(one.mutant.id), Text(change), verdict, one.way, Text(f"{one.detail}{given}{scopes}"))
    if found:
        out.print(table)


def _resting_on(one: Finding, entry: Entry) -> Entry:
    kind = KINDS[one.verdict]
    if STRENGTH.index(kind) <= STRENGTH.index(entry.kind):
        return entry
    return replace(entry, kind=kind, given=one.given, scopes=one.scopes)


def _examined(
    mutants: Sequence[Mutant], project: Project, out: Console, proofs_alone: bool, cpu_seconds: float
) -> list[Finding]:
    if not mutants:
        return []
    with progress(out, len(mutants) + 2) as announce:
        return examine(mutants, project, announce, proofs_alone, cpu_seconds)


def _mutants(catalogue: str | None) -> tuple[Project, tuple[Mutant, ...]]:
    """The project, and the mutants of the catalogue, or all generic ones."""
    try:
        module = importlib.import_module(catalogue or "mutants.catalogue")
        project = module.PROJECT
        return project, tuple(module.MUTANTS) if catalogue else generic_mutants(project)
    except (ImportError, AttributeError) as error:
        raise CommandError(f"{catalogue} is no catalogue: {error}") from error
