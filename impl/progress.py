"""How far a long command has come: a bar on a terminal, and in a log a line now and then."""

from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task, TaskID
from rich.text import Text

from impl.command import console

LOG_SECONDS = 30.0
"""Between two lines of a log: a run of minutes says that it goes on, and a short one says nothing."""


class InLog(Progress):
    """Progress where nothing can be drawn over: a line when a task goes on and the last one is LOG_SECONDS ago."""

    def __init__(self, *columns: str | ProgressColumn, console: Console) -> None:
        super().__init__(*columns, console=console, disable=True)
        self._said = self.get_time()

    def update(self, task_id: TaskID, **changes: Any) -> None:
        super().update(task_id, **changes)
        self._say()

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        super().advance(task_id, advance)
        self._say()

    def _say(self) -> None:
        """A line for each task that goes on, when it is time."""
        if self.get_time() - self._said < LOG_SECONDS:
            return
        self._said = self.get_time()
        for task in self.tasks:
            if task.visible and not task.finished:
                self.console.print(Text(_line(task)), soft_wrap=True)


def bar_or_lines(*columns: str | ProgressColumn, out: Console | None = None) -> Progress:
    """A bar of these columns on `out`, or else on standard error, which is gone at the end; without a terminal lines on standard
    error."""
    err = console(to_stderr=True)
    terminal = next((each for each in (out, err) if each is not None and each.is_terminal), None)
    return InLog(*columns, console=err) if terminal is None else Progress(*columns, console=terminal, transient=True)


def _line(task: Task) -> str:
    """The time so far, how much is done of how much, and what is being done."""
    total = "" if task.total is None else f"{task.completed:.0f} of {task.total:.0f}, "
    return f"{timedelta(seconds=int(task.elapsed or 0))}: {total}{Text.from_markup(task.description).plain}"
