"""The mutation engine: named mistakes, made in memory, that the checks of verify/ must see."""
