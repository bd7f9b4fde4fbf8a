"""The host against its definition: random operations, interleaved requests, and refusals that disturb nobody."""

import pytest

from impl.decoder import Context, ContextTooLongError, Decoder, IntegerDecoder, Step
from impl.host import Host
from impl.model_files import load
from impl.row_store import PlainStore
from verify.bounds import Profile
from verify.decode.oracle import gathered
from verify.findings import broken_rules
from verify.host.case import HostCase, integers
from verify.host.lockstep import call, paged_store
from verify.host.machine import search_hosts_at_random
from verify.host.operations import Admit, Advance, End, ForkRequest, HostOperation
from verify.host.recorder import host_image
from verify.host.refusals import BEFORE, REFUSED
from verify.host.situations import HOST_SITUATIONS
from verify.host.store_checks import check_pads, check_pages, check_plain_pages, check_refused_pools, check_stores
from verify.show import FailureReport, failure_text
from verify.summary import Summary

PROMPT = (3, 14, 1, 5, 9, 2, 6, 11, 8)
SHAPES = (
    Admit(0, PROMPT, window=4),
    Admit(1, PROMPT[::-1], window=1, chunk=2),
    Admit(2, PROMPT[2:], chunk=4),
    Admit(3, PROMPT[1:], window=6, sinks=2, chunk=3),
    Admit(4, PROMPT[:3], window=3, margin=2),
)


def test_random_host_operations_follow_the_definition_and_meet_every_situation(
    profile: Profile, summary: Summary
) -> None:
    tally = search_hosts_at_random(profile.host_examples, profile.host_steps)
    summary.host_tallies.append(tally)
    if tally.failure is not None:
        calls = tuple(str(operation) for operation in tally.failure.operations)
        broken = tuple(broken_rules(tally.failure.differences))
        pytest.fail(failure_text(FailureReport(tally.failure.setting, calls, (), broken)), pytrace=False)
    rare = {name: tally.situations[name] for name in HOST_SITUATIONS if tally.situations[name] < profile.host_each}
    assert not rare, f"met fewer than {profile.host_each} times: {rare}"


@pytest.mark.parametrize("model", ["random-1-16", "random-3-16", "structured-16"])
def test_interleaved_requests_decode_what_each_decodes_alone(model: str) -> None:
    """Each with its own window, on pages whose rows lie between those of the others."""
    alone = {}
    for admit in SHAPES:
        case = HostCase(16, 2, model=model)
        case.do(admit)
        alone[admit.request] = integers(case.advance(admit.request, 12))
    case = HostCase(32, 2, model=model)
    case.do(*SHAPES)
    together: dict[int, list[tuple[int, list[int]]]] = {admit.request: [] for admit in SHAPES}
    for turn in range(12):
        for request in (0, 3, 1, 4, 2) if turn % 2 else (4, 2, 0, 1, 3):
            together[request] += integers(case.advance(request))
    assert together == alone


def test_a_refused_step_leaves_every_other_request_undisturbed_and_can_be_tried_again() -> None:
    """Pool of 5 pages of 2 rows: 0 fills what is left, 1 and 0 are refused, 2 goes on within its pages; then 1 ends."""
    case = HostCase(5, 2)
    case.do(Admit(0, PROMPT), Admit(1, PROMPT[1:3], chunk=2), Admit(2, PROMPT[2:], window=2))
    case.advance(1)
    case.advance(2)
    case.advance(0, 6)
    assert case.used() == 5
    before = [(request, case.tokens(request), case.held_rows(request)) for request in (0, 1, 2)]
    case.refuse(Advance(1), "OutOfPages")
    case.refuse(Advance(0), "OutOfPages")
    assert [(request, case.tokens(request), case.held_rows(request)) for request in (0, 1, 2)] == before
    case.advance(2)
    case.refuse(Advance(0), "OutOfPages")
    case.do(End(1))
    alone = HostCase(8, 2)
    alone.do(Admit(0, PROMPT))
    alone.advance(0, 6)
    assert integers(case.advance(0, 2)) == integers(alone.advance(0, 2))


