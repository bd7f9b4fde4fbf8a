"""What somebody has to look at as SARIF 2.1.0, for code scanning: survivors, mutants without a verdict, kills by another rule.

A mutant's id is its fingerprint: several mutants of one line stay several alerts, and one whose id is a content hash stays the
same alert when other lines move. Source: SARIF 2.1.0 (OASIS), and what GitHub's code scanning reads of it.
"""

from impl.command import VERSION
from impl.exit_codes import ExitCode
from mutants.reports.data import OPEN, Json, JudgedMutant, MutationRun, Outcome

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SOUND = frozenset({ExitCode.PASS, ExitCode.FAIL})
LONGEST_MESSAGE = 4_000


def sarif(run: MutationRun) -> Json:
    """The document: one run of the tool, with a rule for each operator, or area, that has a result."""
    found = [mutant for mutant in run.mutants if mutant.outcome in OPEN]
    rules = list(dict.fromkeys(_rule_id(mutant) for mutant in found))
    driver = {
        "name": run.tool,
        "version": VERSION,
        "semanticVersion": VERSION,
        "rules": list(map(_rule, rules)),
    }
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "automationDetails": {"id": f"kvproof-mutants/{run.kind}/"},
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(run)],
                "results": [_result(mutant, rules.index(_rule_id(mutant))) for mutant in found],
            }
        ],
    }


def _rule_id(mutant: JudgedMutant) -> str:
    return mutant.mutator.replace(" ", "-")


def _rule(rule: str) -> Json:
    short = f"A mutant ({rule}) that the checks do not see as they must"
    full = f"{short}. Either a check is missing, or the change means nothing and belongs into the ledger."
    return {
        "id": rule,
        "name": "".join(word.capitalize() for word in rule.split("-")),
        "shortDescription": {"text": short},
        "fullDescription": {"text": full},
        "help": {"text": f"{full} Run it alone with python -m mutants --only ID."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["mutation"], "problem.severity": "error", "precision": "very-high"},
    }


def _result(mutant: JudgedMutant, index: int) -> Json:
    return {
        "ruleId": _rule_id(mutant),
        "ruleIndex": index,
        "level": "error",
        "message": {"text": _message(mutant)},
        "locations": [{"physicalLocation": _place(mutant)}],
        "partialFingerprints": {"primaryLocationLineHash": f"{mutant.id}:1", "kvproofMutant/v1": mutant.id},
    }


def _message(mutant: JudgedMutant) -> str:
    text = f"Mutant {mutant.id}, {mutant.title}: {_why(mutant)}\n\n{mutant.diff or mutant.replacement}"
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} ..."


def _why(mutant: JudgedMutant) -> str:
    if mutant.status is None:
        return "it did not run."
    if mutant.outcome is Outcome.WRONG_RULE:
        return f"killed, but not by its rule: {mutant.detail} instead of {mutant.expectation}."
    return f"{mutant.status}: {mutant.detail}."


def _place(mutant: JudgedMutant) -> Json:
    region: Json = {"startLine": 1}
    if mutant.start and mutant.end:
        region = {
            "startLine": mutant.start.line,
            "startColumn": mutant.start.column,
            "endLine": mutant.end.line,
            "endColumn": mutant.end.column,
        }
    return {"artifactLocation": {"uri": mutant.path, "uriBaseId": "%SRCROOT%"}, "region": region}


def _invocation(run: MutationRun) -> Json:
    """How the run ended; a run whose verdicts mean nothing was no success, and says why."""
    sound = run.complete and run.code in SOUND
    invocation: Json = {"executionSuccessful": sound, "exitCode": int(run.code)}
    if not sound:
        notes = [{"level": "error", "message": {"text": reason}} for reason in run.reasons]
        invocation["toolExecutionNotifications"] = notes
    return invocation
