"""Mutants of what the chip's programs mean, of their encodings, and of the checks that hold chips against both."""

from mutants.mutant import Mutant
from mutants.oracle.page_table import ROOT
from mutants.oracle.rule_mutant import CHIP, dropped, negated
from mutants.oracle.silenced import silenced

COMPARISON, JUDGE, TRIALS = "verify.chips.comparison", "verify.chips.judge", "verify.chips.trials"
ISA, CHECKS, MACHINE = "spec.isa", "spec.isa_checks", "spec.isa_machine"
SEMANTICS, WALK = "spec.isa_semantics", "spec.isa_walk"
RUN, TRIAL, SPELLED = f"{JUDGE}:_run", f"{TRIALS}:trials", "verify.programs.text_checks:check_texts"
TO_WORDS = 'same("CHIP-ENC", text, (words,), partial(to_words, [instruction]))'
FROM_WORDS = 'same("CHIP-ENC", text, (instruction,), partial(from_words, [words]))'

OF_ORDER = ("CHIP-CHASE", "CHIP-LOAD", "CHIP-STORE", "CHIP-RESULT", "CHIP-IDLE", "CHIP-QUIET", "CHIP-PORTS")


def _of_order(rule: str) -> Mutant:
    """The programs of a rule of order are trials of no rule."""
    return dropped(rule, CHIP, TRIAL, "word in RULES", f"word in RULES and word != {rule!r}")


CHIP_DROPPED = (
    *silenced(ROOT, CHIP, COMPARISON, JUDGE),
    *map(_of_order, OF_ORDER),
    dropped(
        "CHIP-ENC",
        CHIP,
        SPELLED,
        'yield same("CHIP-ENC", text, (words,), partial(to_words, [instruction]))',
        word="to words",
    ),
    dropped(
        "CHIP-ENC",
        CHIP,
        SPELLED,
        'yield same("CHIP-ENC", text, (instruction,), partial(from_words, [words]))',
        word="from words",
    ),
    dropped("CHIP-GATHER", CHIP, TRIAL, '"CHIP-GATHER"', '""'),
    dropped("CHIP-WATCH", CHIP, TRIAL, '(name, "CHIP-WATCH", SILENT_FROM, starts)', '(name, "", SILENT_FROM, starts)'),
    dropped("CHIP-RESET", CHIP, TRIAL, '(name, "CHIP-RESET", *life)', '(name, "", *life)'),
    dropped("CHIP-ERROR", CHIP, f"{TRIALS}:_of_error", '"CHIP-ERROR"', '""'),
    dropped(
        "CHIP-CHASE",
        CHIP,
        RUN,
        'judged.broken[trial.rule] = f"{trial.where}: another result, but not {trial.otherwise}"',
        word="at all",
    ),
    dropped(
        "CHIP-ISA",
        CHIP,
        RUN,
        'wrong |= judged.note(memory_differences({**expected, "rtl": result}), trial.where)',
        word="memory",
    ),
    dropped("CHIP-CYCLE", CHIP, RUN, 'judged.note(counter_differences({**expected, "rtl": result}), trial.where)'),
    dropped(
        "CHIP-INT",
        CHIP,
        f"{JUDGE}:_decode",
        'judged.note(step_differences("CHIP-INT", trial.expected, said, "definition"), where)',
        word="steps",
    ),
    dropped("CHIP-ISA", CHIP, f"{JUDGE}:_decode", "*memory_differences(results)", "*()"),
    dropped("CHIP-CYCLE", CHIP, f"{JUDGE}:_decode", "*counter_differences(results)", "*()"),
    dropped("CHIP-INT", CHIP, f"{COMPARISON}:ComparingDecoder.step", "self.differences += found", word="steps"),
    dropped("CHIP-ISA", CHIP, f"{COMPARISON}:ComparingDecoder.step", "self.differences += memory_differences(results)"),
    dropped(
        "CHIP-CYCLE", CHIP, f"{COMPARISON}:ComparingDecoder.step", "self.differences += counter_differences(results)"
    ),
)

