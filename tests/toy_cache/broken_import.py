"""A subject that can be imported only as it stands."""


def f() -> int:
    """One."""
    return 1


assert f() == 1
