"""The host's checks as one quick stage: fixed runs of host operations, the same every time."""

from collections.abc import Iterator
from dataclasses import dataclass

from verify.decode.oracle import gathered
from verify.host.admission_checks import check_long_growths, check_peak_defaults, check_peaks, few_growths
from verify.host.lockstep import SHIPPED, HostLockstep, Parts
from verify.host.operations import Admit, Advance, End, ForkRequest, HostOperation, Rollback
from verify.host.poison import overwrite, read_next
from verify.host.refusals import BEFORE, REFUSED
from verify.host.store_checks import check_pads, check_pages, check_plain_pages, check_refused_pools, check_stores
from verify.refinement import Difference
from verify.stage import StageResult, of_literals, said, spend

PROMPT = (3, 14, 1, 5, 9, 2, 6, 11)
"""No two rows alike, so that no wrong row looks right."""


@dataclass(frozen=True, slots=True)
class HostRun:
    """Operations on hosts over a pool; with `poisoned`, the pool is overwritten before each but where the next steps read."""

    model: str
    pages: int
    page_size: int
    operations: tuple[HostOperation, ...]
    pad: int = 0
    poisoned: bool = False


def advances(*requests: int, rounds: int = 1) -> tuple[Advance, ...]:
    """One step of each request in turn, so many times."""
    return tuple(Advance(request) for request in requests) * rounds


RUNS = (
    # Windows of their own, interleaved: a step of each is refused for want of pages, and follows once the others have ended.
    HostRun(
        "random-1-16",
        8,
        2,
        (
            Admit(0, PROMPT, window=3),
            Admit(1, PROMPT[::-1], window=4, chunk=3),
            *advances(0, 1, rounds=5),
            Admit(2, PROMPT[2:], margin=2, chunk=4),
            *advances(2, 0, 1, 2, 2, 2),
            *advances(2, 2, 2, 0, 1),
            End(0),
            End(1),
            *advances(2),
            Admit(0, PROMPT[4:], window=1),
            *advances(0, 0, 0),
        ),
    ),
    # Sinks and a margin; cuts that are allowed, and cuts whose rows are gone; a page written that a fork shares.
    HostRun(
        "random-1-16",
        12,
        2,
        (
            Admit(0, PROMPT, window=5, sinks=1, margin=2, chunk=2),
            *advances(0, rounds=6),
            Rollback(0, 5),
            ForkRequest(0, 1, 4),
            Rollback(0, 8, token=7),
            *advances(0, rounds=2),
            ForkRequest(0, 1),
            ForkRequest(0, 2, 8, token=12),
            *advances(1, 0, 2),
            ForkRequest(1, 3, padded=True),
            *advances(3, 1),
            Rollback(3, 1),
            *advances(3, 3),
        ),
        pad=13,
    ),
    # Admission: the peak of a prompt in chunks, W = 4 and c = 4 on pages of 3 rows, is 3 pages.
    HostRun(
        "random-1-16",
        4,
        3,
        (
            Admit(0, PROMPT, window=4, chunk=4, expected=20),
            Admit(1, (1,), window=2, expected=9),
            Admit(1, (1,), window=1, expected=9),
            *advances(0, 1, rounds=4),
            ForkRequest(9, 1),
            ForkRequest(0, 1),
            Rollback(0, 99),
        ),
    ),
    # Tokens of a fork within the prompt; what a fork leaves to an admission.
    HostRun(
        "random-1-16",
        7,
        2,
        (
            Admit(0, PROMPT, chunk=4, expected=10),
            Advance(0),
            ForkRequest(0, 1, 2, token=7),
            *advances(1, rounds=2),
            Rollback(1, 1),
            Rollback(1, 1, token=9),
            *advances(1, rounds=2),
            Rollback(1, 1),
            Admit(2, PROMPT[:1], expected=2),
            Admit(3, PROMPT[:1], expected=1),
        ),
    ),
    # Nothing but the rows that the next steps read; with sinks, a chunk longer than its window.
    HostRun(
        "random-1-16",
        9,
        2,
        (
            Admit(0, PROMPT, window=4, chunk=2),
            Admit(1, PROMPT, window=1),
            *advances(0, 1, rounds=6),
            Admit(2, PROMPT, window=4, sinks=2, chunk=8),
            *advances(2, 0, 1, 2),
        ),
        poisoned=True,
    ),
    # Every refusal, where there are two reasons for it.
    HostRun("random-1-16", 3, 2, (*BEFORE, *(operation for operation, _ in REFUSED))),
    # Every cut of requests whose sinks end with a page and within one.
    *(
        HostRun(
            "random-1-16",
            48,
            page_size,
            (
                Admit(0, (*PROMPT, 0, 15, 12, 4), 5, sinks, margin, chunk=12),
                Advance(0),
                *(ForkRequest(0, 1 + rows, rows) for rows in range(13)),
                *advances(*range(3)),
                *(Rollback(0, rows) for rows in (13, *range(12, -1, -1))),
                Advance(0),
            ),
        )
        for page_size, sinks, margin in ((2, 2, 0), (3, 1, 1))
    ),
    # A chunk that goes on within the sinks, and one that begins behind them; the window slides in both.
    HostRun(
        "random-1-16",
        12,
        2,
        (
            Admit(0, PROMPT, window=7, sinks=5, chunk=4),
            Admit(1, PROMPT, window=5, sinks=3, chunk=4),
            *advances(0, 1, rounds=4),
        ),
    ),
    # Several pads, the pages that they let go, and none at the end of a page.
    HostRun(
        "random-1-16",
        6,
        4,
        (
            Admit(0, PROMPT[:5], window=3, chunk=5),
            Advance(0),
            ForkRequest(0, 1, padded=True),
            ForkRequest(0, 2, padded=True),
            *advances(0, 1, 2),
        ),
        pad=13,
    ),
    # Who declares no length and holds nothing leaves the whole pool; a margin and sinks, which are not one another.
    HostRun(
        "random-1-16",
        6,
        2,
        (
            Admit(0, PROMPT),
            Admit(1, PROMPT[:1], expected=12),
            End(1),
            Advance(0),
            ForkRequest(0, 1, 0),
            Admit(2, PROMPT[:1], expected=10),
            End(2),
            Admit(2, PROMPT[:1], 6, 3, 1, expected=30),
            Admit(3, PROMPT[:1], 4, 1, 3, expected=30),
        ),
    ),
)


