"""The adapter of the little serving system, as a third party would write it: it imports nothing of kvproof."""

from __future__ import annotations

import time
from typing import Any
from zlib import crc32

from tests.toy_serving import serving

capabilities: dict[str, Any] = {
    "kvproof": "manager",
    "name": "toy serving 1.0",
    "operations": ["admit", "append", "release"],
    "shows": ["counts", "free", "published"],
    "configurations": [
        {"name": "page 1", "pages": 4, "page_size": 1, "groups": [{"kind": "full"}]},
        {"name": "page 2", "pages": 6, "page_size": 2, "groups": [{"kind": "full"}]},
    ],
}


class Adapter:
    """One pool and the memory behind it."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        self.pages = configuration["pages"]
        self.pool = serving.Pool(self.pages, configuration["page_size"])
        self.tokens: dict[int, list[int]] = {}
        self.memory: dict[tuple[int, int], int] = {}

    def admit(self, request: int, tokens: list[int]) -> int | str:
        if request in self.tokens:
            return "DuplicateRequest"
        if not tokens:
            return "BadArgument"
        try:
            self.pool.begin(request, len(tokens))
        except serving.FullError:
            return "OutOfPages"
        self.tokens[request] = []
        self.write(request, tokens)
        return 0

    def append(self, request: int, tokens: list[int]) -> str | None:
        if request not in self.tokens:
            return "UnknownRequest"
        if not tokens:
            return "BadArgument"
        try:
            self.pool.extend(request, len(tokens))
        except serving.FullError:
            return "OutOfPages"
        self.write(request, tokens)
        return None

    def release(self, request: int) -> str | None:
        if request not in self.tokens:
            return "UnknownRequest"
        del self.tokens[request]
        self.pool.end(request)
        return None

    def write(self, request: int, tokens: list[int]) -> None:
        told = self.tokens[request]
        for token in tokens:
            told.append(token)
            self.memory[self.slot(request, len(told) - 1)] = crc32(bytes(told)) * 256 + len(told) % 256

    def slot(self, request: int, row: int) -> tuple[int, int]:
        return self.pool.tables[request][row // self.pool.page_size], row % self.pool.page_size

    def observe(self) -> dict[str, Any]:
        requests, counts = {}, [0] * self.pages
        for request, length in self.pool.lengths.items():
            table = self.pool.tables[request]
            rows = [self.memory.get(self.slot(request, row)) for row in range(length)]
            requests[str(request)] = {"length": length, "tables": [list(table)], "rows": [rows]}
            for page in table:
                counts[page] += 1
        free = list(self.pool.free)
        return {"requests": requests, "counts": counts, "free": free, "available": len(free), "published": []}


def honest(configuration: dict[str, Any]) -> Adapter:
    """The system as it should be."""
    return Adapter(configuration)


def leaky(configuration: dict[str, Any]) -> Adapter:
    """The system that loses pages."""
    serving.LEAKY = True
    return Adapter(configuration)


def slow(configuration: dict[str, Any]) -> Adapter:
    """The system as it should be, on a slow machine."""
    time.sleep(0.5)
    return Adapter(configuration)


def broken(configuration: dict[str, Any]) -> Adapter:
    """The system without one of its files."""
    raise OSError("a file is missing")
