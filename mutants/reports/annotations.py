"""What somebody has to look at as GitHub's workflow commands: a line of output each, which the change is annotated with.

Source: GitHub Actions, workflow commands, "Setting an error message".
"""

from mutants.reports.data import OPEN, JudgedMutant, MutationRun

MOST = 10
"""Errors of one step that GitHub shows."""


def annotations(run: MutationRun) -> list[str]:
    """A command for each of the first mutants to look at, and a last one when there are more."""
    found = [mutant for mutant in run.mutants if mutant.outcome in OPEN]
    most = MOST if len(found) <= MOST else MOST - 1
    lines = [_annotation(mutant) for mutant in found[:most]]
    if len(found) > most:
        lines.append(f"::error title=mutants::{len(found) - most} more mutants to look at are in the report")
    return lines


def _annotation(mutant: JudgedMutant) -> str:
    status = mutant.status.value if mutant.status else "did not run"
    values = {"file": mutant.path, "title": f"mutant {mutant.id} {mutant.outcome.value}"}
    if mutant.start and mutant.end:
        values |= {"line": str(mutant.start.line), "endLine": str(mutant.end.line)}
    properties = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in values.items())
    return f"::error {properties}::{_escaped(f'{mutant.title}: {status}: {mutant.detail}')}"


def _escaped(words: str, also: str = "") -> str:
    """The words with what would end a command or a property as percent and two digits."""
    return "".join(f"%{ord(letter):02X}" if letter in f"%\r\n{also}" else letter for letter in words)
