"""The table of contracts: what each says, the rules that it proves, its verdict, its CPU time."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from verify.contracts.registry import Contract
from verify.contracts.runner import Result


def verdict_text(contract: Contract, result: Result) -> str:
    """The verdict, in capitals when it is not the one claimed; what proves nothing says so."""
    if result.verdict != contract.claims:
        return f"{result.verdict.upper()}, not {contract.claims}"
    return {
        "confirmed": "confirmed",
        "refuted": "refuted, as it must be",
        "unknown": "unknown, as expected: no proof",
    }[result.verdict]


def contracts_table(contracts: list[Contract], results: Mapping[str, Result]) -> Table:
    """One line a contract that was checked, in the registry's order."""
    table = Table("contract", "rules", "verdict", "CPU s")
    table.columns[3].justify = "right"
    for contract in contracts:
        result = results.get(contract.name)
        if result is not None:
            rules = Text(", ".join(contract.rules) or "known to be false")
            took = "earlier" if result.earlier else f"{result.seconds:.2f}"
            table.add_row(contract.name, rules, verdict_text(contract, result), took)
    return table


def render(contracts: list[Contract], results: Mapping[str, Result], width: int) -> str:
    """The table as text, the refutations below it, and how many verdicts there are of each kind; empty without results."""
    checked = [contract for contract in contracts if contract.name in results]
    if not checked:
        return ""
    console = Console(width=width, no_color=True, force_terminal=False, highlight=False)
    found = [results[contract.name] for contract in checked]
    counts = {word: sum(result.verdict == word for result in found) for word in ("confirmed", "refuted", "unknown")}
    with console.capture() as captured:
        console.print(contracts_table(checked, results))
        for result in found:
            if result.verdict == "refuted":
                console.print(Text(f"refuted: {result.refutation()}"), soft_wrap=True)
        before = sum(result.earlier for result in found)
        when = f" ({before} in an earlier run, of the same sources)" if before else ""
        console.print(
            f"{counts['confirmed']} confirmed over all paths{when}, {counts['refuted']} refuted, {counts['unknown']} unknown; "
            f"{sum(result.seconds for result in found):.0f} CPU seconds"
        )
        left = [contract.name for contract in contracts if contract.name not in results]
        if left:
            console.print(f"not selected: {', '.join(left)}", soft_wrap=True)
    return captured.get().rstrip()
