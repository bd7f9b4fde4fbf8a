"""Drives TVM's paged KV cache (C++, the one of MLC-LLM), apache-tvm 0.27.0.post1, as a manager: docs/target-protocol.md.

It runs in TVM's own interpreter, as the module verify.targets.tvm. The kernels are Python callbacks over the cache's own tensors,
two layers of K and V, so that every write, page copy and read is TVM's.

TVM says of a sequence how many rows it has, L, and by the position map of its debug kernel in which slot each of them lies. Once
a window has slid it forgets how many rows went before. So the adapter counts, by TVM's own lengths, the rows that each append let
go of, G: the sequence has n = L + G logical rows, the first S of them are the sinks, the last L - S follow the gap, and logical
page j is the physical page in which TVM has the first readable row of j, none when that slot is outside the pool. Nothing else is
remembered but the tokens, which row values are made of.

What a host does, MLC-LLM's engine for one, the adapter does too. An admission is add_sequence, the window's settings and one
forward pass over all tokens; one that fails is followed by remove_sequence. A fork of a request with a window gets the window's
settings of its own. Truncate pops the rows that are held past the cut; popn counts only these, so that a cut among those that
are gone cannot be put to TVM, and is refused here. A fork at -1 is asked for as -2, since -1 is TVM's word for the whole parent.
Where a configuration says ASKING, admissions and appends that need more pages than are available are not tried, as the engine
does: a pass that TVM refuses has already changed its state, and a search would not get past that. reserved_num_seqs is the
largest batch of a forward pass (TVM's front end calls it max_batch_size), and every pass here is of one sequence.

After a pass that failed, TVM's map has rows that its blocks lack: uninitialised memory. Under
GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=85 they are outside every pool, and the same in every run.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

if __name__ == "tvm":
    raise ImportError("imported as tvm this file would hide TVM itself: use verify.targets.tvm, with the root as path")

import tvm
import tvm_ffi

LAYERS = 2
HEAD_DIM = 8
"""Bytes of an element: K and V are uint8, and the eight of a row hold its value as a little-endian word."""

MASKS = np.array([[0x9D3F1C, 0x5A27E1], [0xC2640B, 0x31B8D7]], dtype=np.uint64) << np.uint64(40)
"""Differs by layer and by K and V, so that a row that lands in another layer, or as the other of the two, reads as none."""

MASKS_IN_ORDER = MASKS.T.reshape(-1, 1)
"""K of all layers, then V."""

POISON = 0xEE
LONGEST_PASS = 512
"""TVM's prefill_chunk_size: the most tokens of one forward pass."""

FULL = "The KV cache is full"
REASONS = {
    FULL: "OutOfPages",
    "cannot be found in KV cache": "UnknownRequest",
    "is already in the KV cache": "DuplicateRequest",
    "Append with length 0 is not allowed": "BadArgument",
    "The forked position should": "BadArgument",
    "The length of popping": "BadArgument",
    "which exceeds the whole sequence length": "BadArgument",
}
"""What TVM's exceptions say, and the reason that it stands for; any other is raised as it is."""

ASKING = ", asking first"
CALM = ["admit", "append", "release"]
"""What is left when no request is forked or cut."""


def configuration(
    name: str,
    pages: int,
    page_size: int,
    window: tuple[int, int] | None = None,
    operations: list[str] | None = None,
) -> dict[str, Any]:
    """A configuration of the capabilities; `window` is (W, S)."""
    kind = {"kind": "full"} if window is None else {"kind": "window", "size": window[0], "sinks": window[1], "keeps": 1}
    traits = {"prefix": False, "leaves": 1, "commits": False, "tail": "copied", "trims": "after", "recycles": True}
    forks = {"granule": "row", "forks": "anywhere" if window is None else "sinks"}
    narrowed = {} if operations is None else {"operations": operations}
    return {"name": name, "pages": pages, "page_size": page_size, "groups": [kind], **traits, **forks, **narrowed}


