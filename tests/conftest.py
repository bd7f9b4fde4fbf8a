"""Hypothesis in these tests: the same examples every time, no database, no deadline that a loaded machine could miss."""

from verify.hypothesis_profile import load_profile

load_profile()
