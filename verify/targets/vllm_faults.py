"""Faults planted in vLLM while it runs, to see that the check of verify/targets/vllm.py can fail.

FAULTS[name]() changes vLLM's classes in this process for good. Each is a slip that such code invites, and each is reachable
through the adapter's operations in at least one of its configurations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vllm.v1.core import kv_cache_utils
from vllm.v1.core.block_pool import BlockHashToBlockMap, BlockPool
from vllm.v1.core.kv_cache_coordinator import HybridKVCacheCoordinator
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.single_type_kv_cache_manager import (
    ChunkedLocalAttentionManager,
    SingleTypeKVCacheManager,
    SlidingWindowManager,
)


def window_trims_a_row_early() -> None:
    """A sliding window lets go of the oldest row that the next step still reads."""
    skipped = SlidingWindowManager.get_num_skipped_tokens
    SlidingWindowManager.get_num_skipped_tokens = lambda self, computed: skipped(self, computed + 1)


def window_trims_a_row_late() -> None:
    """A sliding window keeps one row behind those that the next step reads."""
    skipped = SlidingWindowManager.get_num_skipped_tokens
    SlidingWindowManager.get_num_skipped_tokens = lambda self, computed: skipped(self, computed - 1)


def chunk_trims_a_row_early() -> None:
    """Chunked local attention lets go of a chunk when its last row is still to come."""
    skipped = ChunkedLocalAttentionManager.get_num_skipped_tokens
    ChunkedLocalAttentionManager.get_num_skipped_tokens = lambda self, computed: skipped(self, computed + 1)


def hit_takes_no_reference() -> None:
    """A page that is served from the cache leaves the free queue, but its count stays as it was."""

    def touch(self: BlockPool, blocks: Any) -> None:
        for block in blocks:
            if not block.is_null and block.ref_cnt == 0:
                self.free_block_queue.remove(block)

    BlockPool.touch = touch


def evicted_key_stays() -> None:
    """A page that is reused loses its own hash, but the map from hashes to pages still names it."""

    def evict(self: BlockPool, block: Any) -> bool:
        block.reset_hash()
        return True

    BlockPool._maybe_evict_cached_block = evict


def partial_page_is_lost() -> None:
    """A page that was not full when its request ended does not come back to the free queue."""
    free = BlockPool.free_blocks

    def free_blocks(self: BlockPool, ordered_blocks: Any) -> None:
        blocks = [block for block in ordered_blocks if not block.is_null]
        lost = [block for block in blocks if block.block_hash is None and block.ref_cnt == 1]
        for block in lost:
            block.ref_cnt = 0
        free(self, [block for block in blocks if block not in lost])

    BlockPool.free_blocks = free_blocks


def head_is_freed_first() -> None:
    """A request that ends gives its pages back from the first to the last, so that the head of its prefix is reused first."""

    def free(self: SingleTypeKVCacheManager, request_id: str) -> None:
        self.block_pool.free_blocks(self.pop_blocks_for_free(request_id))

    SingleTypeKVCacheManager.free = free


def youngest_is_evicted_first() -> None:
    """Published pages that nobody holds any more go to the front of the free queue."""
    queue = kv_cache_utils.FreeKVCacheBlockQueue
    queue.append_n = queue.prepend_n


def hit_covers_all_tokens() -> None:
    """A lookup may serve every token of a request and leave none to compute."""
    look_up = KVCacheManager.get_computed_blocks
    KVCacheManager.get_computed_blocks = lambda self, request: look_up(self, request, request.num_tokens)


def hash_is_not_chained() -> None:
    """The hash of a page covers its own tokens only, not those before it."""
    hash_tokens = kv_cache_utils.hash_block_tokens
    kv_cache_utils.hash_block_tokens = lambda function, parent, *rest: hash_tokens(function, None, *rest)


def admission_ignores_idle_hits() -> None:
    """The check before an admission counts a served page that nobody holds as still available."""
    SingleTypeKVCacheManager._get_num_evictable_blocks = classmethod(lambda cls, blocks: 0)


def copy_replaces_the_first() -> None:
    """When a second page is published under a key, the map forgets the first."""
    BlockHashToBlockMap.insert = lambda self, key, block: self._cache.__setitem__(key, block)


def groups_look_up_once() -> None:
    """A group that shortens the hit does not make the groups before it look again at the shorter length."""

    def find(self: HybridKVCacheCoordinator, block_hashes: Any, max_cache_hit_length: int) -> tuple[Any, int, int]:
        hit = max_cache_hit_length
        found: dict[int, Any] = {}
        for spec, group_ids, manager_cls, _ in self.attention_groups:
            blocks, hit = manager_cls.find_longest_cache_hit(
                block_hashes=block_hashes,
                max_length=hit,
                kv_cache_group_ids=group_ids,
                block_pool=self.block_pool,
                kv_cache_spec=spec,
                drop_eagle_block=False,
                alignment_tokens=self.scheduler_block_size,
            )
            found.update(zip(group_ids, blocks, strict=True))
        pages = hit // self.scheduler_block_size
        return tuple(found[group][:pages] for group in sorted(found)), hit, 0

    HybridKVCacheCoordinator.find_longest_cache_hit = find


FAULTS: dict[str, Callable[[], None]] = {
    fault.__name__: fault
    for fault in (
        window_trims_a_row_early,
        window_trims_a_row_late,
        chunk_trims_a_row_early,
        hit_takes_no_reference,
        evicted_key_stays,
        partial_page_is_lost,
        head_is_freed_first,
        youngest_is_evicted_first,
        hit_covers_all_tokens,
        hash_is_not_chained,
        admission_ignores_idle_hits,
        copy_replaces_the_first,
        groups_look_up_once,
    )
}
