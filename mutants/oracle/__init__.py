"""Mutants of the oracle and of the checks that hold it against what ships: a rule that is negated or dropped must be noticed."""
