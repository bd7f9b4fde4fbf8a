"""Checks of the decode step: the windowed floats from scratch, the integers exactly, the models from their floats."""
