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
        "An append, an admission or a cut that copies is refused whole with OutOfPages when fewer pages are available than "
        "its new rows and its copies need."
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
    "DEC-FLOAT": (
        "A windowed float step equals its recomputation from the token ids over exactly the tokens that it attends, to 1e-9."
    ),
    "DEC-FULL": (
        "While the window holds every token, the windowed float step is full attention, to 1e-12; a window of 3 differs on "
        "a random model."
    ),
    "DEC-INT": "Token, logits, key and value of an integer step are the definition's, from rows and from token ids alike.",
    "DEC-ORDER": "The order of the past rows changes nothing in an integer step.",
    "DEC-ERROR": (
        "Integer logits differ from the windowed float ones by less than 4 % (relative L2) in the mean of a model and "
        "window, and by less than 15 % at any step."
    ),
    "DEC-RULE": (
        "The structured model follows f(t) = (5t + 3) mod 16 from every start under every window, and from none without "
        "its attention."
    ),
    "DEC-MODEL": "The integers of a model are those that the static scales of its float tensors give.",
    "HOST-GATHER": "The decoder is handed keys and values of exactly the rows that the window rule names, ascending.",
    "HOST-PLAIN": "Paged rows and plain lists give the same integers at every step.",
    "HOST-TOKENS": (
        "A step feeds the next tokens of its request, and what the last known token gives is the request's next token."
    ),
    "HOST-POISON": "Bytes that no row within a live request's reach owns never change a result.",
    "HOST-REFUSE": "A refused admission, step, fork or rollback changes nothing, for no request.",
    "HOST-ROLLBACK": (
        "A fork or rollback to m rows is refused with RowsReleased exactly when the page table refuses it or step m + 1 "
        "would read a released row."
    ),
    "HOST-PAD": "A padded fork first appends (-n mod P) rows of the pad token to its source, so that it copies no page.",
    "HOST-ADMIT": (
        "A request that expects a length is admitted exactly when the most pages that it will hold at once, and those of "
        "every live request, fit the pool together."
    ),
    "PRE-HIT": (
        "An admission serves the longest prefix, in whole pages and leaving the declared number of tokens, of which every "
        "group finds what its next step reads."
    ),
    "PRE-KEY": "A page is published under the whole token prefix up to its last row, never under another.",
    "PRE-PUBLISH": (
        "Exactly the full written pages are published, and each stays so, copies of one prefix side by side, until it is "
        "reused."
    ),
    "PRE-EVICT": (
        "Blank pages are reused first, then idle ones, the longest idle first and the tail of a request before its head."
    ),
    "CHIP-ENC": "Every field and flag of an instruction stands where the definition says, and every other bit is 0.",
    "CHIP-INT": (
        "Token, logits, key and value of a decode step on a chip are the integer definition's, whoever runs the program."
    ),
    "CHIP-ISA": "Memory, TOK, STATUS and ERRPC after a program are what its instructions mean, one after the other.",
    "CHIP-TIME": "No integer depends on the latency of memory.",
    "CHIP-CYCLE": "Every counter is that of the cycle definition, in model and RTL alike.",
    "CHIP-CHASE": "An op reads a row only when no load in the queue owes it.",
    "CHIP-LOAD": "A load is held while one of its rows is a row of the active op.",
    "CHIP-STORE": "A store is held while one of its rows is a result row of the active op.",
    "CHIP-RESULT": (
        "An op is held while another is active, and while one of its result rows, compared one by one, is owed by a load or "
        "is a row of a store in the queue."
    ),
    "CHIP-IDLE": (
        "SETQ and STREG are held while an op is active, HALT, FENCE and an error also while the queue is not empty, and "
        "STREG takes TOK along at issue."
    ),
    "CHIP-QUIET": (
        "While a read is outstanding, no write is raised, be it a store's or STREG's, and a store in the queue reads no row."
    ),
    "CHIP-PORTS": "A loaded row is written before an op's result row, and a store reads a row before an op does.",
    "CHIP-GATHER": (
        "A GATHER brings what contiguous LOADs of the same rows bring, whatever the permutation of the pages, the page size, "
        "the first row and the wrap of the ring."
    ),
    "CHIP-ERROR": (
        "An error, but for TIMEOUT, is named by the first code that applies and by the number of its instruction, with all "
        "older writes of memory done and no younger one."
    ),
    "CHIP-WATCH": "A run without progress ends with TIMEOUT, and none hangs.",
    "CHIP-RESET": (
        "After an error or a soft reset a program runs as after power-on, but for what the definition keeps or leaves "
        "unspecified."
    ),
}
