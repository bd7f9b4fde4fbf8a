"""Runs contracts through CrossHair, each in a child under a CPU limit, and says confirmed, refuted or unknown.

Confirmed takes CrossHair's words "Confirmed over all paths."; its exit status says less: it is 0, too, when a precondition
cannot be met or a search ends without a result. Refuted takes arguments on which the contract, called plainly, does fail.
Everything else is unknown, and no budget is wall time but a far backstop.
"""

import ast
import inspect
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.pool import AsyncResult

from verify.contracts.registry import SLOW, Contract, VerdictWord
from verify.sandbox import Limits, die_with, run_limited

CONFIRMED = "Confirmed over all paths."
PATH_SECONDS = 120.0
"""CPU seconds of one path; half of it, of wall time, for one question to the solver, which takes milliseconds."""
MEMORY_BYTES = 4 << 30
WALL_FOR_CPU = 10
CALLED = re.compile(r"when calling (\w+\(.*?\))(?: \(which returns .*\))?$", re.DOTALL)

Change = Callable[[], None]
"""Done in the child before the search: how a test puts a mutated function in place."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a contract.

    `words` are CrossHair's, or say what ended the search. `counterexample` gives each argument of a refutation as text and
    `returned` what the contract does with them. `seconds` are the child's CPU time. `earlier`: it was proved in an earlier run.
    """

    contract: str
    verdict: VerdictWord
    words: str
    counterexample: Mapping[str, str]
    returned: str
    seconds: float
    earlier: bool = False

    def refutation(self) -> str:
        """The counterexample in one line."""
        given = ", ".join(f"{name}={value}" for name, value in self.counterexample.items())
        return f"{self.contract}({given}) {self.returned}"


def check(contract: Contract, change: Change | None = None) -> Result:
    """What CrossHair finds, in a child of this process."""
    limits = Limits(contract.cpu_seconds + 60, MEMORY_BYTES, WALL_FOR_CPU * (contract.cpu_seconds + 60))
    ended = run_limited(lambda: search(contract, change), limits)
    match ended.value:
        case {
            "verdict": "confirmed" | "refuted" | "unknown" as verdict,
            "words": str(words),
            "counterexample": dict(counterexample),
            "returned": str(returned),
        }:
            return Result(contract.name, verdict, words, counterexample, returned, ended.cpu_seconds)
    return Result(contract.name, "unknown", f"{ended.kind}: {ended.detail}", {}, "", ended.cpu_seconds)


def search(contract: Contract, change: Change | None = None) -> dict[str, object]:
    """Search in this process, for JSON; it is of no use for anything else after."""
    leave_text_out()
    if change is not None:
        change()
    return judge(contract, messages(contract.function, contract.cpu_seconds))


def messages(function: Callable[..., object], cpu_seconds: float) -> list[str]:
    """What CrossHair says of the function's contract, one message of each condition."""
    # Here alone: it costs a second, and the processes that run other checks do without it.
    from crosshair.core_and_libs import analyze_function, run_checkables
    from crosshair.options import AnalysisKind, AnalysisOptionSet

    options = AnalysisOptionSet(
        analysis_kind=[AnalysisKind.PEP316],
        report_all=True,
        per_condition_timeout=cpu_seconds,
        per_path_timeout=min(PATH_SECONDS, cpu_seconds),
    )
    return [message.message for message in run_checkables(analyze_function(function, options))]


def judge(contract: Contract, said: list[str]) -> dict[str, object]:
    """The verdict that CrossHair's messages, one of each condition, stand for."""
    words = " ".join(said) or "it finds no condition"
    if said == [CONFIRMED]:
        return {"verdict": "confirmed", "words": words, "counterexample": {}, "returned": ""}
    arguments = counterexample(contract.function, words)
    returned = failure(contract, arguments) if arguments is not None else None
    if arguments is None or returned is None:
        return {"verdict": "unknown", "words": words, "counterexample": {}, "returned": ""}
    shown = {name: repr(value) for name, value in arguments.items()}
    return {"verdict": "refuted", "words": words, "counterexample": shown, "returned": returned}


def counterexample(function: Callable[..., object], words: str) -> dict[str, object] | None:
    """The arguments of the call that the words name; None when they name none."""
    found = CALLED.search(words)
    if found is None:
        return None
    call = ast.parse(found[1], mode="eval").body
    assert isinstance(call, ast.Call)

    def value(node: ast.expr) -> object:
        return eval(compile(ast.Expression(node), "<counterexample>", "eval"), function.__globals__)

    given = {keyword.arg: value(keyword.value) for keyword in call.keywords if keyword.arg}
    return dict(inspect.signature(function).bind(*map(value, call.args), **given).arguments)


def failure(contract: Contract, arguments: Mapping[str, object]) -> str | None:
    """How the contract, called without CrossHair, fails on arguments that meet its preconditions; None when it does not."""
    names = {**contract.function.__globals__, **arguments}
    if not all(eval(clause, names) for clause in contract.clauses("pre")):
        return None
    try:
        returned = contract.function(**arguments)
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    kept = all(eval(clause, {**names, "_": returned}) for clause in contract.clauses("post"))
    return None if kept else f"returns {returned!r}"


def leave_text_out() -> None:
    """From now on a symbolic integer formats as a mark, which is no number.

    An error's text spells integers out: CrossHair would try every integer there is, one path each, and end nowhere.
    """
    import crosshair.core_and_libs  # noqa: F401 - it registers what formats
    from crosshair import core
    from crosshair.libimpl.builtinslib import SymbolicInt
    from crosshair.tracers import NoTracing

    spell = core._PATCH_REGISTRATIONS[format]

    def marked(value: object, spec: str = "") -> object:
        with NoTracing():  # type: ignore[no-untyped-call]
            if isinstance(value, SymbolicInt):
                return "<integer>"
        return spell(value, spec)

    core._PATCH_REGISTRATIONS[format] = marked


Check = tuple[Contract, Change | None]
"""A contract, and what is changed before it is checked."""


@contextmanager
def checking(checks: Mapping[str, Check], workers: int) -> Iterator[dict[str, "AsyncResult[Result]"]]:
    """Within, the checks are done over so many processes; each result, by its check's name, can be waited for."""
    slow_first = sorted(checks, key=lambda name: checks[name][0].function not in SLOW)
    # The workers inherit the checks, whose functions therefore need not travel.
    _inherited.clear()
    _inherited.update(checks)
    with get_context("fork").Pool(workers, start_worker, (os.getpid(),)) as pool:
        yield {name: pool.apply_async(check_inherited, (name,)) for name in slow_first}


_inherited: dict[str, Check] = {}


def start_worker(parent: int) -> None:
    """A worker leaves Ctrl-C to the parent and does not outlive it; it loads CrossHair once for its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)
    import crosshair.core_and_libs  # noqa: F401


def check_inherited(name: str) -> Result:
    """Do one check in a worker."""
    return check(*_inherited[name])
