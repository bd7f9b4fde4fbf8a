"""A failure in vLLM as a Python file in vLLM's own calls, for somebody who has vLLM and nothing of kvproof."""

from collections.abc import Mapping, Sequence
from pprint import pformat
from string import Template
from typing import Any

from spec.operations import Admit, Append, ManagerOperation, Release
from verify.managers.facts import Facts

SPECS = {
    "full": "FullAttentionSpec(block_size=BLOCK_SIZE, **SHAPE)",
    "window": "SlidingWindowSpec(block_size=BLOCK_SIZE, sliding_window={size}{keeps}, **SHAPE)",
    "chunk": "ChunkedLocalAttentionSpec(block_size=BLOCK_SIZE, attention_chunk_size={size}, **SHAPE)",
}

SCRIPT = Template('''\
"""vLLM's KV cache manager, step by step; made by kvproof for vLLM 0.33.0. No model, no GPU.

    HF_HUB_OFFLINE=1 python THIS_FILE

$configuration
It makes the calls that the scheduler makes, shows the block tables after each, and compares the state after the last
call with what is right. Exit code 1: they differ. What is right:
- a lookup serves the longest prefix, in whole blocks and leaving one token, of which every group has all rows that the
  next token reads; it needs free blocks for the others beyond those that it is served;
- rows that the next token reads are in blocks that the request holds, and hold what was computed for its own prefix;
- blocks wholly outside the window are let go of by the next allocate_slots; full blocks stay cached until they are reused.
"""

import os
import sys

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

import torch
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.single_type_kv_cache_manager import register_all_kvcache_specs
from vllm.v1.kv_cache_interface import (
$imports
)
from vllm.v1.request import Request

BLOCK_SIZE = $page_size
SHAPE = dict(num_kv_heads=1, head_size=1, dtype=torch.float32)
SPECS = [
$specs
]

register_all_kvcache_specs(None)
init_none_hash(sha256)
manager = KVCacheManager(
    KVCacheConfig(
        num_blocks=$blocks,  # block 0 is the null block
        kv_cache_tensors=[],
        kv_cache_groups=[KVCacheGroupSpec([f"layer {i}"], spec) for i, spec in enumerate(SPECS)],
    ),
    max_model_len=65536,
    scheduler_block_size=BLOCK_SIZE,
    hash_block_size=BLOCK_SIZE,
    enable_caching=$prefix,
)
pool = manager.block_pool
hasher = get_request_block_hasher(BLOCK_SIZE, sha256)$hasher
requests = {}
memory = {}  # (block id, slot): the tokens up to and with the one whose keys and values the worker has written there


def admit(name, tokens):
    if name in requests or not tokens:
        return refused_by_the_scheduler(name, tokens)
    request = Request(str(name), tokens, SamplingParams(), None, block_hasher=hasher)
    blocks, served, _ = manager.get_computed_blocks(request)
    if manager.allocate_slots(request, len(tokens) - served, served, blocks) is None:
        return report(f"admit({name}, {tokens})", "OutOfPages")
    requests[name] = request
    compute(request, served)
    return report(f"admit({name}, {tokens})", "accepted", served)


def append(name, tokens):
    if name not in requests or not tokens:
        return refused_by_the_scheduler(name, tokens)
    request, hashes = requests[name], len(requests[name].block_hashes)
    request.append_output_token_ids(tokens)
    if manager.allocate_slots(request, len(tokens)) is None:
        # The tokens would wait in the request for another try; here they are taken back.
        del request._all_token_ids[-len(tokens) :], request._output_token_ids[-len(tokens) :]
        del request.block_hashes[hashes:]
        return report(f"append({name}, {tokens})", "OutOfPages")
    compute(request, request.num_computed_tokens)
    return report(f"append({name}, {tokens})", "accepted")


def release(name):
    if name not in requests:
        return refused_by_the_scheduler(name, [0])
    manager.free(requests.pop(name))
    return report(f"release({name})", "accepted")


def refused_by_the_scheduler(name, tokens):
    """vLLM's scheduler owns the requests and never asks for this."""
    return ("BadArgument" if not tokens else "DuplicateRequest" if name in requests else "UnknownRequest"), None


def compute(request, first):
    """What the worker does with the scheduled tokens: it writes their rows through the block tables."""
    tokens = tuple(request.all_token_ids)
    for row in range(first, len(tokens)):
        for table in manager.get_block_ids(request.request_id):
            memory[table[row // BLOCK_SIZE], row % BLOCK_SIZE] = tokens[: row + 1]
    request.num_computed_tokens = len(tokens)


def report(call, outcome, served=None):
    print(call, "->", outcome, "" if served is None else f"with {served} tokens from the cache")
    for name in requests:
        print(f"    request {name}: block tables {list(tables(name))} (0 is the null block)")
    free = [block.block_id for block in pool.free_block_queue.get_all_free_blocks()]
    print(f"    free queue {free}, cached {[block.block_id for block in cached()]}")
    return outcome, served


def tables(name):
    return manager.get_block_ids(str(name))


def cached():
    entries = pool.cached_block_hash_to_block._cache.values()
    return [block for entry in entries for block in (entry.values() if isinstance(entry, dict) else [entry])]


def found(name, group, row):
    """The tokens that the row stands for, as the worker would read it."""
    table = tables(name)[group]
    block = table[row // BLOCK_SIZE] if row // BLOCK_SIZE < len(table) else 0
    return memory.get((block, row % BLOCK_SIZE), "never written") if block else "the null block"


$calls

# Rows that the next token reads, by request and group.
READS = $reads
expected = $expected
observed = {
    "outcome": outcome,
    "served": served,
    "free blocks": pool.get_num_free_blocks(),
    "cached blocks": len(cached()),
    "tokens": {name: request.num_computed_tokens for name, request in requests.items()},
    "blocks held": {name: [[block != 0 for block in table] for table in tables(name)] for name in requests},
}

print()
differences = 0
for what, right in expected.items():
    if right is not None or what == "served":
        differences += observed[what] != right
        print(f"{what}: expected {right}, observed {observed[what]}", "" if observed[what] == right else "  <-- DIFFERENT")
for name in READS.keys() & requests.keys():
    tokens = tuple(requests[name].all_token_ids)
    for group, rows in enumerate(READS[name]):
        for row in rows:
            if found(name, group, row) != tokens[: row + 1]:
                differences += 1
                print(f"request {name}, group {group}, row {row} is read by the next token: expected what was computed for")
                print(f"    {tokens[: row + 1]}, found {found(name, group, row)}  <-- DIFFERENT")
print("They differ." if differences else "They agree.")
sys.exit(1 if differences else 0)
''')


