"""The mutation engine beside two known tools: CPU a mutant on one suite, and which of the named mistakes each makes."""
