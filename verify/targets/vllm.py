"""vLLM's KV cache manager as a target: it runs in vLLM's own interpreter and imports nothing of kvproof.

vLLM 0.33.0, package vllm.v1.core: KVCacheManager over its coordinator, one manager a group, and the BlockPool. vLLM's
scheduler owns the requests, so the refusals of unknown and known ids and of no tokens at all are this file's; everything
else that is reported is read from vLLM's objects. vLLM keeps no rows on its side: the memory by (block, slot) is here, and
only what vLLM says is to be computed is written, through the block tables that it shows.
"""

from __future__ import annotations

import os
from typing import Any
from zlib import crc32

if __name__ == "vllm":
    raise ImportError(
        "imported as vllm this file would hide vLLM itself: use verify.targets.vllm, with the root as path"
    )
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.kv_cache_utils import get_block_hash, get_group_id, get_request_block_hasher, init_none_hash
from vllm.v1.core.single_type_kv_cache_manager import register_all_kvcache_specs
from vllm.v1.kv_cache_interface import (
    ChunkedLocalAttentionSpec,
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
    SlidingWindowSpec,
)
from vllm.v1.request import Request, RequestStatus

Told = dict[str, Any]  # in the words of the wire

TRAITS: Told = {
    "leaves": 1,  # get_computed_blocks looks up at most num_tokens - 1 tokens, so that the last one gives logits
    "commits": False,  # allocate_slots caches full blocks at once; the worker writes them in the same step
    "tail": "shared",  # no fork: a block that is shared is full, so none is ever copied
    "trims": "before",  # allocate_slots frees skipped blocks first, on the tokens computed so far, even if it then fails
    "recycles": False,
    "granule": "page",  # remove_skipped_blocks rounds the skipped tokens down to whole blocks
    "forks": "anywhere",
}
LONGEST = 1 << 16  # max_model_len, far above what a pool of a few blocks can hold
NO_NAME = -1  # a key in vLLM's map that no Request has computed
SAMPLING = SamplingParams()

register_all_kvcache_specs(None)
init_none_hash(sha256)


def configuration(name: str, pages: int, page_size: int, *groups: Told, prefix: bool = True) -> Told:
    """A configuration in the words of the wire."""
    told = [{"kind": "full", "size": 0, "sinks": 0, "keeps": 0, **group} for group in groups]
    return {"name": name, "pages": pages, "page_size": page_size, "groups": told, "prefix": prefix, **TRAITS}


def window(size: int) -> Told:
    """A group of sliding window attention, the window counting the query itself as vLLM's does."""
    return {"kind": "window", "size": size}


def chunk(size: int) -> Told:
    """A group of chunked local attention."""
    return {"kind": "chunk", "size": size}


FULL: Told = {}

capabilities: Told = {
    "kvproof": "manager",
    "name": "vLLM 0.33.0",
    "operations": ["admit", "append", "release"],
    "shows": ["counts", "free", "published"],
    "configurations": [
        configuration("full, page 1", 5, 1, FULL),
        configuration("full, page 2", 6, 2, FULL),
        configuration("full, page 4", 5, 4, FULL),
        configuration("full, page 2, no cache", 5, 2, FULL, prefix=False),
        configuration("window 1, page 1", 4, 1, window(1)),
        configuration("window 3, page 1", 5, 1, window(3)),
        configuration("window 3, page 2", 5, 2, window(3)),
        configuration("window 4, page 2", 6, 2, window(4)),
        configuration("window 2, page 4", 4, 4, window(2)),
        configuration("window 5, page 4", 5, 4, window(5)),
        configuration("window 3, page 2, no cache", 5, 2, window(3), prefix=False),
        configuration("window 3 and a row more, page 1, no cache", 5, 1, {**window(3), "keeps": 1}, prefix=False),
        configuration("full + window 3, page 2", 10, 2, FULL, window(3)),
        configuration("full + window 4 + window 2, page 2", 12, 2, FULL, window(4), window(2)),
        configuration("window 3 + window 2, page 1", 6, 1, window(3), window(2)),
        configuration("full + window 1, page 2", 8, 2, FULL, window(1)),
        configuration("chunk 4, page 2", 6, 2, chunk(4)),
        configuration("chunk 6, page 4", 5, 4, chunk(6)),
        configuration("full + chunk 4, page 2", 9, 2, FULL, chunk(4)),
        configuration("chunk 4 + window 2, page 2", 7, 2, chunk(4), window(2)),
    ],
}


def factory(configuration: Told) -> Manager:
    """A fresh KVCacheManager behind the methods of the wire."""
    return Manager(configuration)


def spec_of(group: Told, page_size: int) -> Any:
    """vLLM's description of the group; heads and types do not matter to who holds which block."""
    sizes: Told = {"block_size": page_size, "num_kv_heads": 1, "head_size": 1, "dtype": torch.float32}
    if group["kind"] == "window":
        return SlidingWindowSpec(sliding_window=group["size"], extra_retained_tokens=group["keeps"], **sizes)
    if group["kind"] == "chunk":
        return ChunkedLocalAttentionSpec(attention_chunk_size=group["size"], **sizes)
    return FullAttentionSpec(**sizes)