def test_refusals_are_looked_for_in_order() -> None:
    case = HostCase(3, 2)
    case.do(*BEFORE)
    for operation, reason in REFUSED:
        case.refuse(operation, reason)


def test_a_window_of_one_reads_nothing_and_leaves_the_page_that_it_fills() -> None:
    case = HostCase(2, 3)
    case.do(Admit(0, PROMPT, window=1))
    records = case.advance(0, 9)
    assert [record.context for record in records] == [1] * 9
    assert [record.pages for record in records] == [1, 1, 0] * 3


class FailsOnce:
    """A decoder that fails at one decode, counted from 0."""

    def __init__(self, at: int) -> None:
        self.inner, self.left = IntegerDecoder(load("random-1-16")), at
        self.width, self.vocabulary = self.inner.width, self.inner.vocabulary

    def step(self, token: int, context: Context) -> Step:
        self.left -= 1
        if self.left == -1:
            raise OSError("the machine is gone")
        return self.inner.step(token, context)


@pytest.mark.parametrize("at", range(11))
@pytest.mark.parametrize("paged", [True, False])
def test_a_decoder_that_fails_within_a_chunk_or_a_padding_changes_nothing(at: int, paged: bool) -> None:
    """HOST-REFUSE for what is no refusal: nothing was appended, and the same call succeeds afterwards."""

    def host_on(decoder: Decoder) -> Host:
        return Host(decoder, paged_store(8, 5, 16) if paged else PlainStore(16, 5), pad_token=2)

    operations: tuple[HostOperation, ...] = (
        Admit(0, PROMPT[:7], 3, chunk=3),
        *[Advance(0)] * 4,
        ForkRequest(0, 1, padded=True),
        Advance(1),
    )
    host, sound = host_on(FailsOnce(at)), host_on(IntegerDecoder(load("random-1-16")))
    failed = 0
    for operation in operations:
        before = host_image(host)
        try:
            call(host, operation)
        except OSError:
            failed += 1
            assert host_image(host) == before
            call(host, operation)
        call(sound, operation)
        assert host_image(host) == host_image(sound)
    assert failed == 1


def test_a_context_beyond_the_decoders_longest_is_an_error_that_changes_nothing() -> None:
    host = Host(IntegerDecoder(load("structured-16")), paged_store(32, 8, 16))
    host.admit(0, [1] * 255, chunk=255)
    host.step(0)
    before = host_image(host)
    with pytest.raises(ContextTooLongError):
        host.step(0)
    assert host_image(host) == before
    host.rollback(0, 254)
    host.step(0)


def test_a_pad_token_is_of_the_vocabulary() -> None:
    assert check_pads()[0] == []
    with pytest.raises(ValueError, match=r"^pad token 16 is not in 0 \.\. 15$"):
        Host(IntegerDecoder(load("random-1-16")), PlainStore(8, 2), pad_token=16)


def test_a_store_gives_back_what_it_was_given() -> None:
    """Whatever becomes of the arrays; and plain lists have no pages."""
    assert gathered([check_stores(), check_pages(), check_plain_pages(), check_refused_pools()])[0] == []


def test_a_request_keeps_no_margin_unless_it_asks_for_one() -> None:
    decoder = IntegerDecoder(load("random-1-16"))
    host = Host(decoder, paged_store(4, 1, decoder.width))
    host.admit(0, (1, 2, 3), window=2)
    assert [host.step(0).pages for _ in range(3)] == [1, 1, 1]


def test_an_id_is_used_again_without_a_trace_of_its_first_life() -> None:
    case = HostCase(4, 2)
    case.do(Admit(0, PROMPT, window=3, chunk=2))
    case.advance(0, 4)
    case.do(End(0), Admit(0, PROMPT[3:], chunk=3))
    again = HostCase(4, 2)
    again.do(Admit(0, PROMPT[3:], chunk=3))
    assert integers(case.advance(0, 3)) == integers(again.advance(0, 3))
    assert case.held(0) == again.held(0)
