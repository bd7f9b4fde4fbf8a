"""Which mutants a stage can tell from the original, found in one run of the original with all of them beside it."""
