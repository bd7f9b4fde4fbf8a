"""A failure in TVM's paged KV cache as a Python file in TVM's own calls, for somebody who has TVM and nothing of kvproof."""

from collections.abc import Mapping, Sequence
from pprint import pformat
from string import Template
from typing import Any

from spec.operations import Admit, Append, Fork, ManagerOperation, Release, Truncate
from verify.managers.facts import Facts

SCRIPT = Template('''\
"""TVM's paged KV cache, step by step; made by kvproof for apache-tvm 0.27.0.post1. No model, no compiler, CPU.

    python THIS_FILE

$configuration
It makes the calls that an engine makes, shows lengths, pages and available pages after each, and compares the state after
the last call with what is right. Exit code 1: they differ. What is right:
- a call that is refused, because pages run out or for its arguments, leaves every sequence and every page as it was;
- a fork, a pop or a removal touches no row of another sequence, and every page that no sequence holds is available;
$window
The kernels are Python functions: attention computes nothing, the others do what the kernels of
tvm/relax/frontend/nn/llm/_page_kernels.py do. K of a row is a digest of all tokens up to it, V the same with a minus.
"""

import sys
from zlib import crc32

import numpy as np
import tvm
import tvm_ffi
from tvm_ffi import Shape

PAGES, PAGE_SIZE, LAYERS = $pages, $page_size, 2
WINDOW, SINKS = $size, $sinks  # None: sliding windows are off
CAPACITY = $capacity  # TVM makes ceil(CAPACITY / PAGE_SIZE) + 1 pages, and two more a sequence of the batch with windows

seen, positions = set(), []


def transpose_append(pages, k_data, v_data, position_map):
    pool, k, v = (np.from_dlpack(data) for data in (pages, k_data, v_data))
    if pool.ctypes.data not in seen:
        seen.add(pool.ctypes.data)
        pool[:] = np.nan  # so that a row that was never written is told from any other
    for row, position in enumerate(np.from_dlpack(position_map).tolist()):
        if position != -1:
            page, slot = divmod(position, PAGE_SIZE)
            assert 0 <= page < PAGES, f"TVM has a row written to page {page} of {PAGES}: a compiled kernel corrupts memory"
            pool[page, 0, :, slot], pool[page, 1, :, slot] = k[row], v[row]


def copy_single_page(pages, source, target, rows):
    pool = np.from_dlpack(pages)
    pool[target, :, :, :rows] = pool[source, :, :, :rows]


def debug_get_kv(pages, position_map, k_data, v_data, layer):
    pool, k, v = (np.from_dlpack(data) for data in (pages, k_data, v_data))
    positions[:] = np.from_dlpack(position_map).tolist()
    for row, position in enumerate(positions):
        page, slot = divmod(position, PAGE_SIZE)
        inside = 0 <= page < PAGES
        k[layer, row] = pool[page, 0, :, slot] if inside else np.nan
        v[layer, row] = pool[page, 1, :, slot] if inside else np.nan


def split_rotary(qkv_data, position_map, q_data, k_data, v_data, apply_rope):
    for part, data in enumerate((q_data, k_data, v_data)):
        np.from_dlpack(data)[:] = np.from_dlpack(qkv_data)[:, part : part + 1]


def builtin(name):
    return tvm.get_global_func(f"vm.builtin.{name}")


def tensor(*shape):
    return tvm.runtime.empty(shape, "float64")


nothing = tvm_ffi.convert(lambda *arguments: None)
cache = builtin("paged_attention_kv_cache_create")(
    Shape([1, CAPACITY, 512, PAGE_SIZE, int(WINDOW is not None)]),
    Shape([0, LAYERS]),
    1,  # query heads
    1,  # key and value heads
    1,  # size of a head
    1,
    Shape([0] * LAYERS),  # multi-head attention
    False,
    0,  # no rotary embedding
    1.0,
    1e4,
    None,
    tvm.runtime.empty((), "float64"),
    tvm_ffi.convert(transpose_append),
    None,
    *[["tirx", nothing]] * 7,
    [],
    [nothing],
    tvm_ffi.convert(split_rotary),
    tvm_ffi.convert(copy_single_page),
    tvm_ffi.convert(debug_get_kv),
    nothing,
)
available_pages = builtin("attention_kv_cache_get_num_available_pages")
sequence_length = builtin("attention_kv_cache_get_sequence_length")
assert available_pages(cache) == PAGES

texts = {}  # the tokens of each sequence
gone = {}  # how many of its rows, those after the sinks, its window has let go of, by the definition


def admit(name, tokens, right=None):
    def calls():
        builtin("kv_state_add_sequence")(cache, name)
        try:
            enable_window(name)
            forward(name, [], tokens)
        except Exception:
            builtin("kv_state_remove_sequence")(cache, name)
            raise

    said = attempt(calls)
    if (right or said) == "accepted":
        texts[name], gone[name] = tokens, 0
        slide(name)
    return report(f"admit({name}, {tokens})", said)


def append(name, tokens, right=None):
    said = attempt(lambda: forward(name, texts.get(name, []), tokens))
    if (right or said) == "accepted":
        texts[name] = texts[name] + tokens
        slide(name)
    return report(f"append({name}, {tokens})", said)


def fork(name, to, at, right=None):
    def calls():
        builtin("kv_state_fork_sequence")(cache, name, to, at if at != -1 else -2)  # -1 would be all rows
        enable_window(to)

    said = attempt(calls)
    if (right or said) == "accepted":
        texts[to], gone[to] = texts[name][:at], 0
    return report(f"fork({name}, to={to}, at={at})", said)


def truncate(name, length, right=None):
    def calls():
        held, lost, sinks = sequence_length(cache, name), gone.get(name, 0), SINKS or 0
        if sinks < length < sinks + lost:
            raise LookupError("popn counts rows that are there, and cannot cut among those that are gone")
        kept = length if length <= sinks else length - lost
        print(f"popn({name}, {held - kept})")
        builtin("kv_state_popn")(cache, name, held - kept)

    said = attempt(calls)
    if (right or said) == "accepted":
        texts[name] = texts[name][:length]
        gone[name] = min(gone[name], max(0, length - (SINKS or 0)))
    return report(f"truncate({name}, {length})", said)


def release(name, right=None):
    said = attempt(lambda: builtin("kv_state_remove_sequence")(cache, name))
    if (right or said) == "accepted":
        del texts[name], gone[name]
    return report(f"release({name})", said)


def enable_window(name):
    if WINDOW is not None:
        builtin("attention_kv_cache_enable_sliding_window_for_seq")(cache, name, WINDOW, SINKS)


def forward(name, text, tokens):
    """One forward pass of one sequence."""
    sequence_length(cache, name)  # raises for an unknown sequence
$asking    builtin("kv_state_begin_forward")(cache, Shape([name]), Shape([len(tokens)]), None)
    qkv, output = tensor(len(tokens), 3, 1), tensor(len(tokens), 1, 1)
    for row in range(len(tokens)):
        value = digest(text + tokens[: row + 1])
        np.from_dlpack(qkv)[row, :, 0] = 0, value, -value
    for layer in range(LAYERS):
        builtin("attention_kv_cache_attention_with_fused_qkv")(cache, layer, 1.0, qkv, output)
    builtin("kv_state_end_forward")(cache)


def slide(name):
    """A window of W rows with S sinks leaves the first S and the last W - S."""
    if WINDOW is not None:
        gone[name] = max(gone[name], len(texts[name]) - WINDOW)


def digest(tokens):
    return crc32(bytes(tokens)) * 256 + len(tokens) % 256


def attempt(calls):
    """What the calls come to: accepted, a reason, or what else TVM raised."""
    try:
        calls()
    except Exception as error:
        reasons = {
            "The KV cache is full": "OutOfPages",
            "cannot be found": "UnknownRequest",
            "already in the KV cache": "DuplicateRequest",
            "length 0 is not allowed": "BadArgument",
            "The forked position should": "BadArgument",
            "The length of popping": "BadArgument",
            "exceeds the whole sequence length": "BadArgument",
            "cannot cut among those": "RowsReleased",
        }
        found = [reason for words, reason in reasons.items() if words in str(error)]
        return found[0] if found else f"raised {type(error).__name__}: {error}"
    return "accepted"


def report(call, said):
    print(call, "->", said)
    for name in texts:
        length, pages, rows = look(name)
        print(f"    sequence {name}: TVM says {length} rows, pages by logical page {pages}")
    print(f"    available pages {available_pages(cache)}")
    return said


def look(name):
    """Length by TVM, page of each logical page, and value of each row, of the rows that are not gone; None for no page."""
    try:
        length = sequence_length(cache, name)
    except Exception as error:
        return str(error), [], {}
    pages, rows, sinks = {}, {}, (SINKS or 0) if gone[name] else length
    if length:
        k_data, v_data = tensor(LAYERS, length, 1, 1), tensor(LAYERS, length, 1, 1)
        builtin("attention_kv_cache_debug_get_kv")(cache, name, 0, length, k_data, v_data)
        k, v = np.from_dlpack(k_data), np.from_dlpack(v_data)
        for index, position in enumerate(positions):
            row = index if index < sinks else index + gone[name]
            values = {*k[:, index].flatten().tolist(), *(-v[:, index]).flatten().tolist()}
            rows[row] = int(*values) if len(values) == 1 and not np.isnan(k[0, index, 0, 0]) else "nothing"
            if 0 <= position // PAGE_SIZE < PAGES:
                pages.setdefault(row // PAGE_SIZE, position // PAGE_SIZE)
    return length, [pages.get(page) for page in range(-(-(length + gone[name]) // PAGE_SIZE))], rows


$calls

# The value of each row that the next token reads, by sequence.
READS = $reads
expected = $expected
looked = {name: look(name) for name in texts}
held = [page for _, pages, _ in looked.values() for page in pages if page is not None]
observed = {
    "outcome": outcome,
    "available pages": available_pages(cache),
    "pages available or held": available_pages(cache) + len(set(held)),
    "rows": {name: length for name, (length, _, _) in looked.items()},
    "logical pages held": {name: [page is not None for page in pages] for name, (_, pages, _) in looked.items()},
}

print()
differences = 0
for what, right in expected.items():
    differences += observed[what] != right
    print(f"{what}: expected {right}, observed {observed[what]}", "" if observed[what] == right else "  <-- DIFFERENT")
for name in READS.keys() & looked.keys():
    for row, value in READS[name].items():
        if looked[name][2].get(row) != value:
            differences += 1
            found = looked[name][2].get(row)
            print(f"sequence {name}, row {row} is read by the next token: expected {value}, found {found}  <-- DIFFERENT")
print("They differ." if differences else "They agree.")
sys.exit(1 if differences else 0)
''')

