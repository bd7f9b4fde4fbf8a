"""Contracts that CrossHair proves over all paths or refutes with a counterexample, the search for it, and its table."""
