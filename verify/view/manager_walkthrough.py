"""A witness of a manager replayed and turned into data to look at: verify/view/steps.py says what a step shows."""

from collections.abc import Callable
from typing import Any

from impl.command import CommandError
from impl.exit_codes import ExitCode
from spec.manager import State, initial
from spec.operations import Admit, Append, ManagerOperation
from verify.findings import broken_rules
from verify.managers.lockstep import ManagerLockstep
from verify.managers.target import ManagerTarget, look
from verify.managers.witness import ManagerWitness
from verify.refinement import describe
from verify.remote.choice import TargetOptions
from verify.target import Raised
from verify.targets.prefix import PrefixManager
from verify.view.manager_sight import ManagerSight, Prefixes, group_words, learn, manager_sight
from verify.view.manager_step import manager_step
from verify.view.step_view import unseen_step
from verify.view.steps import Pair, Step, Walkthrough
from verify.view.walkthrough import MOST_STEPS
from verify.witness import call

COMMAND = "verify conformance --witness"
"""What replays the witness of a manager that people run."""


class Overheard:
    """What a manager answers, kept for showing; everything else is the manager's own."""

    def __init__(self, target: ManagerTarget) -> None:
        self.target = target
        self.answer: Any = None

    def __getattr__(self, name: str) -> object:
        return getattr(self.target, name)

    def apply(self, operation: ManagerOperation) -> object:
        try:
            self.answer = self.target.apply(operation)
        except Exception as error:
            self.answer = getattr(error, "raised", None) or Raised(type(error).__name__, str(error))
            raise
        return self.answer


def walk_manager(
    witness: ManagerWitness,
    make: Callable[[], ManagerTarget],
    source: str = "",
    spell: Callable[[ManagerOperation], str] = call,
    options: str = "",
    command: str = COMMAND,
) -> Walkthrough:
    """Replay the witness beside the oracle until the first difference or the end, and say what every step shows.

    `make` gives a fresh manager in the witness's configuration, `source` is where the witness lies, `spell` how an operation
    reads as a call. The last steps of a long run are kept.
    """
    traits = witness.configuration.traits
    calls = tuple(map(spell, witness.operations))
    film = ManagerFilm(make(), initial(traits))
    film.keep(0, "a fresh manager", Pair("-", "-"))
    applied = 0
    for operation, text in zip(witness.operations, calls, strict=True):
        if film.differences:
            break
        applied += 1
        film.apply(operation, applied, text)
    return Walkthrough(
        f"{film.name}, {witness.configuration.name} ({traits_words(witness)})",
        source,
        traits.pages,
        traits.page_size,
        witness.rules,
        calls,
        calls[applied:],
        tuple(film.steps[-MOST_STEPS:]),
        applied,
        options,
        command,
    )


def walk_prefix_cache(witness: ManagerWitness, source: str, target: TargetOptions) -> Walkthrough:
    """Replay the witness on the prefix cache that ships; CommandError when that cannot be configured so, or is not asked for."""
    if target != TargetOptions():
        raise CommandError(
            "--target takes page tables; a manager's witness: python -m verify conformance --witness", ExitCode.USAGE
        )
    traits = witness.configuration.traits
    try:
        PrefixManager(traits)
    except ValueError as error:
        said = f"{source} is of another manager than the prefix cache that ships: {error}"
        raise CommandError(f"{said}; replay it by python -m verify conformance --target NAME --witness") from None
    return walk_manager(witness, lambda: PrefixManager(traits), source, command="verify replay")


def traits_words(witness: ManagerWitness) -> str:
    """The groups of a configuration in words."""
    return ", ".join(map(group_words, witness.configuration.traits.groups))


class ManagerFilm:
    """A run beside the oracle and its steps so far."""

    def __init__(self, target: ManagerTarget, state: State) -> None:
        self.name = target.offer.name
        self.target = Overheard(target)
        # What is not overheard is the manager's own.
        self.run = ManagerLockstep(self.target, state)  # type: ignore[arg-type]
        self.differences = self.run.differences
        self.sight: ManagerSight | None = None
        self.prefixes: Prefixes = {}
        self.steps: list[Step] = []

    def apply(self, operation: ManagerOperation, number: int, text: str) -> None:
        """Apply the operation on both sides and keep what is seen."""
        learn(self.prefixes, asked_for(self.run.state, operation))
        self.differences = self.run.apply(operation)
        outcome = self.run.outcome
        assert outcome is not None
        self.keep(number, text, Pair(describe(outcome), describe(self.target.answer)))

    def keep(self, number: int, text: str, outcome: Pair) -> None:
        """Look at the manager and keep what is seen."""
        state, broken = self.run.state, tuple(broken_rules(self.differences))
        answer = self.target.answer
        # A manager that was lost with its answer would come back as another one only to be looked at.
        shown = answer if self.run.lost and isinstance(answer, Raised) else look(self.target.target)
        if isinstance(shown, Raised):
            self.steps.append(unseen_step(number, text, outcome, state.used, shown.text, broken))
            return
        now = manager_sight(shown, state, self.prefixes, self.sight)
        before = self.sight or now
        self.steps.append(manager_step(number, text, outcome, state, before, now, self.prefixes, broken))
        self.sight = now


def asked_for(state: State, operation: ManagerOperation) -> tuple[int, ...]:
    """The tokens that the operation's request is to have: a manager may give them to it where the oracle refuses."""
    found = state.requests.get(operation.request)
    known = found.tokens if found is not None else ()
    return known + operation.tokens if isinstance(operation, Admit | Append) else known