WINDOW_RULE = """\
- once a sequence has more than W rows, its first S rows and its last W - S are there, each in the slot of its logical page;
- a pop may go back to where the rows that the next token reads are still there (its first S and the W - S - 1 before it),
  or into the first S; any other has let its window go, and must be refused."""
FULL_RULE = "- every row of a sequence is there, in the slot of its logical page."
ASKING = """\
    pages = -(-(len(text) + len(tokens)) // PAGE_SIZE) - -(-len(text) // PAGE_SIZE)
    if pages > available_pages(cache):
        raise MemoryError("The KV cache is full, as the engine finds out by asking")
"""


def script(configuration: Mapping[str, Any], operations: Sequence[ManagerOperation], facts: Facts) -> str:
    """The text of a file that repeats the operations, and exits 1 when TVM then shows other than the facts.

    It has to be run with TVM's interpreter. Requests are sequences there.
    """
    (group,) = configuration["groups"]
    window = group["kind"] == "window"
    pages, page_size = configuration["pages"], configuration["page_size"]
    size, sinks = (group["size"], group["sinks"]) if window else (None, None)
    return SCRIPT.substitute(
        configuration=in_words(pages, page_size, size, sinks),
        window=WINDOW_RULE if window else FULL_RULE,
        pages=pages,
        page_size=page_size,
        size=size,
        sinks=sinks,
        capacity=(pages - (3 if window else 1)) * page_size,
        asking=ASKING if "asking first" in configuration["name"] else "",
        calls="\n".join(calls(operations, facts.outcome)),
        reads=pformat({request: dict(rows) for request, (rows,) in facts.rows.items()}, width=110),
        expected=pformat(
            {
                "outcome": facts.outcome,
                "available pages": facts.available,
                "pages available or held": pages,
                "rows": Code("{name: len(text) - gone[name] for name, text in texts.items()}"),
                "logical pages held": {request: list(held) for request, (held,) in facts.held.items()},
            },
            sort_dicts=False,
            width=110,
        ),
    )


class Code(str):
    """Python text that stands in the script as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def in_words(pages: int, page_size: int, size: int | None, sinks: int | None) -> str:
    """The configuration as a sentence of the docstring."""
    window = (
        "no sliding window" if size is None else f"a sliding window W = {size} with S = {sinks} sinks in each sequence"
    )
    return f"{pages} pages of {page_size} rows; {window}."


def calls(operations: Sequence[ManagerOperation], right: str) -> list[str]:
    """A line an operation, the last with the outcome that is right; ValueError for one that TVM does not have."""
    lines = []
    for operation in operations:
        match operation:
            case Admit(request, tokens):
                lines.append(f"admit({request}, {list(tokens)}")
            case Append(request, tokens):
                lines.append(f"append({request}, {list(tokens)}")
            case Fork(request, to, at):
                lines.append(f"fork({request}, to={to}, at={at}")
            case Truncate(request, length):
                lines.append(f"truncate({request}, {length}")
            case Release(request):
                lines.append(f"release({request}")
            case _:
                raise ValueError(f"TVM has no {type(operation).__name__}")
    if not lines:
        return ['outcome = "accepted"']
    return [*(f"{line})" for line in lines[:-1]), f'outcome = {lines[-1]}, right="{right}")']