class Manager:
    """One KVCacheManager, the requests that vLLM's scheduler would own, and the memory that its worker would own."""

    def __init__(self, configuration: Told) -> None:
        pages, self.page_size = configuration["pages"], configuration["page_size"]
        specs = [spec_of(group, self.page_size) for group in configuration["groups"]]
        groups = [KVCacheGroupSpec([f"layer {number}"], spec) for number, spec in enumerate(specs)]
        # Block 0 is the null block, which stands for every released page: the pool has one more, and ids are shifted by one.
        # Retention is KVCacheConfig's default, None: every full page is published. That of vLLM's command line, 0, publishes
        # of a window group only what a request with the same prompt, or one that shares a known prefix, would be served.
        self.vllm = KVCacheManager(
            KVCacheConfig(num_blocks=pages + 1, kv_cache_tensors=[], kv_cache_groups=groups),
            max_model_len=LONGEST,
            scheduler_block_size=self.page_size,
            hash_block_size=self.page_size,
            enable_caching=configuration["prefix"],
        )
        self.hasher = get_request_block_hasher(self.page_size, sha256) if configuration["prefix"] else None
        self.requests: dict[int, Request] = {}
        self.memory: list[list[int | None]] = [[None] * self.page_size for _ in range(pages + 1)]
        self.names: dict[bytes, int] = {}  # the value of the last row by each block hash that a Request has computed

    def admit(self, request: int, tokens: list[int]) -> int | str:
        if request in self.requests:
            return "DuplicateRequest"
        if not tokens:
            return "BadArgument"
        asked = Request(str(request), list(tokens), SAMPLING, None, block_hasher=self.hasher)
        values = self.values_of(asked)
        served: int
        blocks, served, _ = self.vllm.get_computed_blocks(asked)
        if self.vllm.allocate_slots(asked, asked.num_tokens - served, served, blocks) is None:
            return "OutOfPages"
        asked.status = RequestStatus.RUNNING
        self.requests[request] = asked
        self.write(asked, served, values)
        return served

    def append(self, request: int, tokens: list[int]) -> str | None:
        asked = self.requests.get(request)
        if asked is None:
            return "UnknownRequest"
        if not tokens:
            return "BadArgument"
        rows, hashes = asked.num_computed_tokens, len(asked.block_hashes)
        asked.append_output_token_ids(list(tokens))
        values = self.values_of(asked)
        if self.vllm.allocate_slots(asked, len(tokens)) is None:
            # The scheduler would keep the tokens for another try. A refused append takes none, so they are taken back,
            # as the scheduler does with the last token of a streaming session.
            del asked._all_token_ids[rows:], asked._output_token_ids[-len(tokens) :], asked.block_hashes[hashes:]
            return "OutOfPages"
        self.write(asked, rows, values)
        return None

    def release(self, request: int) -> str | None:
        if request not in self.requests:
            return "UnknownRequest"
        self.vllm.free(self.requests.pop(request))
        return None

    def observe(self) -> Told:
        pool = self.vllm.block_pool
        return {
            "requests": {str(request): self.view(asked) for request, asked in self.requests.items()},
            "counts": [block.ref_cnt for block in pool.blocks[1:]],
            "free": [block.block_id - 1 for block in pool.free_block_queue.get_all_free_blocks()],
            "available": pool.get_num_free_blocks(),
            "published": [
                [block.block_id - 1, get_group_id(key), self.names.get(get_block_hash(key), NO_NAME)]
                for key, found in pool.cached_block_hash_to_block._cache.items()
                for block in (found.values() if isinstance(found, dict) else [found])
            ],
        }

    def view(self, asked: Request) -> Told:
        """The request as its block tables show it."""
        size, length, tables, rows = self.page_size, asked.num_computed_tokens, [], []
        for blocks in self.vllm.coordinator.get_blocks(asked.request_id):
            tables.append([None if block.is_null else block.block_id - 1 for block in blocks])
            slots = [
                slot for block in blocks for slot in ([None] * size if block.is_null else self.memory[block.block_id])
            ]
            rows.append((slots + [None] * length)[:length])
        return {"length": length, "tables": tables, "rows": rows}

    def write(self, asked: Request, first: int, values: list[int]) -> None:
        """Compute the rows from `first` on, as the worker does once the step is scheduled: through the block tables."""
        for blocks in self.vllm.coordinator.get_blocks(asked.request_id):
            for row in range(first, min(len(values), len(blocks) * self.page_size)):
                self.memory[blocks[row // self.page_size].block_id][row % self.page_size] = values[row]
        asked.num_computed_tokens = len(values)

    def values_of(self, asked: Request) -> list[int]:
        """The value of every row; the block hashes that vLLM has made of them get their names."""
        digest, values = 0, []
        for number, token in enumerate(asked.all_token_ids, start=1):
            digest = crc32(bytes((token,)), digest)
            values.append(digest * 256 + number % 256)
        self.names.update(zip(asked.block_hashes, values[self.page_size - 1 :: self.page_size], strict=False))
        return values
