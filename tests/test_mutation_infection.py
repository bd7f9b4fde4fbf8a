"""A mutant that no probe tells from the original does what the original does, and so needs no run; anything else gets one."""

import ast
import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from mutants.client import Source
from mutants.engine import Plan, Record, Result, carry_out
from mutants.generic.generate import generate
from mutants.held import compile_module
from mutants.infection import alike as alike_module
from mutants.infection.alike import Alike, check_alike
from mutants.infection.probed import probe
from mutants.infection.probes import alike, probing
from mutants.infection.purity import Purity, shadowed
from mutants.making import make
from mutants.mutant import Mutant, Project
from mutants.original import NotSoundError
from mutants.verdicts import Status
from mutants.wire import Run, StageRun
from tests.toy_cache.catalogue import BROKEN, NO_OP, PROJECT

TABLE = """
class Table:
    @property
    def room(self):
        '''One expression.'''
        return self.size - self.length

    @property
    def rows(self):
        rows, more = self.length, self.size
        while rows > more:
            rows = more
        return rows

    @property
    def looks(self):
        self.count += 1
        return self.count

    @property
    def through(self):
        return self.looks

    @cached_property
    def kept(self):
        return 1
"""


@pytest.mark.parametrize(
    ("expression", "pure"),
    [
        ("a.length + 1 < b", True),
        ("a.room", True),
        ("a.rows", True),
        ("a.looks", False),
        ("a.through", False),
        ("a.kept", False),
        ("a.memory.ctypes.data % 64", False),
        ("a[1:b.room, c]", True),
        ("a[b.looks]", False),
        ("abs(a)", False),
        ("isinstance(a, int)", True),
        ("range(a, b)", True),
        ("range(a, step=b)", False),
        ("f(a)", False),
        ("a.f(b)", False),
        ("-a // b", True),
        ("a ** b", False),
        ("a << b", False),
        ("(yield)", False),
        ("[b for b in a]", False),
        ("(b := a)", False),
        ("f'{a}'", False),
        ("lambda: a", False),
    ],
)
def test_an_expression_is_pure_when_evaluating_it_changes_nothing(expression: str, pure: bool) -> None:
    """`abs` is something else here."""
    assert Purity([TABLE]).pure(_expression(expression), shadowed(ast.parse("abs = print"))) is pure


@pytest.mark.parametrize(
    ("method", "expression"),
    [
        ("__len__", "not a"),
        ("__len__", "a if b else c"),
        ("__bool__", "a and b"),
        ("__lt__", "a < b"),
        ("__lt__", "max(a, b)"),
        ("__eq__", "a == b"),
        ("__eq__", "a in (1, b)"),
        ("__radd__", "a + b"),
        ("__neg__", "-a"),
        ("__getitem__", "a[b]"),
        ("__getattr__", "a.b"),
        ("__index__", "range(a)"),
    ],
)
def test_an_operator_of_ours_is_as_pure_as_its_method(method: str, expression: str) -> None:
    body = "return self.count > other.count"
    assert Purity([f"class A:\n def {method}(self, other=None): {body}"]).pure(_expression(expression))
    assert not Purity([f"class A:\n def {method}(self, other=None): self.count += 1"]).pure(_expression(expression))
    assert Purity([f"class A:\n def {method}(self): self.count += 1"]).pure(_expression("a is None"))


def test_a_property_is_as_pure_as_what_its_module_calls_by_that_name() -> None:
    table = "class A:\n @property\n def room(self): return len(self.free)\n"
    assert Purity([table]).pure(_expression("a.room"))
    assert not Purity([f"from b import len\n{table}"]).pure(_expression("a.room"))


@pytest.mark.parametrize(
    ("expression", "pure"),
    [
        ("a if b is None else c", True),
        ("a < b < c", True),
        ("not a and b", True),
        ("min(a, b) + max(a, b, c)", True),
        ("min(a)", False),
        ("a in (1, b)", True),
        ("a in b", False),
        ("a not in b.free", False),
        ("(a, b)", True),
        ("(a, *b)", False),
    ],
)
def test_without_operators_of_our_own_only_the_language_counts(expression: str, pure: bool) -> None:
    assert Purity([]).pure(_expression(expression)) is pure


