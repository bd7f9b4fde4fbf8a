"""The enumerated states cover the reachable ones, tokens are new, and a replay ends where it must."""

from spec.operations import Append, New, Release
from spec.page_table import Request, initial, step
from tests.planted import Corrupt, Leaking
from verify.alphabet import alphabet
from verify.bounds import Scope
from verify.induction import layouts
from verify.lockstep import replay

Shape = tuple[tuple[int, int, int, int, tuple[int, ...]], ...]


def shape(requests: dict[int, Request]) -> Shape:
    """Per request id, length, sinks, dropped and pages, these numbered in order of first appearance."""
    names: dict[int, int] = {}
    return tuple(
        (name, len(r.rows), r.sinks, r.dropped, tuple(names.setdefault(cell, len(names)) for cell in r.cells))
        for name, r in sorted(requests.items())
    )


def test_every_state_that_operations_reach_is_enumerated() -> None:
    scope = Scope(2, 2, 2, 3, sinks=1)
    enumerated = {
        shape({name: Request(p.tokens, p.sinks, p.dropped, p.pages) for name, p in layout.requests})
        for layout in layouts(scope)
    }
    frontier = [initial(scope.pages, scope.page_size)]
    reached = {shape({})}
    while frontier:
        state = frontier.pop()
        for operation in alphabet(state, scope, 0):
            after, _ = step(state, operation)
            found = shape(dict(after.requests))
            if found not in reached:
                reached.add(found)
                frontier.append(after)
    assert reached <= enumerated
    assert len(reached) > 100


def test_tokens_are_new_on_every_path() -> None:
    scope = Scope(2, 2, 2, 9)
    tokens = [
        {token for op in alphabet(initial(2, 2), scope, depth) if isinstance(op, Append) for token in op.tokens}
        for depth in range(4)
    ]
    assert sum(map(len, tokens)) == len(set.union(*tokens)) == 4 * scope.most_rows


def test_a_replay_checks_the_start_and_ends_at_the_first_difference() -> None:
    assert {difference.rule for difference in replay((New(0),), 2, 2, Corrupt).differences} >= {"PT-FREE"}
    assert replay((New(0),), 2, 2, Corrupt).applied == ()
    operations = (New(0), Append(0, (1,)), Release(0), New(1), New(2))
    assert replay(operations, 2, 2, Leaking).applied == operations[:3]
