"""The random search over the prefix cache that ships, with the situations that it must have met."""

import pytest

from verify.bounds import Profile
from verify.managers.bounds import CONFIGURATIONS, REACH
from verify.managers.configuration import Configuration
from verify.managers.findings import describe_failure
from verify.managers.show import report_text
from verify.managers.walks import ManagerTally, search_at_random
from verify.summary import Summary
from verify.targets.prefix import PrefixManager

SEED = 1


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda configuration: configuration.name)
def test_random_walks_refine_the_oracle_and_meet_every_situation(
    configuration: Configuration, profile: Profile, summary: Summary
) -> None:
    tally = ManagerTally(configuration.traits, SEED, name=configuration.name)
    summary.manager_tallies.append(tally)
    search_at_random(PrefixManager, configuration.traits, SEED, REACH[profile.name].walks, tally=tally)
    if tally.failure is not None:
        report = describe_failure(tally.failure, configuration, PrefixManager)
        pytest.fail(f"seed {SEED}, walk {tally.failed_walk}\n{report_text(report)}", pytrace=False)
    assert tally.walks == REACH[profile.name].walks
    assert profile.name == "dev" or not tally.never_met()


def test_every_situation_is_met_often_enough_in_all_configurations_together(profile: Profile, summary: Summary) -> None:
    tallies = summary.manager_tallies
    if len(tallies) < len(CONFIGURATIONS):
        pytest.skip("not every configuration was walked in this run")
    able = {name for tally in tallies for name in tally.able}
    met = {name: sum(tally.situations[name] for tally in tallies) for name in able}
    assert {name: count for name, count in met.items() if count < REACH[profile.name].each} == {}
    refusals = {name for tally in tallies for name in tally.refusals}
    assert refusals == {"UnknownRequest", "DuplicateRequest", "BadArgument", "RowsReleased", "OutOfPages"}
