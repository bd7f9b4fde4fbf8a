"""The random search over programs: Hypothesis draws cases, chips run them, and the first difference ends it."""

import contextlib
import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import hypothesis
import hypothesis.errors
from hypothesis import HealthCheck, Phase, settings

from impl.chip import Profile
from impl.chip_model.machine import ChipModel
from impl.interrupts import interrupt_at_checks, raise_if_interrupted
from spec.isa import LANES
from verify.fuzz.building import MOST_LATENCY, build
from verify.fuzz.case import FuzzCase
from verify.fuzz.draws import Drawn, drawn_cases
from verify.fuzz.running import Bench, Compared, compare
from verify.fuzz.situations import Watcher, met_in_time
from verify.hypothesis_profile import no_constants_of_ours

EVERY = 8
"""Of so many cases one is watched cycle by cycle, and one is run with memory that answers otherwise, too."""


@dataclass(frozen=True, slots=True)
class ProgramFailure:
    """The case at which chips differed, what it was drawn as, and how they differed."""

    drawn: Drawn
    case: FuzzCase
    compared: Compared


@dataclass(slots=True)
class ProgramTally:
    """What a search over programs did: cases, their starts and programs, what was met, cycles by chip, and its failure."""

    chips: tuple[str, ...]
    seed: int | None = None
    cases: int = 0
    starts: int = 0
    programs: int = 0
    instructions: int = 0
    watched: int = 0
    met: Counter[str] = field(default_factory=Counter)
    cycles: Counter[str] = field(default_factory=Counter)
    failure: ProgramFailure | None = None

    def add(self, other: "ProgramTally") -> None:
        """Take in another search; its failure becomes this one's."""
        self.cases += other.cases
        self.starts += other.starts
        self.programs += other.programs
        self.instructions += other.instructions
        self.watched += other.watched
        self.met += other.met
        self.cycles += other.cycles
        self.failure = other.failure or self.failure


class DifferentError(AssertionError):
    """Chips differ; the tally has the failure."""


def search_programs(
    bench: Bench, cases: int, tally: ProgramTally, progress: Callable[[ProgramTally], None] = lambda tally: None
) -> ProgramTally:
    """Run so many cases and fill the tally, whose seed says which; without one they are the same every time."""
    watcher = Watcher()
    models = {lanes: ChipModel(lanes) for lanes in LANES}

    @settings(
        max_examples=cases,
        derandomize=tally.seed is None,
        database=None,
        deadline=None,
        # Shrinking is ours: it leaves out phrases, then instructions, which bytes do not show to Hypothesis.
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow],
        report_multiple_bugs=False,
        print_blob=False,
    )
    @hypothesis.given(drawn_cases())
    def programs(drawn: Drawn) -> None:
        raise_if_interrupted()
        built = build(drawn)
        case = built.case
        extra = tally.cases % EVERY == EVERY - 1
        tally.cases += 1
        tally.starts += len(case.starts)
        tally.programs += sum(start.program is not None for start in case.starts)
        tally.instructions += case.instructions
        tally.met.update(built.met)
        compared = compare(case, bench.chips(case.lanes), other_profiles(case) if extra else ())
        for name, results in compared.results.items():
            tally.cycles[name] += sum(result.counters.total for result in results if result.counters is not None)
        for results in [*compared.results.values()][-1:]:
            tally.met.update(met_in_time(case, results))
        if compared.differences:
            tally.failure = ProgramFailure(drawn, case, compared)
            raise DifferentError(", ".join(compared.rules))
        if extra:
            tally.watched += 1
            watcher.watch(case, models[case.lanes])
        progress(tally)

    searched = programs if tally.seed is None else hypothesis.seed(tally.seed)(programs)
    # Hypothesis prints the failing example in its own words, and ours come from the tally.
    with (
        interrupt_at_checks(),
        no_constants_of_ours(),
        contextlib.suppress(DifferentError),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        try:
            searched()
        except hypothesis.errors.HypothesisException:
            if tally.failure is None:
                raise
        finally:
            tally.met.update(watcher.met)
    return tally


def other_profiles(case: FuzzCase) -> Sequence[Profile]:
    """Memory that answers otherwise than the case says."""
    latency = case.profile.latency
    return (Profile(MOST_LATENCY + 1 - latency), Profile(1 if latency > 1 else 3))
