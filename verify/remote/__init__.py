"""Targets outside this process: an adapter under the user's interpreter, or any command that speaks JSON lines."""
