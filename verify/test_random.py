"""The random search over larger pools, with the situations that it must have met."""

import pytest

from verify.bounds import FAR_EXAMPLES, Profile
from verify.explore import StepsExhausted
from verify.findings import describe_failure, shrunk
from verify.machines import Tally, search_at_random
from verify.remote.choice import Choice
from verify.show import failure_text
from verify.situations import possible
from verify.summary import Summary


@pytest.mark.any_target
def test_random_operations_refine_the_oracle_and_meet_every_situation(
    profile: Profile, choice: Choice, summary: Summary
) -> None:
    tally = Tally()
    summary.tallies.append(tally)
    examples, each = (FAR_EXAMPLES[profile.name], 1) if choice.far else (profile.examples, profile.each)
    try:
        search_at_random(choice.factory, examples, profile.steps, not choice.far, choice.steps, tally)
    except StepsExhausted as end:
        pytest.fail(f"unknown: {end}", pytrace=False)
    if tally.failure is not None:
        pages, page_size = tally.pages, tally.page_size
        smallest = shrunk(tally.failure.operations, pages, page_size, choice.factory)
        differences = tally.failure.differences
        report = describe_failure(smallest, differences, pages, page_size, choice.factory, spelling=choice.spelling)
        pytest.fail(failure_text(report), pytrace=False)
    rare = {name: tally.situations[name] for name in possible(choice.capabilities) if tally.situations[name] < each}
    assert not rare, f"met fewer than {each} times: {rare}"
