"""The ledger lets a survivor stand, and fails the gate when an entry is out of date, without a reason, or one too many."""

import io
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from rich.console import Console

from impl.command import CommandError, run
from impl.exit_codes import ExitCode
from mutants.cli import cli
from mutants.engine import Plan, Record, Result
from mutants.equivalence import equivalence_cli
from mutants.equivalence.candidates import chosen, last_run, survivors
from mutants.equivalence.equivalence_cli import (
    check_ledger,
    proposals,
    show_findings,
    strengthened,
    verdict_of,
)
from mutants.equivalence.examination import Finding, by_bytecode
from mutants.equivalence.ledger import PROVED, REASON, SCOPE, Entry, read_ledger, write_ledger
from mutants.equivalence.ledger_rule import ledger_summary, settle, under
from mutants.gate import decide, summary
from mutants.generic.show import show_generic
from mutants.making import Made
from mutants.mutant import Mutant
from mutants.verdicts import Status, Verdict
from tests.toy_cache.catalogue import BROKEN, NO_OP, PROJECT


def generic(number: int) -> Mutant:
    return Mutant(
        f"{number:012x}", "", "generic toy", "toy.pages", "take", "a < b", "a <= b", operator="boundary"
    )  # fmt: skip


def entry(mutant: Mutant, kind: str = PROVED, reason: str = "both ends are read") -> Entry:
    return Entry(
        mutant.id, mutant.module, mutant.function, mutant.operator, mutant.before, mutant.after, kind, reason
    )  # fmt: skip


def recorded(
    statuses: list[Status],
    ledger: tuple[Entry, ...] = (),
    full: frozenset[str] = frozenset({"toy.pages"}),
    whole_surface: bool = True,
) -> Record:
    """A finished run of as many generic mutants, with these verdicts."""
    mutants = tuple(generic(number) for number in range(len(statuses)))
    record = Record(
        Plan(PROJECT, mutants, NO_OP, BROKEN, ledger=ledger, full_modules=full, whole_surface=whole_surface)
    )
    for mutant, status in zip(mutants, statuses, strict=True):
        record.results.append(Result(mutant, Verdict(status, "TOY-TAKE", {}, ""), None, None))
    return record


KILLED, SURVIVED = Status.KILLED_ASSERTION, Status.SURVIVED
MANY = [KILLED] * 40
FIRST, SECOND = generic(0), generic(1)


def reasons(record: Record) -> tuple[str, ...]:
    decision = decide(record)
    assert (decision.code == ExitCode.PASS) == (not decision.reasons)
    return decision.reasons


@pytest.mark.parametrize(
    ("kind", "status"),
    [(PROVED, Status.EQUIVALENT_PROVED), (SCOPE, Status.EQUIVALENT_SCOPE), (REASON, Status.EQUIVALENT_REASON)],
)
def test_a_survivor_of_the_ledger_stands_under_a_name_of_its_own(kind: str, status: Status) -> None:
    assert reasons(recorded([SURVIVED, *MANY])) == (f"mutant {FIRST.id}: survived: TOY-TAKE",)
    record = recorded([SURVIVED, *MANY], (entry(FIRST, kind),))
    assert reasons(record) == ()
    settle(record)
    assert record.results[0].verdict.status is status
    assert record.results[0].verdict.detail == "ledger: both ends are read"
    assert reasons(record) == ()


@pytest.mark.parametrize("reason", ["", "  "])
def test_an_entry_without_a_reason_fails(reason: str) -> None:
    assert reasons(recorded([SURVIVED, *MANY], (entry(FIRST, PROVED, reason),))) == (
        f"ledger entry {FIRST.id} has no reason: write one",
    )


def test_an_entry_whose_mutant_is_killed_fails() -> None:
    assert reasons(recorded(MANY, (entry(FIRST),))) == (
        f"ledger entry {FIRST.id} no longer applies: the mutant is killed: TOY-TAKE",
    )


