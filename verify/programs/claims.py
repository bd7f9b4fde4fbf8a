"""What a check of the chip's software says of one thing: what is made is what is due, or making it is refused in these words."""

from collections.abc import Callable, Sequence

from verify.decode.oracle import Found
from verify.refinement import Difference
from verify.target import Raised, answered


def same(rule: str, what: str, due: object, made: Callable[[], object]) -> Found:
    """What is made is what is due, of its type."""
    shown = answered(made)
    return [] if type(shown) is type(due) and shown == due else [Difference(rule, f"{what}: {due}", f"{shown}")], 1


def refused(rule: str, what: str, error: type[Exception], says: Sequence[str], made: Callable[[], object]) -> Found:
    """Making it raises that error, no class derived from it, which begins with the first of these words and has all of them."""
    shown = answered(made)
    message = shown.message if isinstance(shown, Raised) and shown.kind == error.__name__ else None
    if message is not None and message.startswith(says[0]) and all(word in message for word in says):
        return [], 1
    return [Difference(rule, f"{what}: {error.__name__}, {', '.join(says)}", f"{shown}")], 1
