"""Adapters, one short file each: they report what an implementation really does and never repair or hide."""
