"""A long command says how far it has come: on a terminal in a bar, in a log in a line now and then."""

import io

import pytest
from rich.console import Console

from impl import progress
from impl.progress import LOG_SECONDS, InLog, bar_or_lines


def lines_of(out: io.StringIO) -> list[str]:
    return out.getvalue().splitlines()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> io.StringIO:
    """Standard error as a file, at the time of the clock."""
    out = io.StringIO()
    monkeypatch.setattr(progress, "console", lambda to_stderr: Console(file=out, width=20, get_time=clock))
    return out


def test_a_log_has_a_line_now_and_then_and_none_of_a_task_that_is_done(log: io.StringIO, clock: Clock) -> None:
    with bar_or_lines("{task.description}", out=Console(file=io.StringIO())) as bar:
        assert isinstance(bar, InLog)
        task = bar.add_task("mutants", total=200)
        for second in range(100):
            clock.now = second + 0.5
            bar.advance(task)
        assert lines_of(log) == [
            "0:00:30: 31 of 200, mutants",
            "0:01:00: 61 of 200, mutants",
            "0:01:30: 91 of 200, mutants",
        ]
        clock.now = 200
        bar.update(task, description="[dim]the last[/dim] of all of these words", total=None, completed=150)
        assert lines_of(log)[3:] == ["0:03:20: 150 of 200, the last of all of these words"], "one line, however narrow"
        clock.now = 300
        bar.update(task, completed=200)
    assert len(lines_of(log)) == 4


def test_what_has_no_known_end_shows_what_it_does(log: io.StringIO, clock: Clock) -> None:
    with bar_or_lines() as bar:
        task = bar.add_task("begun", total=None)
        clock.now = 2 * LOG_SECONDS
        bar.update(task, description="400 states")
    assert lines_of(log) == ["0:01:00: 400 states"]


def test_a_short_run_and_a_terminal_have_no_lines(log: io.StringIO) -> None:
    with bar_or_lines() as bar:
        bar.update(bar.add_task("short", total=3), advance=1)
    assert lines_of(log) == []
    terminal = io.StringIO()
    drawn = bar_or_lines("{task.description}", out=Console(file=terminal, force_terminal=True))
    assert not isinstance(drawn, InLog)
    with drawn as bar:
        bar.add_task("drawn")
    assert "drawn" in terminal.getvalue() and lines_of(log) == []
