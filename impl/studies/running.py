"""Running studies for a terminal: progress, tables, files, and one clear line for whatever cannot be done."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import TaskID

from impl.chip import ChipError
from impl.command import CommandError, console
from impl.display import progress_bar, table
from impl.page_table import OutOfPages
from impl.studies.study import Cell, Column, Findings, Progress
from impl.studies.writing import heading, write

Job = Callable[[Progress], Findings]


def run(jobs: Sequence[Job], out: Path, figures: bool) -> None:
    """Run the studies one after the other: each shows its tables, and writes its files, when it is done."""
    terminal = console()
    for job in jobs:
        with progress_bar() as progress:
            task = progress.add_task("study", total=None)
            try:
                findings = job(partial(_tell, progress, task))
            except OutOfPages as refusal:
                raise CommandError(f"the pool is too small for this study: {refusal}") from None
            except ChipError as error:
                raise CommandError(f"the chip gave no result: {error}") from error
            progress.update(task, description=f"{findings.study}, files", total=None)
            written = write(findings, out, figures)
        _show(terminal, findings)
        terminal.print(f"{len(written)} files: {out}/{findings.study}*\n", soft_wrap=True)


def shown(cell: Cell, column: Column) -> str:
    """The cell as text, with as many digits as its column says; "-" for None."""
    match cell:
        case None:
            return "-"
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.{column.digits}f}" if column.digits is not None else f"{cell:,}"
    return cell


def _tell(progress: Bar, task: TaskID, what: str, done: int, of: int) -> None:
    progress.update(task, description=what, completed=done, total=of)


def _show(out: Console, findings: Findings) -> None:
    out.print(f"[bold]{findings.study}[/bold]: {findings.question}\n")
    for found in findings.tables:
        headings = "|".join(map(heading, found.columns))
        cells = (tuple(map(shown, row, found.columns)) for row in found.rows)
        out.print(table(found.title, headings, cells))
    for note in findings.notes:
        out.print(note)
