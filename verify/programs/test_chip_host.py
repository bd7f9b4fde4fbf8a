"""A host whose chip gathers by itself decodes what one on plain lists does, and its pages are those of a host that gathers.

On the cycle model, which needs a walker for it.
"""

import random
from collections.abc import Callable

import numpy as np
import pytest

from impl.chip import Chip
from impl.chip_decoder import PagedChipDecoder
from impl.chip_forms import Form, host_on
from impl.chip_host import ChipHost, ChipStore
from impl.chip_model.machine import ChipModel
from impl.decoder import IntegerDecoder
from impl.host import Host, StepRecord
from impl.kv_cache import KVCache
from impl.memory_map import Gathering
from impl.model_files import load
from impl.page_table import PageTableError
from impl.row_store import PagedStore, PlainStore
from verify.host.recorder import host_image

WINDOWS = ((None, 4), (8, 4), (4, 2), (3, 1))
MODEL = "random-1-16"
PROMPT = (3, 14, 1, 5, 9)

Do = Callable[[Host], StepRecord | None]


def chip_host(page_size: int, pages: int | None = None, stays: bool = False, chip: Chip | None = None) -> ChipHost:
    """A host of a chip that gathers, the cycle model unless another is given."""
    return ChipHost(PagedChipDecoder(load(MODEL), chip or ChipModel(16), Gathering(page_size, pages), stays), 2)


def paged_host(page_size: int, pages: int) -> Host:
    """A host that gathers from such a pool, in integers."""
    return Host(IntegerDecoder(load(MODEL)), PagedStore(KVCache(pages, page_size, width=16)), 2)


def plain_host(page_size: int, model: str = MODEL) -> Host:
    """A host on plain lists, in integers."""
    decoder = IntegerDecoder(load(model))
    return Host(decoder, PlainStore(decoder.width, page_size), 2)


def assert_same_step(one: StepRecord, other: StepRecord) -> None:
    """Two records of the same step agree in all but pages, of which lists have none."""
    assert (one.step, one.fed, one.token, one.context) == (other.step, other.fed, other.token, other.context)
    assert np.array_equal(one.logits, other.logits)


def held_rows(host: Host, request: int, rows: int) -> list[list[int]]:
    """Keys and values of the last rows of a request."""
    last = host.rows(request)
    keys, values = host.store.gather(request, ((max(0, last - rows), last),))
    return [*keys.tolist(), *values.tolist()]


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize(("window", "page_size"), WINDOWS)
@pytest.mark.parametrize("model", ["random-2-16", "structured-16", "random-3-32"])
def test_every_form_decodes_what_plain_lists_do(form: Form, window: int | None, page_size: int, model: str) -> None:
    """HOST-PLAIN: gathered by the host, by the chip with streamed and with resident weights."""
    integers = load(model)
    host = host_on(form, integers, ChipModel(integers.width), 8, page_size)
    plain = plain_host(page_size, model)
    for each in (host, plain):
        each.admit(0, [7, 2], window)
    for _ in range(16):
        assert_same_step(host.step(0), plain.step(0))
    assert held_rows(host, 0, 2) == held_rows(plain, 0, 2)


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize(("window", "page_size"), WINDOWS)
def test_forks_chunks_and_rollbacks_decode_what_plain_lists_do(stays: bool, window: int | None, page_size: int) -> None:
    """Two requests share their last page and part: it is copied whole in the chip's memory, and neither sees the other's."""
    hosts = chip_host(page_size, 24, stays), plain_host(page_size)

    def steps(request: int, count: int = 1) -> None:
        for _ in range(count):
            one, other = (host.step(request) for host in hosts)
            assert_same_step(one, other)
            for live in hosts[0].requests():
                assert held_rows(hosts[0], live, 2) == held_rows(hosts[1], live, 2)

    def both(do: Callable[[Host], None]) -> None:
        for host in hosts:
            do(host)

    both(lambda host: host.admit(0, PROMPT, window, chunk=3))
    steps(0, 3)
    both(lambda host: host.fork(0, 1, token=11))
    steps(1)
    steps(0)
    both(lambda host: host.fork(1, 2, padded=True))
    both(lambda host: host.admit(3, PROMPT[::-1], 2, margin=1, chunk=2))
    for request in (2, 3, 1, 0, 3, 2, 2, 0):
        steps(request)
    both(lambda host: host.rollback(2, host.rows(2) - 1, token=4) if window is None else host.release(1))
    both(lambda host: host.rollback(0, 0, token=5))
    for request in (2, 0, 3, 0):
        steps(request)


