"""A contract can fail: one slip in what it is about refutes it with a counterexample; and what proves nothing is unknown."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.pool import AsyncResult
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import impl.admission
import impl.page_table
import impl.window
import spec.window
from verify.contracts import indexing, page_counts, proofs, registry, sequences, table_step, window
from verify.contracts.canary import a_window_fits_the_pages_that_its_rows_fill
from verify.contracts.proofs import earlier, keep
from verify.contracts.registry import CANARY, CONTRACTS, Contract, VerdictWord, of_profile
from verify.contracts.runner import CONFIRMED, Result, check, checking, judge
from verify.contracts.table import render, verdict_text
from verify.sandbox import Limits, run_limited

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Slip:
    """One slip: the text that stands once in the module, what it becomes, and the contract that it must refute."""

    module: ModuleType
    before: str
    after: str
    contract: Callable[..., object]

    def put(self) -> None:
        """The mutated module in the original's place, in this process; the disk keeps the original."""
        path = str(self.module.__file__)
        source = Path(path).read_text(encoding="utf-8")
        assert source.count(self.before) == 1, f"{self.before!r} stands {source.count(self.before)} times in {path}"
        exec(compile(source.replace(self.before, self.after), path, "exec"), self.module.__dict__)


HOST, RULE, TABLE = impl.window, spec.window, impl.page_table
SLIPS = {
    "the context is the larger of the two": Slip(HOST, "min(step", "max(step", window.context_is_the_oracles),
    "a window of one is refused": Slip(HOST, "window < 1", "window < 2", window.context_is_the_oracles),
    "as many sinks as the window has rows": Slip(
        HOST, "sinks >= window", "sinks > window", window.arguments_outside_are_refused
    ),
    "the gather starts one row late": Slip(
        HOST, "held - (past - sinks)", "held + 1 - (past - sinks)", window.a_row_is_gathered_exactly_when_attended
    ),
    "the gather forgets the sinks": Slip(
        HOST, "held - (past - sinks)", "held - past", window.context_counts_what_is_read
    ),
    "a range may be empty": Slip(HOST, "if lo < hi", "if lo <= hi", window.ranges_are_the_oracles),
    "the trim comes one row late": Slip(HOST, "step + 1 -", "step -", window.the_next_step_reads_the_first_row_kept),
    "the trim comes one row early": Slip(HOST, "step + 1 -", "step + 2 -", window.no_later_step_reads_what_is_trimmed),
    "the trim point is the smaller of the two": Slip(HOST, "max(0", "min(0", window.keep_from_is_the_oracles),
    "pages are counted one row early": Slip(
        RULE, "max(0, step - (window", "max(0, step + 1 - (window", page_counts.pages_are_the_references
    ),
    "a page is started one row early": Slip(
        RULE, "pages_for(step - 1,", "pages_for(step,", page_counts.pages_follow_from_append_and_trim
    ),
    "the bound forgets the rows out of reach": Slip(
        RULE,
        "page_size - 1 + window - sinks, page_size",
        "window - sinks, page_size",
        page_counts.pages_after_append_stay_within_the_bound,
    ),
    "the bound after a trim is one row too high": Slip(
        RULE, "window - sinks - 1, page_size", "window - sinks, page_size", page_counts.the_bounds_are_reached
    ),
    "the host expects a page too few": Slip(
        impl.admission,
        "most = max(most, -(-after // page_size) - released)",
        "most = max(most, after // page_size - released)",
        page_counts.a_windowed_request_is_admitted_by_the_bound,
    ),
    "the page size is missing from the ceiling": Slip(
        TABLE, "-(-rows // self.page_size)", "rows // self.page_size + 1", indexing.sinks_fill_the_fewest_pages
    ),
    "the last page released is forgotten": Slip(
        TABLE, "index -= table.dropped", "index -= 1", indexing.located_rows_lie_where_they_were_written
    ),
    "a cut into released pages is served": Slip(
        TABLE, "gone < length < held", "gone < length < held - 1", indexing.a_cut_keeps_the_oracles_pages
    ),
    "trim keeps a page that ends at keep_from": Slip(
        TABLE, "self.page_size <= keep_from", "self.page_size < keep_from", indexing.a_decode_step_keeps_the_exact_count
    ),
    "trim releases a page that it needs": Slip(
        TABLE, "(logical + 1) * self", "logical * self", table_step.trim_keeps_the_invariants
    ),
    "an append of no rows is served": Slip(TABLE, "if k < 1:", "if k < 0:", table_step.append_keeps_the_invariants),
    "a page is written that another shares": Slip(
        TABLE, "room > 0 and self.counts[table.last] > 1", "False", table_step.append_keeps_the_invariants
    ),
    "the last free page is never given": Slip(
        TABLE, "copies > len(self.free)", "copies >= len(self.free)", table_step.append_keeps_the_invariants
    ),
    "a truncation gives no page back": Slip(
        TABLE, "reversed(table.pages[kept:])", "()", table_step.truncate_keeps_the_invariants
    ),
    "a page of no owner is lost": Slip(
        TABLE, "self.free.append(page)", "pass", table_step.release_keeps_the_invariants
    ),
    "a fork does not count its owner": Slip(
        TABLE, "self.counts[page] += 1", "pass", table_step.fork_keeps_the_invariants
    ),
    "a fork does not count its owner, from an empty pool": Slip(
        TABLE, "self.counts[page] += 1", "pass", sequences.a_fork_refines_the_oracle
    ),
}
EQUIVALENT = {
    "a window of no rows has no room for no sinks": Slip(
        HOST, "window < 1", "window < 0", window.a_context_outside_is_refused
    ),
    "a row behind the sinks is released when any page is": Slip(
        TABLE, "lo >= held", "lo >= gone", indexing.located_rows_lie_where_they_were_written
    ),
}
OF = {contract.function: contract for contract in CONTRACTS}