def test_an_entry_without_a_mutant_fails_where_all_of_its_module_ran() -> None:
    gone = entry(replace(FIRST, id="f" * 12))
    assert reasons(recorded(MANY, (gone,))) == (
        f"ledger entry {'f' * 12} no longer applies: toy.pages has no such mutant",
    )
    assert reasons(recorded(MANY, (gone,), frozenset())) == ()


def test_which_entries_must_have_a_mutant_depends_on_how_much_was_planned() -> None:
    plan = Plan(PROJECT, (FIRST,), NO_OP, BROKEN)
    ledger = (replace(entry(FIRST), module="toy.gone"),)
    assert under(plan, ledger, whole_files=False, whole_surface=False).full_modules == frozenset()
    assert under(plan, ledger, whole_files=True, whole_surface=False).full_modules == {"toy.pages"}
    assert under(plan, ledger, whole_files=True, whole_surface=True).full_modules == {"toy.pages", "toy.gone"}
    assert under(plan, ledger, whole_files=True, whole_surface=True).ledger == ledger
    assert under(plan, ledger, whole_files=True, whole_surface=True).whole_surface
    assert not under(plan, ledger, whole_files=True, whole_surface=False).whole_surface


def test_an_entry_that_describes_another_change_lets_nothing_stand() -> None:
    found = reasons(recorded([SURVIVED, *MANY], (replace(entry(FIRST), after="a == b"),)))
    assert found == (
        f"ledger entry {FIRST.id} describes another change than the mutant of this id",
        f"mutant {FIRST.id}: survived: TOY-TAKE",
    )


@pytest.mark.parametrize("kind", [REASON, SCOPE])
def test_no_more_than_a_twentieth_may_rest_on_a_reason(kind: str) -> None:
    ledger = (entry(FIRST, kind), entry(SECOND, kind))
    assert reasons(recorded([SURVIVED] * 2 + [KILLED] * 38, ledger)) == ()
    assert reasons(recorded([SURVIVED] * 2 + [KILLED] * 37, ledger)) == (
        "ledger: 2 of 39 generic mutants rest on a reason without a proof, more than 5%",
    )
    part = recorded([SURVIVED] * 2 + [KILLED] * 37, ledger, whole_surface=False)
    assert reasons(part) == (), "of one file, or of what a change touches, it may be any share"
    settled = recorded([SURVIVED] * 2 + [KILLED] * 37, ledger)
    settle(settled)
    assert len(reasons(settled)) == 1
    assert reasons(recorded([SURVIVED] * 2 + [KILLED] * 37, (entry(FIRST), entry(SECOND)))) == ()


def test_a_generic_mutant_that_is_no_program_of_its_own_needs_no_entry() -> None:
    for status in (Status.EQUIVALENT_BYTECODE, Status.DUPLICATE):
        assert reasons(recorded([status, *MANY])) == ()
    named = recorded([Status.EQUIVALENT_BYTECODE, *MANY])
    named.results[0] = replace(named.results[0], mutant=replace(FIRST, operator=""))
    assert decide(named).code == ExitCode.FAIL, "a named mutant that is the original is stale"


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.FLAKY, Status.RUNAWAY_CPU, Status.INVALID_COMPILE])
def test_the_ledger_excuses_no_missing_verdict(status: Status) -> None:
    assert decide(recorded([status, *MANY], (entry(FIRST),))).code != ExitCode.PASS


def test_the_summary_has_the_size_of_the_ledger_and_what_rests_on_reasons() -> None:
    record = recorded([SURVIVED] * 2 + [KILLED] * 38, (entry(FIRST), entry(SECOND, REASON)))
    assert ledger_summary(record) == [
        "ledger 2: 1 proved, 0 scope+reason, 1 reason; 1 of 40 generic mutants (2.5%) rest on a reason"
    ]
    assert summary(record)[-1] == ledger_summary(record)[0]
    assert ledger_summary(recorded(MANY)) == []