def test_the_copy_of_a_shared_page_is_whole_and_comes_before_the_step() -> None:
    """Rows 0 .. 5 in pages 0 and 1; the fork appends row 6 to a copy of page 1, which is page 2."""
    host = chip_host(4, 8)
    host.admit(0, PROMPT)
    for _ in range(6):
        host.step(0)
    pool = host.store.cache.pool.kv[0] if isinstance(host.store, ChipStore) else None
    assert pool is not None
    before = pool.copy()
    host.fork(0, 1, token=1)
    assert np.array_equal(pool, before)
    record = host.step(1)
    assert (record.pages_before, record.pages_appended) == (2, 2)
    assert np.array_equal(pool[2, :, :2], before[1, :, :2]) and not np.array_equal(pool[2, :, 2], before[1, :, 2])
    assert np.array_equal(pool[:2], before[:2])
    host.step(0)
    assert np.array_equal(pool[1, :, :2], before[1, :, :2]) and not np.array_equal(pool[1, :, 2], pool[2, :, 2])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("stays", [False, True])
def test_any_operations_leave_tables_and_bytes_of_a_host_that_gathers(seed: int, stays: bool) -> None:
    """HOST-REFUSE too: what one refuses the other refuses for the same reason, and nothing has changed."""
    draw = random.Random(seed)
    page_size = (1, 2, 4)[seed]
    pages = 14 // page_size
    hosts = chip_host(page_size, pages, stays), paged_host(page_size, pages)
    refused = set()
    for _ in range(120):
        before = host_image(hosts[0])
        do = some_operation(draw, hosts[1])
        answers = [answer(do, host) for host in hosts]
        if isinstance(answers[1], str):
            refused.add(answers[1])
            assert answers[0] == answers[1] and host_image(hosts[0]) == before
        elif answers[1] is not None:
            assert isinstance(answers[0], StepRecord)
            assert_same_step(answers[0], answers[1])
            assert answers[0][5:] == answers[1][5:]
        assert host_image(hosts[0]) == host_image(hosts[1])
    assert "OutOfPages" in refused


def answer(do: Do, host: Host) -> StepRecord | str | None:
    """What the operation gave, or the name of the refusal."""
    try:
        return do(host)
    except PageTableError as refusal:
        return type(refusal).__name__


def some_operation(draw: random.Random, host: Host) -> Do:
    """A step as a rule, else an admission, a fork, a rollback or an end; sensible or not."""
    request, other = draw.randrange(4), draw.randrange(4)
    rows = draw.randrange(host.rows(request) + 1) if request in host.requests() else 0
    kind = draw.random()
    if request not in host.requests() or kind < 0.05:
        window, chunk, margin = draw.choice((None, 1, 3, 8)), draw.randrange(1, 4), draw.randrange(2)
        prompt = [draw.randrange(16) for _ in range(draw.randrange(1, 7))]
        return lambda host: host.admit(request, prompt, window, margin=margin, chunk=chunk)
    if kind < 0.75:
        return lambda host: host.step(request)
    if kind < 0.85:
        at, padded = draw.choice((None, rows)), draw.random() < 0.3
        return lambda host: host.fork(request, other, at, token=5, padded=padded)
    if kind < 0.92:
        token = draw.choice((None, 9))
        return lambda host: host.rollback(request, rows, token)
    return lambda host: host.release(request)


def test_two_hosts_of_one_model_share_nothing() -> None:
    hosts = chip_host(4, 8), chip_host(4, 8)
    for host in hosts:
        host.admit(0, PROMPT)
    first = hosts[0].step(0)
    assert_same_step(first, hosts[1].step(0))
