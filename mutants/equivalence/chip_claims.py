"""Functions of the compiler and the cycle model that can be compared over all integers, and what their callers guarantee."""

from mutants.equivalence.claim import Claim

EVERY_WIDTH = (16, 32)
SHIFTS = "1 <= sh <= 40"
LANES = "(lanes == 16) | (lanes == 32)"
WIDTH = "(width == 16) | (width == 32)"
WORDS_OF_LANES = "lanes % 4 == 0"
ERRORS = "0 <= code <= 8"


def row(name: str, lanes: int) -> str:
    """A row with a parameter for each lane."""
    return ", ".join(f"{name}{lane}" for lane in range(lanes))


def at_every_width(call: str) -> str:
    """The call, in which `[a]` and `[b]` are rows, once for each number of lanes that a chip may have."""
    calls = (call.replace("[a]", f"[{row('a', n)}]").replace("[b]", f"[{row('b', n)}]") for n in EVERY_WIDTH)
    return f"[{', '.join(calls)}]"


TWO_ROWS = ", ".join(f"{lane}: int" for name in "ab" for lane in row(name, max(EVERY_WIDTH)).split(", "))

CHIP: tuple[Claim, ...] = (
    Claim("impl.memory_map", "_weights", "width: int", "{m}._weights(width)", ("width >= 0",)),
    Claim("impl.memory_map", "host_map", "width: int", "fields({m}.host_map(width))", ("width >= 0",)),
    Claim(
        "impl.memory_map",
        "_places",
        "a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, i: int",
        "[{m}._places((a, b, c, d, e, f, g, h)), {m}._places((a, b, c, d, e, f, g, h, i))]",
    ),
    Claim("impl.memory_words", "row_words", "lanes: int", "{m}.row_words(lanes)", (WORDS_OF_LANES,)),
    Claim(
        "impl.compiler",
        "_step",
        "width: int, residual: int, m0: int, s0: int, m1: int, s1: int, m2: int, s2: int, m3: int, s3: int, m4: int, s4: int,"
        " p0: int, p1: int, p2: int, p3: int, p4: int, p5: int, past_keys: int, past_values: int, rows_apart: int, stream: bool",
        "fields({m}._step(Has(width=width, residual=residual, exponent=Has(m=m4, shift=s4), requantisers=Has("
        "query=Has(m=m0, shift=s0), key=Has(m=m1, shift=s1), value=Has(m=m2, shift=s2), output=Has(m=m3, shift=s3))),"
        " Has(embedding=p0, projections=p1, output=p2, unembedding=p3, logits=p4, token=p5),"
        " (past_keys, past_values), rows_apart, stream))",
        (WIDTH,),
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
    Claim(
        "impl.chip_model.command",
        "results_a_row",
        "dot: bool, lanes: int",
        "{m}.results_a_row({m}.Op.DOT if dot else {m}.Op.DOTL, lanes)",
        (LANES,),
    ),
    Claim(
        "impl.chip_model.dma",
        "Dma.__init__",
        "lanes: int, queue: int, memory: int, scratchpad: int, walk: int",
        "[(d := of({m}.Dma)).__init__(lanes, queue, memory, scratchpad, walk), state(d)]",
        (LANES,),
    ),
    Claim(
        "impl.chip_model.walk",
        "Walk.__init__",
        "lanes: int, words: int, registers: int",
        "[(w := of({m}.Walk)).__init__(lanes, words, registers), state(w)]",
        (LANES,),
    ),
    Claim(
        "impl.chip_model.mac",
        "Mac.dot",
        TWO_ROWS,
        at_every_width("(c := of({m}.Mac, a=[a])).dot([b]), state(c)"),
    ),
    Claim(
        "impl.chip_model.mac",
        "Mac.add",
        f"e: int, {TWO_ROWS}",
        at_every_width("(c := of({m}.Mac, sums=[a])).add(e, [b]), state(c)"),
    ),
    Claim(
        "impl.chip_model.registers",
        "Registers.status",
        "code: int, error: bool, done: bool, busy: bool",
        "of({m}.Registers, code={m}.ErrorCode(code), error=error, done=done, busy=busy).status",
        (ERRORS,),
    ),
)
