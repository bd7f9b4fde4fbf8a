"""The random search over larger pools, with the situations that it must have met."""

import pytest

from verify.bounds import Profile
from verify.findings import describe_failure, shrunk
from verify.machines import search_at_random
from verify.show import failure_text
from verify.situations import SITUATIONS
from verify.summary import Summary
from verify.targets.shipped import ShippedCache


def test_random_operations_refine_the_oracle_and_meet_every_situation(profile: Profile, summary: Summary) -> None:
    tally = search_at_random(ShippedCache, profile.examples, profile.steps)
    summary.tallies.append(tally)
    if tally.failure is not None:
        smallest = shrunk(tally.failure.operations, tally.pages, tally.page_size, ShippedCache)
        report = describe_failure(smallest, tally.failure.differences, tally.pages, tally.page_size, ShippedCache)
        pytest.fail(failure_text(report), pytrace=False)
    rare = {name: tally.situations[name] for name in SITUATIONS if tally.situations[name] < profile.each}
    assert not rare, f"met fewer than {profile.each} times: {rare}"
