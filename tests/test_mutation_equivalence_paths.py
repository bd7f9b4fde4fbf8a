"""A comparison over all paths proves only what CrossHair confirmed, refutes only what differs when run, and else says unknown."""

import ast
import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.client import Source
from mutants.equivalence import examination
from mutants.equivalence.all_paths import PROVED, REFUTED, UNKNOWN, Compared, Pair, answers, compare_all, controls
from mutants.equivalence.claim import Claim
from mutants.equivalence.claims import CLAIMS, OF
from mutants.equivalence.examination import cached, over_all_paths
from mutants.equivalence.two_versions import (
    TOLD,
    NotComparable,
    check_body_alone_differs,
    fields,
    function_in,
    of,
    outcome,
    state,
    typed,
)
from mutants.making import Made
from mutants.mutant import Mutant, Project
from mutants.splice import Position, Spliced

ROOT = Path(__file__).resolve().parent.parent


def source_of(module: str) -> str:
    return ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")


def pair(
    name: str,
    module: str,
    function: str,
    before: str,
    after: str,
    given: tuple[str, ...] | None = None,
    cpu_seconds: float = 20,
) -> Pair:
    """The module with the only `before` in it changed."""
    source = source_of(module)
    assert source.count(before) == 1, f"{before!r} stands {source.count(before)} times in {module}"
    claim = OF[module, function]
    claim = claim if given is None else replace(claim, given=given)
    return Pair(name, claim, source, source.replace(before, after), cpu_seconds)


WINDOW, TABLE, GROUPS, REQUANTISE = "impl.window", "impl.page_table", "impl.page_groups", "impl.chip_model.requantise"
WALK, MAC, COMPILER = "impl.chip_model.walk", "impl.chip_model.mac", "impl.compiler"
SAME = (
    pair("arguments in another order", WINDOW, "context", "min(step, window)", "min(window, step)"),
    pair("a difference in another form", WINDOW, "gather_ranges", "held - (past - sinks)", "held - past + sinks"),
    pair("the half added or taken", "impl.chip_model.command", "_signed", "value + (WORD >> 1)", "value - (WORD >> 1)"),
    pair("a division that is exact", WALK, "Walk.__init__", "lanes // 4", "-(-lanes // 4)"),
    pair("factors in another order", MAC, "Mac.dot", "map(mul, self.a, b)", "map(mul, b, self.a)"),
    pair("two names of one number", COMPILER, "_step", "Score(Q_ROW,", "Score(Q_ENTRY,"),
    pair("the same said twice", WINDOW, "gather_ranges", "if lo < hi)", "if lo < hi or lo < hi)"),
)
OTHERS = {
    "the larger of the two": (
        pair("the larger of the two", WINDOW, "context", "min(step, window)", "max(step, window)"),
        "the original returns",
    ),
    "a row less": (
        pair("a row less", TABLE, "PageTable._pages_for", "-(-rows //", "-(-(rows - 1) //"),
        "the mutant returns",
    ),
    "a truth that is a number": (
        pair("a truth that is a number", GROUPS, "Window.publishes", "self.size > 1", "int(self.size > 1)"),
        "returns False, the mutant returns 0",
    ),
    "the text of an error": (
        pair("the text of an error", WINDOW, "_check", 'f"step {step} is', 'f"step {step + 1} is'),
        "raises ValueError('step 0 is below 1'), the mutant raises ValueError('step 1 is below 1')",
    ),
    "an error of another kind": (
        pair("an error of another kind", GROUPS, "Chunk.__post_init__", "self.size < 1", "self.size + None < 1"),
        "the mutant raises TypeError",
    ),
    "another lane": (pair("another lane", REQUANTISE, "Requantiser.multiply", "[lane]", "[lane + 1]"), "(1,)"),
    "a receiver that holds something else": (
        pair(
            "a receiver that holds something else",
            WALK,
            "Walk.__init__",
            "self.entry: int | None = None",
            "self.entry = 0",
        ),
        "('entry', 0)",
    ),
    "a receiver that holds less": (
        pair(
            "a receiver that holds less",
            WALK,
            "Walk.__init__",
            "self._found = NO_FAULT\n        self.ending: tuple",
            "self.ending: tuple",
        ),
        "('_found', <ErrorCode.NONE: 0>)",
    ),
    "the last lane of the wider chip": (
        pair("the last lane of the wider chip", MAC, "Mac.dot", "map(mul, self.a, b)", "map(mul, self.a[:31], b)"),
        "('accumulator',",
    ),
    "an argument of an instruction": (
        pair("an argument of an instruction", COMPILER, "_step", "Load(X_ROW, 1,", "Load(X_ROW, 2,"),
        "('Load', 1, 2,",
    ),
    "something else is left": (
        pair("something else is left", REQUANTISE, "Requantiser.multiply", "(entry.sh - 1)", "entry.sh"),
        "the original returns",
    ),
}
NO_PROOF = {
    "no path ends it": pair(
        "no path ends it", WINDOW, "context", "min(step, window)", "min(window, sum(1 for _ in range(step)))", cpu_seconds=1
    ),
    "the process ends": pair("the process ends", WINDOW, "context", "min(step", "__import__('os')._exit(0) or min(step"),
    "nothing meets what is given": pair(
        "nothing meets what is given", WINDOW, "context", "min(step", "max(step", given=("step < 0", "step > 0")
    ),
    "a default argument": pair(
        "a default argument", WINDOW, "keep_from", "keep_from(step: int, window: int | None, sinks: int = 0)",
        "keep_from(step: int, window: int | None, sinks: int = 1)",
    ),
}  # fmt: skip
ORIGINAL = pair("original", WINDOW, "context", "min(step, window)", "min(step, window)")
CONTROLS = controls(ORIGINAL)


