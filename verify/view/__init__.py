"""A failure to look at: a witness replayed into plain data, and its renderers for the terminal and as a page."""
