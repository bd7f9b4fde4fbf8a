"""Contracts as Hypothesis properties: examples from any integers, from Hypothesis itself or from CrossHair's solver."""

from hypothesis import given, settings
from hypothesis import strategies as st

from impl import page_table
from impl import window as host
from spec import window as oracle
from spec.operations import Append, Fork, New, Operation, Release, Trim, Truncate
from spec.page_table import initial
from verify.contracts.backend import PROPERTIES
from verify.contracts.id_target import IdTarget, some_rows
from verify.lockstep import Lockstep

CHOSEN = settings.get_profile(PROPERTIES)
NATURAL = st.integers(min_value=0)
POSITIVE = st.integers(min_value=1)


@CHOSEN
@given(step=POSITIVE, sliding=POSITIVE, sinks=NATURAL)
def test_host_and_oracle_agree_on_any_window(step: int, sliding: int, sinks: int) -> None:
    """WIN-1, WIN-2, WIN-3, WIN-6."""
    window = sliding + sinks
    assert host.context(step, window) == oracle.context(step, window)
    assert host.gather_ranges(step, window, sinks) == oracle.rows_read(step, window, sinks)
    assert host.keep_from(step, window, sinks) == oracle.keep_from(step, window, sinks)


@CHOSEN
@given(
    rows=st.integers(0, 7),
    at=st.integers(-1, 7),
    kind=st.integers(0, 3),
    name=st.integers(0, 1),
    last=st.integers(0, 7),
)
def test_an_operation_after_a_fork_refines_the_oracle(rows: int, at: int, kind: int, name: int, last: int) -> None:
    """PT-OWN, PT-SHARE, PT-INPLACE, PT-PAGES."""
    run = Lockstep(IdTarget(page_table.PageTable(3, 2)), initial(3, 2))
    then: tuple[Operation, ...] = (Append(name, some_rows(last)), Trim(name, last), Truncate(name, last), Release(name))
    for operation in (New(0), Append(0, some_rows(rows)), Fork(0, 1, at), then[kind]):
        assert run.apply(operation) == ()
