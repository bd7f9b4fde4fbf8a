"""Each contract gets the verdict that is claimed of it, in a run that refutes the known falsehood."""

from verify.contracts.registry import Contract
from verify.contracts.runner import Result
from verify.contracts.table import verdict_text


def test_the_contract_has_the_verdict_that_it_claims(contract: Contract, canary: Result, result: Result) -> None:
    assert canary.verdict == "refuted", f"no verdict counts: the canary was not refuted ({canary.words})"
    shown = result.refutation() if result.verdict == "refuted" else result.words
    assert result.verdict == contract.claims, f"{contract.name}: {verdict_text(contract, result)}: {shown}"
