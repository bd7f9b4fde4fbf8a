"""The named mutants, each one line, each with the rules that must catch it; and the controls.

Source: docs/reference.md section 3, whose numbers the ids are; a c behind one means that the chip decodes. The expected rules
were fixed before the first run. The nineteenth, trim in the wrong order, has two readings: the same pages given back in reverse
break nothing but the order of the free list, a rule of impl/ that the literal tables check; pages taken from the wrong end lose
rows. Those of the prefix cache are in mutants/prefix_catalogue.py, those of the chip's RTL in mutants/rtl_catalogue.py.
"""

from dataclasses import replace
from pathlib import Path

from mutants.mutant import HOST, NINETEENTH, ON_CHIP, PAGE_TABLE, PREFIX_CACHE, WINDOW, Mutant, Project, all_of, any_of
from mutants.prefix_catalogue import PREFIX_BROKEN, PREFIX_MUTANTS, PREFIX_NO_OP

PROJECT = Project(
    root=str(Path(__file__).parent.parent),
    family_stages={
        WINDOW: ("decode", "host"),
        HOST: ("host", "decode"),
        ON_CHIP: ("chip",),
        PREFIX_CACHE: ("prefix witness", "prefix exhaustive", "prefix unit", "prefix random"),
    },
)
TABLE = "impl.page_table"

_OF_THE_REFERENCE = (
    Mutant(
        id="1",
        title="a page freed by its last owner is not returned to the free list",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable._drop",
        before="self.free.append(page)",
        after="pass",
        expected=any_of("PT-LEAK"),
    ),
    Mutant(
        id="2",
        title="a freed page goes back while others share it",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable._drop",
        before="self.counts[page] == 0",
        after="self.counts[page] >= 0",
        expected=any_of("PT-FREE"),
    ),
    Mutant(
        id="3",
        title="fork does not count the new owner",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable.fork",
        before="self.counts[page] += 1",
        after="pass",
        expected=any_of("PT-OWN"),
    ),
    Mutant(
        id="4",
        title="no copy before writing a shared page",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable.append",
        before="copy = self._copy_last_page(table)",
        after="pass",
        expected=all_of("PT-SHARE", "PT-ROWS"),
    ),
    Mutant(
        id="5",
        title="the copy is empty",
        family=PAGE_TABLE,
        module="impl.pool",
        function="Pool.copy_page",
        before="self.kv[:, source]",
        after="0",
        expected=any_of("PT-ROWS"),
    ),
    Mutant(
        id="6",
        title="the copy keeps the shared page's reference",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable._copy_last_page",
        before="self._drop(source)",
        after="pass",
        expected=any_of("PT-OWN"),
    ),
    Mutant(
        id="7",
        title="the offset is taken modulo page + 1",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable.locate",
        before="lo % self.page_size",
        after="lo % (self.page_size + 1)",
        expected=any_of("PT-ROWS", "PT-TOTAL"),
    ),
    Mutant(
        id="8",
        title="the lookup ignores dropped pages",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable.locate",
        before="index -= table.dropped",
        after="pass",
        expected=any_of("PT-ROWS", "PT-TOTAL"),
    ),
    Mutant(
        id="9",
        title="trim releases a page that still holds a needed row",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable.trim",
        before="(logical + 1) * self.page_size <= keep_from",
        after="logical * self.page_size < keep_from",
        expected=all_of("PT-HOLE", "PT-PAGES"),
    ),
    Mutant(
        id="10",
        title="trim keeps pages wholly outside the window",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable.trim",
        before="(logical + 1) * self.page_size <= keep_from",
        after="(logical + 1) * self.page_size < keep_from",
        expected=any_of("PT-PAGES"),
    ),
    Mutant(
        id="11",
        title="release forgets the request's pages",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable.release",
        before="self._drop(page)",
        after="pass",
        expected=any_of("PT-OWN", "PT-LEAK"),
    ),
    Mutant(
        id="12",
        title="exhaustion is not reported",
        family=PAGE_TABLE,
        module=TABLE,
        function="PageTable.append",
        before="fresh + copies > len(self.free)",
        after="False",
        expected=any_of("OutOfPages"),
    ),
    Mutant(
        id="13",
        title="the float reference keeps W rows, not W - 1",
        family=WINDOW,
        module="impl.float_reference",
        function="FloatDecoder._cut",
        before="self._window - 1",
        after="self._window",
        expected=any_of("DEC-FLOAT"),
    ),
    Mutant(
        id="14",
        title="the context is W + 1",
        family=WINDOW,
        module="impl.window",
        function="context",
        before="min(step, window)",
        after="min(step, window + 1)",
        expected=any_of("WIN-1"),
    ),
    Mutant(
        id="15",
        title="the gather starts one row late",
        family=HOST,
        module="impl.row_store",
        function="PagedStore.gather",
        before="self.cache.rows(request, lo, hi)",
        after="self.cache.rows(request, lo + 1, hi)",
        expected=any_of("HOST-GATHER"),
    ),
    Mutant(
        id="16",
        title="values are returned where keys belong",
        family=HOST,
        module="impl.row_store",
        function="PagedStore.gather",
        before="rows[0, 0]",
        after="rows[0, 1]",
        expected=any_of("HOST-GATHER"),
    ),
    Mutant(
        id="17",
        title="pages outside the window are never released",
        family=HOST,
        module="impl.host",
        function="Host._trim",
        before="self.store.trim(request, keep_from(session.rows, kept_window, session.sinks))",
        after="pass",
        expected=any_of("WIN-4"),
    ),
    Mutant(
        id="18",
        title="the trim point is one token too late",
        family=HOST,
        module="impl.host",
        function="Host._trim",
        before="keep_from(session.rows, kept_window, session.sinks)",
        after="max(0, keep_from(session.rows, kept_window, session.sinks) - 1)",
        expected=any_of("WIN-4"),
    ),
    Mutant(
        id="19a",
        title="trim gives the same pages back in reverse",
        family=NINETEENTH,
        module=TABLE,
        function="PageTable.trim",
        before="for page in table.pages[first:stop]:\n    self._drop(page)",
        after="for page in reversed(table.pages[first:stop]):\n    self._drop(page)",
        expected=any_of("LIFO"),
    ),
    Mutant(
        id="19b",
        title="trim takes the pages from the wrong end",
        family=NINETEENTH,
        module=TABLE,
        function="PageTable.trim",
        before="stop = first + logical - held",
        after="first, stop = len(table.pages) - (logical - held), len(table.pages)",
        expected=any_of("PT-ROWS"),
    ),
)

MUTANTS = (
    *_OF_THE_REFERENCE,
    # Those of the window and the host again, with the chip's cycle model as the decoder.
    *(
        replace(mutant, id=f"{mutant.id}c", family=ON_CHIP)
        for mutant in _OF_THE_REFERENCE
        if mutant.family in {WINDOW, HOST}
    ),
    *PREFIX_MUTANTS,
)

NO_OP = Mutant(
    id="no-op",
    title="control: another spelling of the same step",
    family="control",
    module=TABLE,
    function="PageTable._drop",
    before="self.counts[page] -= 1",
    after="self.counts[page] = self.counts[page] - 1",
)

BROKEN = Mutant(
    id="broken",
    title="control: every length is one too many",
    family="control",
    module=TABLE,
    function="PageTable.append",
    before="table.length = length + k",
    after="table.length = length + k + 1",
)

FAMILY_CONTROLS = {PREFIX_CACHE: (PREFIX_NO_OP, PREFIX_BROKEN)}
"""By family that has controls of its own: the one that must survive its stages, and the one that must not."""
