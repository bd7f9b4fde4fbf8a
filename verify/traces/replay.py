"""Production traces replayed on a target: the oracle beside it, every operation checked."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter

from impl.pool_bound import most_pages
from impl.schedule import Figures, Schedule, ScheduleOptions
from impl.traces import TraceRequest, read_trace
from spec.operations import Fork, Operation, Outcome, Release
from spec.page_table import State, initial, step
from verify.refinement import Difference
from verify.traces.incremental import IncrementalCheck
from verify.traces.incremental_target import IncrementalFactory
from verify.traces.tokens import with_runs
from verify.traces.witness import trace_witness
from verify.witness import Witness, call

Progress = Callable[[int, int, int], None]
"""Told of (requests done, requests in all, operations) about every PROGRESS_SECONDS."""

PROGRESS_SECONDS = 0.2

MOST_POOL_PAGES = 50_000_000
"""More pages than this are not set up unasked: their table alone would take gigabytes."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What to replay: the first `requests` of a file (None: all), on `pages` pages (None: as many as the trace can need).

    The whole state is checked every `whole_every` operations and at the end, before and after all requests that are left end.
    """

    schedule: ScheduleOptions = field(default_factory=ScheduleOptions)
    requests: int | None = 2000
    pages: int | None = None
    whole_every: int = 1000


@dataclass(frozen=True, slots=True)
class TraceResult:
    """What a replay did and found.

    `requests` were in the trace; `figures` says what became of them. `pages_now`, `pages_peak` and `shared_peak` count the
    oracle's pages in use and those of more than one request; `limited` says whether the pool's size was given. `checks`
    operations were checked, `whole_checks` times the whole state, and `rows_compared` rows were read back and compared in
    the former. After a difference `witness` has operations that show it on a fresh target, unless they would be too many.
    """

    verdict: str
    note: str
    requests: int
    page_size: int
    pool_pages: int
    limited: bool
    figures: Figures
    pages_now: int
    pages_peak: int
    shared_now: int
    shared_peak: int
    checks: int
    whole_checks: int
    rows_compared: int
    seconds: float
    differences: tuple[Difference, ...] = ()
    witness: Witness | None = None
    interrupted: bool = False

    @property
    def checks_per_second(self) -> float:
        """Operations checked a second, schedule, oracle and target included."""
        return self.checks / self.seconds if self.seconds else 0.0


def replay_trace(
    source: Path | Sequence[TraceRequest],
    options: ReplayOptions,
    target_factory: IncrementalFactory,
    progress: Progress | None = None,
) -> TraceResult:
    """Replay the trace until its end, the first operation that breaks a rule, or an interrupt.

    The verdict is "unknown" after an interrupt and when there was nothing to check. TraceError, OSError; ValueError for
    numbers out of range and for a pool that is too large to be set up unasked.
    """
    requests = read_trace(source, options.requests) if isinstance(source, Path) else source[: options.requests]
    pages = most_pages(requests, options.schedule) if options.pages is None else options.pages
    if pages < 1 or options.whole_every < 1:
        raise ValueError(f"pages {pages} and whole_every {options.whole_every} must be at least 1")
    if options.pages is None and pages > MOST_POOL_PAGES:
        raise ValueError(f"the trace can need {pages} pages at once: say how many the pool has")
    run = _Run(pages, options, target_factory)
    schedule = Schedule(requests, options.schedule)
    started = perf_counter()
    interrupted = False
    try:
        schedule.run(run.reporting(schedule.figures, len(requests), progress) if progress else run.drive)
        run.finish()
    except _BrokenRule:
        pass
    except KeyboardInterrupt:
        interrupted = True
    seconds = perf_counter() - started
    if progress:
        progress(schedule.figures.done, len(requests), run.checks)
    note, witness = _explained(run, partial(Schedule, requests, options.schedule), target_factory, interrupted)
    verdict = "fail" if run.differences else "unknown" if interrupted or not run.checks else "pass"
    return TraceResult(
        verdict=verdict,
        note=note,
        requests=len(requests),
        page_size=options.schedule.page_size,
        pool_pages=pages,
        limited=options.pages is not None,
        figures=schedule.figures,
        pages_now=run.state.used if run.pages_now is None else run.pages_now,
        pages_peak=run.pages_peak,
        shared_now=len(run.state.shared) if run.shared_now is None else run.shared_now,
        shared_peak=run.shared_peak,
        checks=run.checks,
        whole_checks=run.whole_checks,
        rows_compared=run.check.rows_compared,
        seconds=seconds,
        differences=tuple(run.differences),
        witness=witness,
        interrupted=interrupted,
    )


def _explained(
    run: "_Run", make_schedule: Callable[[], Schedule], factory: IncrementalFactory, interrupted: bool
) -> tuple[str, Witness | None]:
    """The note, and the witness of a failure unless an interrupt cuts the search for it short."""
    if interrupted:
        return f"interrupted after {run.checks} operations", None
    if run.last is None:
        return "no request, nothing checked", None
    if not run.differences:
        return "", None
    witness = None
    with suppress(KeyboardInterrupt):
        witness = trace_witness(make_schedule, run.before, run.checks, run.last, run.parents, run.differences, factory)
    return f"broken by operation {run.checks}, {call(run.last)[:120]}", witness


class _BrokenRule(Exception):  # noqa: N818, it ends the schedule and reports nothing
    """The replay stops here."""


class _Run:
    """The oracle, the target and the check as one table that a schedule can drive."""

    def __init__(self, pages: int, options: ReplayOptions, factory: IncrementalFactory) -> None:
        self.state: State = initial(pages, options.schedule.page_size)
        self.check = IncrementalCheck(factory(pages, options.schedule.page_size), self.state)
        self.differences: list[Difference] = []
        self.parents: dict[int, int] = {}
        self.before = self.state
        self.last: Operation | None = None
        self.pages_peak = self.shared_peak = 0
        self.pages_now: int | None = None
        self.shared_now: int | None = None
        self.checks = self.whole_checks = 0
        self._whole_every = options.whole_every

    def drive(self, operation: Operation) -> Outcome:
        """The oracle's outcome, once the target's is checked; _BrokenRule when they differ in anything."""
        self.before, self.last = self.state, operation
        self.state, expected = step(self.before, with_runs(operation))
        if isinstance(operation, Fork):
            self.parents[operation.to] = operation.request
        self.differences = self.check.check(operation, self.before, self.state, expected)
        self.checks += 1
        if not self.differences and self.checks % self._whole_every == 0:
            self._check_whole()
        if self.differences:
            raise _BrokenRule
        self.pages_peak = max(self.pages_peak, self.state.used)
        self.shared_peak = max(self.shared_peak, len(self.state.shared))
        return expected

    def reporting(self, figures: Figures, requests: int, progress: Progress) -> Callable[[Operation], Outcome]:
        """`drive`, and now and then a word to `progress`."""
        due = perf_counter()

        def drive(operation: Operation) -> Outcome:
            nonlocal due
            if perf_counter() >= due:
                progress(figures.done, requests, self.checks)
                due = perf_counter() + PROGRESS_SECONDS
            return self.drive(operation)

        return drive

    def finish(self) -> None:
        """The check of the whole state at the end; then every request ends, and the pool must be free."""
        self._check_whole()
        if self.differences:
            raise _BrokenRule
        self.pages_now, self.shared_now = self.state.used, len(self.state.shared)
        for request in tuple(self.state.requests):
            self.drive(Release(request))
        self._check_whole()
        if self.differences:
            raise _BrokenRule

    def _check_whole(self) -> None:
        self.differences = self.check.check_whole(self.state)
        self.whole_checks += 1