CHIP_NEGATED = (
    negated("CHIP-ENC", CHIP, f"{ISA}:Field.mask", "a field is a bit narrower", "1 << self.high + 1", "1 << self.high"),
    negated("CHIP-ENC", CHIP, f"{ISA}:Field.read", "a sign is not read", "bits >= size // 2", "False"),
    negated("CHIP-ENC", CHIP, f"{ISA}:decode", "bits that no field uses may be set", "any(unused)", "False"),
    negated("CHIP-ENC", CHIP, f"{ISA}:encode", "a field takes any value", "value not in field.values", "False"),
    negated(
        "CHIP-INT",
        CHIP,
        "spec.decode:step_from_rows",
        "the next token is that behind the largest logit",
        "Step(next_token(logits), logits, new_key, new_value)",
        "Step((next_token(logits) + 1) % len(logits), logits, new_key, new_value)",
    ),
    negated(
        "CHIP-ISA",
        CHIP,
        f"{SEMANTICS}:_load",
        "a load begins a row late",
        "machine.set_rows(first, lanes_of(words).reshape(count, machine.lanes))",
        "machine.set_rows(first + 1, lanes_of(words).reshape(count, machine.lanes))",
    ),
    negated(
        "CHIP-ISA",
        CHIP,
        f"{SEMANTICS}:_store",
        "a store of no row is one of one",
        "count_of(store, machine)",
        "max(1, count_of(store, machine))",
    ),
    negated(
        "CHIP-ISA",
        CHIP,
        f"{SEMANTICS}:_dot",
        "lanes beyond the count stay what they were",
        "np.zeros(machine.lanes, np.int64)",
        "np.ones(machine.lanes, np.int64)",
    ),
    negated(
        "CHIP-ISA",
        CHIP,
        f"{SEMANTICS}:_dot",
        "a residual multiplies the A row",
        "machine.row(residual_row)",
        "machine.row(dot.a)",
        word="residual",
    ),
    negated(
        "CHIP-ISA",
        CHIP,
        f"{SEMANTICS}:_dotl",
        "the argmax is the last of the largest",
        "sums.argmax()",
        "len(sums) - 1 - sums[::-1].argmax()",
    ),
    negated("CHIP-ISA", CHIP, f"{SEMANTICS}:_score", "exponentials are not added up", "e.sum()", "e.max()"),
    negated("CHIP-ISA", CHIP, f"{SEMANTICS}:_av", "the mean is stored a row late", "av.dst", "av.dst + 1"),
    negated("CHIP-ISA", CHIP, f"{CHECKS}:entry_of", "all result rows have one entry", "result * dot.next_entry", "0"),
    negated(
        "CHIP-ISA",
        CHIP,
        f"{CHECKS}:count_of",
        "no register is added to a count",
        "instruction.count + machine.register(instruction.count_register)",
        "instruction.count",
        "CHIP-ISA",
        "CHIP-ERROR",
    ),
    negated(
        "CHIP-ISA",
        CHIP,
        f"{MACHINE}:Machine.register",
        "R0 is what was put there",
        "self.registers[number] % MODULUS if number else 0",
        "self.registers[number] % MODULUS",
    ),
    negated(
        "CHIP-ISA",
        CHIP,
        f"{MACHINE}:Machine.rows",
        "a row that was never written has a value",
        "len(unwritten)",
        "False",
    ),
    negated("CHIP-ISA", CHIP, f"{MACHINE}:lanes_of", "the highest byte of a word comes first", "'<u4'", "'>u4'"),
    negated(
        "CHIP-ISA",
        CHIP,
        f"{SEMANTICS}:Ended.status",
        "STATUS has no error bit",
        "ERROR if self.code else 0",
        "0",
        "CHIP-ISA",
        "CHIP-ERROR",
    ),
    negated(
        "CHIP-GATHER",
        CHIP,
        f"{WALK}:walked",
        "the table is read for the first row alone",
        "k == 0 or row % machine.walker.rows_a_page == 0",
        "k == 0",
    ),
    negated(
        "CHIP-GATHER",
        CHIP,
        f"{WALK}:_row_address",
        "each page begins with the row that is wanted",
        "row % rows",
        "0",
        word="row",
    ),
    negated(
        "CHIP-GATHER",
        CHIP,
        f"{WALK}:_entry_address",
        "the ring has no end",
        "row >> machine.walker.logp & machine.walker.btmask",
        "row >> machine.walker.logp",
    ),
    negated(
        "CHIP-GATHER", CHIP, f"{WALK}:_row_address", "values come before keys", "2 * page + half", "2 * page + 1 - half"
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{WALK}:walked",
        "a page may be NPAGES",
        "page >= min(PAGE_NUMBERS, machine.walker.npages)",
        "page > min(PAGE_NUMBERS, machine.walker.npages)",
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{WALK}:walked",
        "a row may end one word beyond memory",
        "address + machine.words_a_row > len(machine.memory)",
        "address + machine.words_a_row > len(machine.memory) + 1",
        word="memory",
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{CHECKS}:_error_of_transfer",
        "1,024 rows are too many",
        "0 <= count <= LONGEST_TRANSFER",
        "0 <= count < LONGEST_TRANSFER",
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{CHECKS}:_error_of_transfer",
        "a row may be the 1,025th",
        "first_of(transfer, machine) + count > SPAD_ROWS",
        "first_of(transfer, machine) + count > SPAD_ROWS + 1",
        word="row",
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{CHECKS}:_error_of_op",
        "an op may have no row",
        "1 <= count <= LONGEST_OP",
        "0 <= count <= LONGEST_OP",
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{CHECKS}:_error_of_op",
        "a fifth result row is allowed",
        "len(results) > MOST_RESULT_ROWS",
        "len(results) > MOST_RESULT_ROWS + 1",
        word="results",
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{CHECKS}:_error_of_op",
        "an AV of another count is none",
        "scored is not None and count != scored.count",
        "False",
        word="count",
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{CHECKS}:_error_of_op",
        "an op may write what it reads",
        "not read_rows(op, machine).isdisjoint(results)",
        "False",
        word="overlap",
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{CHECKS}:_error_of_op",
        "an AV needs no SCORE",
        "isinstance(op, Av) and scored is None",
        "False",
        word="score",
    ),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{CHECKS}:_outside_memory",
        "the word behind memory is within it",
        "address + words > len(machine.memory)",
        "address + words > len(machine.memory) + 1",
    ),
    negated("CHIP-ERROR", CHIP, f"{SEMANTICS}:run", "an error of the walk loses nothing", "machine.lose()", "pass"),
    negated(
        "CHIP-ERROR",
        CHIP,
        f"{SEMANTICS}:run",
        "ILLEGAL is a HALT",
        "Ended(ErrorCode.ILLEGAL, pc)",
        "Ended(ErrorCode.NONE, 0)",
        word="illegal",
    ),
    negated(
        "CHIP-RESET",
        CHIP,
        f"{MACHINE}:Machine.soft_reset",
        "a reset keeps R",
        "self.registers = [0] * len(self.registers)",
        "pass",
    ),
    negated(
        "CHIP-RESET",
        CHIP,
        f"{MACHINE}:Machine.soft_reset",
        "a reset keeps TOK",
        "self.set_token(0)",
        "pass",
        word="TOK",
    ),
    negated(
        "CHIP-RESET",
        CHIP,
        f"{MACHINE}:Machine.soft_reset",
        "a reset keeps what SCORE left",
        "self.set_scored(None)",
        "pass",
        word="SCORE",
    ),
    negated(
        "CHIP-RESET",
        CHIP,
        f"{MACHINE}:Machine.host_write",
        "bit 0 of CTRL is looked at before bit 1",
        "value & RESET",
        "value == RESET",
    ),
)

CHIP_MUTANTS = (*CHIP_DROPPED, *CHIP_NEGATED)
