"""All operators, in the order in which their mutants are made: of two that make the same text, the first one counts."""

from mutants.generic.arithmetic import ARITHMETIC
from mutants.generic.calls import CALLS
from mutants.generic.comparisons import COMPARISONS
from mutants.generic.conditions import CONDITIONS
from mutants.generic.constants import CONSTANTS
from mutants.generic.operator import Operator
from mutants.generic.sequences import SEQUENCES
from mutants.generic.statements import STATEMENTS

OPERATORS: tuple[Operator, ...] = (
    *COMPARISONS,
    *SEQUENCES,
    *CONSTANTS,
    *ARITHMETIC,
    *CONDITIONS,
    *STATEMENTS,
    *CALLS,
)
