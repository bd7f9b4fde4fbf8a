"""Which functions can be compared with a mutant of theirs over all integers, and what their callers guarantee.

A claim calls one function with integers in and integers out. Everything that it does must be in what the call gives back:
the value, what it leaves in its receiver, and which error it raises with which text.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """One function as a call in Python over `parameters`, in which `{m}` is its module in one version or the other.

    `given` is what every caller guarantees, or a proof would be none; for the same reason nothing that a caller may choose is
    spelled out in the call. Beside the module a call may use `of`, which makes a receiver, `left`, which adds what is left
    in one to what was returned, `fields` of a dataclass, and `Asked`, a sequence that notes where it is asked.
    """

    module: str
    function: str
    parameters: str
    call: str
    given: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Where the function is."""
        return f"{self.module}.{self.function}"


A_PAGE = "page_size >= 1"
TABLE = "of({m}.PageTable, page_size=page_size)"
SHIFTS = "1 <= sh <= 40"

CLAIMS: tuple[Claim, ...] = (
    Claim("impl.window", "context", "step: int, window: int | None", "{m}.context(step, window)"),
    Claim(
        "impl.window",
        "gather_ranges",
        "step: int, window: int | None, sinks: int",
        "{m}.gather_ranges(step, window, sinks)",
    ),
    Claim(
        "impl.window", "keep_from", "step: int, window: int | None, sinks: int", "{m}.keep_from(step, window, sinks)"
    ),
    Claim("impl.window", "_check", "step: int, window: int | None, sinks: int", "{m}._check(step, window, sinks)"),
    Claim(
        "impl.page_table",
        "PageTable._pages_for",
        "page_size: int, rows: int",
        TABLE + "._pages_for(rows)",
        (A_PAGE, "rows > -page_size"),
    ),
    Claim(
        "impl.page_table",
        "PageTable._released",
        "page_size: int, sink_pages: int, dropped: int",
        TABLE + "._released(of({m}.BlockTable, sink_pages=sink_pages, dropped=dropped))",
        (A_PAGE, "sink_pages >= 0", "dropped >= 0"),
    ),
    Claim(
        "impl.page_table",
        "PageTable._cut",
        "page_size: int, sink_pages: int, dropped: int, length: int, to: int",
        TABLE + "._cut(of({m}.BlockTable, sink_pages=sink_pages, dropped=dropped, length=length), to)",
        (
            A_PAGE,
            "sink_pages >= 0",
            "dropped >= 0",
            "length >= 0",
            "(dropped == 0) | ((sink_pages + dropped) * page_size <= length)",
        ),
    ),
    Claim(
        "impl.page_groups", "Full.first_read", "position: int", "of({m}.Full).first_read(position)", ("position >= 0",)
    ),
    Claim(
        "impl.page_groups",
        "Window.first_read",
        "size: int, sinks: int, position: int",
        "of({m}.Window, size=size, sinks=sinks).first_read(position)",
        ("0 <= sinks < size", "position >= 0"),
    ),
    Claim(
        "impl.page_groups",
        "Window.always_reads",
        "size: int, sinks: int, row: int",
        "of({m}.Window, size=size, sinks=sinks).always_reads(row)",
        ("0 <= sinks < size", "row >= 0"),
    ),
    Claim(
        "impl.page_groups",
        "Window.publishes",
        "size: int, sinks: int",
        "of({m}.Window, size=size, sinks=sinks).publishes",
        ("0 <= sinks < size",),
    ),
    Claim(
        "impl.page_groups",
        "Window.__post_init__",
        "size: int, sinks: int",
        "of({m}.Window, size=size, sinks=sinks).__post_init__()",
    ),
    Claim(
        "impl.page_groups",
        "Chunk.first_read",
        "size: int, position: int",
        "of({m}.Chunk, size=size).first_read(position)",
        ("size >= 1", "position >= 0"),
    ),
    Claim("impl.page_groups", "Chunk.__post_init__", "size: int", "of({m}.Chunk, size=size).__post_init__()"),
    Claim("impl.memory_map", "_weights", "width: int", "{m}._weights(width)", ("width >= 0",)),
    Claim("impl.memory_map", "host_map", "width: int", "fields({m}.host_map(width))", ("width >= 0",)),
    Claim(
        "impl.memory_map",
        "_places",
        "a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, i: int",
        "[{m}._places((a, b, c, d, e, f, g, h)), {m}._places((a, b, c, d, e, f, g, h, i))]",
    ),
    Claim(
        "impl.chip_model.requantise",
        "Requantiser.multiply",
        "accumulator: int, residual: int, lane: int, m: int, sh: int, xrow: int, rm: int",
        "[left(r := of({m}.Requantiser, residual=Asked(residual)),"
        " r.multiply(accumulator, {m}.Entry(m, sh, xrow, rm), lane), 'product'), r.residual.places]",
        (SHIFTS,),
    ),
    Claim(
        "impl.chip_model.requantise",
        "Requantiser.shifted",
        "product: int, m: int, sh: int, xrow: int, rm: int",
        "left(r := of({m}.Requantiser, product=product), r.shifted({m}.Entry(m, sh, xrow, rm)), 'product')",
        (SHIFTS,),
    ),
    Claim("impl.chip_model.command", "_signed", "value: int", "{m}._signed(value)"),
)

OF = {(claim.module, claim.function): claim for claim in CLAIMS}
