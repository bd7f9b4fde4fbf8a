"""The programs of docs/chip.md section 7 and the maps of their memory, typed and not computed."""

from impl.memory_map import Gathering, MemoryMap, PagedMap

PROGRAM_16 = """\
load   row=1 cnt=1 addr=r5
load   row=768 cnt=48 addr=0x0040
setq   q=0 M=40503 sh=23
setq   q=1 M=51234 sh=23
setq   q=2 M=33333 sh=22
setq   q=3 M=45678 sh=24
setq   q=4 M=60001 sh=23 xrow=1 Rm=300
dot    a=1 row=768 cnt=48 dst=0 q=0 next apart
load   row=257 cnt=r1-1 addr=0x0180
load   row=513 cnt=r1-1 addr=0x0578
load   row=816 cnt=16 addr=0x0100
load   row=832 cnt=16 addr=0x0140
score  a=0 row=256 cnt=r1 q=3
av     row=512 cnt=r1 dst=2
store  row=256 cnt=1 addr=r4
store  row=512 cnt=1 addr=r4+0x0004
dot    a=2 row=816 cnt=16 dst=3 q=4
dotl   a=3 row=832 cnt=16 dst=4 argmax
store  row=4 cnt=4 addr=0x0978
streg  addr=0x0988
halt
"""
PROGRAM_32 = """\
load   row=1 cnt=1 addr=r5
load   row=768 cnt=96 addr=0x0080
setq   q=0 M=40503 sh=23
setq   q=1 M=51234 sh=23
setq   q=2 M=33333 sh=22
setq   q=3 M=45678 sh=24
setq   q=4 M=60001 sh=23 xrow=1 Rm=-32768
dot    a=1 row=768 cnt=96 dst=0 q=0 next apart
load   row=257 cnt=r1-1 addr=0x0500
load   row=513 cnt=r1-1 addr=0x0cf0
load   row=864 cnt=32 addr=0x0380
load   row=896 cnt=16 addr=0x0480
score  a=0 row=256 cnt=r1 q=3
av     row=512 cnt=r1 dst=2
store  row=256 cnt=1 addr=r4
store  row=512 cnt=1 addr=r4+0x0008
dot    a=2 row=864 cnt=32 dst=3 q=4
dotl   a=3 row=896 cnt=16 dst=4 argmax
store  row=4 cnt=2 addr=0x14f0
streg  addr=0x1500
halt
"""
"""The program of section 7 for each width, the host gathering: typed, not computed."""

GATHERING_16 = """\
load   row=1 cnt=1 addr=r5
load   row=768 cnt=48 addr=0x0040
setq   q=0 M=40503 sh=23
setq   q=1 M=51234 sh=23
setq   q=2 M=33333 sh=22
setq   q=3 M=45678 sh=24
setq   q=4 M=60001 sh=23 xrow=1 Rm=300
dot    a=1 row=768 cnt=48 dst=0 q=0 next apart
gather row=257 cnt=r1-1 ra=3 kv=0
gather row=513 cnt=r1-1 ra=3 kv=1
load   row=816 cnt=16 addr=0x0100
load   row=832 cnt=16 addr=0x0140
score  a=0 row=256 cnt=r1 q=3
av     row=512 cnt=r1 dst=2
store  row=256 cnt=1 addr=r4
store  row=512 cnt=1 addr=r4+0x0010
dot    a=2 row=816 cnt=16 dst=3 q=4
dotl   a=3 row=832 cnt=16 dst=4 argmax
store  row=4 cnt=4 addr=0x0180
streg  addr=0x0190
halt
"""
GATHERING_32 = """\
load   row=1 cnt=1 addr=r5
load   row=768 cnt=96 addr=0x0080
setq   q=0 M=40503 sh=23
setq   q=1 M=51234 sh=23
setq   q=2 M=33333 sh=22
setq   q=3 M=45678 sh=24
setq   q=4 M=60001 sh=23 xrow=1 Rm=-32768
dot    a=1 row=768 cnt=96 dst=0 q=0 next apart
gather row=257 cnt=r1-1 ra=3 kv=0
gather row=513 cnt=r1-1 ra=3 kv=1
load   row=864 cnt=32 addr=0x0380
load   row=896 cnt=16 addr=0x0480
score  a=0 row=256 cnt=r1 q=3
av     row=512 cnt=r1 dst=2
store  row=256 cnt=1 addr=r4
store  row=512 cnt=1 addr=r4+0x0020
dot    a=2 row=864 cnt=32 dst=3 q=4
dotl   a=3 row=896 cnt=16 dst=4 argmax
store  row=4 cnt=2 addr=0x0500
streg  addr=0x0510
halt
"""
ONCE_16 = """\
load   row=768 cnt=80 addr=0x0040
setq   q=0 M=40503 sh=23
setq   q=1 M=51234 sh=23
setq   q=2 M=33333 sh=22
setq   q=3 M=45678 sh=24
setq   q=4 M=60001 sh=23 xrow=1 Rm=300
halt
"""
ONCE_32 = """\
load   row=768 cnt=144 addr=0x0080
setq   q=0 M=40503 sh=23
setq   q=1 M=51234 sh=23
setq   q=2 M=33333 sh=22
setq   q=3 M=45678 sh=24
setq   q=4 M=60001 sh=23 xrow=1 Rm=-32768
halt
"""
RESIDENT_16 = """\
load   row=1 cnt=1 addr=r5
dot    a=1 row=768 cnt=48 dst=0 q=0 next apart
gather row=257 cnt=r1-1 ra=3 kv=0
gather row=513 cnt=r1-1 ra=3 kv=1
score  a=0 row=256 cnt=r1 q=3
av     row=512 cnt=r1 dst=2
store  row=256 cnt=1 addr=r4
store  row=512 cnt=1 addr=r4+0x0010
dot    a=2 row=816 cnt=16 dst=3 q=4
dotl   a=3 row=832 cnt=16 dst=4 argmax
store  row=4 cnt=4 addr=0x0180
streg  addr=0x0190
halt
"""
RESIDENT_32 = """\
load   row=1 cnt=1 addr=r5
dot    a=1 row=768 cnt=96 dst=0 q=0 next apart
gather row=257 cnt=r1-1 ra=3 kv=0
gather row=513 cnt=r1-1 ra=3 kv=1
score  a=0 row=256 cnt=r1 q=3
av     row=512 cnt=r1 dst=2
store  row=256 cnt=1 addr=r4
store  row=512 cnt=1 addr=r4+0x0020
dot    a=2 row=864 cnt=32 dst=3 q=4
dotl   a=3 row=896 cnt=16 dst=4 argmax
store  row=4 cnt=2 addr=0x0500
streg  addr=0x0510
halt
"""
"""The programs of section 7 where the chip gathers from pages of 4 rows, streamed and resident."""

GATHER = Gathering(4, 9)
MAPS = {
    16: MemoryMap(0, 64, 256, 320, 384, 1400, 2416, 2424, 2440, 2441),
    32: MemoryMap(0, 128, 896, 1152, 1280, 3312, 5344, 5360, 5376, 5377),
}
PAGED_MAPS = {
    16: PagedMap(0, 64, 256, 320, 384, 400, 401, 417, 705, page_size=4, pages=9, ring=16),
    32: PagedMap(0, 128, 896, 1152, 1280, 1296, 1297, 1313, 1889, page_size=4, pages=9, ring=16),
}
"""By width: where the host gathers, and where the chip does, from nine pages of 4 rows."""