capabilities = {
    "kvproof": "manager",
    "name": f"apache-tvm {tvm.__version__}",
    "operations": ["admit", "append", "fork", "truncate", "release"],
    "shows": [],
    "configurations": [
        configuration("full, page 1", 6, 1),
        configuration("full, page 2", 5, 2),
        configuration("full, page 4", 4, 4),
        configuration("window 1, page 1", 3, 1, (1, 0)),
        configuration("window 3, sinks 1, page 2", 6, 2, (3, 1)),
        configuration("window 4, page 2", 6, 2, (4, 0)),
        configuration("window 2, page 4", 4, 4, (2, 0)),
        configuration("window 6, sinks 3, page 2", 8, 2, (6, 3)),
        configuration("window 6, sinks 4, page 4", 5, 4, (6, 4)),
        # Narrowed to where what the searches find in the above does not end every walk: passes that a host would not try, enough
        # pages for every request, no forks and cuts beside a window.
        configuration("full, page 2" + ASKING, 5, 2),
        configuration("full, page 4" + ASKING, 4, 4),
        configuration("full, page 2, no fork" + ASKING, 5, 2, None, [*CALM, "truncate"]),
        configuration("full, page 2, 800 pages", 800, 2),
        configuration("window 3, sinks 1, page 2, 40 pages", 40, 2, (3, 1), [*CALM, "fork"]),
        configuration("window 4, page 2, 40 pages", 40, 2, (4, 0), [*CALM, "fork"]),
        configuration("window 2, page 4, 40 pages", 40, 4, (2, 0), [*CALM, "fork"]),
        configuration("window 6, sinks 3, page 2, 40 pages", 40, 2, (6, 3), CALM),
        configuration("window 6, sinks 4, page 4, 40 pages", 40, 4, (6, 4), CALM),
    ],
}


class Kernels:
    """The kernels of one cache. They know nothing of the adapter: a way back from C++ to the cache would never be freed."""

    def __init__(self, page_size: int) -> None:
        self.page_size = page_size
        self.written: set[int] = set()
        self.positions: list[int] = []

    def split_rotary(self, qkv_data: Any, _positions: Any, q_data: Any, k_data: Any, v_data: Any, _rope: int) -> None:
        """Q, K and V out of the fused tensor, without rotary embedding: the slots must hold what was given."""
        fused = np.from_dlpack(qkv_data)
        for index, part in enumerate((q_data, k_data, v_data)):
            np.from_dlpack(part)[:] = fused[:, index : index + 1]

    def transpose_append(self, pages: Any, k_data: Any, v_data: Any, position_map: Any) -> None:
        """Write the rows where TVM says; -1 is a row that the window lets go of within the pass."""
        pool, k, v = np.from_dlpack(pages), np.from_dlpack(k_data), np.from_dlpack(v_data)
        address = pool.__array_interface__["data"][0]
        if address not in self.written:
            # The memory may be that of an earlier cache, whose rows would pass for rows that were never written here.
            self.written.add(address)
            pool[:] = POISON
        for row, position in enumerate(np.from_dlpack(position_map).tolist()):
            if position == -1:
                continue
            page, slot = divmod(position, self.page_size)
            self.check_page(page, pool)
            pool[page, 0, :, slot] = k[row]
            pool[page, 1, :, slot] = v[row]

    def copy_single_page(self, pages: Any, source: int, target: int, length: int) -> None:
        """Copy the first rows of a page."""
        pool = np.from_dlpack(pages)
        self.check_page(source, pool)
        self.check_page(target, pool)
        pool[target, :, :, :length] = pool[source, :, :, :length]

    def debug_get_kv(self, pages: Any, position_map: Any, k_data: Any, v_data: Any, layer: int) -> None:
        """Gather the rows of one layer, and keep the map; a position outside the pool reads as poison."""
        pool: Any = np.from_dlpack(pages)
        positions: Any = np.from_dlpack(position_map)
        words = pool.view("<u8").reshape(-1)  # of each page the K of its slots, then the V
        index = positions + positions // self.page_size * self.page_size
        outside = positions.view(np.uint32) >= len(pool) * self.page_size
        for offset, data in ((0, k_data), (self.page_size, v_data)):
            read = np.from_dlpack(data).view("<u8")[layer, :, 0, 0]
            read[:] = words.take(index + offset, mode="clip")
            read[outside] = POISON
        self.positions = positions.tolist()

    @staticmethod
    def check_page(page: int, pool: Any) -> None:
        """TVM's compiled kernels would write past the pool there, unnoticed."""
        if not 0 <= page < len(pool):
            raise IndexError(f"TVM names page {page} of a pool of {len(pool)}")


