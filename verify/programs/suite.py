"""The chip's software held to what is typed from docs/chip.md and to definitions: texts, compiled models, decoders, hosts.

Each part gives what differs and how much it looked at, as the checks of the decode step do.
"""

from verify.programs.compiler_checks import check_misfits, check_pages, check_programs, check_room, check_rows_as_words
from verify.programs.decoder_checks import check_asked_steps, check_given_steps
from verify.programs.failure_checks import check_ended_runs, check_failed_steps, check_refused_places
from verify.programs.host_checks import check_failed_hosts, check_hosts, check_refused_hosts
from verify.programs.page_checks import check_shuffled_pages
from verify.programs.text_checks import check_texts

PARTS = (
    check_texts,
    check_rows_as_words,
    check_programs,
    check_pages,
    check_room,
    check_misfits,
    check_asked_steps,
    check_given_steps,
    check_ended_runs,
    check_failed_steps,
    check_refused_places,
    check_shuffled_pages,
    check_hosts,
    check_refused_hosts,
    check_failed_hosts,
)
"""The cheap ones first."""
