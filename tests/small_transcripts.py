"""Transcripts of the page table in four scopes that take no time, as a suite for the tests of lock-step."""

from verify.bounds import Scope
from verify.explore import StepsExhausted
from verify.transcript import PAGE_TABLE, stages

__all__ = ["STAGES", "StepsExhausted"]

SCOPES = (
    Scope(2, 1, 1, 3, sinks=1),
    Scope(2, 1, 2, 1, sinks=0),
    Scope(2, 2, 1, 3, sinks=0),
    Scope(2, 1, 1, 2, raw_ids=True),
)

STAGES = stages(PAGE_TABLE, {scope: scope.page_size for scope in SCOPES})