def test_a_generic_run_shows_what_survived_and_counts_what_the_ledger_lets_stand() -> None:
    record = recorded([SURVIVED] * 2 + [KILLED] * 38, (entry(FIRST, REASON),))
    settle(record)
    out = io.StringIO()
    show_generic(Console(file=out, width=160), record)
    lines = out.getvalue().splitlines()
    assert lines[0].split("  ")[0] == "operator" and lines[1].split() == ["boundary", "40", "38", "0", "1", "1", "0"]
    assert [line for line in lines if line.startswith(f"{SECOND.id} boundary: survived")] and FIRST.id not in str(lines)
    assert "planned 40, executed 40, killed 38" in lines
    assert ledger_summary(record)[0] in lines


def test_a_ledger_that_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    entries = (replace(entry(FIRST), given=("a >= 1",)), replace(entry(SECOND, SCOPE), scopes=("2 pages of 1",)))
    write_ledger(reversed(entries), path)
    assert read_ledger(path) == entries
    assert read_ledger(tmp_path / "none.json") == ()


GOOD = {name: value for name, value in asdict(entry(FIRST)).items() if value}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "is no ledger: at the top level"),
        ('{"entries": {}}', "is no ledger: at entries"),
        (json.dumps({"entries": [{**GOOD, "kind": "sure"}]}), "is no ledger: at entries/0/kind"),
        (json.dumps({"entries": [{**GOOD, "id": "12"}]}), "is no ledger: at entries/0/id"),
        (json.dumps({"entries": [{**GOOD, "note": ""}]}), "is no ledger: at entries/0"),
        (json.dumps({"entries": [{name: GOOD[name] for name in GOOD if name != "reason"}]}), "'reason' is a required"),
        (json.dumps({"entries": [GOOD, GOOD]}), f"{FIRST.id} stands in it twice"),
    ],
)
def test_a_malformed_ledger_is_one_clear_error(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError) as raised:
        read_ledger(path)
    assert said in str(raised.value) and "\n" not in str(raised.value)
    assert raised.value.code == ExitCode.BROKEN


def test_the_command_ends_with_4_for_a_malformed_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ledger.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        run(cli, ["equivalence", "--check", "--catalogue", "tests.toy_cache.catalogue", "--ledger", str(path)])
    assert ended.value.code == ExitCode.BROKEN
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_check_of_a_ledger_that_is_not_there_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(cli, ["equivalence", "--check", "--ledger", str(tmp_path / "none.json")])
    assert ended.value.code == ExitCode.BROKEN
    assert "there is no ledger" in capsys.readouterr().err


def test_the_checked_in_ledger_is_whole_and_every_entry_has_a_reason() -> None:
    assert all(entry.reason.strip() for entry in read_ledger(Path(PROJECT.root) / "mutants" / "ledger.json"))


def test_survivors_are_those_of_the_last_run(tmp_path: Path) -> None:
    for stamp in ("20260101T000000Z", "20260102T000000Z"):
        folder = tmp_path / f"generic-{stamp}"
        folder.mkdir()
        lines = [("a", "survived"), ("b", "killed.assertion"), ("c", "unknown")]
        written = [json.dumps({"id": f"{id}{stamp[7]}", "verdict": {"status": verdict}}) for id, verdict in lines]
        (folder / "results.jsonl").write_text("\n".join([*written, '{"id": "d2", "ver']), encoding="utf-8")
    assert survivors(last_run(runs=tmp_path)) == ("a2", "c2")
    document = {
        "kvproof": {"mutants": [{"id": "not-called", "verdict": "survived"}, {"id": "b2", "verdict": "killed"}]}
    }
    (folder / "report.json").write_text(json.dumps(document), encoding="utf-8")
    assert survivors(folder) == ("not-called",)
    (folder / "report.json").unlink()
    with pytest.raises(CommandError, match="no run"):
        last_run("oracle", tmp_path)
    (folder / "results.jsonl").write_text('{"id": "a"}\n', encoding="utf-8")
    with pytest.raises(CommandError, match=r"results.jsonl has no ids and verdicts"):
        survivors(folder)
    with pytest.raises(CommandError, match="no mutant zz"):
        chosen([FIRST], [FIRST.id, "zz"])


