"""The check of managers: what a serving system runs, with admission, a prefix index, windows that trim, and refusals."""
