"""The rules by name: every check and every mutant cites these ids."""

RULES: dict[str, str] = {
    "PT-OWN": "The reference count of every page equals the number of block-table entries that name it.",
    "PT-FREE": "Every page is on the free list at most once, and a page on the free list has count zero.",
    "PT-LEAK": "A page with count zero is on the free list.",
    "PT-PAGES": "Block tables are as long as the oracle's, and as many pages are off the free list as it uses.",
    "PT-SHARE": "A bijection maps the oracle's held cells to the target's held pages, table entry by table entry.",
    "PT-INPLACE": "A cell that is held before and after an operation keeps its physical page.",
    "PT-ROWS": "Every readable row reads back as the row that was appended, keys and values, in every layer.",
    "PT-LEN": "Every live request has the oracle's length.",
    "PT-HOLE": "The released logical pages of every request are the oracle's.",
    "PT-LIVE": "The live request ids are the oracle's.",
    "PT-REFUSE": "A refused operation and a read change nothing, the order of the free list included.",
    "PT-TOTAL": "Every operation is accepted or refused by name; no other exception leaves the target.",
    "UnknownRequest": "An operation on an id that is not live is refused with UnknownRequest, whatever else is wrong.",
    "DuplicateRequest": "New or Fork to a live id, the source itself included, is refused with DuplicateRequest.",
    "BadArgument": "Negative sinks, an append of no rows and a row outside the request are refused with BadArgument.",
    "RowsReleased": (
        "A read of a released row, and a fork or truncation that would end inside the released pages, are refused with "
        "RowsReleased."
    ),
    "OutOfPages": (
        "An append is refused whole with OutOfPages when fewer pages are free than its new rows and its copy-on-write "
        "need."
    ),
    "WIN-1": "The context of step L is L without a window and min(L, W) with one, the new token included.",
    "WIN-2": "Without sinks, step L reads the rows L - context .. L - 2 and the new token.",
    "WIN-3": "After step L the host trims to max(0, L + 1 - W), the first row that step L + 1 still reads.",
    "WIN-4": "Before its append, step L finds exactly ceil((L-1)/P) - floor(max(0, L-W)/P) pages in use.",
    "WIN-5": (
        "However long the request runs, it holds at most ceil((W-1)/P) + 1 pages between append and trim and at most "
        "ceil((W-2)/P) + 1 after the trim, and both are reached."
    ),
    "WIN-6": (
        "With S < W sinks, a step beyond W reads rows 0 .. S-1 and the last W - S - 1; a page that holds a sink is "
        "never trimmed and the others are trimmed as by the window W - S."
    ),
}