def found(mutant: Mutant, verdict: str, given: tuple[str, ...] = ()) -> Finding:
    return Finding(mutant, verdict, "all paths", "Confirmed over all paths.", given)


def test_a_proposed_entry_fails_the_gate_until_a_person_gives_its_reason() -> None:
    third = generic(2)
    findings = [found(FIRST, "proved", ("a >= 1",)), found(SECOND, "refuted"), found(third, "scope")]
    fresh = proposals(findings, ())
    assert [(one.id, one.kind, one.given) for one in fresh] == [(FIRST.id, PROVED, ("a >= 1",)), (third.id, SCOPE, ())]
    assert proposals(findings, fresh) == []
    record = recorded([SURVIVED, KILLED, SURVIVED, *MANY], tuple(fresh))
    assert [line.endswith("has no reason: write one") for line in reasons(record)] == [True, True]


def test_an_entry_rests_on_the_most_that_was_ever_found_and_keeps_its_reason() -> None:
    on_a_reason, on_scopes, proved = (entry(FIRST, kind) for kind in (REASON, SCOPE, PROVED))
    proof, scopes = found(FIRST, "proved", ("a >= 1",)), replace(found(FIRST, "scope"), scopes=("s", "t", "u"))
    now_proved = replace(on_a_reason, kind=PROVED, given=("a >= 1",))
    assert strengthened([proof], [on_a_reason]) == [now_proved]
    assert strengthened([proof], [on_scopes]) == [now_proved]
    assert strengthened([scopes], [on_a_reason]) == [replace(on_a_reason, kind=SCOPE, scopes=("s", "t", "u"))]
    assert strengthened([scopes], [proved]) == [proved]
    assert strengthened([found(FIRST, "unknown"), found(SECOND, "proved")], [on_a_reason]) == [on_a_reason]
    other = replace(on_a_reason, after="a == b")
    assert strengthened([proof], [other]) == [other], "it is of another change"


def test_a_run_of_the_command_fails_for_a_new_program_and_knows_what_it_does_not_know() -> None:
    assert verdict_of([found(FIRST, "proved")]) == ExitCode.PASS
    assert verdict_of([found(FIRST, "proved"), found(SECOND, "scope")]) == ExitCode.UNKNOWN
    assert verdict_of([found(FIRST, "unknown"), found(SECOND, "refuted")]) == ExitCode.FAIL


def test_only_the_originals_instructions_are_proof_of_bytecode() -> None:
    same = Verdict(Status.EQUIVALENT_BYTECODE, "the same instructions as the original", {}, "")
    assert by_bytecode(FIRST, Made(None, verdict=same)).verdict == "proved"
    assert by_bytecode(FIRST, Made(None, verdict=replace(same, status=Status.DUPLICATE))).verdict == "unknown"
    assert by_bytecode(FIRST, Made(None)).verdict == "unknown"


def test_the_table_says_what_a_proof_takes_as_given_and_how_many_scopes_are_evidence() -> None:
    out = Console(record=True, width=200)
    show_findings(out, [found(FIRST, "proved", ("a >= 1",)), replace(found(SECOND, "scope"), scopes=("s", "t", "u"))])
    text = out.export_text()
    assert "given a >= 1" in text and "scope(3)" in text


@pytest.mark.parametrize(
    ("verdict", "given", "there", "code"),
    [
        ("proved", (), True, ExitCode.PASS),
        ("refuted", (), True, ExitCode.FAIL),
        ("unknown", (), True, ExitCode.UNKNOWN),
        ("proved", ("a >= 1",), True, ExitCode.FAIL),
        ("proved", (), False, ExitCode.FAIL),
    ],
)
def test_a_check_of_the_ledger_passes_only_when_every_proof_is_found_again(
    verdict: str, given: tuple[str, ...], there: bool, code: ExitCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        equivalence_cli, "examine", lambda mutants, *_: [found(mutant, verdict, given) for mutant in mutants]
    )
    mutants = [FIRST] if there else []
    assert check_ledger((entry(FIRST), entry(SECOND, REASON)), mutants, PROJECT, Console(quiet=True)) == code