class Adapter:
    """One cache, and what a host remembers of its sequences: their tokens, and the rows that each has let go of."""

    capabilities = capabilities

    def __init__(self, configuration: dict[str, Any]) -> None:
        group = configuration["groups"][0]
        self.window = (group["size"], group["sinks"]) if group["kind"] == "window" else None
        self.pages, self.page_size = configuration["pages"], configuration["page_size"]
        self.cache, self.kernels = create_cache(self.pages, self.page_size, self.window is not None)
        self.call = functions()
        self.asking = ASKING in configuration["name"]
        self.tokens: dict[int, bytes] = {}
        self.gone: dict[int, int] = {}

    def admit(self, request: int, tokens: list[int]) -> int | str:
        """Add a sequence and compute all of its tokens; nothing is ever served."""
        try:
            self.call["add_sequence"](self.cache, request)
        except Exception as error:
            return reason_of(error)
        try:
            self.enable_window(request)
            self.forward(request, tokens)
        except Exception as error:
            self.call["remove_sequence"](self.cache, request)
            self.gone.pop(request, None)
            return reason_of(error)
        return 0

    def append(self, request: int, tokens: list[int]) -> str | None:
        try:
            self.forward(request, tokens)
        except Exception as error:
            return reason_of(error)
        return None

    def fork(self, request: int, to: int, at: int) -> str | None:
        try:
            self.call["fork_sequence"](self.cache, request, to, -2 if at == -1 else at)
            self.enable_window(to)
        except Exception as error:
            return reason_of(error)
        self.tokens[to], self.gone[to] = self.tokens[request][:at], 0
        return None

    def truncate(self, request: int, length: int) -> str | None:
        try:
            held, gone = self.length(request), self.gone.get(request, 0)
            sinks = self.window[1] if self.window else 0
            if sinks < length < sinks + gone:
                return "RowsReleased"
            kept = length if length <= sinks else length - gone
            self.call["popn"](self.cache, request, held - kept)
        except Exception as error:
            return reason_of(error)
        self.tokens[request] = self.tokens[request][:length]
        self.gone[request] = min(gone, max(0, length - sinks))
        return None

    def release(self, request: int) -> str | None:
        try:
            self.call["remove_sequence"](self.cache, request)
        except Exception as error:
            return reason_of(error)
        del self.tokens[request], self.gone[request]
        return None

    def observe(self) -> dict[str, Any]:
        """What TVM shows; it has no way to show reference counts or its free list."""
        return {
            "requests": {str(request): self.view(request) for request in self.tokens},
            "counts": None,
            "free": None,
            "available": self.available(),
            "published": None,
        }

    def view(self, request: int) -> dict[str, Any]:
        """One sequence, from its length and its position map."""
        length, gone = self.length(request), self.gone[request]
        sinks = self.window[1] if self.window and gone else length
        rows: list[int | None] = [None] * (length + gone)
        table: list[int | None] = [None] * -(-len(rows) // self.page_size)
        for index, value in enumerate(self.read(request, length) if length else []):
            row = index if index < sinks else index + gone
            rows[row] = value
            page = self.kernels.positions[index] // self.page_size
            if table[row // self.page_size] is None and 0 <= page < self.pages:
                table[row // self.page_size] = page
        return {"length": length, "tables": [table], "rows": [rows]}

    def read(self, request: int, length: int) -> list[int | None]:
        """The values of the rows that TVM has; None for a row whose layers, K and V do not agree on one."""
        k_data, v_data = tensor((LAYERS, length, 1, HEAD_DIM)), tensor((LAYERS, length, 1, HEAD_DIM))
        self.call["debug_get_kv"](self.cache, request, 0, length, k_data, v_data)
        words = np.concatenate([np.from_dlpack(k_data).view("<u8"), np.from_dlpack(v_data).view("<u8")])[:, :, 0, 0]
        rows = (words ^ MASKS_IN_ORDER).T.tolist()
        return [row[0] if row[0] < 1 << 40 and row.count(row[0]) == len(row) else None for row in rows]

    def enable_window(self, request: int) -> None:
        """A window is a setting of each sequence."""
        if self.window is not None:
            self.call["enable_sliding_window"](self.cache, request, *self.window)

    def forward(self, request: int, tokens: list[int]) -> None:
        """One forward pass over the tokens, which follow those that the host knows of."""
        before, known = self.length(request), self.tokens.get(request, b"")
        pages = -(-(len(known) + len(tokens)) // self.page_size) - -(-len(known) // self.page_size)
        if self.asking and pages > self.available():
            raise MemoryError(f"{FULL}, as the host has found out by asking")
        try:
            self.call["begin_forward"](self.cache, tvm_ffi.Shape([request]), tvm_ffi.Shape([len(tokens)]), None)
        finally:
            self.gone[request] = self.gone.get(request, 0) + before + len(tokens) - self.length(request)
        known += bytes(tokens)
        values = np.array(row_values(known)[-len(tokens) :], dtype=np.uint64)
        fused, output = tensor((len(tokens), 3, HEAD_DIM)), tensor((len(tokens), 1, HEAD_DIM))
        words = np.from_dlpack(fused).view("<u8")[:, :, 0]
        for layer in range(LAYERS):
            words[:, 1:] = values[:, None] ^ MASKS[layer]
            self.call["attention"](self.cache, layer, 1.0, fused, output)
        self.call["end_forward"](self.cache)
        self.tokens[request] = known

    def length(self, request: int) -> int:
        return int(self.call["get_sequence_length"](self.cache, request))

    def available(self) -> int:
        return int(self.call["get_num_available_pages"](self.cache))


factory = Adapter


def create_cache(pages: int, page_size: int, sliding: bool) -> tuple[Any, Kernels]:
    """A cache of exactly so many pages, and its kernels.

    TVM makes ceil(tokens / page) + 1 pages for the tokens it is asked to hold, and two more for each reserved sequence where
    windows slide; ValueError when that alone is more than is wanted.
    """
    tokens = (pages - (3 if sliding else 1)) * page_size
    if tokens < 0:
        raise ValueError(f"TVM makes no cache of {pages} pages")
    kernels = Kernels(page_size)
    nothing = tvm_ffi.convert(lambda *_: None)
    attention = ["tirx", nothing]
    cache = tvm.get_global_func("vm.builtin.paged_attention_kv_cache_create")(
        tvm_ffi.Shape([1, tokens, LONGEST_PASS, page_size, int(sliding)]),
        tvm_ffi.Shape([0, LAYERS]),
        *(1, 1, HEAD_DIM, HEAD_DIM),  # heads of Q, heads of K and V, and their sizes
        tvm_ffi.Shape([0] * LAYERS),  # every layer is plain multi-head attention
        False,  # no transfer to other devices
        *(0, 1.0, 1e4, None),  # no rotary embedding
        tvm.runtime.empty((), "uint8"),
        tvm_ffi.convert(kernels.transpose_append),
        None,
        *[attention] * 7,
        [],
        [nothing],
        tvm_ffi.convert(kernels.split_rotary),
        tvm_ffi.convert(kernels.copy_single_page),
        tvm_ffi.convert(kernels.debug_get_kv),
        nothing,
    )
    return cache, kernels


def functions() -> dict[str, Any]:
    """TVM's functions on a cache, by the end of their names; looked up for each cache, so that a planted fault is met."""
    state = ("add_sequence", "remove_sequence", "fork_sequence", "popn", "begin_forward", "end_forward")
    attention = ("get_sequence_length", "get_num_available_pages", "debug_get_kv")
    return {
        **{name: tvm.get_global_func(f"vm.builtin.kv_state_{name}") for name in state},
        **{name: tvm.get_global_func(f"vm.builtin.attention_kv_cache_{name}") for name in attention},
        "enable_sliding_window": tvm.get_global_func("vm.builtin.attention_kv_cache_enable_sliding_window_for_seq"),
        "attention": tvm.get_global_func("vm.builtin.attention_kv_cache_attention_with_fused_qkv"),
    }


def reason_of(error: Exception) -> str:
    """The reason that TVM's exception stands for; one that stands for none is raised again."""
    text = str(error)
    for words, reason in REASONS.items():
        if words in text:
            return reason
    raise error


def row_values(tokens: bytes) -> list[int]:
    """The value of every row: a digest of all tokens up to it, and its number."""
    digest = 0
    values: list[int] = []
    for number in range(1, len(tokens) + 1):
        digest = crc32(tokens[number - 1 : number], digest)
        values.append(digest * 256 + number % 256)
    return values


def tensor(shape: tuple[int, ...]) -> Any:
    """An uninitialised tensor of bytes."""
    return tvm.runtime.empty(shape, "uint8")