def failing(run: HostRun, parts: Parts = SHIPPED) -> Iterator[tuple[int, list[Difference]]]:
    """The operations applied and what differs, once or never: the run ends at the first operation with a difference."""
    pair = HostLockstep(run.model, run.pages, run.page_size, run.pad, parts)
    for number, operation in enumerate(run.operations, start=1):
        if run.poisoned:
            overwrite(pair, "rows of another token", read_next)
        differences = pair.apply(operation)
        if differences:
            yield number, differences
            return


def host_differences(parts: Parts = SHIPPED) -> tuple[list[Difference], int]:
    """What differs in any of the runs, and the operations applied."""
    found: list[Difference] = []
    steps = 0
    for run in RUNS:
        applied = len(run.operations)
        for number, differences in failing(run, parts):
            applied = number
            found += differences
        steps += applied
    return found, steps


def unit_stage(budget: int | None) -> StageResult:
    """The counts of admission, and what the runs leave to a store."""
    differences, steps = gathered(
        (
            check_peaks(few_growths()),
            check_peak_defaults(),
            check_long_growths(),
            check_stores(),
            check_pages(),
            check_plain_pages(),
            check_refused_pools(),
            check_pads(),
        )
    )
    return of_literals(differences, steps, budget)


def host_stage(budget: int | None) -> StageResult:
    """Hold the host against its definition in the fixed runs."""
    differences, steps = host_differences()
    spend(steps, budget)
    broken = said(differences)
    return StageResult("fail" if broken else "pass", broken, None, steps)