@pytest.fixture(scope="module")
def slipped() -> Iterator[dict[str, "AsyncResult[Result]"]]:
    """What comes of every slip, by its name, under way in two processes that load CrossHair once."""
    slips = {**SLIPS, **EQUIVALENT}
    with checking({name: (OF[slip.contract], slip.put) for name, slip in slips.items()}, 2) as results:
        yield results


@pytest.mark.parametrize(("name", "slip"), SLIPS.items(), ids=SLIPS)
def test_a_slip_is_refuted_with_a_counterexample(
    name: str, slip: Slip, slipped: dict[str, "AsyncResult[Result]"]
) -> None:
    found = slipped[name].get()
    assert found.verdict == "refuted", found.words
    assert found.counterexample.keys() <= slip.contract.__annotations__.keys()
    assert found.refutation() in render([OF[slip.contract]], {found.contract: found}, 120)


@pytest.mark.parametrize("name", EQUIVALENT)
def test_a_slip_that_changes_nothing_is_confirmed(name: str, slipped: dict[str, "AsyncResult[Result]"]) -> None:
    assert slipped[name].get().verdict == "confirmed"


def test_a_mutated_window_rule_is_refuted_by_the_step_that_shows_it(slipped: dict[str, "AsyncResult[Result]"]) -> None:
    found = slipped["the context is the larger of the two"].get()
    step, given = (int(found.counterexample[name]) for name in ("step", "window"))
    assert step != given
    assert found.refutation() == (
        f"window.context_is_the_oracles(step={step}, window={given}) returns {(max(step, given), min(step, given))}"
    )


def test_every_rule_has_a_slip_that_refutes_a_contract_of_it() -> None:
    refuted = {rule for slip in SLIPS.values() for rule in OF[slip.contract].rules}
    assert {rule for contract in CONTRACTS for rule in contract.rules} <= refuted


def cannot_be_met(step: int) -> int:
    """Nothing is both.

    pre: step < 0 and step > 0
    post: _ > 0
    """
    return step


def is_out_of_reach(number: int) -> int:
    """There is a counterexample that no search finds.

    post: _ != 5
    """
    return 5 if hash(str(number)) % 10**9 == 123_456_789 else 0


def ends_its_process(number: int) -> int:
    """There is no answer at all.

    post: _ == number
    """
    os._exit(0)


def has_no_condition(number: int) -> int:
    """Nothing is claimed."""
    return number


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (cannot_be_met, "Unable to meet precondition"),
        (is_out_of_reach, "Not confirmed."),
        (ends_its_process, "died: exit 0 without a reply"),
        (has_no_condition, "it finds no condition"),
    ],
)
def test_whatever_is_no_proof_and_no_counterexample_is_unknown(
    function: Callable[..., object], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "BRIEF", 1.0)  # any search for what is out of reach spends all that it has
    found = check(Contract(function, (), "unknown"))
    assert found.verdict == "unknown"
    assert words in found.words


@pytest.mark.parametrize(
    "said",
    [
        [],
        [CONFIRMED, CONFIRMED],
        [f"{CONFIRMED} Not quite."],
        ["false when calling a_window_fits_the_pages_that_its_rows_fill(1, 1, 1) (which returns (0, 1))"],
        ["false when calling a_window_fits_the_pages_that_its_rows_fill(0, 0, 0)"],
        ["NotDeterministic: Found a different execution paths after making the same decisions"],
    ],
)
def test_words_that_say_neither_are_unknown(said: list[str]) -> None:
    assert judge(CANARY, said)["verdict"] == "unknown"


def test_words_that_name_a_failing_call_are_a_refutation() -> None:
    said = [
        "false when calling a_window_fits_the_pages_that_its_rows_fill(10, window = 8, page_size = 4) (which returns (3, 2))"
    ]
    assert judge(CANARY, said) == {
        "verdict": "refuted",
        "words": said[0],
        "counterexample": {"step": "10", "window": "8", "page_size": "4"},
        "returned": "returns (3, 2)",
    }
    assert a_window_fits_the_pages_that_its_rows_fill(10, 8, 4) == (3, 2)