def test_a_defaultdict_stores_what_it_is_asked_for() -> None:
    subscript = _expression("a[b]")
    assert Purity(["a = defaultdict(list)"]).pure(subscript)
    assert not Purity([], ["a = defaultdict(list)"]).pure(subscript)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1, True),
        (1, 2, False),
        (1, True, False),
        (1, 1.0, False),
        (0.0, -0.0, False),
        (float("nan"), float("nan"), True),
        ("a", "a", True),
        (None, None, True),
        ((1, (2, "a")), (1, (2, "a")), True),
        ((1,), (True,), False),
        ((1,), (1, 1), False),
        ([1], [1], False),
        (range(0), range(1, 1), False),
        (range(3), range(3), True),
        (slice(1, None), slice(1, None), True),
        (slice(1, None), slice(0, None), False),
        (object, object, False),
    ],
)
def test_values_are_alike_when_no_program_can_tell_them_apart(one: object, other: object, same: bool) -> None:
    assert alike(one, other) is same


class Loud:
    """Something whose truth is a program of ours."""

    def __bool__(self) -> bool:
        raise AssertionError("asked for its truth")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(3, True, True), ([], None, True), ([1], 0, False), (Loud(), True, False), (True, Loud(), False)],
)
def test_of_a_condition_only_the_truth_counts(one: object, other: object, same: bool) -> None:
    assert alike(one, other, test=True) is same


SUBJECT = '''
def clamp(value, low=0, high=9):
    if value < low:
        return low
    elif value > high and high >= low:
        return high
    return value


def fill(count, size):
    rows = []
    while len(rows) < count:
        rows.append(len(rows) * size + 1)
    total = sum(row for row in rows if row % 2 == 1)
    return rows[0:count], total, f"{count + 1} rows"


def read(values, index):
    try:
        return values[index + 0]
    except (IndexError, TypeError):
        return -1
    finally:
        values.append(1)


def kind(word):
    match word:
        case "one" | "two" if len(word) == 3:
            return 1
        case str():
            return 2
    return 0


class Counter:
    """Counts what is asked of it."""

    step = 2

    def __init__(self, start):
        self.start = start
        self.asked = 0

    @property
    def next(self):
        self.asked += 1
        return self.start + self.asked

    def many(self, count):
        def one(by=count * 1):
            nonlocal count
            count -= 1
            return self.next + by * self.step

        class Last:
            scale = 1
            value = scale * 3

        return [one() for _ in range(count + 0)], self.asked, Last.value, (lambda most: most + count)(3)


def pairs(values):
    iterator = iter(values)
    for value in iterator:
        yield value, next(iterator, None), 3 in iterator


def place(table, page):
    table.at(page, len(table.pages) - 0)
    return divmod(max(page, 1), min(table.size, 4))
'''


class Table:
    """Three pages, and what was asked of them."""

    def __init__(self) -> None:
        self.pages = [4, 5, 6]
        self.size = 3
        self.asked: list[tuple[object, ...]] = []

    def at(self, *arguments: object) -> None:
        self.asked.append(arguments)


def one_by_one(subject: dict[str, Any]) -> list[object]:
    """All that a program sees of the subject in these calls."""
    table, counter = Table(), subject["Counter"](0)
    values = [3, 4]
    calls: list[Callable[[], object]] = [
        lambda: [subject["clamp"](value, 0, 9) for value in (0, 5, 9)],
        lambda: [subject["fill"](count, 1) for count in (0, 3)],
        lambda: [subject["read"](values, index) for index in (0, 1, 9, "a")],
        lambda: [subject["kind"](word) for word in ("one", "three", 4)],
        lambda: counter.many(2),
        lambda: list(subject["pairs"]([1, 2, 3, 4])),
        lambda: subject["place"](table, 1),
    ]
    seen: list[object] = []
    for call in calls:
        try:
            seen.append(call())
        except Exception as error:
            seen.append(type(error).__name__)
    return [*seen, values, table.asked, counter.asked]


