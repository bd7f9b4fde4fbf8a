"""Checks of the host: a paged and a plain one beside the definition, in the same operations, at random and in fixed runs."""
