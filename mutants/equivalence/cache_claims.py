"""Functions of the caches that can be compared over all integers, and what their callers guarantee."""

from mutants.equivalence.claim import Claim

A_PAGE = "page_size >= 1"
TABLE = "of({m}.PageTable, page_size=page_size)"
CACHES: tuple[Claim, ...] = (
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
)
