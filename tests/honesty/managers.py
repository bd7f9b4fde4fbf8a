"""Managers: snapshots and answers broken by hand, caches with a planted fault, and the prefix cache that ships."""

from collections.abc import Callable, Iterator
from functools import partial

from spec.operations import Accepted, Reason, Refused
from tests import test_manager_checks as checks
from tests import test_manager_oracle as oracle
from tests import test_manager_pool_checks as pool
from tests import test_manager_windows as windows
from tests.honesty.case import Case, asserted, broken, right
from tests.test_manager_checks import GOOD, IDLE, IDLE_STATE, rules
from verify.managers.literals import literal_differences
from verify.managers.refinement import answer_differences
from verify.managers.suite import STAGE_SCOPES, witness_stage
from verify.managers.world import ManagerSearch
from verify.targets.prefix import PrefixManager

ENTRIES = "PT-OWN"
"""Where a table names other pages, their counts are no longer those of its entries."""

ALSO: dict[str, tuple[str, ...]] = {
    "a page free twice": ("PT-PAGES",),
    "a held page free": ("PT-PAGES",),
    "a page outside the pool free": ("PT-PAGES",),
    "a lost page": ("PT-PAGES",),
    "a longer table": (ENTRIES, "PT-FREE"),
    "a table too few": (ENTRIES,),
    "a page not shared": (ENTRIES, "PT-FREE"),
    "a page shared": (ENTRIES,),
    "a page outside the pool": (ENTRIES,),
    "a page moved": (ENTRIES, "PT-FREE"),
    "a released page held": (ENTRIES,),
    "a held page released": (ENTRIES,),
    "a request missing": (ENTRIES,),
    "another request": (ENTRIES,),
}
"""What else a snapshot of tests.test_manager_checks breaks besides its rule."""

Test = Callable[..., None]

TOLD: dict[str, tuple[Test, ...]] = {
    "PT-OWN": (pool.test_counts_are_told_against_table_entries_and_free_pages_against_both,),
    "PT-LEAK": (pool.test_a_lost_page_says_nothing_about_the_order_of_the_others,),
    "PT-SHARE": (
        pool.test_without_a_bijection_nothing_is_said_of_moves_or_of_what_is_published,
        pool.test_a_page_outside_the_pool_is_named_by_no_table,
    ),
    "PT-INPLACE": (pool.test_a_page_that_moves_says_nothing_of_what_is_published_under_it,),
    "PT-ROWS": (pool.test_the_first_row_that_reads_wrong_is_told,),
    "PT-LEN": (
        pool.test_by_row_the_length_leaves_out_the_most_that_any_group_lost_and_nothing_before_that,
        checks.test_by_row_only_what_the_next_step_reads_is_judged_and_the_length_leaves_out_what_is_gone,
    ),
    "PT-HOLE": (checks.test_a_trim_that_stays_after_a_refused_append_is_due,),
    "PT-REFUSE": (checks.test_a_refusal_that_changes_something_breaks_the_rule_of_refusals,),
    "PT-TOTAL": (
        checks.test_a_wrong_answer_and_a_state_that_cannot_be_seen_are_told_once_each,
        checks.test_what_is_not_shown_is_not_checked,
        checks.test_rows_that_no_step_reads_and_nobody_keeps_are_not_judged,
    ),
    "PRE-KEY": (
        pool.test_what_is_published_is_told_in_words,
        pool.test_the_value_of_a_row_is_the_crc_of_its_prefix_and_its_number,
    ),
    "PRE-PUBLISH": (
        pool.test_a_page_that_is_published_and_must_not_be_has_no_place_in_the_order,
        pool.test_of_two_pages_under_one_key_one_must_not_be_missing,
        checks.test_idle_pages_that_no_table_ever_showed_are_told_by_what_they_are_published_under,
    ),
    "PRE-EVICT": (
        pool.test_the_order_of_reuse_is_told_in_pages,
        pool.test_two_unseen_pages_under_one_key_are_told_apart_by_their_order_alone,
        pool.test_what_is_known_of_an_idle_page_is_not_told_anew_from_the_order,
        pool.test_no_page_is_told_from_an_order_that_lost_some_or_names_one_that_is_held,
        pool.test_an_unseen_page_is_told_beside_one_that_is_held_under_the_same_key,
        checks.test_an_idle_page_taken_before_its_turn_breaks_the_order_of_reuse,
        checks.test_the_order_of_the_blank_pages_is_free,
    ),
}
"""Tests that show the check of managers something broken by hand, by the rule that it must name."""

