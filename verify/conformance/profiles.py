"""How far a conformance run looks, by profile."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """`operations` are checked in each configuration at least, in walks; `each` is how often every possible situation must be
    met over all of them, for which at most `rounds` more runs over all configurations are made.

    `transitions` bounds the exhaustive search of a configuration, 0 for none. A planted fault is looked for in at most
    `fault_operations`. `rate_walks` walks a configuration are what rates are measured on.
    """

    name: str
    operations: int
    each: int
    rounds: int
    transitions: int
    fault_operations: int
    rate_walks: int


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("dev", 500, 1, 2, 0, 10_000, 2),
        Profile("ci", 6_000, 100, 6, 14_000, 50_000, 8),
        Profile("deep", 50_000, 1_000, 8, 200_000, 200_000, 16),
    )
}
