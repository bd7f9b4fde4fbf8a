"""How Hypothesis runs here: the same examples every time, no database, and no deadline of wall time."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants


def load_profile() -> None:
    """Make them the settings of this process."""
    settings.register_profile(
        "kvproof",
        derandomize=True,
        database=None,
        deadline=None,
        # A loaded machine must never decide a verdict.
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("kvproof")


@contextmanager
def no_constants_of_ours() -> Iterator[None]:
    """Within, examples do not depend on the constants in the source of whatever local modules happen to be imported.

    Hypothesis collects them as likely inputs, so that an edit anywhere, or a mutant, would change every example.
    """
    with patch.object(providers, "_get_local_constants", Constants):
        providers.CONSTANTS_CACHE.cache.clear()
        yield
    providers.CONSTANTS_CACHE.cache.clear()
