"""A project small enough to break in every way: a stack of pages, a suite that judges it, and a catalogue of mistakes."""
