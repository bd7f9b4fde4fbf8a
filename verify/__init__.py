"""The searches that hold an implementation against the oracle, and the one refinement check that they all feed."""