@pytest.fixture(scope="module")
def compared() -> dict[str, Compared]:
    """Every comparison of these tests, in one process that loads CrossHair once."""
    return compare_all([*SAME, *(one for one, _ in OTHERS.values()), *NO_PROOF.values(), *CONTROLS])


@pytest.mark.parametrize("name", [one.name for one in SAME])
def test_what_answers_alike_on_all_integers_is_proved(name: str, compared: dict[str, Compared]) -> None:
    assert compared[name].verdict == PROVED, compared[name].detail


@pytest.mark.parametrize(("name", "said"), [(name, said) for name, (_, said) in OTHERS.items()])
def test_what_answers_otherwise_is_refuted_by_a_call_of_both(
    name: str, said: str, compared: dict[str, Compared]
) -> None:
    assert compared[name].verdict == REFUTED, compared[name].detail
    assert said in compared[name].detail


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no path ends it", "Not confirmed."),
        ("the process ends", "died: exit 0 without a reply"),
        ("nothing meets what is given", "Unable to meet precondition"),
        ("a default argument", "the change is not in the body of keep_from"),
    ],
)
def test_whatever_is_no_proof_and_no_counterexample_is_unknown(
    name: str, words: str, compared: dict[str, Compared]
) -> None:
    assert compared[name].verdict == UNKNOWN
    assert words in compared[name].detail


def test_a_function_is_proved_like_itself_and_refuted_when_off_by_one(compared: dict[str, Compared]) -> None:
    itself, off = CONTROLS
    assert compared[itself.name].verdict == PROVED
    assert compared[off.name].verdict == REFUTED


def test_a_counterexample_counts_only_when_it_is_one() -> None:
    wrong = pair("a page of no rows", TABLE, "PageTable._pages_for", "-(-rows //", "(rows //")
    assert answers(wrong, {"page_size": 2, "rows": 1}) is not None
    assert answers(wrong, {"page_size": 2, "rows": 2}) is None
    assert answers(wrong, {"page_size": 0, "rows": 1}) is None, "no caller has such pages"


def raising(error: Exception) -> Callable[[], object]:
    def call() -> object:
        raise error

    return call


def test_an_error_that_may_be_the_solvers_own_is_no_answer() -> None:
    from crosshair.util import NotDeterministic

    lost = importlib.import_module("z3").Z3Exception("lost")
    for error in (NotDeterministic(), lost, TypeError("no index"), RecursionError()):
        with pytest.raises(type(error)):
            outcome(TOLD, raising(error))
    assert outcome(TOLD, raising(ZeroDivisionError("zero")))[:2] == ("raises", "ZeroDivisionError")


def test_a_state_is_all_that_a_receiver_holds_and_nothing_that_it_does_not() -> None:
    class Slots:
        __slots__ = ("first", "second")

    class Both(Slots):
        third: int

    assert state(of(Both, third=3, first=1)) == (("first", 1), ("third", 3))
    assert fields((Compared(PROVED, "", 0.5), 1)) == (("Compared", PROVED, "", 0.5), 1)