def test_a_verdict_that_is_not_claimed_stands_out_in_the_table() -> None:
    contract = OF[window.context_is_the_oracles]
    result = Result(contract.name, "unknown", "Not confirmed.", {}, "", 1.0)
    assert verdict_text(contract, result) == "UNKNOWN, not confirmed"
    assert verdict_text(replace(contract, claims="unknown"), result) == "unknown, as expected: no proof"
    assert "0 confirmed over all paths, 0 refuted, 1 unknown" in render([contract], {contract.name: result}, 120)
    assert render([contract], {}, 120) == ""


def test_only_what_was_confirmed_is_kept_for_later_runs(tmp_path: Path) -> None:
    contract = OF[window.context_is_the_oracles]
    wrong: list[tuple[VerdictWord, str]] = [
        ("unknown", CONFIRMED),
        ("refuted", CONFIRMED),
        ("confirmed", "Not confirmed."),
    ]
    for verdict, words in wrong:
        keep(Result(contract.name, verdict, words, {}, "", 1.0), contract, tmp_path)
        assert earlier(contract, tmp_path) is None
    keep(Result(contract.name, "confirmed", CONFIRMED, {}, "", 1.0), contract, tmp_path)
    found = earlier(contract, tmp_path)
    assert found == Result(contract.name, "confirmed", CONFIRMED, {}, "", 0.0, earlier=True)
    assert "1 confirmed over all paths (1 in an earlier run" in render([contract], {contract.name: found}, 120)
    assert earlier(OF[window.ranges_are_the_oracles], tmp_path) is None


def test_a_proof_of_other_sources_or_another_solver_or_a_broken_one_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = OF[window.context_is_the_oracles]
    keep(Result(contract.name, "confirmed", CONFIRMED, {}, "", 1.0), contract, tmp_path)
    (file,) = tmp_path.iterdir()
    for name, other in (("sources", lambda: "others"), ("version", lambda _: "0.0.1")):
        with monkeypatch.context() as changed:
            changed.setattr(proofs, name, other)
            assert earlier(contract, tmp_path) is None
    assert earlier(contract, tmp_path) is not None
    for text in ("", "{}", '{"contract": "window.context_is_the_oracles", "words": "Not confirmed."}'):
        file.write_text(text)
        assert earlier(contract, tmp_path) is None


def test_every_contract_says_what_it_claims_and_is_of_some_rule() -> None:
    assert len({contract.name for contract in CONTRACTS}) == len(CONTRACTS)
    for contract in CONTRACTS:
        assert len(contract.clauses("post")) == 1, contract.name
        assert contract.rules or contract is CANARY
    assert [contract for contract in CONTRACTS if contract.claims == "refuted"] == [CANARY]


def test_deeper_profiles_check_more_and_every_profile_the_canary() -> None:
    dev, ci, deep = (of_profile(name) for name in ("dev", "ci", "deep"))
    assert CANARY in dev and len(dev) < len(ci) < len(deep) == len(CONTRACTS)


def pytest_of_contracts(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest on the contracts of the tree."""
    command = [sys.executable, "-m", "pytest", "verify/contracts", *arguments]
    environment = {**os.environ, "COLUMNS": "200", "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)


def test_a_run_shows_the_table_and_the_refuted_canary_and_properties_hold_on_the_solvers_examples() -> None:
    done = pytest_of_contracts(ROOT, "-k", "context_is_the_oracles or agree_on_any_window", "--backend", "crosshair")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    rows = {line.split()[1]: line for line in done.stdout.splitlines() if line.startswith("│")}
    assert "confirmed" in rows["window.context_is_the_oracles"] and "WIN-1" in rows["window.context_is_the_oracles"]
    assert "refuted, as it must be" in rows[CANARY.name]
    assert f"refuted: {CANARY.name}(step=" in done.stdout


def test_no_verdict_counts_when_the_canary_is_not_refuted(tmp_path: Path) -> None:
    for package in ("spec", "impl", "verify"):
        shutil.copytree(ROOT / package, tmp_path / package)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    path = tmp_path / "verify" / "contracts" / "canary.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("_[0] <= _[1]", "_[0] <= _[1] + 1"), encoding="utf-8")
    done = pytest_of_contracts(tmp_path, "-k", "context_is_the_oracles")
    assert done.returncode == 1
    assert "no verdict counts: the canary was not refuted" in done.stdout
    assert "CONFIRMED, not refuted" in done.stdout


def needle(backend: str) -> str:
    """How a search for one number among all integers ends."""

    @settings(backend=backend, max_examples=60, derandomize=True, database=None, deadline=None)
    @given(st.integers())
    def property_of(number: int) -> None:
        assert 3 * number != 3_703_703_673

    try:
        property_of()
    except AssertionError:
        return "found"
    return "missed"


def test_the_solver_behind_hypothesis_finds_a_needle_that_chance_misses() -> None:
    limits = Limits(60, 4 << 30, 600)
    assert run_limited(lambda: needle("hypothesis"), limits).value == "missed"
    assert run_limited(lambda: needle("crosshair"), limits).value == "found"
