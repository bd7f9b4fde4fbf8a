"""A witness replayed on a target and turned into data to look at: verify/view/steps.py says what a step shows."""

from collections.abc import Callable, Sequence
from typing import Self

from spec.operations import Accepted, Operation, Outcome, Refused
from spec.page_table import initial
from verify.findings import broken_rules
from verify.lockstep import Lockstep, replay
from verify.refinement import describe
from verify.target import Capabilities, Factory, FarError, Raised, Snapshot, Target, look, offers
from verify.view.sight import Sight, sight
from verify.view.step_view import step_view, unseen_step
from verify.view.steps import Pair, Step, Walkthrough
from verify.witness import Witness, call

MOST_STEPS = 500
"""Steps that a walkthrough keeps: the last ones, since a witness ends with what it was saved for."""


class Overheard:
    """The target itself, with what it answered last kept for showing."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.answer: Outcome | Raised | None = None

    @property
    def capabilities(self) -> Capabilities:
        return self.target.capabilities

    def apply(self, operation: Operation) -> Outcome:
        try:
            self.answer = self.target.apply(operation)
        except Exception as error:
            self.answer = error.raised if isinstance(error, FarError) else Raised(type(error).__name__, str(error))
            raise
        return self.answer

    def observe(self) -> Snapshot:
        return self.target.observe()

    def image(self) -> object:
        return self.target.image()

    def written(self) -> tuple[bytes, ...] | None:
        return self.target.written()

    def clone(self) -> Self:
        return type(self)(self.target.clone())

    def foresee(self, operations: Sequence[Operation], apart: bool) -> None:
        self.target.foresee(operations, apart)


def walk(
    witness: Witness,
    factory: Factory,
    source: str = "",
    spell: Callable[[Operation], str] = call,
    most_steps: int = MOST_STEPS,
    options: str = "",
) -> Walkthrough:
    """Replay the witness in lockstep until the first difference or the end, and say what every step shows.

    `source` is where the witness lies, `spell` how an operation reads as a call, and `options` how a command line names the
    target. Of a longer run the last `most_steps` steps are kept.
    """
    calls = tuple(spell(operation) for operation in witness.operations)
    target = Overheard(factory(witness.pages, witness.page_size))
    film = Film(target, witness, end(witness, factory, most_steps) - most_steps)
    film.keep(0, "a fresh pool", Pair("-", "-"))
    reached = applied = 0
    for operation, text in zip(witness.operations, calls, strict=True):
        if film.run.differences:
            break
        reached += 1
        if offers(target, operation, film.run.state):
            applied += 1
            film.run.differences = list(film.run.apply(operation))
            film.keep(reached, text, Pair(said(film.run.outcome), said(target.answer)))
        else:
            film.keep(reached, text, Pair("-", "does not offer this operation, left out"))
    return Walkthrough(
        target.capabilities.name,
        source,
        witness.pages,
        witness.page_size,
        witness.rules,
        calls,
        calls[reached:],
        tuple(film.steps),
        applied,
        options,
    )


def end(witness: Witness, factory: Factory, most_steps: int) -> int:
    """The operation at which the witness ends on a target; found by a replay only when that is longer than what is kept."""
    operations = witness.operations
    if len(operations) < most_steps:
        return len(operations)
    run = replay(operations, witness.pages, witness.page_size, factory)
    return len(run.applied) + run.skipped


class Film:
    """A lockstep run and the steps kept of it: those after step `first`, and the one that breaks a rule."""

    def __init__(self, target: Overheard, witness: Witness, first: int) -> None:
        self.target = target
        self.witness = witness
        self.first = first
        self.run = Lockstep(target, initial(witness.pages, witness.page_size))
        self.seen: Sight | None = None
        self.steps: list[Step] = []

    def keep(self, number: int, text: str, outcome: Pair) -> None:
        """Look at the target after the operation and keep what is seen, unless it is too early in the run."""
        broken = tuple(broken_rules(self.run.differences))
        if number <= self.first and not broken:
            return
        state = self.run.state
        answer = self.target.answer
        # A target that was lost with its answer would come back as another one only to be looked at.
        shown = answer if isinstance(answer, Raised) and answer.lost else look(self.target)
        if isinstance(shown, Raised):
            self.steps.append(unseen_step(number, text, outcome, state.used, shown.text, broken))
            return
        now = sight(shown, written(self.target), state.pages, state.page_size, self.seen)
        self.steps.append(step_view(number, text, outcome, state, self.seen or now, now, broken))
        self.seen = now


def written(target: Target) -> tuple[bytes, ...] | None:
    """Which slots were ever written; a target that fails to tell is one that does not tell."""
    try:
        return target.written()
    except Exception:
        return None


def said(answer: object) -> str:
    """An answer in a few words, one that is none of the vocabulary's included."""
    return describe(answer) if isinstance(answer, Accepted | Refused | Raised) else f"answered {answer!r}"
