"""Probes, as a child runs them: whether an expression that a mutant changes ever had another value, or its statement ever ran.

A probe that has answered costs next to nothing from then on.
"""

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager

VALUE, PLACE = "__kvproof_value__", "__kvproof_place__"
"""What probed code calls: value(first, count, test, evaluate), and place[number] = 1 before a statement."""

SIMPLE = frozenset({int, bool, str, bytes, type(None)})
TRUTHS = SIMPLE | {float, list, tuple, dict, set, frozenset}
"""Types whose truth is asked without running anything of ours."""


@contextmanager
def probing(count: int) -> Iterator[bytearray]:
    """Has so many probes in place until the end of the block; what it yields has 1 for each that has told its mutant apart."""
    told = bytearray(count)
    open_probes: dict[int, list[int]] = {}

    def value(first: int, count: int, test: bool, evaluate: Callable[[int], object]) -> object:
        left = open_probes.get(first)
        if left is None:
            left = open_probes[first] = list(range(1, count + 1))
        try:
            found = evaluate(0)
        except BaseException:
            for which in left:
                told[first + which - 1] = 1
            left.clear()
            raise
        for which in tuple(left):
            try:
                same = alike(found, evaluate(which), test)
            except Exception:
                same = False
            if not same and which in left:  # a property that was read may have come by here, too
                told[first + which - 1] = 1
                left.remove(which)
        return found

    setattr(builtins, VALUE, value)
    setattr(builtins, PLACE, told)
    try:
        yield told
    finally:
        delattr(builtins, VALUE)
        delattr(builtins, PLACE)


def alike(one: object, other: object, test: bool = False) -> bool:
    """Whether no program can tell the two values apart; as a test, whether both are true or neither is. False where unsure."""
    if test:
        return type(one) in TRUTHS and type(other) in TRUTHS and bool(one) == bool(other)
    if type(one) is not type(other):
        return False
    if type(one) in SIMPLE:
        return one == other
    if isinstance(one, float) and isinstance(other, float):
        return type(one) is float and one.hex() == other.hex()
    if isinstance(one, tuple) and isinstance(other, tuple):
        return type(one) is tuple and len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, range | slice) and isinstance(other, range | slice):
        return alike((one.start, one.stop, one.step), (other.start, other.stop, other.step))
    return False