def test_values_of_other_types_are_other_values() -> None:
    assert typed((1, 0)) != typed((True, 0)) and typed(1) != typed(1.0) and typed([1]) != typed((1,))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sinks: int = 0", "sinks: int = 1"),
        ("\n\ndef _check", "\n\nWIDE = 1\n\n\ndef _check"),
        ("step < 1", "step < 2"),
    ],
)
def test_a_change_outside_of_the_body_is_not_comparable(before: str, after: str) -> None:
    source = source_of(WINDOW)
    check_body_alone_differs(
        source, source.replace("0 if window is None else", "1 if window is None else"), "keep_from"
    )
    with pytest.raises(NotComparable):
        check_body_alone_differs(source, source.replace(before, after), "keep_from")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_claim_is_about_a_function_and_leaves_nothing_that_a_caller_chooses_out(claim: Claim) -> None:
    assert function_in(ast.parse(source_of(claim.module)), claim.function) is not None
    call = ast.parse(claim.call.format(m="subject"), mode="eval")
    literals = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant)]
    assert all(isinstance(value, str) for value in literals), "a number in the call is a number that is never another"
    used = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
    parameters = ast.parse(f"def f({claim.parameters}): ...").body[0]
    assert isinstance(parameters, ast.FunctionDef)
    assert {argument.arg for argument in parameters.args.args} <= used


def survivor(id: str = "abcdef012345") -> tuple[Mutant, Made]:
    source = source_of(WINDOW)
    mutated = source.replace("min(step, window)", "min(window, step)")
    mutant = Mutant(
        id, "", "generic window", WINDOW, "context", "min(step, window)", "min(window, step)", operator="swap"
    )
    spliced = Spliced(mutated, ast.parse(mutated), Position(11, 1), Position(11, 2), "", "")
    return mutant, Made(spliced, compile(mutated, "window.py", "exec"))


@pytest.mark.parametrize(
    ("itself", "off", "verdict"),
    [(PROVED, REFUTED, PROVED), (UNKNOWN, REFUTED, UNKNOWN), (PROVED, PROVED, UNKNOWN), (PROVED, UNKNOWN, UNKNOWN)],
)
def test_no_verdict_counts_when_a_control_is_not_as_it_must_be(
    itself: str, off: str, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def canned(pairs: Sequence[Pair], project: Project) -> dict[str, Compared]:
        first, second, one = pairs
        return {
            first.name: Compared(itself, "", 0.0),
            second.name: Compared(off, "", 0.0),
            one.name: Compared(PROVED, "", 0.0),
        }

    monkeypatch.setattr(examination, "cached", canned)
    mutant, made = survivor()
    sources = {WINDOW: Source("impl/window.py", source_of(WINDOW))}
    found = over_all_paths([mutant], {mutant.id: made}, sources, Project(str(ROOT)))
    assert found[mutant.id].verdict == verdict


def test_a_function_without_a_claim_is_unknown() -> None:
    mutant, made = survivor()
    other = replace(mutant, function="elsewhere")
    assert over_all_paths([other], {other.id: made}, {}, Project(str(ROOT)))[other.id].verdict == UNKNOWN


def test_only_final_verdicts_are_kept_and_only_for_the_sources_that_they_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "impl").mkdir()
    (tmp_path / "impl" / "window.py").write_text("1\n", encoding="utf-8")
    asked: list[str] = []

    def counted(pairs: Sequence[Pair]) -> dict[str, Compared]:
        asked.extend(pair.name for pair in pairs)
        return {pair.name: Compared(PROVED if pair is SAME[0] else UNKNOWN, "", 0.0) for pair in pairs}

    monkeypatch.setattr(examination, "compare_all", counted)
    project, pairs = Project(str(tmp_path)), SAME[:2]
    for _ in range(2):
        assert [one.verdict for one in cached(pairs, project).values()] == [PROVED, UNKNOWN]
    assert asked == [SAME[0].name, SAME[1].name, SAME[1].name]
    (tmp_path / "impl" / "window.py").write_text("2\n", encoding="utf-8")
    cached(pairs[:1], project)
    assert asked[3:] == [SAME[0].name]
    assert len(list((tmp_path / examination.CACHE).iterdir())) == 2
