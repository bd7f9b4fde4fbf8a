"""The rules of order, one function each, on the registers of a cycle. Source: docs/chip.md section 5."""

from impl.chip_model.rows import RowSet


def chase(rows: RowSet, owed: RowSet) -> bool:
    """CHASE: whether CX may read a row, given as a set, as far as loads in the queue go."""
    return rows & owed == 0


def load_is_held(rows: RowSet, active: bool, op_rows: RowSet) -> bool:
    """LOAD: whether a load of these rows waits for the active op, whose rows are `op_rows`."""
    return active and rows & op_rows != 0


def store_is_held(rows: RowSet, active: bool, op_results: RowSet) -> bool:
    """STORE: whether a store of these rows waits for the active op, whose result rows are `op_results`."""
    return active and rows & op_results != 0


def op_is_held(results: RowSet, active: bool, owed: RowSet, stored: RowSet) -> bool:
    """RESULT: whether an op with these result rows waits for CX, or for loads and stores in the queue."""
    return active or results & (owed | stored) != 0


def setting_is_held(active: bool) -> bool:
    """IDLE: whether SETQ and STREG wait for CX."""
    return active


def ending_is_held(active: bool, occupancy: int) -> bool:
    """IDLE: whether HALT, FENCE and an error wait for CX and the queue."""
    return active or occupancy > 0


def quiet(outstanding: int) -> bool:
    """QUIET: whether a store may read a row, and STREG may raise its write."""
    return outstanding == 0


def op_may_read(store_reads: bool) -> bool:
    """PORTS: whether CX has the read port."""
    return not store_reads


def result_may_be_written(load_writes: bool) -> bool:
    """PORTS: whether CX's result row has the write port."""
    return not load_writes