@cache
def generic_subject() -> tuple[tuple[Mutant, ...], frozenset[str], dict[str, list[object]], list[object]]:
    """Mutants of the subject, those that a probe has told, what a program sees of each, and what of the original."""
    mutants = generate("subject", SUBJECT, "toy")
    made = make(mutants, {"subject": Source("subject.py", SUBJECT)}, Project("", subject=("subject",)))
    new = [mutant for mutant in mutants if made[mutant.id].code is not None]
    probed = probe(new, made, {"subject": SUBJECT}, {"subject": "subject.py"})
    with probing(probed.count) as told:
        seen = one_by_one(_run(probed.code["subject"]))
    original = one_by_one(_run(compile_module(SUBJECT, "subject.py")))
    assert seen == original, "the probes have changed what the original does"
    infecting = {id for id, numbers in probed.of.items() if any(told[number] for number in numbers)}
    unknown = {mutant.id for mutant in new if mutant.id not in probed.of}
    shown: dict[str, list[object]] = {}
    for mutant in new:
        with contextlib.suppress(Exception):  # such as a class that cannot be made
            code = made[mutant.id].code
            if code is not None and not _spins(mutant):
                shown[mutant.id] = one_by_one(_run(code))
    return tuple(new), frozenset(infecting | unknown), shown, original


def test_what_no_probe_tells_from_the_original_does_the_same() -> None:
    mutants, told, shown, original = generic_subject()
    same = [mutant for mutant in mutants if mutant.id not in told and not _spins(mutant)]
    assert len(same) >= 15
    for mutant in same:
        assert shown[mutant.id] == original, mutant.title
    differing = [mutant for mutant in mutants if mutant.id in shown and shown[mutant.id] != original]
    assert len(differing) >= 60
    assert {mutant.id for mutant in differing} <= told


@pytest.mark.parametrize(
    ("title", "infects"),
    [
        ("boundary: value < low -> value <= low", True),
        ("boundary: value > high -> value >= high", True),
        ("condition forgotten: value > high and high >= low -> value > high", False),
        ("never: value > high and high >= low -> False", False),
        ("constant: 1 -> 2", True),
        ("term forgotten: len(rows) * size -> len(rows)", False),
        ("exception not caught: (IndexError, TypeError) -> (IndexError,)", True),
        ("extreme: max -> min", False),
    ],
)
def test_a_probe_tells_what_makes_a_difference(title: str, infects: bool) -> None:
    mutants, told, _, _ = generic_subject()
    found = [mutant.id in told for mutant in mutants if mutant.title == title]
    assert found and any(found) is infects, sorted(mutant.title for mutant in mutants)


def test_what_stands_outside_of_functions_has_no_probe() -> None:
    mutants, told, _, _ = generic_subject()
    outside = [mutant for mutant in mutants if not mutant.function]
    assert outside and {mutant.id for mutant in outside} <= told


def through_the_stages(least: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, Result]:
    """The generic mutants of the toy, with probes from so many mutants of a stage on."""
    monkeypatch.setattr(alike_module, "LEAST_MUTANTS", least)
    source = Path(PROJECT.root, "tests", "toy_cache", "stack.py").read_text(encoding="utf-8")
    mutants = generate("tests.toy_cache.stack", source, "toy")
    project = replace(PROJECT, stages=("witness", "exhaustive", "unit"))
    record = Record(Plan(project, tuple(mutants), NO_OP, BROKEN, selects=True))
    carry_out(record, lambda label: None)
    assert record.problems == []
    return {result.mutant.id: result for result in record.results}


def test_verdicts_are_the_same_with_probes_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    without, with_probes = (through_the_stages(least, monkeypatch) for least in (10**6, 1))
    assert {id: one.verdict.status for id, one in with_probes.items()} == {
        id: one.verdict.status for id, one in without.items()
    }
    spared = [one for id, one in with_probes.items() if one.run is None and without[id].run is not None]
    assert {one.mutant.title for one in spared} >= {"never: page < 0 -> False", "boundary: page < 0 -> page <= 0"}
    assert {one.verdict.status for one in spared} == {Status.SURVIVED}
    assert {one.verdict.detail for one in spared} == {"in every stage it does what the original does"}


def test_probes_that_change_what_the_original_does_make_the_run_unsound() -> None:
    stage = StageRun("exhaustive", "pass", {}, None, 7, "", 0.1)
    original = Run("returned", "", "", (stage,), 0.1)
    check_alike({"exhaustive": Alike(frozenset(), 7)}, original)
    with pytest.raises(NotSoundError, match="8 operations with probes and 7 without"):
        check_alike({"exhaustive": Alike(frozenset(), 8)}, original)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _run(code: CodeType) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "subject"}
    exec(code, namespace)
    return namespace


def _spins(mutant: Mutant) -> bool:
    """Whether its loop does not end: nothing limits it here."""
    return mutant.function == "fill"
