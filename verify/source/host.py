"""The source suite on the host and the decoders: each function holds one kind of run against its weak and its exact rules.

An exception of the subject's ends the run that met it and no other, and breaks a rule of its own; what a run gave before
it is judged all the same.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from impl import tiny_lm
from impl.decoder import IntegerDecoder
from impl.float_reference import FloatDecoder, Generation, generate
from impl.host import Host, StepRecord
from impl.kv_cache import KVCache
from impl.model_files import load
from impl.row_store import PagedStore, PlainStore, RowStore
from spec.attention import logits as recomputed
from spec.decode import step_from_tokens
from spec.page_table import pages_for
from spec.window import pages_before_append
from verify.decode.oracle import parameters, tensors
from verify.refinement import Difference
from verify.source.blame import subject_ends
from verify.source.rules import BOUND, CLOSE, STEP, TABLES

WIDTH, SEED, START = 16, 2, 3
RANDOM, STRUCTURED = f"random-{SEED}-{WIDTH}", f"structured-{WIDTH}"
PAGE_SIZE = 4
ON_PAGES: tuple[tuple[int | None, int], ...] = ((None, 4), (8, 4), (6, 2), (4, 4), (3, 1))
"""Windows and page sizes of the runs on pages and on plain lists."""
STEPS, FORCED_STEPS, RULE_STEPS = 24, 16, 32

SCRATCH_TOLERANCE = 1e-9  # Two orders of summation in float64.
FULL_TOLERANCE = 1e-12  # The same rows in the same order.
WEAK_MEAN, MEAN, AT_ANY_STEP = 0.15, 0.04, 0.15

RECORDED: dict[int | None, tuple[tuple[int, int, int, int], int]] = {
    None: ((1, 2, 4, 8), 8),
    8: ((1, 2, 2, 2), 3),
    4: ((1, 1, 1, 1), 2),
}
"""Window -> pages in use after steps 1, 8 and 16 and within step 32, and the peak after a trim. Source: docs/reference.md
section 6."""

Found = list[Difference]
Integers = npt.NDArray[np.int32]
Floats = npt.NDArray[np.floating[Any]]


def paged_and_plain() -> tuple[Found, int]:
    """Pages against plain lists, against the definition in integers, and the pages that each step finds."""
    found: Found = []
    steps = 0
    for window, page_size in ON_PAGES:
        name = f"window {window}, page {page_size}"
        paged = _decoded(found, f"{name}, pages", _host(_pages(page_size)), (START,), window, STEPS)
        plain = _decoded(found, f"{name}, lists", _host(PlainStore(WIDTH, page_size)), (START,), window, STEPS)
        steps += len(paged) + len(plain)
        for on_pages, on_lists in zip(paged, plain, strict=False):
            if not _same(on_pages.token, on_pages.logits, on_lists.token, on_lists.logits):
                found.append(Difference("HOST-PLAIN", f"{name}, step {on_lists.step}: as on lists", "another result"))
        found += _against_the_definition(name, paged, window)
        found += _page_counts(name, paged, window, page_size)
    return found, steps


def float_windows() -> tuple[Found, int]:
    """The windowed float step against its recomputation from the token ids, and against full attention."""
    found: Found = []
    model = tiny_lm.random(SEED, WIDTH)
    definition = tensors(model)
    with subject_ends(found, STEP, "the float reference"):
        for window in (2, 3, 5):
            decoder = FloatDecoder(model, window)
            tokens = generate(model, START, STEPS, window).tokens
            for step in range(1, STEPS + 1):
                apart = _largest(decoder.step(tokens[step - 1]) - recomputed(definition, tokens[:step], window))
                if apart > SCRATCH_TOLERANCE:
                    said = f"window {window}, step {step}: as recomputed from the tokens"
                    found.append(Difference("DEC-FLOAT", said, f"apart by {apart:.3g}"))
        full, whole, three = (generate(model, START, STEPS, window) for window in (None, STEPS, 3))
        apart = _largest(whole.logits - full.logits)
        if apart > FULL_TOLERANCE:
            found.append(Difference("DEC-FULL", f"window {STEPS} is full attention", f"apart by {apart:.3g}"))
        if _largest(three.logits - full.logits) <= SCRATCH_TOLERANCE:
            found.append(Difference("DEC-FULL", "a window of 3 differs from full attention", "it does not"))
    return found, 6 * STEPS


def integers_and_floats() -> tuple[Found, int]:
    """Integer logits against the windowed float ones, on the tokens of the float run."""
    found: Found = []
    steps = 0
    worth = load(RANDOM).scales.logit_scale
    for window in (None, 4):
        name = f"window {window}, integers and floats"
        with subject_ends(found, STEP, name):
            run: Generation = generate(tiny_lm.random(SEED, WIDTH), START, FORCED_STEPS, window)
            records = _decoded(found, name, _host(_pages(PAGE_SIZE)), run.tokens[:-1], window, FORCED_STEPS)
            steps += len(records)
            errors = [_relative(worth * one.logits, true) for one, true in zip(records, run.logits, strict=False)]
            mean, most = float(np.mean(errors or 0.0)), max(errors, default=0.0)
            shown = f"{mean:.1%} in the mean, {most:.1%} at most"
            if mean > WEAK_MEAN:
                found.append(Difference(CLOSE, f"{name}: at most {WEAK_MEAN:.0%} in the mean", shown))
            if mean >= MEAN or most >= AT_ANY_STEP:
                said = f"{name}: below {MEAN:.0%} in the mean and {AT_ANY_STEP:.0%} at any step"
                found.append(Difference("DEC-ERROR", said, shown))
    return found, steps


def structured_rule() -> tuple[Found, int]:
    """The structured model follows its rule from every start, and from start 0 on the recorded numbers of pages."""
    found: Found = []
    steps = 0
    for window, (pages, peak) in RECORDED.items():
        for start in range(tiny_lm.VOCABULARY):
            name = f"window {window}, start {start}"
            host = _host(_pages(PAGE_SIZE), STRUCTURED)
            records = _decoded(found, name, host, (start,), window, RULE_STEPS)
            steps += len(records)
            wrong = [one.step for one in records if one.token != tiny_lm.successor(one.fed[-1])]
            if wrong:
                found.append(Difference("DEC-RULE", f"{name}: every token follows the rule", f"not at steps {wrong}"))
            if start == 0 and len(records) == RULE_STEPS:
                seen = *(records[step].pages_before for step in (1, 8, 16)), records[31].pages_appended
                if (seen, host.peak_pages) != (pages, peak):
                    said = f"{name}: pages {pages}, peak {peak}"
                    found.append(Difference(TABLES, said, f"pages {seen}, peak {host.peak_pages}"))
    return found, steps


def _pages(page_size: int) -> PagedStore:
    """A pool that a request fills only when none of its pages is ever released."""
    return PagedStore(KVCache(RULE_STEPS, page_size, layers=1, width=WIDTH))


def _host(store: RowStore, model: str = RANDOM) -> Host:
    return Host(IntegerDecoder(load(model)), store)


def _decoded(
    found: Found, name: str, host: Host, prompt: Sequence[int], window: int | None, steps: int
) -> list[StepRecord]:
    """The steps of one request, as many as end."""
    records: list[StepRecord] = []
    with subject_ends(found, STEP, name):
        host.admit(0, prompt, window)
        for _ in range(steps):
            records.append(host.step(0))
    return records


def _against_the_definition(name: str, records: Sequence[StepRecord], window: int | None) -> Iterator[Difference]:
    """Each step on the tokens that were fed, recomputed in integers from their ids."""
    definition = parameters(load(RANDOM))
    fed = [token for one in records for token in one.fed]
    for one in records:
        due = step_from_tokens(definition, fed[: one.step], window)
        if not _same(one.token, one.logits, due.token, due.logits):
            yield Difference("DEC-INT", f"{name}, step {one.step}: token {due.token} and its logits", f"{one.token}")


def _page_counts(name: str, records: Sequence[StepRecord], window: int | None, page_size: int) -> Iterator[Difference]:
    """Pages that each step finds, exactly and within the bound."""
    for one in records:
        exact = pages_before_append(one.step, window, page_size)
        if one.pages_before != exact:
            yield Difference("WIN-4", f"{name}, step {one.step} finds {exact} pages", f"{one.pages_before}")
        bound = pages_for(one.step if window is None else window - 1, page_size) + 1
        if one.pages_appended > bound + 1:
            yield Difference(BOUND, f"{name}, step {one.step}: at most {bound + 1} pages", f"{one.pages_appended}")
        if one is records[-1] and one.pages > bound:
            yield Difference(BOUND, f"{name}, at the end: at most {bound} pages", f"{one.pages}")


def _same(token: int, logits: Integers, due_token: int, due_logits: Integers) -> bool:
    return token == due_token and bool(np.array_equal(logits, due_logits))


def _largest(difference: Floats) -> float:
    return float(np.abs(difference).max())


def _relative(found: Floats, true: Floats) -> float:
    """Relative L2 error."""
    return float(np.linalg.norm(found - true) / np.linalg.norm(true))
