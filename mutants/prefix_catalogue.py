"""The named mutants of the prefix cache, each one line with the rules that must catch it; and the controls of its stages.

Source: docs/reference.md section 3. The expected rules were fixed before the first run, from what each rule says.
"""

from mutants.mutant import PREFIX_CACHE, Mutant, any_of

CACHE = "impl.prefix_cache"
INDEX = "impl.prefix_index"
SHARED = "impl.shared_pages"

PREFIX_MUTANTS = (
    Mutant(
        id="P1",
        title="stale key: a reused page is still found under its old prefix",
        family=PREFIX_CACHE,
        module=SHARED,
        function="SharedPages._take",
        before="self.index.forget(page)",
        after="pass",
        expected=any_of("PRE-PUBLISH"),
    ),
    Mutant(
        id="P2",
        title="unchained key: a page is published under its own tokens alone",
        family=PREFIX_CACHE,
        module=INDEX,
        function="PrefixIndex.extended",
        before="Prefix(parent, tokens)",
        after="Prefix(None, tokens)",
        expected=any_of("PRE-KEY"),
    ),
    Mutant(
        id="P3",
        title="naive admission: the idle pages that it is served count as available",
        family=PREFIX_CACHE,
        module=CACHE,
        function="PrefixCache.admit",
        before="self.shared.available - sum(self.shared.count_idle(table) for table in hit.tables)",
        after="self.shared.available",
        expected=any_of("OutOfPages"),
    ),
    Mutant(
        id="P4",
        title="allocate before pin: pages are taken before those that are served are held",
        family=PREFIX_CACHE,
        module=CACHE,
        function="PrefixCache.admit",
        before="tables, taken = self._held(hit.tables), self.shared.take(needed)",
        after="taken, tables = self.shared.take(needed), self._held(hit.tables)",
        expected=any_of("PT-SHARE"),
    ),
    Mutant(
        id="P5",
        title="head-first release: the head of a request is reused before its tail",
        family=PREFIX_CACHE,
        module=SHARED,
        function="SharedPages.let_go",
        before="reversed(pages)",
        after="pages",
        expected=any_of("PRE-EVICT"),
    ),
    Mutant(
        id="P6",
        title="one entry for two copies: a second copy of a prefix is not published",
        family=PREFIX_CACHE,
        module=INDEX,
        function="PrefixIndex.publish",
        before="page in self._published",
        after="self.first(group, prefix) is not None",
        expected=any_of("PRE-PUBLISH"),
    ),
    Mutant(
        id="P7",
        title="publish before write: reserved rows are published by the append that reserves them",
        family=PREFIX_CACHE,
        module=CACHE,
        function="PrefixCache.append",
        before="entry.tokens.extend(tokens)",
        after="entry.tokens.extend(tokens)\nself._publish(entry, len(entry.tokens))",
        expected=any_of("PRE-PUBLISH"),
    ),
    Mutant(
        id="P8",
        title="full hit: an admission may be served all its tokens and has nothing left to compute",
        family=PREFIX_CACHE,
        module=CACHE,
        function="PrefixCache._longest_hit",
        before="len(tokens) - LEAST_COMPUTED",
        after="len(tokens)",
        expected=any_of("PRE-HIT"),
    ),
)

PREFIX_NO_OP = Mutant(
    id="P no-op",
    title="control: another spelling of the same step",
    family=PREFIX_CACHE,
    module=SHARED,
    function="SharedPages._let_go",
    before="self.counts[page] -= 1",
    after="self.counts[page] = self.counts[page] - 1",
)

PREFIX_BROKEN = Mutant(
    id="P broken",
    title="control: one page more is available than nobody holds",
    family=PREFIX_CACHE,
    module=SHARED,
    function="SharedPages.available",
    before="len(self.blank) + len(self.idle)",
    after="len(self.blank) + len(self.idle) + 1",
)