def script(configuration: Mapping[str, Any], operations: Sequence[ManagerOperation], facts: Facts) -> str:
    """The text of a file that repeats the operations, and exits 1 when vLLM then shows other than the facts.

    It has to be run with vLLM's interpreter. Pages are blocks there, and their ids are one higher: 0 is the null block.
    """
    prefix = bool(configuration["prefix"])
    return SCRIPT.substitute(
        configuration=in_words(configuration),
        imports="\n".join(f"    {name}," for name in imports(configuration["groups"])),
        page_size=configuration["page_size"],
        specs="\n".join(f"    {spec_of(group)}," for group in configuration["groups"]),
        blocks=configuration["pages"] + 1,
        prefix=prefix,
        hasher="" if prefix else " if manager.enable_caching else None",
        calls="\n".join(calls(operations)),
        reads=pformat(
            {request: [[row for row, _ in rows] for rows in groups] for request, groups in facts.rows.items()}
        ),
        expected=pformat(
            {
                "outcome": facts.outcome,
                "served": facts.served,
                "free blocks": facts.available,
                "cached blocks": facts.published,
                "tokens": dict(facts.length),
                "blocks held": {request: [list(held) for held in groups] for request, groups in facts.held.items()},
            },
            sort_dicts=False,
            width=110,
        ),
    )


def in_words(configuration: Mapping[str, Any]) -> str:
    """The configuration as a sentence of the docstring."""
    names = {"full": "full attention", "window": "sliding window {size}", "chunk": "chunked local attention {size}"}
    groups = ", ".join(names[group["kind"]].format(size=group["size"]) for group in configuration["groups"])
    cache = "prefix caching" if configuration["prefix"] else "no prefix caching"
    return f"{configuration['pages']} blocks of {configuration['page_size']} tokens; {groups}; {cache}."


def imports(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """What these groups need of kv_cache_interface."""
    return sorted({"KVCacheConfig", "KVCacheGroupSpec", *(SPECS[group["kind"]].partition("(")[0] for group in groups)})


def spec_of(group: Mapping[str, Any]) -> str:
    """The constructor call of the group's KVCacheSpec."""
    keeps = f", extra_retained_tokens={group['keeps']}" if group.get("keeps") else ""
    return SPECS[group["kind"]].format(size=group["size"], keeps=keeps)


def calls(operations: Sequence[ManagerOperation]) -> list[str]:
    """A line an operation; ValueError for one that vLLM does not have."""
    lines = []
    for operation in operations:
        match operation:
            case Admit(request, tokens):
                lines.append(f"admit({request}, {list(tokens)})")
            case Append(request, tokens):
                lines.append(f"append({request}, {list(tokens)})")
            case Release(request):
                lines.append(f"release({request})")
            case _:
                raise ValueError(f"vLLM has no {type(operation).__name__}")
    return [*lines[:-1], f"outcome, served = {lines[-1]}"] if lines else ["outcome, served = 'accepted', None"]
