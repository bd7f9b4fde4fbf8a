"""What a window costs in accuracy: logits and tokens beside those of full attention, in floats and in integers."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from impl.admission import peak_pages
from impl.decoder import IntegerDecoder
from impl.float_reference import FloatDecoder, generate
from impl.host import Host
from impl.kv_cache import KVCache
from impl.model_files import float_model, load
from impl.row_store import PagedStore
from impl.studies.study import Cell, Chart, Column, Findings, Progress, Series, StudyTable
from impl.tiny_lm import VOCABULARY

QUESTION = "How far do a windowed model's logits and tokens move from those of full attention, and do sinks help?"
PAGE_SIZE = 4

Logits = npt.NDArray[np.float64]
Tokens = list[list[int]]
Decode = Callable[[str, Tokens, int | None, int], Logits]
"""Logits (starts, steps, V) of a model that is fed the tokens of every start, under a window with sinks."""


@dataclass(frozen=True, slots=True)
class AccuracyInputs:
    """Models decode `steps` tokens from the first `starts` start tokens, fed what full attention gives."""

    models: tuple[str, ...] = ("random-1-16", "random-2-16", "random-3-16")
    starts: int = VOCABULARY
    steps: int = 24
    windows: tuple[int, ...] = (2, 4, 8, 16, 24)
    sinks: tuple[int, ...] = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Steps that give the token of full attention, of how many, and the mean relative L2 error of the logits in percent."""

    same: int
    steps: int
    error: float

    @property
    def share(self) -> float:
        """Percent of the steps that give the token of full attention."""
        return 100 * self.same / self.steps


def compared(logits: Logits, full: Logits) -> Accuracy:
    """Windowed logits (..., V) held against those of full attention."""
    same = logits.argmax(axis=-1) == full.argmax(axis=-1)
    error = np.linalg.norm(logits - full, axis=-1) / np.linalg.norm(full, axis=-1)
    return Accuracy(int(same.sum()), same.size, 100 * float(error.mean()))


def float_logits(name: str, tokens: Tokens, window: int | None, sinks: int) -> Logits:
    """Of the float reference; see Decode."""
    model = float_model(name)
    decoders = [FloatDecoder(model, window, sinks) for _ in tokens]
    return np.array([[decoder.step(token) for token in fed] for decoder, fed in zip(decoders, tokens, strict=True)])


def integer_logits(name: str, tokens: Tokens, window: int | None, sinks: int) -> Logits:
    """Of the integer decoder behind a host with pages; see Decode."""
    model = load(name)
    pages = peak_pages(len(tokens[0]), PAGE_SIZE, window, sinks)
    found = []
    for fed in tokens:
        host = Host(IntegerDecoder(model), PagedStore(KVCache(pages, PAGE_SIZE, width=model.width)))
        host.admit(0, fed, window, sinks)
        found.append([host.step(0).logits for _ in fed])
    return np.array(found, np.float64)


def accuracy_findings(inputs: AccuracyInputs, progress: Progress) -> Findings:
    """Every window without sinks, then with them, for all models together."""
    tokens = {name: _tokens_of_full_attention(name, inputs) for name in inputs.models}
    cases = [(window, 0) for window in inputs.windows]
    cases += [(window, sinks) for window in inputs.windows for sinks in inputs.sinks if sinks < window < inputs.steps]
    total = 2 * (len(cases) + 1)
    found: list[list[Accuracy]] = []
    for kind, decode in enumerate((float_logits, integer_logits)):
        full = _all_models(decode, tokens, None, 0)
        found.append([])
        for done, (window, sinks) in enumerate(cases, 2):
            found[kind].append(compared(_all_models(decode, tokens, window, sinks), full))
            progress("accuracy", kind * (len(cases) + 1) + done, total)
    measured = list(zip(cases, *found, strict=True))
    plain = [case for case in measured if case[0][1] == 0]
    tables = (
        _table("windows", "A window without sinks", plain, inputs),
        _table("sinks", "Sinks in a window", measured, inputs),
    )
    return Findings("accuracy", QUESTION, asdict(inputs), tables, _charts(measured, inputs))


def _tokens_of_full_attention(name: str, inputs: AccuracyInputs) -> Tokens:
    """What every start is fed: the tokens of the float reference, the last one, which nothing follows, left out."""
    model = float_model(name)
    return [list(generate(model, start, inputs.steps, None).tokens[:-1]) for start in range(inputs.starts)]


def _all_models(decode: Decode, tokens: dict[str, Tokens], window: int | None, sinks: int) -> Logits:
    return np.concatenate([decode(name, fed, window, sinks) for name, fed in tokens.items()])


Measured = tuple[tuple[int, int], Accuracy, Accuracy]


def _table(name: str, title: str, measured: list[Measured], inputs: AccuracyInputs) -> StudyTable:
    columns = (
        Column("window", "rows"),
        Column("sinks", "rows"),
        Column("steps"),
        Column("same token, floats", "steps"),
        Column("of all", "%", 1),
        Column("logit error, floats", "%", 1),
        Column("same token, integers", "steps"),
        Column("of all, integers", "%", 1),
        Column("logit error, integers", "%", 1),
        Column(f"pool, pages of {PAGE_SIZE} rows", "pages"),
    )
    rows: list[tuple[Cell, ...]] = []
    for (window, sinks), in_floats, in_integers in measured:
        figures = (
            in_floats.same,
            in_floats.share,
            in_floats.error,
            in_integers.same,
            in_integers.share,
            in_integers.error,
        )
        rows.append((window, sinks, in_floats.steps, *figures, peak_pages(inputs.steps, PAGE_SIZE, window, sinks)))
    return StudyTable(name, title, columns, tuple(rows))


def _charts(measured: list[Measured], inputs: AccuracyInputs) -> tuple[Chart, ...]:
    by_sinks = {sinks: [case for case in measured if case[0][1] == sinks] for sinks in (0, *inputs.sinks)}
    shares, errors = [], []
    for sinks, cases in by_sinks.items():
        label = "no sinks" if not sinks else f"{sinks} sink{'s' * (sinks > 1)}"
        windows = tuple(float(window) for (window, _), _, _ in cases)
        shares.append(Series(label, windows, tuple(in_floats.share for _, in_floats, _ in cases)))
        errors.append(Series(label, windows, tuple(in_floats.error for _, in_floats, _ in cases)))
    return (
        Chart(
            "tokens",
            "Steps that give the token of full attention",
            "window [rows]",
            "same token [% of steps]",
            tuple(shares),
        ),
        Chart(
            "logits",
            "Error of the logits beside full attention",
            "window [rows]",
            "mean relative L2 error [%]",
            tuple(errors),
        ),
    )
