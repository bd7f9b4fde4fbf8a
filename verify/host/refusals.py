"""Refusals in the order in which a host looks for them: where an operation could be refused for two reasons, the first one.

Source: docs/reference.md section 6.
"""

from verify.host.operations import Admit, Advance, End, ForkRequest, HostOperation, Rollback

BEFORE: tuple[HostOperation, ...] = (
    Admit(0, (3, 14, 1, 5, 9, 2, 6, 11, 8), window=2, chunk=4),
    Advance(0),
    Advance(0),
)
"""On 3 pages of 2 rows: request 0 has 8 rows, of which the last one and the page before are left."""

REFUSED: tuple[tuple[HostOperation, str], ...] = (
    (Advance(9), "UnknownRequest"),
    (End(9), "UnknownRequest"),
    (Rollback(9, -1, token=99), "UnknownRequest"),
    (ForkRequest(9, 0, at=-1), "UnknownRequest"),
    (ForkRequest(0, 0, at=-1), "DuplicateRequest"),
    (Admit(0, ()), "DuplicateRequest"),
    (Admit(0, (1,)), "DuplicateRequest"),
    (Admit(1, ()), "BadArgument"),
    (Admit(1, (16,), expected=99), "BadArgument"),
    (Admit(1, (16,)), "BadArgument"),
    (Admit(1, (-1,)), "BadArgument"),
    (Admit(1, (1,), window=0), "BadArgument"),
    (Admit(1, (1,), window=2, sinks=2), "BadArgument"),
    (Admit(1, (1,), sinks=-1), "BadArgument"),
    (Admit(1, (1,), margin=-1), "BadArgument"),
    (Admit(1, (1,), chunk=0), "BadArgument"),
    (Admit(1, (1, 2), expected=1), "BadArgument"),
    (Admit(1, (1,), expected=99), "NotAdmitted"),
    (ForkRequest(0, 1, at=9), "BadArgument"),
    (ForkRequest(0, 1, at=-1), "BadArgument"),
    (ForkRequest(0, 1, at=5, token=16), "BadArgument"),
    (ForkRequest(0, 1, at=8, token=16), "BadArgument"),
    (ForkRequest(0, 1, at=8, padded=True), "BadArgument"),
    (ForkRequest(0, 1, at=5), "RowsReleased"),
    (Rollback(0, 9), "BadArgument"),
    (Rollback(0, -1), "BadArgument"),
    (Rollback(0, 5, token=-1), "BadArgument"),
    (Rollback(0, 8, token=-1), "BadArgument"),
    (Rollback(0, 5), "RowsReleased"),
)