MEANT: dict[str, tuple[Test, ...]] = {
    "PT-OWN": (oracle.test_a_fork_shares_every_page_and_whoever_writes_copies,),
    "PT-LEAK": (oracle.test_a_request_starts_grows_and_ends,),
    "PT-PAGES": (
        windows.test_a_prompt_in_chunks_needs_exactly_its_peak,
        windows.test_a_request_holds_exactly_the_pages_of_the_closed_form,
        windows.test_a_manager_that_recycles_takes_only_what_it_will_hold,
        windows.test_a_window_of_one_keeps_only_the_page_that_is_being_filled,
    ),
    "PT-SHARE": (
        oracle.test_a_published_page_is_copied_before_it_is_written,
        oracle.test_a_fork_inside_a_page_copies_it_at_once_where_the_tail_is_copied,
        oracle.test_a_cut_inside_a_shared_page_copies_it_at_once_where_the_tail_is_copied,
        windows.test_a_shared_last_page_is_copied_behind_pages_that_are_gone,
    ),
    "PT-ROWS": (
        oracle.test_rows_that_can_be_read_are_given_in_whole_ranges_none_of_them_empty,
        windows.test_the_rows_that_the_next_step_finds_are_read_and_not_gone,
    ),
    "PT-HOLE": (
        oracle.test_a_group_reads_and_keeps_what_its_kind_says,
        oracle.test_the_pages_that_a_trim_releases_lie_behind_the_sinks_and_below_what_is_kept,
        windows.test_pages_go_when_they_lie_wholly_outside_the_window,
        windows.test_the_first_row_kept_follows_the_window,
        windows.test_rows_go_one_by_one_or_with_their_page,
        windows.test_pages_with_a_sink_stay,
        windows.test_a_child_has_the_gone_rows_of_its_source,
        windows.test_what_is_gone_stays_gone_and_begins_behind_the_sinks,
        windows.test_a_trim_before_looks_at_the_rows_that_are_written,
        windows.test_a_chunk_lets_go_at_its_end,
    ),
    "PT-LIVE": (oracle.test_reasons_are_looked_for_in_their_order,),
    "PT-REFUSE": (windows.test_an_append_trims_before_it_grows_and_that_trim_stays_when_it_is_refused,),
    "PT-TOTAL": (
        oracle.test_nonsense_is_no_group,
        oracle.test_nonsense_is_no_manager,
        oracle.test_an_operation_of_a_page_table_is_none_of_a_manager,
    ),
    "RowsReleased": (windows.test_a_rollback_wants_the_rows_that_the_next_step_reads,),
    "OutOfPages": (
        oracle.test_a_pool_may_have_no_page,
        oracle.test_what_an_admission_is_served_is_pinned_before_pages_are_taken,
        oracle.test_a_served_page_is_never_taken_for_the_rows_behind_it,
    ),
    "PRE-HIT": (
        oracle.test_an_admission_leaves_the_declared_number_of_tokens,
        windows.test_a_chunk_is_served_the_pages_of_its_chunk_alone,
        windows.test_a_window_is_served_its_sinks_and_its_last_rows,
        windows.test_a_window_is_served_the_rows_that_it_keeps_back,
        windows.test_groups_are_served_the_longest_prefix_that_all_of_them_find,
        windows.test_a_group_that_reads_no_past_row_publishes_nothing_and_serves_nothing,
    ),
    "PRE-KEY": (oracle.test_a_prefix_is_served_up_to_its_first_other_token,),
    "PRE-PUBLISH": (
        oracle.test_a_reused_page_is_forgotten,
        oracle.test_copies_of_one_prefix_stay_side_by_side,
        oracle.test_commits_write_and_publish_what_was_only_reserved,
        oracle.test_the_index_keeps_the_key_of_a_cell_and_the_order_of_copies,
        windows.test_a_manager_that_recycles_never_publishes_what_it_never_held,
    ),
    "PRE-EVICT": (
        oracle.test_blank_pages_are_reused_first_then_the_longest_idle_and_tails_before_heads,
        oracle.test_groups_let_go_in_order_each_from_its_tail,
    ),
}
"""Every literal test of the definition, by the rule that it is most about."""


def honesty() -> Iterator[Case]:
    """Snapshots, answers and managers that are broken in one place, and right ones."""
    yield right("PT-TOTAL", "a true snapshot", partial(rules, GOOD))
    yield right("PRE-EVICT", "a true order of reuse", partial(rules, IDLE, IDLE_STATE))
    for name, (rule, snapshot) in checks.BROKEN.items():
        yield broken(rule, name, partial(rules, snapshot), *ALSO.get(name, ()))
    for name, snapshot in checks.IDLE_BROKEN.items():
        yield broken("PRE-EVICT", name, partial(rules, snapshot, IDLE_STATE))
    for rule, tests in TOLD.items():
        yield from asserted(rule, *tests)
    for reason in Reason:
        found = partial(by_answer, Refused(reason), Accepted(served=0))
        yield broken(reason.value, f"served instead of {reason.value}", found)
    yield right("PRE-HIT", "what is due is served", partial(by_answer, Accepted(served=4), Accepted(served=4)))
    for served in (0, 2, 6, None):
        found = partial(by_answer, Accepted(served=4), Accepted(served=served))
        yield broken("PRE-HIT", f"{served} served instead of 4", found)


def by_answer(due: Accepted | Refused, answer: Accepted) -> list[str]:
    """The rules that the answer breaks."""
    return [difference.rule for difference in answer_differences(due, answer)]


def literals() -> Iterator[Case]:
    """The oracle of managers against what is worked out by hand."""
    for rule, tests in MEANT.items():
        yield from asserted(rule, *tests)


def differential() -> Iterator[Case]:
    """The oracle of managers against the prefix cache that ships: saved witnesses, literal tables, and a small scope."""
    yield right("PRE-HIT", "the saved witnesses", lambda: witness_stage(None).broken)
    yield right("PRE-HIT", "the literal tables", lambda: {one.rule for one in literal_differences()[0]})
    yield right("PT-TOTAL", f"{STAGE_SCOPES[0]}", searched)


def searched() -> set[str]:
    """The rules that the prefix cache that ships breaks in a scope with two groups."""
    failures = ManagerSearch(STAGE_SCOPES[0], PrefixManager).run().failures
    return {one.rule for failure in failures for one in failure.differences}
