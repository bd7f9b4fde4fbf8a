"""Instructions as text, as values and as words, and lines that are none: typed from docs/chip.md section 4."""

from spec.isa import (
    Av,
    Dot,
    DotL,
    Fence,
    Gather,
    Halt,
    Instruction,
    Load,
    Score,
    SetQ,
    Store,
    StReg,
    Words,
)

SPELLINGS: tuple[tuple[str, Instruction, Words], ...] = (
    ("halt", Halt(), (0x04000000, 0)),
    ("fence", Fence(), (0x08000000, 0)),
    ("setq   q=3 M=32768 sh=1", SetQ(3, 32768, 1), (0x10C18000, 0)),
    ("setq   q=15 M=65535 sh=40 xrow=1023 Rm=-1", SetQ(15, 65535, 40, 1023, -1), (0x13E8FFFF, 0x03FFFFFF)),
    ("setq   q=0 M=32768 sh=1 xrow=2", SetQ(0, 32768, 1, 2), (0x10018000, 0x00020000)),
    ("load   row=768 cnt=48 addr=0x0040", Load(768, 48, 0x40), (0x200C0030, 0x00000040)),
    ("load   row=257 cnt=r1-1 addr=0x0180", Load(257, -1, 0x180, count_register=1), (0x208407FF, 0x00000180)),
    ("store  row=r7+1 cnt=r2+3 addr=r4", Store(1, 3, 0, 2, 7, 4), (0x25700403, 0x80000000)),
    ("store  row=r7 cnt=r2 addr=r4+0xfffff", Store(0, 0, 0xFFFFF, 2, 7, 4), (0x25700000, 0x800FFFFF)),
    ("gather row=1 cnt=2 ra=3 kv=1", Gather(1, 2, 1, address_register=3), (0x28000402, 0x70000000)),
    ("streg  addr=r6+0x0988", StReg(0x988, 6), (0x30000000, 0xC0000988)),
    ("dot    a=1 row=768 cnt=48 dst=0 q=5 next apart", Dot(1, 768, 48, 0, 5, True, True), (0x400C0030, 0x53000400)),
    ("dot    a=1 row=768 cnt=48 dst=2 q=5 apart", Dot(1, 768, 48, 2, 5, apart=True), (0x400C0030, 0x52000402)),
    (
        "dot    a=0 row=r7+1 cnt=r2-512 dst=1023 q=15 next",
        Dot(0, 1, -512, 1023, 15, True, False, 2, 7),
        (0x41700600, 0xF10003FF),
    ),
    ("dotl   a=3 row=832 cnt=16 dst=4 argmax", DotL(3, 832, 16, 4, True), (0x440D0010, 0x01000C04)),
    ("dotl   a=3 row=832 cnt=16 dst=4", DotL(3, 832, 16, 4), (0x440D0010, 0x00000C04)),
    ("score  a=0 row=256 cnt=r1 q=3", Score(0, 256, 0, 3, 1), (0x48840000, 0x30000000)),
    ("av     row=512 cnt=r1 dst=2", Av(512, 0, 2, 1), (0x4C880000, 0x00000002)),
)
"""Text, instruction and words, all three typed from docs/chip.md section 4."""

MISTAKES: tuple[tuple[str, str], ...] = (
    (
        "lod row=1",
        "no instruction is called 'lod'; there are halt, fence, setq, load, store, gather, streg, dot, dotl, score, av",
    ),
    ("LOAD row=1 cnt=1 addr=0", "no instruction is called 'LOAD'"),
    ("halt 1", "halt does not take '1'; it takes nothing"),
    ("load row=1 cnt=1", "load lacks addr"),
    ("load", "load lacks row, cnt, addr"),
    ("load row=1 cnt=1 addr=0 a=3", "load does not take 'a=3'; it takes row=, cnt=, addr="),
    ("load row=1 cnt=1 addr=0 row=2", "load has row twice"),
    ("load x row=1 y", "load does not take 'x'"),
    ("load row=r8 cnt=1 addr=-", "row is a number, r1 .. r7, or both as in r1-1, not 'r8'"),
    ("dot a=0 row=1 cnt=1 dst=2 q=0 next next", "dot has next twice"),
    (
        "dot a=0 row=1 cnt=1 dst=2 q=0 argmax",
        "dot does not take 'argmax'; it takes a=, row=, cnt=, dst=, q=, next, apart",
    ),
    ("dot a=0 row=1 cnt=1 dst=2 q=0 next=1", "dot does not take 'next=1'"),
    ("load row cnt=1 addr=0", "load does not take 'row'"),
    ("load row=1 cnt=r0 addr=0", "cnt is a number, r1 .. r7, or both as in r1-1, not 'r0'"),
    ("load row=1 cnt=r8 addr=0", "not 'r8'"),
    ("load row=1 cnt=1+r1 addr=0", "not '1+r1'"),
    ("load row=1 cnt=r1- addr=0", "not 'r1-'"),
    ("load row=1 cnt= addr=0", "not ''"),
    ("load row=1 cnt=\u0661 addr=0", "cnt is a number"),
    ("load row=1 cnt=0x addr=0", "not '0x'"),
    (f"load row=1 cnt={'9' * 5000} addr=0", "cnt is a number"),
    ("dot a=r1 row=1 cnt=1 dst=2 q=0", "a is a number such as 12 or 0x0c, not 'r1'"),
    ("load row=1024 cnt=1 addr=0", "row is in 0 .. 1023, got 1024"),
    ("load row=-1 cnt=1 addr=0", "row is in 0 .. 1023, got -1"),
    ("load row=0 cnt=512 addr=0", "count is in -512 .. 511, got 512"),
    ("load row=0 cnt=r1-513 addr=0", "count is in -512 .. 511, got -513"),
    ("load row=0 cnt=1 addr=0x100000", "address is in 0 .. 1048575, got 1048576"),
    ("setq q=0 M=32767 sh=1", "m is in 32768 .. 65535, got 32767"),
    ("setq q=0 M=32768 sh=41", "shift is in 1 .. 40, got 41"),
    ("setq q=0 M=32768 sh=1 Rm=32768", "residual is in -32768 .. 32767, got 32768"),
    ("setq q=16 M=32768 sh=1", "entry is in 0 .. 15, got 16"),
)
"""A line that is no instruction, and what its error says behind the line's number."""

LISTED_WORDS: tuple[Words, ...] = (
    (0x208407FF, 0x180),
    (0, 0),
    (0x48840000, 0x30000020),
    (0x10017FFF, 0),
    (0x28000402, 0x70000000),
    (0x04000000, 0),
)
LISTED = (
    "no.   host  w0       w1       instruction",
    "  0  0x400  208407ff 00000180  load   row=257 cnt=r1-1 addr=0x0180",
    "  1  0x402  00000000 00000000  illegal: no instruction has opcode 0",
    "  2  0x404  48840000 30000020  illegal: SCORE does not use bits 0x00000000 of w0 and 0x00000020 of w1",
    "  3  0x406  10017fff 00000000  illegal: SETQ's m is in 32768 .. 65535, got 32767",
    "  4  0x408  28000402 70000000  gather row=1 cnt=2 ra=3 kv=1",
    "  5  0x40a  04000000 00000000  halt",
)
"""Words, and their listing."""
