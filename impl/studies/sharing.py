"""What requests with one prompt save by sharing its pages: copied, forked, forked at a page boundary, and served a prefix."""

from dataclasses import asdict, dataclass

import numpy as np

from impl.decoder import IntegerDecoder
from impl.host import Host
from impl.kv_cache import KVCache
from impl.model_files import load
from impl.prefix_cache import PrefixCache
from impl.row_store import PagedStore
from impl.studies.study import Cell, Chart, Column, Findings, Progress, Series, StudyTable

QUESTION = "How many pages do requests with one prompt save by sharing it, and what does the page that it ends in cost?"
BASE = 0
MODEL = "structured-16"
WINDOW = 16
"""Of the requests that a host decodes here: every row stays held by their margin, whatever the decoder attends."""


@dataclass(frozen=True, slots=True)
class SharingInputs:
    """`requests` share a prompt, then each adds `own_rows` rows."""

    requests: int = 8
    own_rows: int = 40
    prompts: tuple[int, ...] = (96, 100, 250)
    page_sizes: tuple[int, ...] = (16, 40)
    pool_pages: int = 400


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages in use at the end, and how many were copied before they were written."""

    used: int
    copies: int


def copied_prompts(inputs: SharingInputs, prompt: int, page_size: int) -> int:
    """Pages in use when every request has the prompt's rows for itself. Raises OutOfPages."""
    cache = KVCache(inputs.pool_pages, page_size)
    for request in range(inputs.requests):
        cache.new(request)
        cache.append(request, _rows(prompt))
        cache.append(request, _rows(inputs.own_rows))
    return cache.table.used


def forked_prompts(inputs: SharingInputs, prompt: int, page_size: int) -> Pages:
    """Every request is a fork of one with the prompt, which ends last. Raises OutOfPages."""
    cache = KVCache(inputs.pool_pages, page_size)
    cache.new(BASE)
    cache.append(BASE, _rows(prompt))
    copies = 0
    for request in range(BASE + 1, BASE + 1 + inputs.requests):
        cache.fork(BASE, request)
        shared = cache.table.block_table(request)
        for _ in range(inputs.own_rows):
            cache.append_row(request, _rows(1)[:, :, 0])
        copies += _pages_changed(shared, cache.table.block_table(request))
    cache.release(BASE)
    return Pages(cache.table.used, copies)


def padded_prompts(inputs: SharingInputs, prompt: int, page_size: int) -> Pages:
    """The same by a host that decodes, and fills the prompt's last page with real rows first. Raises OutOfPages."""
    model = load(MODEL)
    store = PagedStore(KVCache(inputs.pool_pages, page_size, width=model.width))
    host = Host(IntegerDecoder(model), store)
    margin = prompt + page_size + inputs.own_rows
    host.admit(BASE, [row % host.decoder.vocabulary for row in range(prompt)], WINDOW, margin=margin)
    while host.rows(BASE) < prompt:
        host.step(BASE)
    copies = 0
    for request in range(BASE + 1, BASE + 1 + inputs.requests):
        host.fork(BASE, request, padded=True)
        shared = store.cache.table.block_table(request)
        for _ in range(inputs.own_rows):
            host.step(request)
        copies += _pages_changed(shared, store.cache.table.block_table(request))
    host.release(BASE)
    return Pages(store.used, copies)


def served_prompts(inputs: SharingInputs, prompt: int, page_size: int) -> int:
    """Pages held when a prefix cache serves each request what those before it have published. Raises OutOfPages."""
    cache = PrefixCache(inputs.pool_pages, page_size)
    tokens = list(range(prompt))
    for request in range(inputs.requests):
        served = cache.admit(request, tokens)
        cache.commit(request, _rows(prompt - served)[np.newaxis])
        # Tokens of its own, or the rows behind the prompt would be found too.
        cache.append(request, [prompt * (request + 1) + row for row in range(inputs.own_rows)])
        cache.commit(request, _rows(inputs.own_rows)[np.newaxis])
    return inputs.pool_pages - cache.shared.available


def sharing_findings(inputs: SharingInputs, progress: Progress) -> Findings:
    """Each prompt length with each page size, in the four ways."""
    cases = [(prompt, page_size) for prompt in inputs.prompts for page_size in inputs.page_sizes]
    rows: list[tuple[Cell, ...]] = []
    ways: list[tuple[int, int, int, int]] = []
    for done, (prompt, page_size) in enumerate(cases, 1):
        copied = copied_prompts(inputs, prompt, page_size)
        forked = forked_prompts(inputs, prompt, page_size)
        padded = padded_prompts(inputs, prompt, page_size)
        served = served_prompts(inputs, prompt, page_size)
        saved = 100 * (copied - forked.used) / copied
        rows.append((prompt, page_size, copied, forked.used, saved, forked.copies, padded.used, padded.copies, served))
        ways.append((copied, forked.used, padded.used, served))
        progress("sharing", done, len(cases))
    columns = (
        Column("prompt", "rows"),
        Column("page", "rows"),
        Column("every prompt copied", "pages"),
        Column("forked", "pages"),
        Column("saved by forks", "%", 0),
        Column("copies on write", "pages"),
        Column("padded fork", "pages"),
        Column("its copies on write", "pages"),
        Column("prefix cache", "pages"),
    )
    title = f"{inputs.requests} requests share a prompt, each adds {inputs.own_rows} rows"
    table = StudyTable("prompts", title, columns, tuple(rows))
    note = "a prefix cache serves whole pages, and never the last token of a prompt, whose output is asked for"
    return Findings("sharing", QUESTION, asdict(inputs), (table,), (_chart(cases, ways),), (note,))


def _rows(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    return np.zeros((1, 2, count, 1), np.int8)


def _pages_changed(before: tuple[int, ...], after: tuple[int, ...]) -> int:
    """Pages that a table no longer names: those that were shared and copied."""
    return len(set(before) - set(after))


def _chart(cases: list[tuple[int, int]], ways: list[tuple[int, int, int, int]]) -> Chart:
    places = tuple(map(float, range(len(cases))))
    labels = ("every prompt copied", "forked", "forked at a page boundary (padded)", "prefix cache")
    series = (Series(label, places, tuple(float(pages[way]) for pages in ways)) for way, label in enumerate(labels))
    names = tuple(f"prompt {prompt}\npage {page_size}" for prompt, page_size in cases)
    title = "Pages in use by requests with one prompt"
    return Chart("pages", title, "rows of prompt and page [rows]", "pages in use [pages]", tuple(series), "bars", names)
