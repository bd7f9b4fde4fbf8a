"""Generic mutants: every plausible slip of a kind, wherever the shipped code has room for it, instead of a chosen one."""
